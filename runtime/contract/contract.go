// Package contract has the types that hosts, the generated dispatcher and the handlers of tools share: a call, its
// context, and the two classes of errors for a caller.
//
// It never runs or reads anything, and knows no tool by name.
package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
)

// Context describes where a call comes from. Every field may be empty: hosts differ in what they send.
type Context struct {
	// ConversationID is the calling conversation's id, as the host spells it; empty if it is not known.
	ConversationID string
	// Kin is true if the conversations that the calling one was started or forked from are left out with it.
	Kin bool
	// Dir is the directory from which the workspace is looked for, upwards.
	Dir string
	// Caller is what else is known of the calling program.
	Caller caller.Caller
	// Ends is true if this process ends with the call: nothing can go on after the answer.
	Ends bool
}

// Call is one request to run a tool.
type Call struct {
	Tool      string
	Arguments []byte // one JSON object; empty means {}
	Context   Context
	// Notes are remarks that the answer has to include, such as repairs of the arguments. The dispatcher adds them
	// before the handler runs, so that the handler can count them in the size of its answer.
	Notes []string
}

// Renamed returns a call by a former name with the current name and a note. until is the former name's last day.
func (c Call) Renamed(name, until string) Call {
	c.Notes = append(slices.Clip(c.Notes), c.Tool+" is now called "+name+"; the old name works until "+until+".")
	c.Tool = name
	return c
}

// Noted returns an answer in text, to which it adds the notes of the call that the answer does not have.
func (c Call) Noted(answer string) string {
	for _, note := range c.Notes {
		if !strings.Contains(answer, note) {
			answer += "\n\nNote: " + note
		}
	}
	return answer
}

// Tool describes a tool to a host. A family may change copies of it, for instance to describe what there is now.
type Tool struct {
	Name        string
	Title       string   // the name for people
	Aliases     []string // other names: for hosts that allow no dots, and former ones
	Summary     string
	Description string      // paragraphs after the summary, with the rules between parameters
	Keywords    string      // words by which a model may search for it; may be empty
	Effect      string      // "read" or "write"
	InputSchema string      // JSON Schema 2020-12, as text
	Parameters  []Parameter // in declared order
	Rules       []Rule
	OpenWorld   bool   // it may use more than this machine
	Structured  bool   // it has an answer in JSON for programs too, an object
	Example     string // the arguments of a call that works, as JSON; may be empty
	MaxChars    int    // greatest length of an answer in characters; 0 means no limit of its own
	Plain       bool   // a successful answer in JSON has its fields only, without ok
}

// AnswersTo reports whether the tool can be called by a name.
func (t Tool) AnswersTo(name string) bool { return t.Name == name || slices.Contains(t.Aliases, name) }

// Names returns the names of tools, with former names.
func Names(tools []Tool) (names []string) {
	for _, t := range tools {
		names = append(append(names, t.Name), t.Aliases...)
	}
	return names
}

// SearchHint is the key in the _meta of an MCP tool for the keywords by which Claude Code finds tools.
const SearchHint = "anthropic/searchHint"

// Text returns the description of the tool for a model, without its schema.
func (t Tool) Text() string { return t.Summary + ".\n\n" + t.Description }

// File is a file that defines tools for a host, such as JP.
type File struct {
	Path string // slash-separated, relative to the root of the project
	Text string
}

// Files returns the embedded files in a folder and the folders below it, sorted by path, which is relative to folder.
func Files(fsys fs.FS, folder string) []File {
	var files []File
	// Embedded files can always be read.
	_ = fs.WalkDir(fsys, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(fsys, name)
		files = append(files, File{Path: strings.TrimPrefix(name, folder+"/"), Text: string(text)})
		return err
	})
	return files
}

// Error is a failure other than malformed arguments: an unknown id, a range that does not exist, a silent program.
type Error struct {
	// Message has the cause and the remedy, a sentence each. It names no path of this machine: a model may pass it on.
	Message string
	// Detail is Message for a person, with paths. Empty means that Message is for people too.
	Detail string
	// Transient is true if the same call may work later.
	Transient bool
	// Caller is true if another call may work.
	Caller bool
	// NoProject is true if the directory of the call is in no project. A front can then say how to choose another.
	NoProject bool
	// Err is the cause for errors.Is and errors.As. Its text is not shown.
	Err error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

// ForPerson returns Detail, or Message if it is empty.
func (e *Error) ForPerson() string {
	if e.Detail != "" {
		return e.Detail
	}
	return e.Message
}

// Failure is a failure, declared in the spec, of a tool that answers in JSON.
type Failure struct {
	Code      string // a code of the spec
	Reason    string // the cause and the remedy, a sentence each
	Transient bool   // the same call may work later
}

func (e *Failure) Error() string { return e.Reason }

// Fixable returns an error that the caller can avoid with another call.
func Fixable(message string) *Error { return &Error{Message: message, Caller: true} }

// OutcomeOf returns the outcome of a call in JP's protocol for local tools, as a value for package json: success with
// content if err is nil, otherwise an error with the message of err. JP requires all members of an error.
func OutcomeOf(content string, err error) any {
	if err == nil {
		return struct {
			Type    string `json:"type"`
			Content string `json:"content"`
		}{"success", content}
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Message: err.Error()}
	}
	return struct {
		Type      string   `json:"type"`
		Message   string   `json:"message"`
		Trace     []string `json:"trace"`
		Transient bool     `json:"transient"`
	}{"error", e.Message, []string{}, e.Transient}
}

// JSON returns a value as JSON on one line, without escapes for HTML. A value that cannot be encoded is null.
func JSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null"
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Unserved returns the error for a tool without a handler in this program.
func Unserved(tool string) error {
	return &Error{Message: tool + " cannot be used here: this program has nothing that does its work. It is a fault of the program; another call will not help."}
}

// UnknownTool returns the error for a name of no tool. It suggests a name that is near, and lists the known ones.
func UnknownTool(name string, known []string) error {
	message := "There is no tool named " + text.Quote(name) + "."
	if meant := near.Name(name, known); meant != "" {
		message += " Did you mean " + meant + "?"
	}
	if len(known) > 0 {
		message += " Tools: " + strings.Join(known, ", ") + "."
	}
	return &Error{Message: message, Caller: true}
}
