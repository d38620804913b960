// Package model is what language models are asked and what they answer, in the words of no provider: a [Request] with
// the history of a conversation and the tools that are offered, and a [Response] with items to add to that history.
//
// Packages below this one ask models: provider speaks the HTTP interfaces of providers, program runs a command, script
// follows a file. Package configured opens those that the configuration names. A history that one model has
// answered can be given to another one, of another interface.
//
// The package must never know what a conversation, a session or a tool is for, and never do I/O.
package model

import (
	"bytes"
	"context"
	"encoding/json"
)

// Model answers one request at a time. Its methods may be called from several goroutines at once.
type Model interface {
	// Sample returns the response to a request, read to its end. delta is called with the pieces of the messages as they
	// arrive, from the goroutine of Sample, and may be nil. Where the error is not nil, the pieces are void and the
	// response has nothing but the usage, as far as that is known. The error is an [*Error], or that of a context which
	// has ended; nothing of the request goes on once Sample has returned.
	Sample(ctx context.Context, r Request, delta func(text string)) (Response, error)
}

// Request is one request to a model.
type Request struct {
	// Instructions is what the model is told before the history. Nil is what the provider does by default; an empty text
	// is none.
	Instructions *string
	// Items is the history, the oldest item first. Each call in it is followed by its output before the next message, and
	// the last item is a message of the user or an output.
	Items []Item
	// Tools is what the model may call, in this order. See [NamesOf].
	Tools []Tool
	// WebSearch offers the provider's own search, where the configured model has one.
	WebSearch bool
	// MaxOutputTokens limits the response, with its reasoning. 0 is the limit of the configuration.
	MaxOutputTokens int64
	// CacheKey is equal for requests of which each begins as the one before, such as those of one conversation.
	CacheKey string
}

// Item is one entry of a history. Its JSON form is that of the logs of sessions.
type Item struct {
	Kind  Kind  `json:"kind,omitempty"`
	Parts Parts `json:"text,omitempty"` // of a message

	CallID    string `json:"call_id,omitempty"`   // of a call and of its output; a model may use one again in a later response
	Name      string `json:"tool,omitempty"`      // of a call, the canonical one; of a tool that was not offered, as the model wrote it
	Wire      string `json:"name,omitempty"`      // of a call, as the model wrote it: NAME, or NAMESPACE.NAME
	Arguments string `json:"arguments,omitempty"` // of a call, as the model wrote them: JSON, unless the model was wrong
	Output    string `json:"content,omitempty"`   // of an output
	Failed    bool   `json:"failed,omitempty"`    // of an output: the tool could not do what was asked

	// Raw is the provider's own form of an item of a response. A model replays it where the same model of the same
	// interface wrote it, and ignores it otherwise; what stands in it belongs to package provider.
	Raw string `json:"raw,omitempty"`
}

// Kind is what an item is.
type Kind string

const (
	UserMessage  Kind = "user_message"
	AgentMessage Kind = "agent_message" // the model's own
	Reasoning    Kind = "reasoning"     // what the model thought, in Raw alone
	ToolCall     Kind = "tool_call"
	ToolOutput   Kind = "tool_output"
)

// Part is a piece of a message: a text, or an image where the address is not empty.
type Part struct {
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"` // data:…, http://… or https://…
}

// Parts is the pieces of a message. In JSON, a single text is a string, and anything else a list.
type Parts []Part

// MarshalJSON implements [json.Marshaler].
func (p Parts) MarshalJSON() ([]byte, error) {
	if len(p) == 1 && p[0].ImageURL == "" {
		return JSON(p[0].Text)
	}
	return JSON([]Part(p))
}

// JSON returns v as JSON on one line, with text as it is: some models would read the escapes of <, > and &.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Parts) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*p = Parts{{}}
		return json.Unmarshal(data, &(*p)[0].Text)
	}
	return json.Unmarshal(data, (*[]Part)(p))
}

// Text returns a message's item with one text.
func Text(kind Kind, text string) Item { return Item{Kind: kind, Parts: []Part{{Text: text}}} }

// Text returns the texts of a message, each on lines of its own.
func (i Item) Text() string {
	text := ""
	for n, p := range i.Parts {
		if n > 0 && text != "" && p.Text != "" {
			text += "\n"
		}
		text += p.Text
	}
	return text
}

// Tool is a tool that the model may call.
type Tool struct {
	// Name is the canonical name: up to 128 of A-Z a-z 0-9 _ - . as MCP allows. A part before the first dot is a
	// namespace for the providers that have these.
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON Schema of type object
}

// Response is what a model answered.
type Response struct {
	// Items has messages, calls and reasoning, in the order in which the model wrote them. The ids of the calls are not
	// empty and differ.
	Items []Item
	Usage Usage
}

// Usage is the tokens of a response: those of the input with what was cached, those of the output with reasoning.
type Usage struct{ InputTokens, OutputTokens int64 }
