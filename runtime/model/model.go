// Package model defines requests to language models and their responses, independent of any provider. A [Request] has
// the history of a conversation and the tools that the model may call; a [Response] has the next items of the history.
// Models of different providers can take turns in one history.
//
// Packages provider (HTTP), program (a command) and script (a file) implement [Model]. Package configured opens them.
//
// The package does no I/O and knows nothing of sessions and of what tools do.
package model

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
)

// Model answers requests. It is safe for concurrent use.
type Model interface {
	// Sample returns the whole response to a request. Before it returns, it calls delta with each piece of text as it
	// arrives. After an error, these pieces are void and the response has only the usage, if known. The error is an
	// [*Error], or the cause of a context that has ended.
	Sample(ctx context.Context, r Request, delta func(text string)) (Response, error)
}

// Request is a request to a model.
type Request struct {
	Instructions    *string // the system prompt; nil is the provider's default
	Items           []Item  // the history, oldest first; each call has its output before the next message, and the last item is an input
	Tools           []Tool  // the tools that the model may call; their flat names differ, see [Flat]
	WebSearch       bool    // offers the provider's own search, if the model has one
	MaxOutputTokens int64   // limits the response with its reasoning; 0 is the limit of the configuration
	CacheKey        string  // the same for all requests of a conversation, each of which begins with the one before
}

// Item is an entry of a history. Session logs have it in its JSON form.
type Item struct {
	Kind  Kind  `json:"kind,omitempty"`
	Parts Parts `json:"text,omitempty"` // of a message

	CallID    string `json:"call_id,omitempty"`   // of a call and its output; unique within a response
	Name      string `json:"tool,omitempty"`      // of a call: the canonical name, or Wire for an unknown tool
	Wire      string `json:"name,omitempty"`      // of a call: the name as the model wrote it
	Arguments string `json:"arguments,omitempty"` // of a call, as the model wrote them; JSON if the model made no mistake
	Output    string `json:"content,omitempty"`   // of an output
	Failed    bool   `json:"failed,omitempty"`    // of an output: the tool failed
	Raw       string `json:"raw,omitempty"`       // the form of the provider that wrote the item; only package provider reads it
}

// IsInput reports whether the item is a user's message or an output.
func (i Item) IsInput() bool { return i.Kind == UserMessage || i.Kind == ToolOutput }

// Kind is the kind of an item.
type Kind string

const (
	UserMessage  Kind = "user_message"
	AgentMessage Kind = "agent_message" // of the model
	Reasoning    Kind = "reasoning"     // has Raw alone
	ToolCall     Kind = "tool_call"
	ToolOutput   Kind = "tool_output"
)

// Part is a text or an image of a message.
type Part struct {
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"` // data:…, http://… or https://…; empty for a text
}

// Parts is the content of a message. Its JSON form is a string for a single text, and a list otherwise.
type Parts []Part

// MarshalJSON implements [json.Marshaler].
func (p Parts) MarshalJSON() ([]byte, error) {
	if len(p) == 1 && p[0].ImageURL == "" {
		return JSON(p[0].Text)
	}
	return JSON([]Part(p))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Parts) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		*p = Parts{{}}
		return json.Unmarshal(data, &(*p)[0].Text)
	}
	return json.Unmarshal(data, (*[]Part)(p))
}

// JSON returns v as JSON on one line. It does not escape <, > and &: models would read the escapes.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Text returns a message with one text.
func Text(kind Kind, text string) Item { return Item{Kind: kind, Parts: []Part{{Text: text}}} }

// Text returns the texts of a message, joined by newlines.
func (i Item) Text() string {
	var texts []string
	for _, p := range i.Parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Tool is a tool that the model may call.
type Tool struct {
	Name        string // canonical: 1 to 128 of A-Z a-z 0-9 _ - . as MCP allows
	Description string
	Parameters  json.RawMessage // a JSON Schema of type object
}

// Response is the response of a model.
type Response struct {
	Items []Item // messages, reasoning and calls as the model wrote them; each call has an id of its own
	Usage Usage
}

// Usage is the tokens of a response. Input includes cached tokens, output includes reasoning.
type Usage struct{ InputTokens, OutputTokens int64 }
