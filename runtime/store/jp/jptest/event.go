package jptest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Encoding is how tool results, and for Plain also tool arguments, are stored.
type Encoding int

const (
	// Standard is base64 with the standard alphabet and padding.
	Standard Encoding = iota
	// URLSafe stores tool results in the URL-safe alphabet, padded, as JP did from October
	// 2025 to March 2026; arguments stay Standard.
	URLSafe
	// Plain stores strings as they are, as JP once did.
	Plain
)

// eventStep is the time between two events. It is not a whole number of milliseconds so that
// timestamps carry microseconds, as real ones do.
const eventStep = 4*time.Second + 137_411*time.Microsecond

// Timestamp writes t as metadata.json and events.json do: UTC without a zone, and a fraction
// of one to nine digits.
func Timestamp(t time.Time) string {
	s := strings.TrimRight(t.UTC().Format("2006-01-02 15:04:05.000000000"), "0")
	if strings.HasSuffix(s, ".") {
		return s + "0"
	}
	return s
}

type fields = map[string]any

// EventOption changes the timestamp of an event.
type EventOption func(timestamp *string)

// At sets the event's time. The clock of the conversation does not move.
func At(t time.Time) EventOption { return func(timestamp *string) { *timestamp = Timestamp(t) } }

// NoTimestamp leaves the event's timestamp out.
func NoTimestamp() EventOption { return func(timestamp *string) { *timestamp = "" } }

// Encode sets how the tool calls and results that follow are stored.
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
	return c.add("turn_start", opts)
}

// User adds what a person asked.
func (c *Conversation) User(text string, opts ...EventOption) *Conversation {
	return c.add("chat_request", opts, "content", text)
}

// Assistant adds what the assistant answered.
func (c *Conversation) Assistant(text string, opts ...EventOption) *Conversation {
	return c.add("chat_response", opts, "message", text)
}

// Reasoning adds what the assistant thought.
func (c *Conversation) Reasoning(text string, opts ...EventOption) *Conversation {
	return c.add("chat_response", opts, "reasoning", text)
}

// Structured adds an answer that is any JSON value.
func (c *Conversation) Structured(data any, opts ...EventOption) *Conversation {
	return c.add("chat_response", opts, "data", data)
}

// ToolCall adds a call. The arguments are any value, normally one that encodes to a JSON
// object.
func (c *Conversation) ToolCall(id, name string, arguments any, opts ...EventOption) *Conversation {
	return c.add("tool_call_request", opts, "id", id, "name", name, "arguments", c.stored(arguments))
}

// ToolResult adds the result of the call with this id. The content need not be UTF-8 unless
// it is stored as Plain.
func (c *Conversation) ToolResult(id, content string, isError bool, opts ...EventOption) *Conversation {
	switch c.encoding {
	case Standard:
		content = base64.StdEncoding.EncodeToString([]byte(content))
	case URLSafe:
		content = base64.URLEncoding.EncodeToString([]byte(content))
	}
	return c.add("tool_call_response", opts, "id", id, "content", content, "is_error", isError)
}

// Inquiry adds a question of the assistant, for a yes or no. By convention its id is that of the
// tool call, a dot, and a name for the question.
func (c *Conversation) Inquiry(id, text string, opts ...EventOption) *Conversation {
	question := fields{"text": text, "answer_type": fields{"type": "boolean"}}
	return c.add("inquiry_request", opts, "id", id, "source", fields{"source": "assistant"}, "question", question)
}

// InquiryResponse adds the answer to an inquiry: any JSON value.
func (c *Conversation) InquiryResponse(id string, answer any, opts ...EventOption) *Conversation {
	return c.add("inquiry_response", opts, "id", id, "answer", answer)
}

// Compaction replaces the turns from and to, counted from 0 and inclusive, by a summary; an
// empty summary is left out.
func (c *Conversation) Compaction(from, to int, summary string, opts ...EventOption) *Conversation {
	if summary == "" {
		return c.add("compaction", opts, "from_turn", from, "to_turn", to)
	}
	return c.add("compaction", opts, "from_turn", from, "to_turn", to, "summary", fields{"summary": summary})
}

// ConfigDelta changes the configuration.
func (c *Conversation) ConfigDelta(delta any) *Conversation {
	return c.add("config_delta", nil, "delta", delta)
}

// RawEvent adds an element of the array as given, whether or not it is JSON.
func (c *Conversation) RawEvent(text string) *Conversation {
	c.clock = c.clock.Add(eventStep)
	if len(c.events) > 0 {
		c.events = append(c.events, ',')
	}
	c.events = append(append(c.events, "\n  "...), text...)
	return c
}

// add adds an event with members, which are keys and values in turn.
func (c *Conversation) add(kind string, opts []EventOption, members ...any) *Conversation {
	timestamp := Timestamp(c.clock.Add(eventStep))
	for _, change := range opts {
		change(&timestamp)
	}
	members = append([]any{"type", kind}, members...)
	if timestamp != "" {
		members = append([]any{"timestamp", timestamp}, members...)
	}
	var object []byte // in the order in which JP writes it
	for i, member := range members {
		object = append(append(object, ",:"[i%2]), marshal(member, "")...)
	}
	object[0] = '{'
	return c.RawEvent(string(marshal(json.RawMessage(append(object, '}')), "  ")))
}

// stored returns arguments as they are stored.
func (c *Conversation) stored(arguments any) any {
	if c.encoding == Plain {
		return arguments
	}
	decoder := json.NewDecoder(bytes.NewReader(marshal(arguments, "")))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		panic(err)
	}
	return encoded(value)
}

// encoded returns a decoded JSON value with its strings, but for keys, in base64.
func encoded(value any) any {
	switch v := value.(type) {
	case string:
		return base64.StdEncoding.EncodeToString([]byte(v))
	case []any:
		for i := range v {
			v[i] = encoded(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = encoded(v[key])
		}
	}
	return value
}

// marshal returns a value as JSON with every line but the first beginning with a prefix. Like
// JP, and unlike [json.Marshal], it leaves <, > and & as they are.
func marshal(v any, prefix string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, "  ")
	if err := encoder.Encode(v); err != nil {
		panic(fmt.Sprintf("a value of a workspace: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
