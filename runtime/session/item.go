package session

import "strings"

// Item is one entry of a history.
type Item struct {
	Kind   Kind
	Origin Origin
	From   string // for a message of origin conv: the conversation that sent it
	Parts  []Part // of a message

	CallID    string // of a call and of its output
	Name      string // of a call, as the model wrote it
	Tool      Tool   // of a call and of its output
	Arguments string // of a call, as the model wrote them
	Content   string // of an output; for conv.* a JSON object
	Success   bool   // of an output

	Raw string // the provider's own form, for it to be replayed
}

// Kind is what an item is.
type Kind string

const (
	UserMessage  Kind = "user_message"
	AgentMessage Kind = "agent_message"
	Reasoning    Kind = "reasoning"
	ToolCall     Kind = "tool_call"
	ToolOutput   Kind = "tool_output"
)

// Origin is who an item comes from.
type Origin string

const (
	FromUser  Origin = "user"  // a submission
	FromConv  Origin = "conv"  // conv.create or conv.send of another conversation
	FromModel Origin = "model" // a response
	FromHost  Origin = "host"  // what the host adds for the model, or has in the place of a call from outside: not shown by conv.history
	FromTool  Origin = "tool"  // the output of a call
)

// message reports whether conv.history shows an item.
func (i Item) message() bool {
	return (i.Kind == UserMessage || i.Kind == AgentMessage) && i.Origin != FromHost
}

// text returns the texts of a message, each on lines of its own.
func (i Item) text() string {
	var texts []string
	for _, p := range i.Parts {
		if p.ImageURL == "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Part is a piece of a message: a text, or an image where the address is not empty.
type Part struct {
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"` // data:…, http://… or https://…
}

// Tool is a canonical name of a tool, whatever a provider calls it.
type Tool string

const (
	ConvCreate  Tool = "conv.create"
	ConvSend    Tool = "conv.send"
	ConvList    Tool = "conv.list"
	ConvHistory Tool = "conv.history"
	ConvDestroy Tool = "conv.destroy"
)

// Call is a tool call of a response, with arguments that have been decoded and validated, and files that have been read
// at the time of the call.
type Call struct {
	ID        string // unique in its response
	Name      string // as the model wrote it
	Arguments string // as the model wrote them
	Raw       string // the provider's own form
	Request   Request
}

// Request is what a call asks for: [Create], [Send], [List], [History], [Destroy], [Ordinary] or [Invalid].
type Request interface{ tool() Tool }

type (
	// Create is conv.create.
	Create struct {
		// ConversationID is the id of the new conversation, a UUID in lower case that none has had. The host picks it.
		ConversationID  string            `json:"conversation_id"`
		Base            *string           `json:"base,omitempty"` // the text, or the content of the file; nil inherits
		UserInstruction *string           `json:"user_instruction,omitempty"`
		Items           []Part            `json:"items,omitempty"`
		MCPAllowlist    []string          `json:"mcp_allowlist,omitzero"` // nil inherits, empty is none
		Internal        InternalOverrides `json:"internal,omitzero"`
		Title           string            `json:"title,omitempty"`
		Budget          Budget            `json:"budget,omitzero"` // at most; zero is all that the caller has left
	}
	// Send is conv.send.
	Send struct {
		ConversationID string  `json:"conversation_id"`
		Text           *string `json:"text,omitempty"`
		Items          []Part  `json:"items,omitempty"`
		Budget         Budget  `json:"budget,omitzero"` // as in Create
	}
	// List is conv.list.
	List struct{}
	// History is conv.history.
	History struct {
		ConversationID string `json:"conversation_id"`
		Limit          *int   `json:"limit,omitempty"` // the last entries; nil is all
	}
	// Destroy is conv.destroy.
	Destroy struct {
		ConversationID string `json:"conversation_id"`
	}
	// Ordinary is a call of any other tool, which the host runs.
	Ordinary struct {
		Tool Tool `json:"tool"`
	}
	// Invalid is a call that the host could not prepare: arguments that do not validate, a file that cannot be read.
	Invalid struct {
		Tool    Tool    `json:"tool"`
		Refusal Refusal `json:"refusal"`
	}
)

func (Create) tool() Tool     { return ConvCreate }
func (Send) tool() Tool       { return ConvSend }
func (List) tool() Tool       { return ConvList }
func (History) tool() Tool    { return ConvHistory }
func (Destroy) tool() Tool    { return ConvDestroy }
func (o Ordinary) tool() Tool { return o.Tool }
func (i Invalid) tool() Tool  { return i.Tool }

// isOrdinary reports whether the host runs the tool of a call.
func isOrdinary(c Call) bool {
	_, ok := c.Request.(Ordinary)
	return ok
}

// input returns the first input of a call's target: the text, then the items.
func input(text *string, items []Part) []Part {
	var parts []Part
	if text != nil {
		parts = append(parts, Part{Text: *text})
	}
	return append(parts, items...)
}
