package jptest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// Recorded is what a reader makes of an event that [Conversation.Random] added.
type Recorded struct {
	Kind string // as transcript.Kind spells it
	Turn int    // from 1; 0 outside of all turns
	Text string // as it is read, all of it
}

// Random adds n events of all kinds to a conversation that has none, and returns
// them. Their texts hold what is hard to cut: characters of several bytes, escapes,
// base64 that is not text, halves of surrogate pairs, bytes that are not UTF-8.
func (c *Conversation) Random(r *rand.Rand, n int) []Recorded {
	var all []Recorded
	turn := 0
	for range n {
		e := c.randomEvent(r)
		switch {
		case e.Kind == "config_delta" || e.Kind == "compaction" || e.Kind == "unknown":
		case e.Kind == "turn_start" || turn == 0:
			turn++
			fallthrough
		default:
			e.Turn = turn
		}
		all = append(all, e)
	}
	return all
}

func (c *Conversation) randomEvent(r *rand.Rand) Recorded {
	c.Encode([]Encoding{Standard, Standard, URLSafe}[r.IntN(3)])
	text := randomText(r)
	value := map[string]any{"a text": text, "list": []any{1, "x", map[string]any{}, nil}}
	switch r.IntN(18) {
	case 0, 1, 2:
		c.User(text)
		return Recorded{Kind: "user", Text: text}
	case 3, 4, 5:
		c.Assistant(text)
		return Recorded{Kind: "assistant", Text: text}
	case 6:
		c.Reasoning(text)
		return Recorded{Kind: "reasoning", Text: text}
	case 7:
		c.Structured(value)
		return Recorded{Kind: "structured", Text: pretty(value)}
	case 8:
		c.Structured(text)
		return Recorded{Kind: "structured", Text: text}
	case 9, 10:
		c.ToolCall("call", "fs_read", value)
		return Recorded{Kind: "tool_call", Text: pretty(value)}
	case 11:
		c.ToolResult("call", text, r.IntN(2) == 0)
		return Recorded{Kind: "tool_result", Text: text}
	case 12: // of what is no text, base64 is what is read
		content := "\xff\xfe" + text
		c.Encode(Standard).ToolResult("call", content, false)
		return Recorded{Kind: "tool_result", Text: base64.StdEncoding.EncodeToString([]byte(content))}
	case 13:
		c.Inquiry("call.q", Question{Text: text})
		return Recorded{Kind: "inquiry", Text: text}
	case 14:
		c.InquiryResponse("call.q", text)
		return Recorded{Kind: "inquiry_response", Text: text}
	case 15:
		switch r.IntN(3) {
		case 0:
			c.ConfigDelta(map[string]any{"content": text})
			return Recorded{Kind: "config_delta"}
		case 1:
			c.Compaction(0, 0, text)
			return Recorded{Kind: "compaction"}
		}
		c.RawEvent(`{"type":"telemetry","timestamp":"2026-05-29 19:42:36.5","content":"aGVsbG8="}`)
		return Recorded{Kind: "unknown"}
	case 16:
		c.RawEvent(`{"type":"chat_request","timestamp":"2026-05-29 19:42:36.5","content":"a\ud83d\ude00\ud83d b` + "\xff" + `c"}`)
		return Recorded{Kind: "user", Text: "a😀\ufffd b\ufffdc"}
	}
	c.TurnStart()
	return Recorded{Kind: "turn_start"}
}

// randomText is mostly short.
func randomText(r *rand.Rand) string {
	pieces := []string{"a ", "word ", "\n", "\t", `"`, `\`, "<b>&amp;", "]]>", "東京", "😀", "e\u0301", "\x01", "\u202e"}
	var b strings.Builder
	for range r.IntN([]int{1, 4, 30, 1000}[r.IntN(4)]) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// pretty is JSON as a reader shows it.
func pretty(value any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
