package ir

import (
	"slices"
	"sync"

	"github.com/convtools/convtools/runtime/contract"
)

// Constraints restrict a value. A nil bound means no bound.
type Constraints struct {
	Minimum, Maximum     *float64 // whole numbers if the value is an integer
	MinLength, MaxLength *int64   // in Unicode characters
	MinItems, MaxItems   *int64
	Enum                 []string
	Pattern              string // RE2 that means the same in ECMA-262; unanchored unless it says so
	PatternSays          string // describes the pattern; completes "must …"
	Format               string // a name in [Formats]
	NotBlank             bool   // has a character that is not ASCII white space
	SingleLine           bool   // no CR, LF or NUL
}

// Form is the form of a constraint in a spec. It determines how the constraint is worded, checked and compared.
type Form int

// The forms.
const (
	Least  Form = iota // a lower bound: a number
	Most               // an upper bound: a number
	Flag               // true, or absent
	Text               // a string
	List               // an array of strings
	Remark             // a string that explains another constraint
)

// Constraint is one row of the table of constraints. The loader, the checker, the schema, the wording, the validators,
// the lock and its rules all read the table: a new constraint is a new row, and needs code only if it has a new form.
type Constraint struct {
	Key   string // in specs, reports and contract.lock
	Doc   string // for authors of specs: one sentence without a full stop
	Kinds []Kind // the types that it applies to
	Form  Form
	Unit  string        // what a bound counts: "character", "item", or "" for the value itself
	Code  contract.Code // the error code for a value that breaks it

	Keyword string // the keyword of JSON Schema
	Phrase  string // the words for a flag

	// Narrowed is the id of the breaking rule for a constraint that became stricter. Effect is its effect on callers,
	// as one sentence without a full stop.
	Narrowed, Effect string

	field func(*Constraints) any // returns a pointer to the field
}

// ConstraintTable returns all constraints, in the order of checking and wording. Callers must not change the result.
func ConstraintTable() []Constraint { return constraintTable() }

// constraintTable computes the result of [ConstraintTable] once, because every value of every tool needs it.
var constraintTable = sync.OnceValue(func() []Constraint {
	numbers, texts, arrays := []Kind{Integer, Number}, []Kind{String}, []Kind{Array}
	return []Constraint{
		{
			Key: "enum", Doc: "The allowed values", Kinds: texts, Form: List, Code: contract.CodeEnum, Keyword: "enum",
			Narrowed: "enum-added", Effect: "Values outside the new list are refused", field: func(c *Constraints) any { return &c.Enum },
		},
		{
			Key: "minimum", Doc: "The minimum of a number", Kinds: numbers, Form: Least, Code: contract.CodeMinimum, Keyword: "minimum",
			Narrowed: "minimum-increased", Effect: "Numbers between the old and the new bound are refused", field: func(c *Constraints) any { return &c.Minimum },
		},
		{
			Key: "maximum", Doc: "The maximum of a number", Kinds: numbers, Form: Most, Code: contract.CodeMaximum, Keyword: "maximum",
			Narrowed: "maximum-decreased", Effect: "Numbers between the new and the old bound are refused", field: func(c *Constraints) any { return &c.Maximum },
		},
		{
			Key: "min_items", Doc: "The minimum number of items of an array", Kinds: arrays, Form: Least, Unit: "item", Code: contract.CodeMinItems, Keyword: "minItems",
			Narrowed: "min-items-increased", Effect: "Shorter arrays are refused", field: func(c *Constraints) any { return &c.MinItems },
		},
		{
			Key: "max_items", Doc: "The maximum number of items of an array", Kinds: arrays, Form: Most, Unit: "item", Code: contract.CodeMaxItems, Keyword: "maxItems",
			Narrowed: "max-items-decreased", Effect: "Longer arrays are refused", field: func(c *Constraints) any { return &c.MaxItems },
		},
		{
			Key: "min_length", Doc: "The minimum number of characters of a string", Kinds: texts, Form: Least, Unit: "character", Code: contract.CodeMinLength, Keyword: "minLength",
			Narrowed: "min-length-increased", Effect: "Shorter strings are refused", field: func(c *Constraints) any { return &c.MinLength },
		},
		{
			Key: "max_length", Doc: "The maximum number of characters of a string", Kinds: texts, Form: Most, Unit: "character", Code: contract.CodeMaxLength, Keyword: "maxLength",
			Narrowed: "max-length-decreased", Effect: "Longer strings are refused", field: func(c *Constraints) any { return &c.MaxLength },
		},
		{
			Key: "pattern", Doc: "A regular expression that a string must contain a match of; ^ and $ anchor it", Kinds: texts, Form: Text, Code: contract.CodePattern, Keyword: "pattern",
			Narrowed: "pattern-added", Effect: "Strings of another form are refused", field: func(c *Constraints) any { return &c.Pattern },
		},
		{Key: "pattern_says", Doc: "The meaning of the pattern, in words that complete must …", Kinds: texts, Form: Remark, field: func(c *Constraints) any { return &c.PatternSays }},
		{
			Key: "format", Doc: "The name of the form of a string", Kinds: texts, Form: Text, Code: contract.CodePattern, Keyword: "format",
			Narrowed: "format-added", Effect: "Strings of another form are refused", field: func(c *Constraints) any { return &c.Format },
		},
		{
			Key: "not_blank", Doc: "Whether a string must contain more than white space", Kinds: texts, Form: Flag, Code: contract.CodeBlank,
			Phrase: "not blank", Narrowed: "not-blank-added", Effect: "Blank strings are refused", field: func(c *Constraints) any { return &c.NotBlank },
		},
		{
			Key: "single_line", Doc: "Whether a string must have no line breaks and no NUL", Kinds: texts, Form: Flag, Code: contract.CodeSingleLine,
			Phrase: "on one line", Narrowed: "single-line-added", Effect: "Strings of several lines are refused", field: func(c *Constraints) any { return &c.SingleLine },
		},
	}
})

