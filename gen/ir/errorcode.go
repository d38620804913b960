package ir

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
	codes := []ErrorCode{ErrorMalformed, ErrorUnknown}
	add := func(code ErrorCode, when func(*Param) bool) {
		for i := range t.Params {
			if when(&t.Params[i]) {
				codes = append(codes, code)
				return
			}
		}
	}
	constrained := func(code ErrorCode, when func(*Constraints) bool) {
		add(code, func(p *Param) bool {
			return when(&p.Constraints) || p.Items != nil && when(p.Items)
		})
	}
	add(ErrorMissing, func(p *Param) bool { return p.Required })
	add(ErrorType, func(*Param) bool { return true })
	constrained(ErrorEnum, func(c *Constraints) bool { return len(c.Enum) > 0 })
	constrained(ErrorMinimum, func(c *Constraints) bool { return c.Minimum != nil })
	constrained(ErrorMaximum, func(c *Constraints) bool { return c.Maximum != nil })
	constrained(ErrorMinLength, func(c *Constraints) bool { return c.MinLength != nil })
	constrained(ErrorMaxLength, func(c *Constraints) bool { return c.MaxLength != nil })
	constrained(ErrorMinItems, func(c *Constraints) bool { return c.MinItems != nil })
	constrained(ErrorMaxItems, func(c *Constraints) bool { return c.MaxItems != nil })
	constrained(ErrorPattern, func(c *Constraints) bool { return c.Pattern != "" })
	constrained(ErrorBlank, func(c *Constraints) bool { return c.NotBlank })
	constrained(ErrorSingleLine, func(c *Constraints) bool { return c.SingleLine })
	if len(t.Rules) > 0 {
		codes = append(codes, ErrorExclusive)
	}
	return codes
}
