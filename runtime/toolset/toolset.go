// Package toolset says what a family of tools is, and holds the families that a
// program has. It is the one seam between what tools do and the hosts they are
// served to: every front (call, tools, jp-tool, mcp, doctor, install, completion,
// help) iterates over families and knows none by name.
//
// It never does the work of a tool, never words an answer, and never reads or
// writes anything by itself: what a family warns of is the family's.
package toolset

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
)

// Host is what families take from the process they run in. Fronts fill it in
// before any function of a family is called; from then on nobody changes it.
type Host struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal reports whether Stdout is a terminal, and Width and Height are its numbers
	// of columns and of lines; 0 where they are not known.
	Terminal      bool
	Width, Height int
	// Getenv looks up the environment.
	Getenv func(string) string
	// Now is the clock.
	Now func() time.Time
	// Name is what this program is called on command lines, Title is its name for people,
	// and Entry the one that hosts register it by, where that is not Name.
	Name, Title, Entry string
	// Version is the version of this program.
	Version string
	// JPFiles are the files that make its tools known to JP; none where it has no
	// definitions for JP.
	JPFiles []contract.File
	// DirUsage and ConversationUsage say what --workspace and --conversation-id mean, as
	// package pflag has it. Empty says what is true of every program.
	DirUsage, ConversationUsage string
	// Dir is where the project is looked for, upwards: --workspace, which may be
	// the id of a workspace too. Empty means the working directory. A call may
	// come from elsewhere, see [contract.Context].
	Dir string
	// ConversationID is the conversation that calls, as it was given.
	ConversationID string
	// Warned has what [Host.WarnOnce] has written; where it is nil, nothing is remembered.
	Warned *sync.Map
	// Only are the names of the tools that are served; none stand for all.
	Only []string
}

// WarnOnce writes on standard error what a person who runs this program should know, a
// sentence, unless it was written before.
func (h *Host) WarnOnce(sentence string) {
	if h.Stderr == nil {
		return
	}
	if h.Warned != nil {
		if _, before := h.Warned.LoadOrStore(sentence, true); before {
			return
		}
	}
	fmt.Fprintf(h.Stderr, "warning: %s\n", text.Line(sentence)) // there is nowhere to report an error to
}

// Variable returns the name of an environment variable that belongs to a program, such
// as CONVTOOLS_CLI.
func Variable(program, name string) string {
	return strings.ToUpper(strings.ReplaceAll(program, "-", "_")) + "_" + name
}

// Family is a set of tools with everything a host may want to know of them. Only
// Name, Declared and Call have to be set.
type Family struct {
	// Name is the family's name, such as "conversation".
	Name string
	// Declared returns all tools of the family, whether or not they can be of use
	// here: who calls one by name is told why it cannot help.
	Declared func() []contract.Tool
	// Offered returns the tools that an assistant is offered at the moment, with
	// their descriptions of the moment. nil stands for all that are declared. It
	// stops when its context is done.
	Offered func(context.Context) []contract.Tool
	// Call runs a tool. It stops when its context is done. An error is a
	// [*contract.Error] or a [*contract.InvalidArguments] where a model can be
	// told what is wrong.
	Call func(context.Context, contract.Call) (string, error)
	// CallStructured runs a tool as Call does, one of those that HasStructured names, and
	// returns an answer for programs, one JSON value. nil stands for none.
	CallStructured func(context.Context, contract.Call) (string, error)
	HasStructured  []string
	// Version returns a value that changes when Offered, or the list of resources,
	// may have changed. It is asked again and again while a server runs, so it has
	// to be cheap. nil stands for a family that stays what it is.
	Version func(context.Context) string
	// Instructions returns what a host's system prompt is to say about the tools,
	// in plain paragraphs. where is what is known of the calls to come. Hosts cut
	// what they get at 2,048 characters, all families together.
	Instructions func(ctx context.Context, where contract.Context) string
	// Prompt returns what a system prompt is to say besides Instructions where this program writes it itself, as for the
	// conversations of sessions. It may be long. nil stands for nothing.
	Prompt func(ctx context.Context, where contract.Context) string
	// Closing returns what the instructions of all families together end with. nil
	// stands for nothing.
	Closing func(ctx context.Context, where contract.Context) string
	// Arguments returns the values that an argument of a tool may have that begin
	// with prefix, for people who type a call; given has the arguments before it.
	Arguments func(ctx context.Context, tool, argument, prefix string, given map[string]string) []string
	// Examples are calls for people to try, as convtools call takes them.
	Examples []string
	// CheckConversationID returns what is wrong with an id for the conversation
	// that calls; nil accepts everything.
	CheckConversationID func(id string) error
	// Resources are what can be read by an address.
	Resources []Resources
	// Prompts are what a person can pick to start a common journey.
	Prompts []Prompt
	// Background is what a server does beside its calls. It returns once its context is
	// done. nil stands for nothing.
	Background func(context.Context)
	// Checks looks at what the family depends on.
	Checks func(context.Context) []Check
	// Reads returns what of the user's own the tools will read, and where, for the user
	// to know before this program is registered with a host: a sentence. nil stands for
	// nothing.
	Reads func(context.Context) string
	// Variables are the names of variables of the environment that the tools find things
	// by, for hosts that start servers with nearly none.
	Variables []string
	// Flags are the settings of the family.
	Flags []Flag
	// Project returns the root of the project that a directory belongs to. The
	// error is for a person: why there is none. dir may be anything --workspace
	// takes. nil stands for a family that knows of no projects.
	Project func(dir string) (root string, err error)
	// Commands returns the family's commands for people.
	Commands func() []*cobra.Command
	// Close ends what calls have left running. It is called once, when the program ends. nil stands for nothing.
	Close func()
}

