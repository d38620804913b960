package jptest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Encoding is how tool results, and for Plain also tool arguments and metadata,
// are stored.
type Encoding int

const (
	// Standard is base64 with the standard alphabet and padding.
	Standard Encoding = iota
	// URLSafe stores tool results in the URL-safe alphabet, padded, as JP did
	// from October 2025 to March 2026; arguments and metadata stay Standard.
	URLSafe
	// Plain stores strings as they are, as JP once did.
	Plain
)

// Timestamp writes t as metadata.json and events.json do: UTC without a zone,
// and a fraction of one to nine digits.
func Timestamp(t time.Time) string {
	s := strings.TrimRight(t.UTC().Format("2006-01-02 15:04:05.000000000"), "0")
	if strings.HasSuffix(s, ".") {
		return s + "0"
	}
	return s
}

// record is one event with its keys in the order JP writes them. The fields an
// event of that type requires are never omitted: they are pointers or any.
type record struct {
	Timestamp *string `json:"timestamp,omitempty"`
	Type      string  `json:"type"`

	ID        *string         `json:"id,omitempty"`
	Name      *string         `json:"name,omitempty"`
	Content   *string         `json:"content,omitempty"`
	Schema    any             `json:"schema,omitempty"`
	Author    string          `json:"author,omitempty"`
	Message   *string         `json:"message,omitempty"`
	Reasoning *string         `json:"reasoning,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	IsError   *bool           `json:"is_error,omitempty"`
	Source    any             `json:"source,omitempty"`
	Question  any             `json:"question,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"`
	FromTurn  *int            `json:"from_turn,omitempty"`
	ToTurn    *int            `json:"to_turn,omitempty"`
	Summary   any             `json:"summary,omitempty"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`

	// metadata waits for the encoding in force when the event is added.
	metadata any
}

// EventOption changes one event.
type EventOption func(*record)

// At sets the event's time. The clock of the conversation does not move.
func At(t time.Time) EventOption { return RawTimestamp(Timestamp(t)) }

// RawTimestamp stores a timestamp as given: another format, or nonsense.
func RawTimestamp(s string) EventOption {
	return func(r *record) { r.Timestamp = &s }
}

// NoTimestamp leaves the event's timestamp out.
func NoTimestamp() EventOption {
	return func(r *record) { r.Timestamp = nil }
}

// Author names who wrote a request.
func Author(name string) EventOption {
	return func(r *record) { r.Author = name }
}

// Schema asks for a structured answer to a request.
func Schema(schema any) EventOption {
	return func(r *record) { r.Schema = schema }
}

// Metadata attaches metadata, whose string values are stored like arguments.
func Metadata(metadata any) EventOption {
	return func(r *record) { r.metadata = metadata }
}

// Encode sets how the tool calls, results and metadata that follow are stored.
func (c *Conversation) Encode(e Encoding) *Conversation {
	c.encoding = e
	return c
}

// Later moves the time of the events that follow.
func (c *Conversation) Later(d time.Duration) *Conversation {
	c.clock = c.clock.Add(d)
	return c
}

// TurnStart begins a turn.
func (c *Conversation) TurnStart(opts ...EventOption) *Conversation {
	return c.add(record{Type: "turn_start"}, opts)
}

// User adds what a person asked.
func (c *Conversation) User(text string, opts ...EventOption) *Conversation {
	return c.add(record{Type: "chat_request", Content: &text}, opts)
}

// Assistant adds what the assistant answered.
func (c *Conversation) Assistant(text string, opts ...EventOption) *Conversation {
	return c.add(record{Type: "chat_response", Message: &text}, opts)
}

// Reasoning adds what the assistant thought. The text may be empty: providers
// redact it.
func (c *Conversation) Reasoning(text string, opts ...EventOption) *Conversation {
	return c.add(record{Type: "chat_response", Reasoning: &text}, opts)
}

// Structured adds an answer that is any JSON value; a nil data is null.
func (c *Conversation) Structured(data any, opts ...EventOption) *Conversation {
	return c.add(record{Type: "chat_response", Data: c.value(data)}, opts)
}

// ToolCall adds a call. The arguments are any value, normally one that encodes
// to a JSON object; a json.RawMessage keeps the order of its keys and its
// numbers. A nil value leaves the key out.
func (c *Conversation) ToolCall(id, name string, arguments any, opts ...EventOption) *Conversation {
	r := record{Type: "tool_call_request", ID: &id, Name: &name}
	if arguments != nil {
		r.Arguments = c.stored(arguments)
	}
	return c.add(r, opts)
}

// ToolResult adds the result of the call with this id. The content need not be
// UTF-8 unless it is stored as Plain.
func (c *Conversation) ToolResult(id, content string, isError bool, opts ...EventOption) *Conversation {
	content = encodeText(content, c.encoding)
	return c.add(record{Type: "tool_call_response", ID: &id, Content: &content, IsError: &isError}, opts)
}

// Question is what was asked while a tool ran.
type Question struct {
	Tool    string   // the tool that asks; empty when the assistant does
	Text    string   // the question itself
	Options []string // what to choose from; none for a yes or no question
}

// Inquiry adds a question. By convention its id is that of the tool call, a dot,
// and a name for the question.
func (c *Conversation) Inquiry(id string, q Question, opts ...EventOption) *Conversation {
	type option struct {
		Value string `json:"value"`
	}
	type answerType struct {
		Type    string   `json:"type"`
		Options []option `json:"options,omitempty"`
	}
	type source struct {
		Source string `json:"source"`
		Name   string `json:"name,omitempty"`
	}
	from := source{Source: "tool", Name: q.Tool}
	if q.Tool == "" {
		from.Source = "assistant"
	}
	answer := answerType{Type: "boolean"}
	for _, o := range q.Options {
		answer.Type = "select"
		answer.Options = append(answer.Options, option{o})
	}
	question := struct {
		Text       string     `json:"text"`
		AnswerType answerType `json:"answer_type"`
	}{q.Text, answer}
	return c.add(record{Type: "inquiry_request", ID: &id, Source: from, Question: question}, opts)
}

// InquiryResponse adds the answer to an inquiry: any JSON value.
func (c *Conversation) InquiryResponse(id string, answer any, opts ...EventOption) *Conversation {
	return c.add(record{Type: "inquiry_response", ID: &id, Answer: c.value(answer)}, opts)
}

// Compaction replaces the turns from and to, counted from 0 and inclusive, by a
// summary; an empty summary is left out.
func (c *Conversation) Compaction(from, to int, summary string, opts ...EventOption) *Conversation {
	r := record{Type: "compaction", FromTurn: &from, ToTurn: &to}
	if summary != "" {
		r.Summary = map[string]string{"summary": summary}
	}
	return c.add(r, opts)
}

// ConfigDelta changes the configuration. As the first event of a conversation
// without base_config.json it is the whole configuration.
func (c *Conversation) ConfigDelta(delta any) *Conversation {
	return c.addJSON(struct {
		Type      string `json:"type"`
		Timestamp string `json:"timestamp"`
		Delta     any    `json:"delta"`
	}{"config_delta", c.tick(), delta})
}

// InlinedConfigDelta is the oldest form: the keys of the configuration stand in
// the event itself. The configuration must encode to a JSON object.
func (c *Conversation) InlinedConfigDelta(config any) *Conversation {
	keys := c.value(config)
	if len(keys) == 0 || keys[0] != '{' {
		c.fail(fmt.Errorf("event %d: an inlined config must be a JSON object", len(c.events)))
		return c
	}
	event := fmt.Appendf(nil, `{"type":"config_delta","timestamp":%q`, c.tick())
	if len(keys) > len("{}") {
		event = append(event, ',')
	}
	return c.addJSON(json.RawMessage(append(event, keys[1:]...)))
}

// RawEvent adds an array element exactly as given, whether or not it is JSON.
func (c *Conversation) RawEvent(text string) *Conversation {
	c.tick()
	c.events = append(c.events, []byte(text))
	return c
}

// tick moves the clock to the next event and returns its timestamp.
func (c *Conversation) tick() string {
	c.clock = c.clock.Add(eventStep)
	return Timestamp(c.clock)
}

func (c *Conversation) add(r record, opts []EventOption) *Conversation {
	now := c.tick()
	r.Timestamp = &now
	for _, opt := range opts {
		opt(&r)
	}
	if r.metadata != nil {
		r.Metadata = c.stored(r.metadata)
	}
	return c.addJSON(r)
}

// addJSON adds an event, indented as an element of the array.
func (c *Conversation) addJSON(event any) *Conversation {
	data, err := indented(event, "  ")
	if err != nil {
		c.fail(fmt.Errorf("event %d: %w", len(c.events), err))
		return c
	}
	c.events = append(c.events, data)
	return c
}

// value encodes any value as compact JSON.
func (c *Conversation) value(v any) json.RawMessage {
	data, err := compact(v)
	if err != nil {
		c.fail(fmt.Errorf("event %d: %w", len(c.events), err))
	}
	return data
}

// stored encodes a value with its strings in the encoding of arguments and
// metadata.
func (c *Conversation) stored(v any) json.RawMessage {
	data := c.value(v)
	if c.encoding == Plain || data == nil {
		return data
	}
	return encodeLeaves(data)
}
