// Package contract holds the types that cross the boundary between a host, the
// generated dispatcher and the code that does a tool's work: a call, its
// context, and the two classes of error a caller can get.
//
// It depends on the standard library alone and never does any work itself: it
// runs nothing, reads nothing and knows no tool by name.
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

// Context is what the host says about the place a call comes from. Every field
// may be empty: hosts differ in what they tell.
type Context struct {
	// ConversationID is the conversation the call is made from, as the host
	// spells it. Empty means unknown, and nothing can be left out because of it.
	ConversationID string
	// Kin reports that those which the conversation was begun from, and was forked from, are left out with it.
	Kin bool
	// Dir is the directory the workspace is looked for from.
	Dir string
	// Caller is what else is known of the program that calls.
	Caller caller.Caller
	// Ends reports that this process ends with the call: nothing of it can go on behind the answer.
	Ends bool
}

// Call is one request to run a tool.
type Call struct {
	Tool      string
	Arguments []byte // one JSON object; empty counts as {}
	Context   Context
	// Notes are remarks that the answer has to carry, such as the repairs made
	// to the arguments. The dispatcher adds to them before a handler sees the
	// call, so that a handler can count them towards its size cap.
	Notes []string
}

// Renamed returns a call by a former name as a call by the tool's own, with a note that
// tells the caller. until is the day up to which the former name works for sure.
func (c Call) Renamed(name, until string) Call {
	c.Notes = append(slices.Clip(c.Notes), c.Tool+" is now called "+name+"; the old name works until "+until+".")
	c.Tool = name
	return c
}

// Noted returns an answer in text with the notes of the call that it does not carry by itself.
func (c Call) Noted(answer string) string {
	for _, note := range c.Notes {
		if !strings.Contains(answer, note) {
			answer += "\n\nNote: " + note
		}
	}
	return answer
}

// Tool describes one tool to a host. It is a value: who knows more about a tool
// at run time, such as what it can be asked for, says so in a copy.
type Tool struct {
	Name        string
	Title       string   // its name for people
	Aliases     []string // other names it answers to: as hosts without dots write it, and former ones
	Summary     string
	Description string      // paragraphs behind the summary, rules between parameters included
	Keywords    string      // what a model would search for that should find it; may be empty
	Effect      string      // "read" or "write"
	InputSchema string      // JSON Schema 2020-12, as text
	Parameters  []Parameter // in the order they are declared
	Rules       []Rule
	OpenWorld   bool   // it may reach more than this machine
	Structured  bool   // its answer is JSON for programs as well, an object
	Example     string // the arguments of a call that works, as JSON; empty where none is known
	MaxChars    int    // most characters of an answer; 0: no cap of its own
	Plain       bool   // an answer in JSON that succeeds has its fields alone, and no ok
}

// AnswersTo reports whether the tool can be called by a name.
func (t Tool) AnswersTo(name string) bool { return t.Name == name || slices.Contains(t.Aliases, name) }

// SearchHint is the key in the _meta of an MCP tool under which Claude Code looks for keywords when its model searches for tools.
const SearchHint = "anthropic/searchHint"

// Text is what a host shows a model of the tool, beside its schema.
func (t Tool) Text() string { return t.Summary + ".\n\n" + t.Description }

// File is a file that makes tools known to a host, such as a definition of JP's.
type File struct {
	Path string // slash-separated, relative to the root of the project
	Text string
}

// Files returns the files of a folder that a program embeds, sorted by path.
func Files(fsys fs.FS, folder string) []File {
	var files []File
	// An embedded file can always be read.
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

// Error is a failure that arguments cannot be blamed for by shape: an unknown
// id, a range that does not exist, a program that did not answer.
type Error struct {
	// Message is one sentence with the cause and one with the remedy. It names no
	// place on the user's machine: that is nothing for a model, nor for what it
	// passes on.
	Message string
	// Detail is Message for a person, who has to find what is wrong, with the
	// places in it. Empty means that Message is for people too.
	Detail string
	// Transient reports whether the same call may work later.
	Transient bool
	// Caller reports whether the caller can put it right by calling differently.
	Caller bool
	// NoProject reports that the directory the call comes from belongs to no
	// project: a front that chose the directory can say how to choose another.
	NoProject bool
	// Err is the cause for errors.Is and errors.As; its text is not shown.
	Err error
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

// ForPerson returns the message for a person.
func (e *Error) ForPerson() string {
	if e.Detail != "" {
		return e.Detail
	}
	return e.Message
}

// Failure is how a tool that answers in JSON fails in a way that its spec declares.
type Failure struct {
	Code      string // one of those in the spec
	Reason    string // one sentence with the cause and one with the remedy
	Transient bool   // the same call may work later
}

func (e *Failure) Error() string { return e.Reason }

// Fixable returns an error that the caller can put right with another call.
func Fixable(message string) *Error { return &Error{Message: message, Caller: true} }

// OutcomeOf returns what JP's local tool protocol wants on standard output for an
// answer or a failure, as a value for package json. JP refuses an error without
// all of its members; needs_input exists there as well, and no tool here asks
// questions.
func OutcomeOf(content string, err error) any {
	if err == nil {
		return struct {
			Type    string `json:"type"`
			Content string `json:"content"`
		}{"success", content}
	}
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Message: err.Error()}
	}
	return struct {
		Type      string   `json:"type"`
		Message   string   `json:"message"`
		Trace     []string `json:"trace"`
		Transient bool     `json:"transient"`
	}{"error", e.Message, []string{}, e.Transient}
}

// marshal writes JSON without escaping < and >: envelopes are full of them, and
// nothing here ends up in HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Unserved is the error for a tool that this program was given nobody to do the
// work of.
func Unserved(tool string) error {
	return &Error{Message: tool + " cannot be used here: this program has nothing that does its work. It is a fault of the program; another call will not help."}
}

// UnknownTool is the error for a tool name that no spec declares.
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
