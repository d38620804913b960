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

// The encodings: standard base64; URL-safe base64 for results, as JP wrote them from October
// 2025 to March 2026; and text as it is, as JP once wrote it.
const (
	Standard Encoding = iota
	URLSafe
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

// TurnStart begins a turn. Like all events it happens at a time, or else some seconds after the
// event before it.
func (c *Conversation) TurnStart(at ...time.Time) *Conversation {
	return c.add(at, "turn_start")
}

// User adds what a person asked.
func (c *Conversation) User(text string, at ...time.Time) *Conversation {
	return c.add(at, "chat_request", "content", text)
}

// Assistant adds what the assistant answered.
func (c *Conversation) Assistant(text string, at ...time.Time) *Conversation {
	return c.add(at, "chat_response", "message", text)
}

// Reasoning adds what the assistant thought.
func (c *Conversation) Reasoning(text string, at ...time.Time) *Conversation {
	return c.add(at, "chat_response", "reasoning", text)
}

// ToolCall adds a call. The arguments are any value, normally one that encodes to a JSON
// object.
func (c *Conversation) ToolCall(id, name string, arguments any, at ...time.Time) *Conversation {
	if c.encoding != Plain {
		decoder := json.NewDecoder(bytes.NewReader(marshal(arguments, "")))
		decoder.UseNumber()
		if err := decoder.Decode(&arguments); err != nil {
			panic(err)
		}
		arguments = encoded(arguments)
	}
	return c.add(at, "tool_call_request", "id", id, "name", name, "arguments", arguments)
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

// ToolResult adds the result of the call with this id. The content need not be UTF-8 unless
// it is stored as Plain.
func (c *Conversation) ToolResult(id, content string, isError bool, at ...time.Time) *Conversation {
	switch c.encoding {
	case Standard:
		content = base64.StdEncoding.EncodeToString([]byte(content))
	case URLSafe:
		content = base64.URLEncoding.EncodeToString([]byte(content))
	}
	return c.add(at, "tool_call_response", "id", id, "content", content, "is_error", isError)
}

// Inquiry adds a question of the assistant, for a yes or no. By convention its id is that of the
// tool call, a dot, and a name for the question.
func (c *Conversation) Inquiry(id, text string) *Conversation {
	question := map[string]any{"text": text, "answer_type": map[string]any{"type": "boolean"}}
	return c.add(nil, "inquiry_request", "id", id, "source", map[string]any{"source": "assistant"}, "question", question)
}

// Event adds an event of any type. Its members are keys and values in turn, in the order in
// which JP writes them.
func (c *Conversation) Event(kind string, members ...any) *Conversation {
	return c.add(nil, kind, members...)
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

func (c *Conversation) add(at []time.Time, kind string, members ...any) *Conversation {
	happened := append(at, c.clock.Add(eventStep))[0]
	members = append([]any{"timestamp", Timestamp(happened), "type", kind}, members...)
	var object []byte
	for i, member := range members {
		object = append(append(object, ",:"[i%2]), marshal(member, "")...)
	}
	object[0] = '{'
	return c.RawEvent(string(marshal(json.RawMessage(append(object, '}')), "  ")))
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
