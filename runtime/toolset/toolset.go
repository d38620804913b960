// Package toolset defines a family of tools and the registry of a program's families. Every front (call, tools,
// jp-tool, mcp, doctor, install, completion, help) works with families through it and knows none by name.
//
// It never does the work of a tool, words an answer, or reads or writes files.
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

// Host describes the process and the caller to families. It does not change after the first call of a family.
type Host struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal reports whether Stdout is a terminal. Width and Height are its columns and lines, or 0 if unknown.
	Terminal      bool
	Width, Height int
	// Getenv returns a variable of the environment.
	Getenv func(string) string
	// Now returns the time.
	Now func() time.Time
	// Name is the program's name on command lines, Title its name for people, and Entry its name at hosts if that is
	// not Name.
	Name, Title, Entry string
	// Version is the version of this program.
	Version string
	// JPFiles are the files that define the tools for JP, or none.
	JPFiles []contract.File
	// DirUsage and ConversationUsage are the usages of --workspace and --conversation-id; empty means a general one.
	DirUsage, ConversationUsage string
	// Dir is the directory or workspace id of --workspace; the project is looked for upwards from it. Empty means the
	// working directory. A call may have another, see [contract.Context].
	Dir string
	// ConversationID is the calling conversation's id, as given.
	ConversationID string
	// Warned has the sentences that [Host.WarnOnce] has written. If it is nil, WarnOnce repeats them.
	Warned *sync.Map
	// Only are the names of the tools that are served; empty means all.
	Only []string
}

// WarnOnce writes a sentence to standard error as a warning, unless it has been written before.
func (h *Host) WarnOnce(sentence string) {
	if h.Stderr == nil {
		return
	}
	if h.Warned != nil {
		if _, before := h.Warned.LoadOrStore(sentence, true); before {
			return
		}
	}
	fmt.Fprintf(h.Stderr, "warning: %s\n", text.Line(sentence)) // an error cannot be reported anywhere
}

// Variable returns the name of a program's environment variable, such as CONVTOOLS_CLI.
func Variable(program, name string) string {
	return strings.ToUpper(strings.ReplaceAll(program, "-", "_")) + "_" + name
}

// Family is a set of tools and what hosts may want to know about them. Only Name, Declared and Call have to be set; a
// nil function or an empty list means that the family has no such thing.
type Family struct {
	// Name is the family's name, such as "conversation".
	Name string
	// Declared returns all tools of the family, also those that are not offered now.
	Declared func() []contract.Tool
	// Offered returns the tools that are offered now, with their current descriptions. nil means all declared tools.
	Offered func(context.Context) []contract.Tool
	// Call runs a tool. An error for the model is a [*contract.Error] or a [*contract.InvalidArguments].
	Call func(context.Context, contract.Call) (string, error)
	// CallStructured runs one of the tools in HasStructured and returns one JSON value, for programs.
	CallStructured func(context.Context, contract.Call) (string, error)
	HasStructured  []string
	// Version returns a value that changes when the result of Offered, or the list of resources, may have changed. It
	// is called often and has to be cheap. nil means that nothing changes.
	Version func(context.Context) string
	// Instructions returns the paragraphs about the tools for a host's system prompt. where is what is known of the
	// calls to come. Hosts cut the text of all families together at 2,048 characters.
	Instructions func(ctx context.Context, where contract.Context) string
	// Prompt returns more text for a system prompt that this program writes itself, as in sessions. It may be long.
	Prompt func(ctx context.Context, where contract.Context) string
	// Closing returns the end of the instructions of all families together.
	Closing func(ctx context.Context, where contract.Context) string
	// Arguments returns the values of an argument that begin with prefix. given has the arguments before it.
	Arguments func(ctx context.Context, tool, argument, prefix string, given map[string]string) []string
	// Examples are calls for people to try, as the command call takes them.
	Examples []string
	// CheckConversationID returns what is wrong with an id of the calling conversation.
	CheckConversationID func(id string) error
	// Resources are what can be read by an address.
	Resources []Resources
	// Prompts are the prompts that a person can pick.
	Prompts []Prompt
	// Background is the work of a server between calls. It returns when its context is done.
	Background func(context.Context)
	// Checks looks at what the family depends on.
	Checks func(context.Context) []Check
	// Reads returns a sentence that says which data of the user the tools will read, shown before installation.
	Reads func(context.Context) string
	// Variables are the environment variables that the tools read, for hosts that start servers with few.
	Variables []string
	// Flags are the family's settings on command lines.
	Flags []Flag
	// Project returns the root of the project of a directory, or of another value of --workspace.
	Project func(dir string) (root string, err error)
	// Pages are what people see of the family in a browser.
	Pages []Page
	// Commands returns the family's commands for people.
	Commands func() []*cobra.Command
	// Close stops what calls have left running. It is called once, when the program ends.
	Close func()
}

