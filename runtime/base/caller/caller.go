// Package caller describes the program that a call comes from.
//
// It has values only. It looks nothing up and knows no program by name; the stores of a program recognize the calling
// conversation by them.
package caller

import "time"

// Caller describes a program that calls. Every field may be empty.
type Caller struct {
	// Tool is the name of the called tool, as the program spells it without the name of the server, and Arguments are
	// the JSON object of its arguments. Both are empty if no tool is called.
	Tool      string
	Arguments []byte
	// Meta is the _meta of the request in MCP, as package json decodes it, or nil.
	Meta map[string]any
	// Client is the name that the program gives itself, in MCP.
	Client string
	// Process is the relation of this process to the program. The meaning of its environment depends on it.
	Process Process
	// ParentPID is the process that started this one, Started the time, Dir the directory; for a Server only.
	ParentPID int
	Started   time.Time
	Dir       string
}

// Process is the relation of a process to the program that calls it.
type Process uint8

// The relations.
const (
	// Foreign: the program did not start the process, as far as is known, and the environment does not tell of it.
	Foreign Process = iota
	// Server: the program started the process to take calls of any conversation, as long as the program runs.
	Server
	// Shell: the process is a command in a shell, which the program may run for a conversation.
	Shell
)
