// Package caller is what is known of the program that a call comes from, besides what
// it says of the conversation.
//
// It holds values alone. It looks nothing up, and knows no program by name: who knows
// how a program works can recognize by them which conversation calls.
package caller

import "time"

// Caller is what is known of a program that calls. Every field may be empty.
type Caller struct {
	// Tool is the name of the tool that is called, as the program spells it without the
	// name of the server, and Arguments are the JSON object it is called with. Empty
	// where no tool is called.
	Tool      string
	Arguments []byte
	// Meta is what the program sends along with the call: in MCP the _meta of the
	// request, as package json decodes it. nil where it sends nothing.
	Meta map[string]any
	// Client is the name that the program gives itself, in MCP.
	Client string
	// Process is how this process belongs to the program. What its environment says of
	// the program depends on it.
	Process Process
	// ParentPID is the process that started this one, Started is when, and Dir the
	// directory it was started in. They are zero unless Process is Server.
	ParentPID int
	Started   time.Time
	Dir       string
}

// Process is how a process belongs to the program that it takes calls from.
type Process uint8

// The ways a process belongs to a program.
const (
	// Foreign: the program did not start it, as far as is known. The environment says
	// nothing about the program.
	Foreign Process = iota
	// Server: the program started it to take calls as long as the program runs,
	// whatever conversation they are from.
	Server
	// Shell: it is a command in a shell, and may be one that the program runs for a
	// conversation.
	Shell
)
