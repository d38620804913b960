package ir

import "slices"

// ErrorCode names a problem with an argument in what callers get. The values
// are those of runtime/contract, which generated code refers to.
type ErrorCode string

// The error codes.
const (
	ErrorMalformed  ErrorCode = "malformed_arguments"
	ErrorUnknown    ErrorCode = "unknown_parameter"
	ErrorMissing    ErrorCode = "missing_parameter"
	ErrorType       ErrorCode = "wrong_type"
	ErrorEnum       ErrorCode = "not_allowed"
	ErrorMinimum    ErrorCode = "below_minimum"
	ErrorMaximum    ErrorCode = "above_maximum"
	ErrorMinLength  ErrorCode = "too_short"
	ErrorMaxLength  ErrorCode = "too_long"
	ErrorMinItems   ErrorCode = "too_few_items"
	ErrorMaxItems   ErrorCode = "too_many_items"
	ErrorPattern    ErrorCode = "pattern_mismatch"
	ErrorBlank      ErrorCode = "blank"
	ErrorSingleLine ErrorCode = "not_single_line"
	ErrorExclusive  ErrorCode = "mutually_exclusive"
)

// ErrorCodes returns all error codes, in the order of the constants above.
func ErrorCodes() []ErrorCode {
	return []ErrorCode{
		ErrorMalformed, ErrorUnknown, ErrorMissing, ErrorType, ErrorEnum,
		ErrorMinimum, ErrorMaximum, ErrorMinLength, ErrorMaxLength, ErrorMinItems, ErrorMaxItems,
		ErrorPattern, ErrorBlank, ErrorSingleLine, ErrorExclusive,
	}
}

// ErrorCodes returns the codes that a call of the tool can fail with because of
// its arguments, in the order of the constants above.
func (t *Tool) ErrorCodes() []ErrorCode {
	happens := map[ErrorCode]bool{ErrorMalformed: true, ErrorUnknown: true}
	for _, p := range t.Values() {
		happens[ErrorType] = true
		if p.Required || p.Key != "" {
			happens[ErrorMissing] = true
		}
		if p.Key != "" {
			happens[ErrorEnum] = true
		}
		for _, c := range ConstraintTable() {
			if c.Code != "" && c.Of(&p.Constraints) != nil {
				happens[c.Code] = true
			}
		}
	}
	for _, r := range t.Rules {
		if len(r.Exclusive)+len(r.ExactlyOne) > 0 {
			happens[ErrorExclusive] = true
		}
		if len(r.Requires)+len(r.AtLeastOne)+len(r.ExactlyOne) > 0 {
			happens[ErrorMissing] = true
		}
	}
	return slices.DeleteFunc(ErrorCodes(), func(code ErrorCode) bool { return !happens[code] })
}
