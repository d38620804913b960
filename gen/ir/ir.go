// Package ir is the checked model of a tool contract: what every emitter reads.
// All names an emitter needs are decided here, so that two targets can never
// name one thing differently.
//
// It is data. It holds no positions, reads no files, and anything in it has
// already passed the rules of package check: emitters do not validate.
package ir

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/contract"
)

// Contract is everything the specs of one project declare.
type Contract struct {
	Families []Family // sorted by name
	CLIs     commandline.Lines
	Targets  Targets
	Accepted []Accepted
}

// Accepted is a change of the contract that breaks callers and is meant.
type Accepted struct {
	Rule    string // of package lock
	Subject string // "tool conversation_grep, parameter limit"
	Reason  string // who has to do what, and why it is worth it
	Version string // of the project that has the change first
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

// Tool is one tool.
type Tool struct {
	Name        string // "conversation_list"; one dot may stand in it: "conv.create"
	Aliases     []Alias
	Family      string // "conversation"
	Short       string // the name without its family: "list"; names files
	GoName      string // "List": prefix of every Go name of this tool
	Source      string // path of its spec
	Summary     string // one line
	Description string // paragraphs separated by blank lines; lines are not wrapped
	Keywords    string // for hosts that search for tools; empty for none
	Effect      Effect
	OpenWorld   bool   // it reaches beyond this machine
	JP          JPTool // what the spec says to that target
	Handler     Handler
	Params      []Param // in the order of the spec
	Rules       []Rule
	Command     *commandline.Command // nil where the work is no command line
	Output      commandline.Output   // of the command
	Answer      Answer
	Structured  bool     // an answer in JSON is for programs too
	MaxChars    int      // most characters of an answer; 0: no cap of its own
	Narrow      string   // the parameter that asks for less
	Envelope    Envelope // without elements where the answer is no envelope
	Result      Result   // without fields where the answer is not JSON
	Examples    []Example
}

// Title is the name of the tool for people: git_log is Git log.
func (t *Tool) Title() string {
	words := strings.NewReplacer("_", " ", ".", " ").Replace(t.Name)
	return strings.ToUpper(words[:1]) + words[1:]
}

// JPTool is what a spec says to JP about a tool. What is empty follows from its effect.
type JPTool struct {
	Enable string // on, off, always, explicit
	Run    string // ask, unattended, edit, skip
}

// Alias is a former name of a tool, which callers may still use.
type Alias struct {
	Name  string
	Until string // the day after which it may be gone: "2027-06-30"
}

// Flat is a tool's name where a host takes no dot.
func Flat(name string) string { return strings.ReplaceAll(name, ".", "_") }

// OtherNames returns what else a tool is called by than its name: the name without
// its dot, and the former names in both forms.
func (t *Tool) OtherNames() []string {
	var names []string
	add := func(name string) {
		if name != t.Name && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(Flat(t.Name))
	for _, a := range t.Aliases {
		add(a.Name)
		add(Flat(a.Name))
	}
	return names
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

// Result is what a tool answers in JSON: an object with ok and the fields, or with
// ok, a code and a reason.
type Result struct {
	// Fields are in the order they are written in. Those that are required are always
	// there, and null where they are nullable and absent; the others are left out.
	// None has a default, repairs or constraints.
	Fields []Param
	Codes  []string // of failures, beyond those that every tool has
	// Plain reports whether a success has the fields alone, and no ok.
	Plain bool
}

// Handler says who turns the output of a tool's command into its envelope.
type Handler string

// The handlers.
const (
	HandlerCommand Handler = "command" // a table that package commandline interprets
	HandlerGo      Handler = "go"      // a method of the generated interface
)

// Answer is the form of what a tool returns.
type Answer string

// The forms of an answer. The zero value is an envelope.
const (
	EnvelopeAnswer Answer = "envelope" // elements with attributes, as declared
	TextAnswer     Answer = "text"     // plain text, as the handler makes it
	JSONAnswer     Answer = "json"     // an object with the fields of a result
)

// Kind is the type of a value.
type Kind string

// The kinds.
const (
	String  Kind = "string"
	Integer Kind = "integer"
	Number  Kind = "number"
	Boolean Kind = "boolean"
	Array   Kind = "array"  // of Items
	Object  Kind = "object" // with Members, and with no others
)

// Param is a value that callers give: a parameter of a tool, a member of an
// object, or an item of an array, which has neither a name nor a default.
type Param struct {
	Name     string
	GoName   string // "TitleContains"
	Summary  string // one line
	Kind     Kind
	Required bool
	// Nullable values may be null. Of an optional parameter that is more than being
	// left out: null wins over the default.
	Nullable bool
	// Default is nil, bool, int64, float64, string, []string or, of an array of
	// anything else, []any.
	Default any
	Constraints
	// Items is what every item of an array is; nil is any string.
	Items *Param
	// OneOrMany reports whether callers may give one string in the place of an array.
	// It is of arrays of strings alone; whoever gets the value always gets a list.
	OneOrMany bool
	Repairs   []contract.Repair // in the order they are tried
	// Clamp is the least and the greatest value that counts, which the repair of that
	// name puts others to. They are no constraints. Nil where the maximum is the bound.
	Clamp *[2]int64

	// TypeName is the Go type of an object.
	TypeName string
	// Members are what an object has, in the order of the spec.
	Members []Param
	// Key names the member whose value tells the variants of an object apart; empty
	// where there is one form alone, which is then in Members.
	Key      string
	Variants []Variant
}

// Variant is one of the forms that an object may have. The member that tells it
// apart is no part of its members.
type Variant struct {
	Value    string // of the member that tells variants apart
	GoName   string // field of the type of the object: "Text"
	TypeName string // "CreateItemText"
	Summary  string
	Members  []Param
}

// Pointer reports whether the Go field is a pointer: a scalar or an object that may
// be absent or null.
func (p *Param) Pointer() bool {
	return p.Kind != Array && (p.Nullable || !p.Required && p.Default == nil)
}

// Item returns what every item of an array is.
func (p *Param) Item() *Param {
	if p.Items != nil {
		return p.Items
	}
	return &Param{Kind: String}
}

// Texts reports whether the value is an array of strings, none of them null.
func (p *Param) Texts() bool {
	item := p.Item()
	return p.Kind == Array && item.Kind == String && !item.Nullable
}

// Inner returns the values right inside of p: the items of an array, the members
// of an object and those of its variants.
func (p *Param) Inner() []*Param {
	var inner []*Param
	if p.Items != nil {
		inner = append(inner, p.Items)
	}
	for i := range p.Members {
		inner = append(inner, &p.Members[i])
	}
	for i := range p.Variants {
		for j := range p.Variants[i].Members {
			inner = append(inner, &p.Variants[i].Members[j])
		}
	}
	return inner
}

// Values returns a tool's parameters with everything inside of them, each before
// what it holds.
func (t *Tool) Values() []*Param {
	var all []*Param
	var walk func(p *Param)
	walk = func(p *Param) {
		all = append(all, p)
		for _, inner := range p.Inner() {
			walk(inner)
		}
	}
	for i := range t.Params {
		walk(&t.Params[i])
	}
	return all
}

// Rule is a relation between parameters, none of which is required or has a
// default. Exactly one of its lists is not empty.
type Rule struct {
	Exclusive  []string // at most one of these is given
	AtLeastOne []string // one or more of these are given
	ExactlyOne []string // one of these is given, and no other
	Requires   []string // all of these are given where Given is
	Given      string
}

// Example is a call that a reader can copy.
type Example struct {
	Summary   string
	Arguments string // canonical JSON object, parameters in declared order
}

// ReadsPaths reports whether what fills an envelope is looked for at paths in JSON.
func (t *Tool) ReadsPaths() bool {
	return t.Command != nil && (t.Output.Form == "" || strings.HasPrefix(t.Output.Form, "json"))
}

// Steps takes a path in JSON apart: names and numbers with dots between them, where []
// behind a name is every item of an array.
func Steps(path string) []string {
	var steps []string
	for part := range strings.SplitSeq(path, ".") {
		name, each := strings.CutSuffix(part, commandline.EveryItem)
		if name != "" {
			steps = append(steps, name)
		}
		if each {
			steps = append(steps, commandline.EveryItem)
		}
	}
	return steps
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
	Counts   bool   // root only: the number of records
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
	Module    string   // Go import path of the generated root package's parent: "github.com/convtools/convtools"
	Generated string   // "generated"
	Made      []string // names of the targets that are made beside Go and the lock
	JPTools   string   // ".jp/mcp/tools"
	JPCommand string   // command line of a local JP tool
	Skills    []Skill
}

// Program returns what the go command calls the program of the module: the last part
// of its path that is no version.
func (t *Targets) Program() string {
	last := path.Base(t.Module)
	if version, ok := strings.CutPrefix(last, "v"); ok && version != "" && strings.Trim(version, "0123456789") == "" && path.Dir(t.Module) != "." {
		return path.Base(path.Dir(t.Module))
	}
	return last
}

// Makes reports whether a target is made.
func (t *Targets) Makes(name string) bool { return slices.Contains(t.Made, name) }

// Skill is a JP configuration file that switches tools on and instructs the
// assistant about them.
type Skill struct {
	File    string // ".jp/config/skill/conversation-access.toml"
	Tag     string
	Title   string
	Content string
	Tools   []string
}

// GoName turns a snake_case name into a Go identifier with the usual capitals.
func GoName(snake string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(snake, "_") {
		switch word {
		case "":
		case "id", "json", "url", "cli", "xml", "api", "jp", "mcp", "html", "http", "utf8", "ui":
			b.WriteString(strings.ToUpper(word))
		case "ids", "urls":
			b.WriteString(strings.ToUpper(word[:len(word)-1]) + "s")
		default:
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// JSON returns a value of the model as JSON on one line. Markup characters stay as they
// are: the text is for specs and messages.
func JSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null" // no value of a checked contract is without a form in JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}
