package contract

import "math"

// Shape is what an object may hold: the arguments of a tool, or an object within them.
type Shape struct {
	Members []Parameter // in the order they are declared
	// Key is the member whose value tells apart the forms that an object may have.
	// It is no member of a form.
	Key   string
	Forms []Form // those there are, in the place of Members
}

// Form is one of the forms that an object may have.
type Form struct {
	Value   string // of the key
	Members []Parameter
}

// Parameter is what a parameter of a tool, a member of an object, or an item of an array may
// be, and which repairs are made to it. It says what the schema says.
type Parameter struct {
	Name     string // of a parameter or a member
	Type     string // as in JSON Schema, such as "integer"
	Required bool
	Nullable bool   // it may be null
	Default  string // JSON
	Wants    string // completes "it must be …"
	Fix      string // JSON of what would do; empty where the default does, or leaving it out

	Enum       []string // the values allowed
	Range      *Range   // of a number, of the characters of a string, of the items of an array
	Pattern    string   // a regular expression
	Format     string   // the name of one of JSON Schema's formats
	Says       string   // what pattern or format asks for; completes "it must …"
	NotBlank   bool     // more than ASCII white space
	SingleLine bool     // no line break and no NUL

	Items *Parameter // of an array; nil for strings
	// OneOrMany marks an array of strings for which one string does too.
	OneOrMany bool
	Shape     *Shape // of an object

	Repairs []Repair  // in the order they are tried
	Clamp   *[2]int64 // what [ToBounds] puts an integer between; nil lowers it to its maximum
}

// Values returns the values allowed: of an array, those of its items.
func (p *Parameter) Values() []string {
	if p.Items != nil {
		return p.Items.Enum
	}
	return p.Enum
}

// Range is the least and the greatest number there may be, of what is counted.
type Range struct {
	Least, Most float64
	Wants       string // completes "it must be …"; empty for a number, whose parameter says it
}

// Unbounded is the bound of a [Range] that has none above; -Unbounded that of one that
// has none below.
const Unbounded = math.MaxFloat64

// Rule is a relation between parameters. Exactly one of its first three fields is set.
type Rule struct {
	Exclusive []string // at most one of these is given
	AnyOf     []string // one or more of these are given
	Requires  string   // it is given where Given is
	Given     string
	Fix       string // JSON for what is required, or for the first of AnyOf
}

// Repair is a repair that a spec declares for a parameter.
type Repair string

// The repairs that a spec may declare.
const (
	FromString  Repair = "from_string"
	FromInteger Repair = "from_integer"
	FromScalar  Repair = "from_scalar"
	ToBounds    Repair = "clamp"
	ToSpelling  Repair = "spelling"
)
