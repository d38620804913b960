package session

import (
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// Item is one entry of a history. It is in the log as it is in memory: what models know of it, who it comes from and,
// for a call, what that asks for.
type Item struct {
	Origin Origin `json:"origin,omitempty"`
	From   string `json:"from,omitempty"` // for a message of origin conv: the conversation that sent it
	model.Item
	Request Request `json:"request,omitzero"` // of a call of conv.*; a call of any other tool has none
}

// Part is a piece of a message.
type Part = model.Part

// The kinds of items.
const (
	UserMessage  = model.UserMessage
	AgentMessage = model.AgentMessage
	Reasoning    = model.Reasoning
	ToolCall     = model.ToolCall
	ToolOutput   = model.ToolOutput
)

// Origin is who an item comes from.
type Origin string

const (
	FromUser    Origin = "user"    // a submission
	FromConv    Origin = "conv"    // conv.create or conv.send of another conversation
	FromModel   Origin = "model"   // a response
	FromOutside Origin = "outside" // a call of a program outside of the session
	FromHost    Origin = "host"    // what the host adds for the model: not shown by conv.history
	FromTool    Origin = "tool"    // the output of a call
)

// message reports whether conv.history shows an item.
func (i Item) message() bool {
	return (i.Kind == UserMessage || i.Kind == AgentMessage) && i.Origin != FromHost
}

func message(kind model.Kind, from Origin, parts []Part) Item {
	return Item{Item: model.Item{Kind: kind, Parts: parts}, Origin: from}
}

// The tools that sessions have themselves, by their canonical names.
const (
	ConvCreate  = "conv.create"
	ConvSend    = "conv.send"
	ConvList    = "conv.list"
	ConvHistory = "conv.history"
	ConvDestroy = "conv.destroy"
)

// Request is what a call of one of these tools asks for, with arguments that have been decoded and validated, and files
// that have been read at the time of the call. One field is set; conv.list has none. A call of another tool has none
// either: the host runs it by its name and arguments. Refused is a call of any tool that the host could not prepare.
type Request struct {
	Create  *Create  `json:"create,omitempty"`
	Send    *Send    `json:"send,omitempty"`
	History *History `json:"history,omitempty"`
	Destroy *Destroy `json:"destroy,omitempty"`
	Refused *Refusal `json:"refused,omitempty"`
}

type (
	// Create is conv.create.
	Create struct {
		// ConversationID is the id of the new conversation, a UUID in lower case that none has had. The host picks it.
		ConversationID  string        `json:"conversation_id"`
		Base            *string       `json:"base,omitempty"` // the text, or the content of the file; nil inherits
		UserInstruction *string       `json:"user_instruction,omitempty"`
		Items           []Part        `json:"items,omitempty"`
		MCPAllowlist    []string      `json:"mcp_allowlist,omitzero"` // nil inherits, empty is none
		Internal        InternalTools `json:"internal,omitzero"`
		Title           string        `json:"title,omitempty"`
		Budget          Budget        `json:"budget,omitzero"` // at most; zero is all that the caller has left
	}
	// Send is conv.send.
	Send struct {
		ConversationID string  `json:"conversation_id"`
		Text           *string `json:"text,omitempty"`
		Items          []Part  `json:"items,omitempty"`
		Budget         Budget  `json:"budget,omitzero"` // as in Create
	}
	// History is conv.history.
	History struct {
		ConversationID string `json:"conversation_id"`
		Limit          *int   `json:"limit,omitempty"` // the last entries; nil is all
	}
	// Destroy is conv.destroy.
	Destroy struct {
		ConversationID string `json:"conversation_id"`
	}
)

// Sent returns what a call of conv.create or conv.send sends, as the latter has it, and reports whether it is one.
func (r Request) Sent() (sent Send, ok bool) {
	switch c := r.Create; {
	case c != nil:
		return Send{ConversationID: c.ConversationID, Text: c.UserInstruction, Items: c.Items, Budget: c.Budget}, true
	case r.Send != nil:
		sent = *r.Send
		sent.ConversationID = strings.ToLower(sent.ConversationID)
		return sent, true
	}
	return Send{}, false
}

// Target returns the conversation that a call of conv.create or conv.send asks, and an empty id for another item.
func (i Item) Target() string {
	sent, _ := i.Request.Sent()
	return sent.ConversationID
}

// input returns the first input of the target: the text, then the items.
func (s Send) input() (parts []Part) {
	if s.Text != nil {
		parts = append(parts, Part{Text: *s.Text})
	}
	return append(parts, s.Items...)
}

// ordinary reports whether the host runs the tool of a call.
func (i Item) ordinary() bool { return i.Request == Request{} && !Own(i.Name) }

// Own reports whether a tool is one of the five that sessions have themselves.
func Own(tool string) bool {
	return slices.Contains([]string{ConvCreate, ConvSend, ConvList, ConvHistory, ConvDestroy}, tool)
}