// Of returns the value of the constraint in c: a float64, a string, a []string or true, or nil if c does not have it.
func (k Constraint) Of(c *Constraints) any {
	switch v := k.field(c).(type) { // a pointer to a field; the field of a bound is a pointer itself
	case **float64:
		if *v != nil {
			return **v
		}
	case **int64:
		if *v != nil {
			return float64(**v)
		}
	case *string:
		if *v != "" {
			return *v
		}
	case *[]string:
		if len(*v) > 0 {
			return *v
		}
	case *bool:
		if *v {
			return true
		}
	}
	return nil
}

// Bound returns the value of the constraint in c, if the constraint is a bound that c has. Otherwise it returns nil.
func (k Constraint) Bound(c *Constraints) *float64 {
	if n, ok := k.Of(c).(float64); ok {
		return &n
	}
	return nil
}

// Set sets the constraint in c to a value of the type that [Constraint.Of] returns.
func (k Constraint) Set(c *Constraints, value any) {
	switch field := k.field(c).(type) { // a pointer to a field; the field of a bound is a pointer itself
	case **float64:
		if n, ok := value.(float64); ok {
			*field = &n
		}
	case **int64:
		if n, ok := value.(float64); ok {
			whole := int64(n)
			*field = &whole
		}
	case *string:
		*field, _ = value.(string)
	case *[]string:
		*field, _ = value.([]string)
	case *bool:
		*field, _ = value.(bool)
	}
}

// Applies reports whether the constraint applies to values of the given type.
func (k Constraint) Applies(kind Kind) bool { return slices.Contains(k.Kinds, kind) }

// Format is a named form of a string.
type Format struct {
	Name string // as in JSON Schema
	Func string // the function of runtime/coerce/formats that checks it
	Says string // describes it; completes "must …"
}

// Formats returns all formats.
func Formats() []Format {
	return []Format{
		{"date-time", "DateTime", "be a date and time such as 2026-11-22T09:30:00Z"},
		{"date", "Date", "be a date such as 2026-11-22"},
		{"uuid", "UUID", "be a UUID such as 123e4567-e89b-12d3-a456-426614174000"},
		{"uri", "URI", "be a URI with its scheme, such as https://example.com/a"},
	}
}

// FormatNamed returns the format with the given name, and reports whether it exists.
func FormatNamed(name string) (Format, bool) {
	i := slices.IndexFunc(Formats(), func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats()[i], true
}
