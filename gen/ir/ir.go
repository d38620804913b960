// Package ir is the checked model of a tool contract: what every emitter reads.
// All names an emitter needs are decided here, so that two targets can never
// name one thing differently.
//
// It is data. It holds no positions, reads no files, and anything in it has
// already passed the rules of package check: emitters do not validate.
package ir

import (
	"slices"
	"strings"
)

// Contract is everything the specs of one project declare.
type Contract struct {
	Families []Family // sorted by name
	CLIs     []CLI    // sorted by name
	Targets  Targets
}

// Tools returns all tools, sorted by name.
func (c *Contract) Tools() []*Tool {
	var tools []*Tool
	for i := range c.Families {
		for j := range c.Families[i].Tools {
			tools = append(tools, &c.Families[i].Tools[j])
		}
	}
	// A name need not begin with that of its family.
	slices.SortStableFunc(tools, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools
}

// CLI is a command line that tools.toml names.
type CLI struct {
	Name    string
	GoName  string
	Command []string // program and first words; a spec's arguments follow
	Builtin bool     // served in this process unless another program is chosen
	Env     string   // environment variable that chooses another program
}

// Family is the tools declared in one folder of specs: one Go package.
type Family struct {
	Name    string // folder name: "conversation"
	Package string // Go package name
	Import  string // Go import path
	Dir     string // output folder, slash-separated: "generated/conversation"
	Tools   []Tool // sorted by name
}

// Effect is whether a tool changes anything.
type Effect string

// The effects a tool can have.
const (
	Read  Effect = "read"
	Write Effect = "write"
)

// Hints are what an effect means to a host that decides what needs a person's
// consent, as in MCP's tool annotations.
type Hints struct {
	ReadOnly, Destructive, Idempotent, OpenWorld bool
}

// Hints returns, for a reading tool, that calling it twice changes nothing and
// that it leaves this machine alone; for a writing tool what MCP assumes when told
// nothing, which is the cautious side of every hint.
func (e Effect) Hints() Hints {
	if e == Read {
		return Hints{ReadOnly: true, Idempotent: true}
	}
	return Hints{Destructive: true, OpenWorld: true}
}

// Tool is one tool.
type Tool struct {
	Name        string // "conversation_list"
	Family      string // "conversation"
	Short       string // the name without its family: "list"; names files
	GoName      string // "List": prefix of every Go name of this tool
	Source      string // path of its spec
	Summary     string // one line
	Description string // paragraphs separated by blank lines; lines are not wrapped
	Effect      Effect
	Enable      string // JP: on, off, always, explicit
	Run         string // JP: ask, unattended, edit, skip
	Handler     Handler
	Params      []Param // in the order of the spec
	Rules       []Rule
	Command     *Command // nil where the work is no command line
	Answer      Answer
	MaxChars    int      // most characters of an answer; 0: no cap of its own
	Envelope    Envelope // without elements where the answer is text
	Examples    []Example
}

// Param returns the parameter of that name, or nil.
func (t *Tool) Param(name string) *Param {
	for i := range t.Params {
		if t.Params[i].Name == name {
			return &t.Params[i]
		}
	}
	return nil
}

// Handler says who turns the output of a tool's command into its envelope.
type Handler string

// The handlers.
const (
	HandlerCommand Handler = "command" // generated code alone
	HandlerGo      Handler = "go"      // a method of the generated interface
)

// Answer is the form of what a tool returns.
type Answer string

// The forms of an answer. The zero value is an envelope.
const (
	EnvelopeAnswer Answer = "envelope" // elements with attributes, as declared
	TextAnswer     Answer = "text"     // plain text, as the handler makes it
)

// Kind is the type of a parameter or of an array's items.
type Kind string

// The kinds.
const (
	String  Kind = "string"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
	Array   Kind = "array" // of strings
)

// Param is one parameter of a tool.
type Param struct {
	Name     string
	GoName   string // "TitleContains"
	Summary  string // one line
	Kind     Kind
	Required bool
	// Default is nil, bool, int64, string or []string.
	Default any
	Constraints
	Items *Constraints // of an array's strings
	// OneOrMany reports whether callers may give one string in the place of an array.
	// It is of arrays alone; whoever gets the value always gets a list.
	OneOrMany bool
	Repairs   []Repair // in the order they are tried
}

// Pointer reports whether the Go field is a pointer: a scalar that may be absent.
func (p *Param) Pointer() bool {
	return !p.Required && p.Default == nil && p.Kind != Array
}

// Constraints narrow a value. A nil bound is no bound.
type Constraints struct {
	Minimum, Maximum     *int64
	MinLength, MaxLength *int64 // in Unicode characters
	MinItems, MaxItems   *int64
	Enum                 []string
	Pattern              string // RE2 that means the same in ECMA-262; unanchored unless it says so
	PatternSays          string // what the pattern asks for, in words that complete "must …"
	NotBlank             bool   // has a character that is not ASCII white space
	SingleLine           bool   // no CR, LF or NUL
}

// Repair is a declared coercion.
type Repair string

// The repairs a spec may declare.
const (
	RepairFromString  Repair = "from_string"  // integer, boolean, array: read it from a string
	RepairFromInteger Repair = "from_integer" // string, array of strings: read digits as text
	RepairFromScalar  Repair = "from_scalar"  // array: wrap one value
	RepairClamp       Repair = "clamp"        // integer: lower to the maximum
	RepairSpelling    Repair = "spelling"     // enum: case, "-" and "_" do not matter
)

// Rule is a relation between parameters.
type Rule struct {
	Exclusive []string // at most one of these is given
}

// Example is a call that a reader can copy.
type Example struct {
	Summary   string
	Arguments string // canonical JSON object, parameters in declared order
}

// Command is how a tool runs its command line.
type Command struct {
	CLI    string
	Args   []Arg
	OKExit []int
}

// Arg is one argument, or a run of them, of a command line. Text and
// placeholder are joined into one word, so a value can never become a flag.
type Arg struct {
	Prefix string  // literal text: "--limit=" or "--format=json"
	Value  *Source // what follows the prefix; nil for a literal
	Repeat bool    // one argument for each item of an array
	When   string  // boolean parameter that must be true
	Unless string  // boolean parameter that must be false
}

// Source is where a value comes from.
type Source struct {
	Param   string // a parameter
	Context string // or a field of the call's context: "conversation_id"
}

// Envelope is the shape of a tool's answer.
type Envelope struct {
	Root     string
	Elements []Element // the root first, then in the order of the spec
}

// Element returns the element of that name, or nil.
func (e *Envelope) Element(name string) *Element {
	for i := range e.Elements {
		if e.Elements[i].Name == name {
			return &e.Elements[i]
		}
	}
	return nil
}

// Body is what an element holds.
type Body string

// The bodies. An element without one holds children, or nothing.
const (
	NoBody     Body = ""
	InlineBody Body = "inline" // untrusted text on one line
	LinesBody  Body = "lines"  // the same, where line breaks stay
	BlockBody  Body = "block"  // untrusted text, verbatim
	JSONBody   Body = "json"   // a JSON text, in a fence
)

// Element is one element of an envelope.
type Element struct {
	Name       string
	GoName     string // type name: "ListConversation"
	Summary    string
	Attributes []Attribute
	Body       Body
	Children   []Child
	From       string // key in the command's JSON that the body comes from
	Separator  string // empty element written before this one on demand
	Beside     bool   // stands on the line of what is before it
}

// Bare reports whether the element is only a body, so its parent holds it as text.
func (e *Element) Bare() bool {
	return e.Body != NoBody && len(e.Attributes) == 0 && len(e.Children) == 0
}

// AttributeType is the type of an attribute.
type AttributeType string

// The attribute types.
const (
	TextAttribute    AttributeType = "string"
	IntegerAttribute AttributeType = "integer"
	BooleanAttribute AttributeType = "boolean"
	TimeAttribute    AttributeType = "time"
)

// Presence is when an attribute or a child is written.
type Presence string

// The presences.
const (
	Always   Presence = "always"
	NonZero  Presence = "optional" // left out when empty, 0, false or unset
	Nullable Presence = "nullable" // left out when null; false and 0 are written
)

// Attribute is one attribute of an element.
type Attribute struct {
	Name     string
	GoName   string
	Type     AttributeType
	Presence Presence
	Summary  string
	From     string // key in the command's JSON
	Param    string // root only: the value of a parameter
	Fixed    string // constant value
}

// Child is one child of an element.
type Child struct {
	Element string
	GoName  string // field name: "Conversations"
	Many    bool
	// Optional children are left out when empty.
	Optional bool
	From     string // Many: "records" fills them from the command's JSON array
}

// Targets is where output goes. Every path is slash-separated and relative.
type Targets struct {
	Module    string // Go import path of the generated root package's parent: "github.com/convtools/convtools"
	Generated string // "generated"
	JPTools   string // ".jp/mcp/tools"
	JPCommand string // command line of a local JP tool
	Skills    []Skill
}

// Skill is a JP configuration file that switches tools on and instructs the
// assistant about them.
type Skill struct {
	File    string // ".jp/config/skill/conversation-access.toml"
	Tag     string
	Title   string
	Content string
	Tools   []string
}
