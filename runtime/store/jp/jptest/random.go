package jptest

import (
	"encoding/base64"
	"math/rand/v2"
	"slices"
	"strings"
)

// Recorded is an event that [Conversation.Random] added, as it is read.
type Recorded struct {
	Kind string // as transcript.Kind spells it
	Turn int    // from 1; 0 outside of all turns
	Text string
}

// Random adds n events of all kinds to a conversation that has none, and returns them. Their
// texts hold what is hard to cut: characters of several bytes, escapes, base64 that is not
// text, halves of surrogate pairs, bytes that are not UTF-8.
func (c *Conversation) Random(r *rand.Rand, n int) []Recorded {
	var all []Recorded
	turn := 0
	for range n {
		e := c.randomEvent(r)
		if !slices.Contains([]string{"config_delta", "compaction", "unknown"}, e.Kind) {
			if e.Kind == "turn_start" || turn == 0 {
				turn++
			}
			e.Turn = turn
		}
		all = append(all, e)
	}
	return all
}

func (c *Conversation) randomEvent(r *rand.Rand) Recorded {
	pieces := []string{"a ", "word ", "\n", "\t", `"`, `\`, "<b>&amp;", "]]>", "東京", "😀", "e\u0301", "\x01", "\u202e"}
	var b strings.Builder
	for range r.IntN([]int{1, 4, 30, 1000}[r.IntN(4)]) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	text := b.String()
	value := fields{"a text": text, "list": []any{1, "x", fields{}, nil}}
	shown, binary := string(marshal(value, "")), "\xff\xfe"+text
	c.Encode([]Encoding{Standard, Standard, URLSafe}[r.IntN(3)])
	kinds := []struct {
		kind, text string
		add        func()
	}{
		{"user", text, func() { c.User(text) }},
		{"user", text, func() { c.User(text) }},
		{"user", "a😀\ufffd b\ufffdc", func() {
			c.RawEvent(`{"type":"chat_request","timestamp":"2026-05-29 19:42:36.5","content":"a\ud83d\ude00\ud83d b` + "\xff" + `c"}`)
		}},
		{"assistant", text, func() { c.Assistant(text) }},
		{"assistant", text, func() { c.Assistant(text) }},
		{"reasoning", text, func() { c.Reasoning(text) }},
		{"structured", shown, func() { c.Structured(value) }},
		{"structured", text, func() { c.Structured(text) }},
		{"tool_call", shown, func() { c.ToolCall("call", "fs_read", value) }},
		{"tool_result", text, func() { c.ToolResult("call", text, r.IntN(2) == 0) }},
		{"tool_result", base64.StdEncoding.EncodeToString([]byte(binary)), func() { // which is no text, and so base64 is read
			c.Encode(Standard).ToolResult("call", binary, false)
		}},
		{"inquiry", text, func() { c.Inquiry("call.q", Question{Text: text}) }},
		{"inquiry_response", text, func() { c.InquiryResponse("call.q", text) }},
		{"config_delta", "", func() { c.ConfigDelta(fields{"content": text}) }},
		{"compaction", "", func() { c.Compaction(0, 0, text) }},
		{"unknown", "", func() {
			c.RawEvent(`{"type":"telemetry","timestamp":"2026-05-29 19:42:36.5","content":"aGVsbG8="}`)
		}},
		{"turn_start", "", func() { c.TurnStart() }},
	}
	chosen := kinds[r.IntN(len(kinds))]
	chosen.add()
	return Recorded{Kind: chosen.kind, Text: chosen.text}
}
