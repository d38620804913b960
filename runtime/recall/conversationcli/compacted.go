package conversationcli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// compactedView is a conversation as JP sends it to a model: compactions say of
// which turns a summary stands in for what was said, and of which reasoning and
// tool calls are left out or shortened. Where several are about a turn, the last
// one counts, for each of the three by itself.
type compactedView struct {
	list                      []compaction
	summaries, thoughts, tool []int32           // by turn, from 0: index in list; -1 for none
	names                     map[string]string // tools of the calls that were seen, by the id of the call
	from, to                  int               // turns of the summary that was handed over last
}

// compaction is one as it is recorded.
type compaction struct {
	at        time.Time
	FromTurn  int `json:"from_turn"` // counted from 0
	ToTurn    int `json:"to_turn"`   // inclusive
	Summary   *struct{ Summary string }
	Reasoning string // "strip", or empty
	ToolCalls *struct {
		Policy            string // "omit" or "strip"
		Request, Response bool   // what of a call "strip" is about
	} `json:"tool_calls"`
}

// add takes a compaction. What is none of JP's, as in another store, says nothing.
func (v *compactedView) add(e *conversations.Event) error {
	c := compaction{at: e.Time, FromTurn: -1}
	if json.Unmarshal(e.AppendJSON(nil, transcript.JSONOptions{}), &c) == nil && c.FromTurn >= 0 {
		v.list = append(v.list, c)
	}
	return nil
}

// begin works out what goes for each of so many turns.
func (v *compactedView) begin(turns int) {
	slices.SortStableFunc(v.list, func(a, b compaction) int { return a.at.Compare(b.at) })
	v.summaries = v.resolve(turns, func(c *compaction) bool { return c.Summary != nil })
	v.thoughts = v.resolve(turns, func(c *compaction) bool { return c.Reasoning != "" })
	v.tool = v.resolve(turns, func(c *compaction) bool { return c.ToolCalls != nil })
}

// resolve returns, for each of so many turns, the last compaction that says
// something; nil where none does. Each turn is looked at once or twice, however
// many compactions are about it.
func (v *compactedView) resolve(turns int, says func(*compaction) bool) []int32 {
	if !slices.ContainsFunc(v.list, func(c compaction) bool { return says(&c) }) {
		return nil
	}
	of := make([]int32, turns)
	next := make([]int32, turns+1) // the first turn from here on that none is known of yet, or a way to it
	for i := range next {
		next[i] = int32(i)
	}
	free := func(turn int) int {
		for int(next[turn]) != turn {
			next[turn] = next[next[turn]]
			turn = int(next[turn])
		}
		return turn
	}
	for i := range of {
		of[i] = -1
	}
	for i, c := range slices.Backward(v.list) {
		if !says(&c) || c.FromTurn >= turns {
			continue
		}
		for turn := free(c.FromTurn); turn <= c.ToTurn && turn < turns; turn = free(turn) {
			of[turn], next[turn] = int32(i), int32(turn+1)
		}
	}
	return of
}

// about returns what one of the lists has of a turn, counted from 1.
func (v *compactedView) about(list []int32, turn int) *compaction {
	if turn < 1 || turn > len(list) || list[turn-1] < 0 {
		return nil
	}
	return &v.list[list[turn-1]]
}

// pass hands over an event as it is in the view, if it is.
func (v *compactedView) pass(e *conversations.Event, to func(*conversations.Event) error) error {
	if e.Kind == transcript.KindToolCall {
		v.names[e.CallID] = e.Name
	}
	if c := v.about(v.summaries, e.Turn); c != nil {
		return v.summary(e, c, to)
	}
	if e.Kind == transcript.KindReasoning {
		if c := v.about(v.thoughts, e.Turn); c != nil && c.Reasoning == "strip" {
			return nil
		}
	}
	call, result := e.Kind == transcript.KindToolCall, e.Kind == transcript.KindToolResult
	if c := v.about(v.tool, e.Turn); c != nil && (call || result) {
		switch policy := c.ToolCalls; {
		case policy.Policy == "omit":
			return nil
		case policy.Policy == "strip" && policy.Request && call:
			return to(replaced(e, "{}", "arguments", []byte("{}")))
		case policy.Policy == "strip" && policy.Response && result:
			said := "[compacted] " + cmp.Or(v.names[e.CallID], "unknown") + ": " + map[bool]string{true: "error", false: "success"}[e.IsError]
			return to(replaced(e, said, "content", appendQuoted(nil, said)))
		}
	}
	return to(e)
}

// replaced is an event with another text.
func replaced(e *conversations.Event, text, key string, value []byte) *conversations.Event {
	other := *e
	other.Text, other.Encoding, other.JSON = []byte(text), transcript.Plain, false
	other.AppendJSON = func(dst []byte, o transcript.JSONOptions) []byte {
		o.MaxText = 0
		return appendWith(dst, e.AppendJSON(nil, o), key, value)
	}
	return &other
}

// appendWith appends a JSON object with another value of one of its keys.
func appendWith(dst, object []byte, key string, value []byte) []byte {
	members := json.NewDecoder(bytes.NewReader(object))
	_, _ = members.Token() // it is JSON
	r := record{buf: append(dst, '{')}
	for members.More() {
		var old json.RawMessage
		name, _ := members.Token()
		_ = members.Decode(&old)
		if name == key {
			old = value
		}
		r.raw(fmt.Sprint(name), old)
	}
	return r.end()
}

// summary hands over a summary, where that of the event was not handed over yet:
// as a request that says what it is, and an answer.
func (v *compactedView) summary(e *conversations.Event, c *compaction, to func(*conversations.Event) error) error {
	if v.from <= e.Turn && e.Turn <= v.to {
		return nil
	}
	v.from, v.to = e.Turn, e.Turn
	for v.about(v.summaries, v.from-1) == c {
		v.from--
	}
	for v.about(v.summaries, v.to+1) == c {
		v.to++
	}
	at := e.Time
	for _, said := range []struct {
		kind            transcript.Kind
		name, key, text string
	}{
		{transcript.KindUser, "chat_request", "content", "[Summary of previous conversation]"},
		{transcript.KindAssistant, "chat_response", "message", c.Summary.Summary},
	} {
		summary := &conversations.Event{Index: -1, Turn: v.from, Kind: said.kind, Time: at, Text: []byte(said.text)}
		summary.AppendJSON = func(dst []byte, o transcript.JSONOptions) []byte {
			var r record
			r.reset()
			if o.Turn {
				r.int("turn", v.from)
				r.int("last_turn", v.to)
			}
			if !at.IsZero() {
				r.string("timestamp", recordedTime(at))
			}
			r.string("type", said.name)
			text := []rune(said.text)
			if head := o.MaxText * 3 / 5; o.MaxText > 0 && len(text) > o.MaxText {
				r.string(said.key, string(text[:head])+string(text[len(text)-o.MaxText+head:]))
				r.int("chars", len(text))
				r.int("head_chars", head)
			} else {
				r.string(said.key, said.text)
			}
			return append(dst, r.end()...)
		}
		if err := to(summary); err != nil {
			return err
		}
	}
	return nil
}

// recordedTime writes a time as JP records it.
func recordedTime(t time.Time) string {
	text := t.UTC().Format("2006-01-02 15:04:05.999999999")
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// turns names the turn of an event, or those that it stands in for.
func (v *compactedView) turns(e *conversations.Event) string {
	if v != nil && v.from == e.Turn && v.to > v.from && e.Index < 0 {
		return fmt.Sprintf("turns %d–%d", v.from, v.to)
	}
	return fmt.Sprintf("turn %d", e.Turn)
}
