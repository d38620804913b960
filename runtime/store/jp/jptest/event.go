package jptest

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// eventStep is the time between two events. It has microseconds, as real timestamps have.
const eventStep = 4*time.Second + 137_411*time.Microsecond

// Timestamp returns a time as JP writes it: in UTC, without a zone, with one to nine digits of a fraction.
func Timestamp(t time.Time) string {
	text := t.UTC().Format("2006-01-02 15:04:05.999999999")
	if len(text) == len(time.DateTime) {
		text += ".0"
	}
	return text
}

// Later adds to the time of the events that follow.
func (c *Conversation) Later(d time.Duration) *Conversation {
	c.clock = c.clock.Add(d)
	return c
}

// TurnStart begins a turn. Without a time an event happens some seconds after the one before.
func (c *Conversation) TurnStart(at ...time.Time) *Conversation {
	return c.add(at, "turn_start")
}

// User adds a request.
func (c *Conversation) User(text string, at ...time.Time) *Conversation {
	return c.add(at, "chat_request", "content", text)
}

// Assistant adds an answer.
func (c *Conversation) Assistant(text string, at ...time.Time) *Conversation {
	return c.add(at, "chat_response", "message", text)
}

// Reasoning adds reasoning of the assistant.
func (c *Conversation) Reasoning(text string, at ...time.Time) *Conversation {
	return c.add(at, "chat_response", "reasoning", text)
}

// ToolCall adds a tool call. The arguments are any value, usually one whose JSON is an object.
func (c *Conversation) ToolCall(id, name string, arguments any, at ...time.Time) *Conversation {
	decoder := json.NewDecoder(bytes.NewReader(marshal(arguments, "")))
	decoder.UseNumber()
	if err := decoder.Decode(&arguments); err != nil {
		panic(err)
	}
	return c.add(at, "tool_call_request", "id", id, "name", name, "arguments", encoded(arguments))
}

// encoded returns a decoded JSON value with its strings, but not its keys, in base64.
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

// ToolResult adds the result of a tool call. The content may be any bytes.
func (c *Conversation) ToolResult(id, content string, isError bool, at ...time.Time) *Conversation {
	return c.add(at, "tool_call_response", "id", id, "content", encoded(content), "is_error", isError)
}

// Inquiry adds a question of the assistant with the answers yes and no.
func (c *Conversation) Inquiry(id, text string) *Conversation {
	question := map[string]any{"text": text, "answer_type": map[string]any{"type": "boolean"}}
	return c.Event("inquiry_request", "id", id, "source", map[string]any{"source": "assistant"}, "question", question)
}

// RawEvent adds an element of the array as it is, JSON or not.
func (c *Conversation) RawEvent(text string) *Conversation {
	c.clock = c.clock.Add(eventStep)
	if len(c.events) > 0 {
		c.events = append(c.events, ',')
	}
	c.events = append(append(c.events, "\n  "...), text...)
	return c
}

// Event adds an event of any type. The members are keys and values in turn.
func (c *Conversation) Event(kind string, members ...any) *Conversation {
	return c.add(nil, kind, members...)
}

// add adds an event at the first of times, or else eventStep after the event before. The members are keys and values in turn.
func (c *Conversation) add(times []time.Time, kind string, members ...any) *Conversation {
	at := cmp.Or(append(times, c.clock.Add(eventStep))...)
	members = append([]any{"timestamp", Timestamp(at), "type", kind}, members...)
	var object []byte
	for member := range slices.Chunk(members, 2) { // a key and its value
		object = fmt.Appendf(object, ",%s:%s", marshal(member[0], ""), marshal(member[1], ""))
	}
	object[0] = '{' // in place of the first comma
	return c.RawEvent(string(marshal(json.RawMessage(append(object, '}')), "  ")))
}

// marshal returns a value as JSON with <, > and & as they are. Each line but the first begins with the prefix.
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
