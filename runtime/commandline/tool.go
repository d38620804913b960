package commandline

import "github.com/convtools/convtools/runtime/contract"

// Tool is a tool whose work is a command line, with the forms of the command's output and of the answer.
type Tool struct {
	contract.Tool
	Former  []Former
	Command Command
	Output  Output
	// Envelope is the form of the answer. It has no root if the answer is JSON.
	Envelope Envelope
	Narrow   string // the parameter to ask for less, or empty
}

// onlyReads reports whether the program may be stopped at any time.
func (t *Tool) onlyReads() bool { return t.Effect == "read" }

// Former is a former name of a tool, which works until a day.
type Former struct{ Name, Until string }

// Command is the command line of a tool.
type Command struct {
	Line string // its name in tools.toml
	Args []Arg
	// Stdin is the standard input; nil means none. A value other than a string, number or boolean is JSON.
	Stdin []Part
	Env   []Variable
	// Dir is the working directory: a slash-separated path in the directory of the call.
	Dir     string
	Timeout int // in seconds; 0 means the default of package process
	// OKExit are all exit codes with an answer. With those in EmptyExit, it has no records and the output is ignored.
	OKExit, EmptyExit []int
	Failures          []ExitFailure
}

// Variable is a variable of the environment.
type Variable struct {
	Name  string
	Value []Part
}

// Arg is an argument. It is left out if a parameter in it is not given, and repeated for every item of a list in it.
type Arg struct {
	// Option are the words before the value: -e, or --arg and a name.
	Option []string
	Value  []Part
	// When and Unless are boolean parameters that have to be true, or false, for the argument.
	When, Unless string
	// Empty is true if the value of a parameter in the argument may be empty.
	Empty bool
	// Free is true if a value may begin the argument with a hyphen: the argument follows an end of options.
	Free bool
}

// Part is a part of an argument: text, or the value of a parameter.
type Part struct{ Text, Value string }

// CallingConversation is the value of a [Part] for the id of the calling conversation.
const CallingConversation = "ctx.conversation_id"

// ExitFailure is the meaning of an exit code that is not one of an answer.
type ExitFailure struct {
	Exit      []int
	Reason    string // the cause and the remedy
	Caller    bool   // another call may work
	Transient bool   // the same call may work later
}

// The forms of output. The zero form is an array in JSON, or an object with one in its member data.
const (
	JSON       = "json"        // one value, with an array of records at Path
	JSONObject = "json_object" // one value, with one record at Path
	JSONLines  = "json_lines"  // a record on each line
	JSONAny    = "json_any"    // an array of records, one record, or several of them
	Delimited  = "delimited"   // records that end with End, of fields separated by Separator
	Regexp     = "regexp"      // a record on each line, whose fields are the groups of Pattern
	Text       = "text"        // one record, the whole text
)

// Output is the form of a command line's output.
type Output struct {
	Form string
	// Path is the path to the records in JSON: names of members, numbers of items, or [EveryItem].
	Path []string
	// MayBeAbsent is true if empty output, and null or nothing at Path, mean no records.
	MayBeAbsent    bool
	Fields         []string // of records that are not JSON; without fields a record is a text
	Separator, End string
	Pattern        string
	Skip           string // a pattern of lines or records to ignore
}

// EveryItem is the step of a path through all items of an array.
const EveryItem = "[]"

// Envelope is the form of an answer in elements: a root, an element for each record, and one for each note.
type Envelope struct {
	Root       string
	Attributes []Attribute
	Record     Element
	Note       Element
	NotesFirst bool
}

// Element is an element of an envelope.
type Element struct {
	Name       string
	Attributes []Attribute
	Body       string   // inline, lines, block or json; empty for no body
	From       []string // the path to the value of the body; empty for the whole record
	Beside     bool     // it is on the same line as the content before it
	// Children are elements with a body only.
	Children []Element
	// Many is true for a child for each value, Optional for one that may be absent.
	Many, Optional bool
}

// Attribute is an attribute of an element. It has one of the last four fields.
type Attribute struct {
	Name     string
	Type     string   // string, integer, boolean or time
	Presence string   // optional: left out if empty, 0 or false; nullable: left out if null
	From     []string // the path to its value in a record
	Param    string   // the parameter with its value, for the root
	Fixed    string
	Count    bool // its value is the number of records shown
}
