package recall_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
)

// TestLargeTurns covers sizes that random conversations do not reach.
func TestLargeTurns(t *testing.T) {
	t.Parallel()
	events := func(n int, words string) *recordedConversation {
		c := &recordedConversation{turns: 1, events: []recordedEvent{{1, "user", "Why?"}}}
		for i := range n {
			kind := []string{"tool_call", "tool_result", "reasoning"}[i%3]
			c.events = append(c.events, recordedEvent{1, kind, words})
		}
		c.events = append(c.events, recordedEvent{1, "assistant", "The answer."})
		return c
	}
	include := []string{"chat", "reasoning", "tool_calls", "tool_results"}
	for name, conv := range map[string]*recordedConversation{
		"5,000 events":              events(5000, "a line of text, and then another one"),
		"5,000 long events":         events(5000, strings.Repeat("a line\n", 60)),
		"5,000 empty events":        events(5000, ""),
		"text that doubles":         {turns: 1, events: []recordedEvent{{1, "user", strings.Repeat("]]>", 12_000)}}},
		"text that grows eightfold": {turns: 1, events: []recordedEvent{{1, "user", strings.Repeat("\u202e", 39_000)}}},
		"text that halves":          {turns: 1, events: []recordedEvent{{1, "user", strings.Repeat("\r\n", 30_000)}}},
		"arguments that grow":       {turns: 1, events: []recordedEvent{{1, "tool_call", strings.Repeat("\u202e]]>", 9_000)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := readCall{Include: include}
			answer, err := read(t, conv, call)
			if err != nil {
				t.Fatal(err)
			}
			checkRead(t, conv, call, answer)
			if n := utf8.RuneCountInString(answer); len(conv.events) > 1 && n < conversation.ReadMaxChars*85/100 {
				t.Errorf("%d characters: room is wasted", n)
			}
			if !strings.Contains(answer, "Why?") && conv.events[0].words == "Why?" || len(conv.events) > 1 && !strings.Contains(answer, "The answer.") {
				t.Error("the question or the answer is missing")
			}
		})
	}
}
