// Package ir is the checked model of a tool contract, which every emitter reads. Every generated name is in it, so
// two targets cannot name one thing differently.
//
// The model is data: it has no positions and reads no files. Everything in it has passed the rules of package check,
// so emitters do not validate.
package ir

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/contract"
)

// Contract is everything that the specs of one project declare.
type Contract struct {
	Families []Family // sorted by name
	CLIs     commandline.Lines
	Targets  Targets
	Accepted []Accepted
}

// Accepted is a breaking change of the contract that the project intends.
type Accepted struct {
	Rule    string // the id of a rule of package lock
	Subject string // "tool conversation_grep, parameter limit"
	Reason  string // who must do what, and why it is worth it
	Version string // the first version of the project with the change
}

// Tools returns all tools, sorted by name.
func (c *Contract) Tools() []*Tool {
	var tools []*Tool
	for i := range c.Families {
		for j := range c.Families[i].Tools {
			tools = append(tools, &c.Families[i].Tools[j])
		}
	}
	// The name of a tool need not begin with the name of its family.
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

// Effect is the effect of a tool: Read if it changes nothing, Write if it may change something.
type Effect string

// The effects a tool can have.
const (
	Read  Effect = "read"
	Write Effect = "write"
)

// Tool is one tool.
type Tool struct {
	Name        string // "conversation_list"; may have one dot: "conv.create"
	Aliases     []Alias
	Family      string // "conversation"
	Short       string // the name without its family: "list"; names files
	GoName      string // "List": prefix of every Go name of this tool
	Source      string // path of its spec
	Summary     string // one line
	Description string // paragraphs separated by blank lines; lines are not wrapped
	Keywords    string // for hosts that search for tools; may be empty
	Effect      Effect
	OpenWorld   bool   // the tool reaches beyond this machine
	JP          JPTool // settings for the target jp
	Handler     Handler
	Params      []Param // in the order of the spec
	Rules       []Rule
	Command     *commandline.Command // nil if the tool runs no command
	Output      commandline.Output   // how the command prints its records
	Answer      Answer
	Structured  bool     // the answer, which is JSON, is also for programs
	MaxChars    int      // maximum length of an answer in characters; 0: no limit of its own
	Narrow      string   // the parameter with which callers ask for less
	Envelope    Envelope // has no elements if the answer is not an envelope
	Result      Result   // has no fields if the answer is not JSON
	Examples    []Example
}

// Title returns the name of the tool for people: "Git log" for git_log.
func (t *Tool) Title() string {
	words := strings.NewReplacer("_", " ", ".", " ").Replace(t.Name)
	return strings.ToUpper(words[:1]) + words[1:]
}

// JPTool is the JP settings of a tool. Empty fields get values that follow from the tool's effect.
type JPTool struct {
	Enable string // on, off, always, explicit
	Run    string // ask, unattended, edit, skip
}

// Alias is a former name of a tool, which callers may still use.
type Alias struct {
	Name  string
	Until string // the last day on which it must work: "2027-06-30"
}

// Flat returns the name of a tool for hosts that allow no dots.
func Flat(name string) string { return strings.ReplaceAll(name, ".", "_") }

// OtherNames returns the other names of a tool: its name without the dot, and its former names in both forms.
func (t *Tool) OtherNames() []string {
	all := []string{Flat(t.Name)}
	for _, a := range t.Aliases {
		all = append(all, a.Name, Flat(a.Name))
	}
	var names []string
	for _, name := range all {
		if name != t.Name && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Param returns the parameter with the given name, or nil.
func (t *Tool) Param(name string) *Param {
	i := slices.IndexFunc(t.Params, func(p Param) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Params[i]
}

// Result is an answer in JSON: an object with ok and the fields, or with ok, a code and a reason.
type Result struct {
	// Fields are in the order in which they are written. A required field is always written; it is null if it is
	// nullable and absent. Other fields are omitted when absent. Fields have no defaults, repairs or constraints.
	Fields []Param
	Codes  []string // the tool's own error codes; the codes that all tools share are not listed
	Plain  bool     // a success has only the fields and no ok
}

// Handler says what turns the output of a tool's command into its answer.
type Handler string

// The handlers.
const (
	HandlerCommand Handler = "command" // a table that package commandline interprets
	HandlerGo      Handler = "go"      // a method of the generated interface
)

// Answer is the form of a tool's answer.
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
	Array   Kind = "array"  // of items described by Items
	Object  Kind = "object" // with exactly the declared members or variants
)

// Param is a value that callers pass: a parameter of a tool, a member of an object, or an item of an array, which has
// no name and no default. It is also a value in a result.
type Param struct {
	Name     string
	GoName   string // "TitleContains"
	Summary  string // one line
	Kind     Kind
	Required bool
	// Nullable values may be null. For an optional parameter, null differs from absent: null wins over the default.
	Nullable bool
	Default  any // nil, bool, int64, float64, string, []string or, for an array of other items, []any
	Constraints
	Items *Param // describes the items of an array; nil means strings
	// OneOrMany is true if callers may pass one string instead of an array of strings. The handler always gets a list.
	OneOrMany bool
	Repairs   []contract.Repair // in the order they are tried
	// Clamp is the least and the greatest effective value; the repair clamp changes other values to them. They are
	// not constraints. If Clamp is nil, the repair uses the maximum.
	Clamp *[2]int64

	TypeName string  // the Go type of an object
	Members  []Param // of an object, in the order of the spec
	// Key is the member whose value selects the variant of an object, or "" if the object has only one form: Members.
	Key      string
	Variants []Variant
}

// Variant is one form of an object. Its members do not include the key member.
type Variant struct {
	Value    string // value of the key member
	GoName   string // field of the object's type: "Text"
	TypeName string // "CreateItemText"
	Summary  string
	Members  []Param
}

// Pointer reports whether the Go field is a pointer: it is for a scalar or an object that may be absent or null.
func (p *Param) Pointer() bool {
	return p.Kind != Array && (p.Nullable || !p.Required && p.Default == nil)
}

// Item returns the description of an array's items: Items, or a string without constraints if Items is nil.
func (p *Param) Item() *Param {
	if p.Items != nil {
		return p.Items
	}
	return &Param{Kind: String}
}

// Texts reports whether the value is an array of strings, none of which may be null.
func (p *Param) Texts() bool {
	item := p.Item()
	return p.Kind == Array && item.Kind == String && !item.Nullable
}

// Inner returns the values directly inside p: the items of an array, or the members of an object and of its variants.
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

// Values returns the parameters of a tool and all values nested in them, each before the values inside it.
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

// Rule is a relation between parameters that are not required and have no default. Exactly one list is set.
type Rule struct {
	Exclusive  []string // at most one of these is given
	AtLeastOne []string // one or more of these are given
	ExactlyOne []string // one of these is given, and no other
	Requires   []string // all of these are given if Given is
	Given      string
}

// Example is a call that a reader can copy.
type Example struct {
	Summary   string
	Arguments string // canonical JSON object, parameters in declared order
}

// ReadsPaths reports whether the parts of an envelope are read from paths in JSON.
func (t *Tool) ReadsPaths() bool {
	return t.Command != nil && (t.Output.Form == "" || strings.HasPrefix(t.Output.Form, "json")) // "" is JSON too
}

// Steps splits a JSON path: names and numbers joined by dots, where [] after a name selects every item of an array.
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

// Element returns the element with the given name, or nil.
func (e *Envelope) Element(name string) *Element {
	i := slices.IndexFunc(e.Elements, func(element Element) bool { return element.Name == name })
	if i < 0 {
		return nil
	}
	return &e.Elements[i]
}

// Body is the content of an element.
type Body string

// The bodies. An element without a body has children or is empty.
const (
	NoBody     Body = ""
	InlineBody Body = "inline" // untrusted text on one line
	LinesBody  Body = "lines"  // untrusted text that keeps its line breaks
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
	From       string // key of the body in the command's JSON
	Separator  string // an empty element that can be written before this one
	Beside     bool   // written on the line of the element before it
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

// Presence says when an attribute or a child is written.
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
	Element  string
	GoName   string // field name: "Conversations"
	Many     bool
	Optional bool   // omitted when empty
	From     string // if Many: "records" takes them from the command's records
}

// Targets lists the outputs of convgen and their paths, which are relative and slash-separated.
type Targets struct {
	Module    string   // Go module path: "github.com/convtools/convtools"
	Generated string   // the output folder: "generated"
	Made      []string // targets that are generated beside Go and the lock
	JPTools   string   // ".jp/mcp/tools"
	JPCommand string   // command line of a local JP tool
	Skills    []Skill
	Plugin    *Plugin // nil if there is none
}

// Plugin is a plugin of several hosts with the MCP server of the program, and a skill.
type Plugin struct {
	Dir     string // "generated/plugin"
	Version string
	Summary string
	Skill   string // the skill's name: "recall"
	When    string // a host loads it then
	Content string
}

// Program returns the name that the go command gives the program of the module. It is the last element of the module's
// path, or the one before it if the last is a version, such as v2.
func (t *Targets) Program() string {
	last := path.Base(t.Module)
	number, hasV := strings.CutPrefix(last, "v")
	isVersion := hasV && number != "" && strings.Trim(number, "0123456789") == ""
	if folder := path.Dir(t.Module); isVersion && folder != "." { // the module's path has two elements or more
		return path.Base(folder)
	}
	return last
}

// Makes reports whether the named target is generated.
func (t *Targets) Makes(name string) bool { return slices.Contains(t.Made, name) }

// Skill is a JP configuration file that enables tools and instructs the assistant about them.
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
		case "": // an underscore at an end of the name, or two in a row
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

// JSON returns a value of the model as JSON on one line. It does not escape <, > and &, because people read the text.
func JSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null" // every value of a checked contract has a JSON form
	}
	return strings.TrimSuffix(b.String(), "\n")
}
