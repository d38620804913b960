package ir

import (
	"slices"

	"github.com/convtools/convtools/runtime/contract"
)

// ErrorCode is a kind of problem with an argument.
type ErrorCode struct {
	Code  contract.Code
	Means string // its meaning for callers, as one sentence without a full stop
}

// ErrorCodes returns all error codes in the order in which they are shown.
func ErrorCodes() []ErrorCode {
	return []ErrorCode{
		{contract.CodeMalformed, "The arguments are not one JSON object"},
		{contract.CodeUnknown, "There is no parameter of that name"},
		{contract.CodeMissing, "A required parameter is missing"},
		{contract.CodeType, "A value has another JSON type than its parameter"},
		{contract.CodeEnum, "A value is none of the allowed ones"},
		{contract.CodeMinimum, "A number is under the minimum"},
		{contract.CodeMaximum, "A number is over the maximum"},
		{contract.CodeMinLength, "A string has too few characters"},
		{contract.CodeMaxLength, "A string has too many characters"},
		{contract.CodeMinItems, "An array has too few items"},
		{contract.CodeMaxItems, "An array has too many items"},
		{contract.CodePattern, "A string does not have the form it must have"},
		{contract.CodeBlank, "A string is empty or only white space"},
		{contract.CodeSingleLine, "A string holds a line break or a NUL"},
		{contract.CodeExclusive, "Parameters are given together that exclude each other"},
	}
}

// ErrorCodes returns the codes with which a call of the tool can fail, in the order of the function [ErrorCodes].
func (t *Tool) ErrorCodes() []ErrorCode {
	possible := map[contract.Code]bool{contract.CodeMalformed: true, contract.CodeUnknown: true}
	for _, p := range t.Values() {
		possible[contract.CodeType] = true
		hasKey := p.Key != "" // p is an object, and a required member with an enumeration selects its variant
		if p.Required || hasKey {
			possible[contract.CodeMissing] = true
		}
		if hasKey {
			possible[contract.CodeEnum] = true
		}
		for _, c := range ConstraintTable() {
			if c.Code != "" && c.Of(&p.Constraints) != nil {
				possible[c.Code] = true
			}
		}
	}
	for _, r := range t.Rules {
		if len(r.Exclusive)+len(r.ExactlyOne) > 0 {
			possible[contract.CodeExclusive] = true
		}
		if len(r.Requires)+len(r.AtLeastOne)+len(r.ExactlyOne) > 0 {
			possible[contract.CodeMissing] = true
		}
	}
	return slices.DeleteFunc(ErrorCodes(), func(c ErrorCode) bool { return !possible[c.Code] })
}