// Resources are addresses of one form and what is found there.
type Resources struct {
	Name, Title, Description string
	// MIMEType is the type of all of them; empty where they differ.
	MIMEType string
	// Template is the form of an address, such as "kb://{topic}/{slug}"; its
	// scheme belongs to these resources alone.
	Template string
	// List returns a page of at most limit resources behind a cursor that an
	// earlier page ended with, and the cursor behind it; empty where there are no
	// more. A cursor that is not one is a caller's error. nil stands for resources
	// that are not listed.
	List func(ctx context.Context, cursor string, limit int) (page []Resource, next string, err error)
	// Version returns a value that changes when the list may have changed, as that of
	// the family does, which counts where this is nil.
	Version func(context.Context) string
	// Read returns what is found at an address. One that leads nowhere is a
	// [*NotFoundError].
	Read func(ctx context.Context, where contract.Context, uri string) (Contents, error)
	// Complete returns the values of a variable of the template that begin with
	// prefix; given has the variables before it. nil stands for none.
	Complete func(ctx context.Context, variable, prefix string, given map[string]string) ([]string, error)
}

// Resource is one of the listed resources.
type Resource struct {
	URI, Name, Title, Description, MIMEType string
}

// Contents is what is found at an address.
type Contents struct {
	Text, MIMEType string
}

// NotFoundError is the error for an address that leads nowhere.
type NotFoundError struct {
	URI    string
	Reason string // one or more sentences, for a model
}

func (e *NotFoundError) Error() string { return "resource not found: " + e.Reason }

// Prompt is a message of a person's to an assistant, with places to fill in.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	// Write returns the message. Arguments are trimmed, and those that are
	// required are there.
	Write func(arguments map[string]string) (string, error)
}

// PromptArgument is a place to fill in.
type PromptArgument struct {
	Name, Description string
	Required          bool
	// Words marks one that takes several words.
	Words bool
	// Check returns what is wrong with a value, as the end of a sentence; empty
	// where nothing is. nil accepts everything.
	Check func(value string) (problem string)
	// Complete returns the values that begin with prefix. nil stands for none.
	Complete func(ctx context.Context, prefix string) ([]string, error)
}

// Flag is a setting of a family that people give on the command line. Fronts that
// call tools take it, and install writes it into what it registers.
type Flag struct {
	Name, Shorthand string
	// Usage says what it is for; the name of its value stands in back quotes, as
	// package pflag has it.
	Usage string
	// Switch marks a flag without a value; others take one, and may be repeated.
	Switch bool
	// Tools are the names of the tools it counts for.
	Tools []string
	// OneProject is what of a single project the flag is about, such as "a topic";
	// empty for one that means the same in all of them.
	OneProject string
	// Set takes a value each time the flag is given, "true" or "false" for a switch.
	Set func(value string) error
	// Check returns what is wrong with all that was given. It is called once, when
	// the host is complete, and only if the flag was given. nil checks nothing.
	Check func() error
	// Complete returns the values that begin with prefix. nil stands for none.
	Complete func(ctx context.Context, prefix string) []string
	// Serving is what the help of a command that serves tools says of the flag, a
	// paragraph of lines. Empty says nothing.
	Serving string
	// Advice returns what a person has to do besides registering with the flag, a
	// sentence each. jp reports whether the host is JP. nil stands for nothing.
	Advice func(jp bool) []string
}

// Status says how something is.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Warning Status = "warning" // works here and now, and may not elsewhere
	Problem Status = "problem"
	Off     Status = "off" // not in use, which is no problem
)

// Check is one finding about what a family depends on.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`  // what to do about a warning or a problem, or to switch on what is off
	Hint   string `json:"hint,omitempty"` // what to know, once it works
}
