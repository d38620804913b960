package session

import (
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/model"
)

// Item is one entry of a history: a model's item, with its origin and the request of a call.
type Item struct {
	Origin Origin `json:"origin,omitempty"`
	From   string `json:"from,omitempty"` // the conversation that sent a message of origin conv
	model.Item
	Request Request `json:"request,omitzero"` // of a call
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

// Origin is where an item comes from.
type Origin string

const (
	FromUser    Origin = "user"    // a submission
	FromConv    Origin = "conv"    // conv.create or conv.send of another conversation
	FromModel   Origin = "model"   // a response
	FromOutside Origin = "outside" // a program outside the session, for a call
	FromHost    Origin = "host"    // the host, for the model only: conv.history does not show it
	FromTool    Origin = "tool"    // the output of a call
)

// shown reports whether conv.history shows an item.
func (i Item) shown() bool {
	return (i.Kind == UserMessage || i.Kind == AgentMessage) && i.Origin != FromHost
}

// newMessage returns a message without a sender.
func newMessage(kind model.Kind, from Origin, parts []Part) Item {
	return Item{Item: model.Item{Kind: kind, Parts: parts}, Origin: from}
}

// The canonical names of the tools that sessions have themselves.
const (
	ConvCreate  = "conv.create"
	ConvSend    = "conv.send"
	ConvList    = "conv.list"
	ConvHistory = "conv.history"
	ConvDestroy = "conv.destroy"
)

// Request is the decoded arguments of a call, with the contents of the files that they name. At most one field is set:
// none for conv.list and for ordinary calls, and Refused if the host could not prepare the call.
type Request struct {
	Create  *Create  `json:"create,omitempty"`
	Send    *Send    `json:"send,omitempty"`
	History *History `json:"history,omitempty"`
	Destroy *Destroy `json:"destroy,omitempty"`
	Refused *Refusal `json:"refused,omitempty"`
}

type (
	// Create is the arguments of conv.create.
	Create struct {
		ConversationID  string        `json:"conversation_id"` // of the new conversation: a UUID in lower case, which the host picks
		Base            *string       `json:"base,omitempty"`  // the text, or the content of the file; nil inherits
		UserInstruction *string       `json:"user_instruction,omitempty"`
		Items           []Part        `json:"items,omitempty"`
		MCPAllowlist    []string      `json:"mcp_allowlist,omitzero"` // nil inherits, empty is none
		Internal        InternalTools `json:"internal,omitzero"`
		Title           string        `json:"title,omitempty"`
		Budget          Budget        `json:"budget,omitzero"` // at most; zero is all that the caller has left
	}
	// Send is the arguments of conv.send.
	Send struct {
		ConversationID string  `json:"conversation_id"`
		Text           *string `json:"text,omitempty"`
		Items          []Part  `json:"items,omitempty"`
		Budget         Budget  `json:"budget,omitzero"` // as in Create
	}
	// History is the arguments of conv.history.
	History struct {
		ConversationID string `json:"conversation_id"`
		Limit          *int   `json:"limit,omitempty"` // the last entries; nil is all
	}
	// Destroy is the arguments of conv.destroy.
	Destroy struct {
		ConversationID string `json:"conversation_id"`
	}
)

// Sent returns what a call of conv.create or conv.send sends to its target. ok is false for a request of another tool.
func (r Request) Sent() (sent Send, ok bool) {
	switch c := r.Create; {
	case c != nil:
		return Send{ConversationID: c.ConversationID, Text: c.UserInstruction, Items: c.Items, Budget: c.Budget}, true
	case r.Send != nil:
		sent = *r.Send
		sent.ConversationID = strings.ToLower(sent.ConversationID) // a model writes this id; that of Create is in lower case already
		return sent, true
	}
	return Send{}, false
}

// Target returns the id of the conversation to which a call of conv.create or conv.send sends, and "" for another item.
func (i Item) Target() string {
	sent, _ := i.Request.Sent()
	return sent.ConversationID
}

// parts returns the message that the target gets: the text, if there is one, and then the items.
func (s Send) parts() (parts []Part) {
	if s.Text != nil {
		parts = append(parts, Part{Text: *s.Text})
	}
	return append(parts, s.Items...)
}

// ordinary reports whether the host runs the tool of a call: the call is not refused, and its tool not one of sessions.
func (i Item) ordinary() bool { return i.Request == Request{} && !IsOwnTool(i.Name) }

// IsOwnTool reports whether a tool is one that sessions carry out themselves.
func IsOwnTool(tool string) bool {
	return slices.Contains([]string{ConvCreate, ConvSend, ConvList, ConvHistory, ConvDestroy}, tool)
}
