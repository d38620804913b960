package contract

import "math"

// Shape describes an object: the arguments of a tool, or an object in them.
type Shape struct {
	Members []Parameter // in declared order
	// Key is the member whose value selects the form of the object. It is not among the members of the form.
	Key   string
	Forms []Form // instead of Members
}

// Form is one form of an object.
type Form struct {
	Value   string // the value of the key
	Members []Parameter
}

// Parameter describes a parameter of a tool, a member of an object, or an item of an array, with its repairs.
type Parameter struct {
	Name     string // empty for an item
	Type     string // as in JSON Schema, such as "integer"
	Required bool
	Nullable bool   // it may be null
	Default  string // JSON
	Wants    string // completes "it must be …"
	Fix      string // JSON of a valid value; empty if the default is one, or the parameter can be left out

	Enum       []string // allowed values
	Range      *Range   // of a number, or of the count of characters of a string or of items of an array
	Pattern    string   // a regular expression
	Format     string   // the name of one of JSON Schema's formats
	Says       string   // the meaning of Pattern or Format; completes "it must …"
	NotBlank   bool     // it must have more than ASCII white space
	SingleLine bool     // it must have no line break and no NUL

	Items *Parameter // of an array; nil means strings
	// OneOrMany is true for an array of strings that may also be given as one string.
	OneOrMany bool
	Shape     *Shape // of an object

	Repairs []Repair  // in the order in which they are tried
	Clamp   *[2]int64 // bounds for [ToBounds]; nil lowers an integer to its maximum
}

// Values returns the allowed values; those of the items for an array.
func (p *Parameter) Values() []string {
	if p.Items != nil {
		return p.Items.Enum
	}
	return p.Enum
}

// Range is the least and the greatest number or count that is allowed.
type Range struct {
	Least, Most float64
	Wants       string // completes "it must be …"; empty for a number: the parameter has it
}

// Unbounded is the upper bound of a [Range] without one, and -Unbounded the lower bound.
const Unbounded = math.MaxFloat64

// Rule is a rule about several parameters. Exactly one of its first three fields is set.
type Rule struct {
	Exclusive []string // at most one of these is given
	AnyOf     []string // one or more of these are given
	Requires  string   // it is given where Given is
	Given     string
	Fix       string // JSON for Requires, or for the first of AnyOf
}

// Repair is a repair of a value that a spec declares.
type Repair string

// The repairs.
const (
	FromString  Repair = "from_string"
	FromInteger Repair = "from_integer"
	FromScalar  Repair = "from_scalar"
	ToBounds    Repair = "clamp"
	ToSpelling  Repair = "spelling"
)
