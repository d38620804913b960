package commandline

import "github.com/convtools/convtools/runtime/contract"

// Tool is a tool whose work is a command line: what it takes, what it runs, what that
// prints, and what the answer looks like.
type Tool struct {
	contract.Tool
	Former  []Former
	Command Command
	Output  Output
	// Envelope is the form of the answer. It has no root where the answer is JSON.
	Envelope Envelope
	Narrow   string // the parameter that asks for less; empty where there is none
}

// Former is a name that a tool had, which works until a day.
type Former struct{ Name, Until string }

// Command is what a tool runs.
type Command struct {
	Line string // as tools.toml names it
	Args []Arg
	// Stdin is the standard input; nil is none. A value that is no text, number or
	// boolean is JSON.
	Stdin []Part
	Env   []Variable
	// Dir is the working directory: a slash-separated path below the directory that
	// the call comes from.
	Dir     string
	Timeout int // in seconds; 0 is the limit of package process
	// OKExit are the exit codes of an answer; EmptyExit are those among them of an
	// answer without records, of which nothing is read.
	OKExit, EmptyExit []int
	Failures          []ExitFailure
}

// Variable is a variable of the environment.
type Variable struct {
	Name  string
	Value []Part
}

// Arg is an argument. It is left out where a value in it is not given, and repeated for
// every item of a list.
type Arg struct {
	// Option is what stands before the value, as arguments of its own: -e, or --arg and
	// a name.
	Option []string
	Value  []Part
	// When and Unless are boolean parameters that have to be true, or false, for it.
	When, Unless string
	// Empty reports whether a value in it may be empty.
	Empty bool
	// Free reports whether a value at its beginning may begin with a hyphen: behind an
	// end of options that the program is known to heed.
	Free bool
}

// Part is a piece of an argument: text, or the value of a parameter.
type Part struct{ Text, Value string }

// CallingConversation is the value of a [Part] that is the conversation a call is made
// from.
const CallingConversation = "ctx.conversation_id"

// ExitFailure is what an exit code means that is not one of an answer.
type ExitFailure struct {
	Exit      []int
	Reason    string // the cause and what to do about it
	Caller    bool   // the caller can put it right by calling differently
	Transient bool   // the same call may work later
}

// The forms of what a command line prints. The zero form is an array in JSON, or an
// object with one in its member data.
const (
	JSON       = "json"        // one value, with the array of records at Path
	JSONObject = "json_object" // one value, with the one record at Path
	JSONLines  = "json_lines"  // a record on each line
	JSONAny    = "json_any"    // an array of records, one value, or several of them
	Delimited  = "delimited"   // records that end with End, of fields with Separator between them
	Regexp     = "regexp"      // a record on each line, whose fields are the groups of Pattern
	Text       = "text"        // one record, with the whole text
)

// Output is how a command line prints its records.
type Output struct {
	Form string
	// Path leads to the records within JSON: each step is a member of an object, the
	// number of an item of an array, or [EveryItem].
	Path []string
	// MayBeAbsent reports whether no text, and null or nothing at Path, are no records.
	MayBeAbsent    bool
	Fields         []string // of records that are no JSON; without them a record is a text
	Separator, End string
	Pattern        string
	Skip           string // pattern of lines or records that are none
}

// EveryItem is the step of a path that leads to all items of an array.
const EveryItem = "[]"

// Envelope is an answer in elements: a root, with an element for each record, and one
// for each note.
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
	Body       string   // inline, lines, block or json; empty for none
	From       []string // the path to what fills the body; empty for the whole record
	Beside     bool     // it stands on the line of what is before it
	// Children are elements with a body and nothing else.
	Children []Element
	// Many and Optional children are there for each value, or where there is one.
	Many, Optional bool
}

// Attribute is an attribute of an element. It has one of the last four fields.
type Attribute struct {
	Name     string
	Type     string   // string, integer, boolean or time
	Presence string   // optional: left out where it is empty, 0 or false; nullable: left out where it is null
	From     []string // the path to its value in a record
	Param    string   // the parameter whose value it is, of the root
	Fixed    string
	Count    bool // it is how many records are shown
}