// Resources are addresses of one form and their contents.
type Resources struct {
	Name, Title, Description string
	// MIMEType is the type of all contents; empty if they differ.
	MIMEType string
	// Template is the form of an address, such as "kb://{topic}/{slug}". No other resources may have its scheme.
	Template string
	// List returns at most limit resources after a cursor, and the next cursor, which is empty at the end. An invalid
	// cursor is a caller's error. nil means that the resources are not listed.
	List func(ctx context.Context, cursor string, limit int) (page []Resource, next string, err error)
	// Version is [Family].Version for the list alone; nil means that of the family.
	Version func(context.Context) string
	// Read returns the contents of an address. The error for one that does not exist is a [*NotFoundError].
	Read func(ctx context.Context, where contract.Context, uri string) (Contents, error)
	// Complete returns the values of a template variable that begin with prefix; given has the earlier variables. It
	// may be nil.
	Complete func(ctx context.Context, variable, prefix string, given map[string]string) ([]string, error)
}

// Resource is one of the listed resources.
type Resource struct {
	URI, Name, Title, Description, MIMEType string
}

// Contents are the contents of an address.
type Contents struct {
	Text, MIMEType string
}

// NotFoundError is the error for an address that does not exist.
type NotFoundError struct {
	URI    string
	Reason string // one or more sentences, for a model
}

func (e *NotFoundError) Error() string { return "resource not found: " + e.Reason }

// Page is a part of a family for people to look at.
type Page struct {
	Name, Title string // Name is for addresses: lower-case letters
	// Show returns the items that there are now. The error is for a person.
	Show func(ctx context.Context, where contract.Context) ([]Item, error)
	// Version returns a value that changes with the result of Show. It is called often and has to be cheap. nil means
	// that the page does not change by itself.
	Version func(ctx context.Context, where contract.Context) string
	// Empty says what to do if there is no item: a sentence.
	Empty string
}

// Item is a thing on a [Page], with the things below it. Its texts need not be safe to show.
type Item struct {
	Title  string
	State  string // a word or two, such as "running"
	Status Status // of the state
	Facts  []string
	Text   string // of several lines
	// URI is the address of a resource of the family that is the content of the item; empty for none.
	URI   string
	Below []Item
}

// Prompt is a message from a person to an assistant, with arguments to fill in.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	// Write returns the message. Arguments are trimmed, and all required ones are present.
	Write func(arguments map[string]string) (string, error)
}

// PromptArgument is an argument of a [Prompt].
type PromptArgument struct {
	Name, Description string
	Required          bool
	// Words is true for an argument of several words.
	Words bool
	// Check returns what is wrong with a value, as the end of a sentence, or an empty string. It may be nil.
	Check func(value string) (problem string)
	// Complete returns the values that begin with prefix. nil stands for none.
	Complete func(ctx context.Context, prefix string) ([]string, error)
}

// Flag is a setting of a family on the command line. Fronts that call tools take it, and install registers it.
type Flag struct {
	Name, Shorthand string
	// Usage is the usage as package pflag has it, with the name of the value in back quotes.
	Usage string
	// Switch is true for a flag without a value. Other flags may be repeated.
	Switch bool
	// Tools are the names of the tools that the flag is for.
	Tools []string
	// OneProject names the thing of a single project that the flag is about, such as "a topic", or is empty.
	OneProject string
	// Set is called with each value, and with "true" or "false" for a switch.
	Set func(value string) error
	// Check returns what is wrong with all values. It is called once, if the flag was given, when the host is
	// complete. It may be nil.
	Check func() error
	// Complete returns the values that begin with prefix. nil stands for none.
	Complete func(ctx context.Context, prefix string) []string
	// Serving is the paragraph about the flag in the help of commands that serve tools, or empty.
	Serving string
	// Advice returns what a person has to do besides registering, a sentence each, or is nil. jp is true for JP.
	Advice func(jp bool) []string
}

// Status says how something is.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Warning Status = "warning" // it works now, but may not elsewhere
	Problem Status = "problem"
	Off     Status = "off" // not in use; no problem
)

// Check is one finding about what a family depends on.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"`  // how to mend a warning or problem, or to switch on what is off
	Hint   string `json:"hint,omitempty"` // worth knowing if it works
}
