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
	list     []compaction
	effects  []effect          // by turn, from 0
	names    map[string]string // tools of the calls that were seen, by the id of the call
	from, to int               // turns of the summary that was handed over last
}

// compaction is one as it is recorded.
type compaction struct {
	at        time.Time
	FromTurn  int `json:"from_turn"` // counted from 0
	ToTurn    int `json:"to_turn"`   // inclusive
	Summary   *struct{ Summary string }
	Reasoning string      // "strip", or empty
	ToolCalls *toolPolicy `json:"tool_calls"`
}

type toolPolicy struct {
	Policy            string // "omit" or "strip"
	Request, Response bool   // what of a call "strip" is about
}

// effect is what compactions say of a turn.
type effect struct {
	summary   *compaction // nil for none
	reasoning string
	tools     toolPolicy
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
	v.effects = make([]effect, turns)
	for i := range v.list {
		c := &v.list[i]
		for turn := c.FromTurn; turn <= c.ToTurn && turn < turns; turn++ {
			to := &v.effects[turn]
			if c.Summary != nil {
				to.summary = c
			}
			if c.Reasoning != "" {
				to.reasoning = c.Reasoning
			}
			if c.ToolCalls != nil {
				to.tools = *c.ToolCalls
			}
		}
	}
}

// effect returns what compactions say of a turn, counted from 1.
func (v *compactedView) effect(turn int) effect {
	if turn < 1 || turn > len(v.effects) {
		return effect{}
	}
	return v.effects[turn-1]
}

// pass hands over an event as it is in the view, if it is.
func (v *compactedView) pass(e *conversations.Event, to func(*conversations.Event) error) error {
	call, result := e.Kind == transcript.KindToolCall, e.Kind == transcript.KindToolResult
	if call {
		v.names[e.CallID] = e.Name
	}
	effect := v.effect(e.Turn)
	strips := effect.tools.Policy == "strip"
	switch {
	case effect.summary != nil:
		return v.summary(e, effect.summary, to)
	case e.Kind == transcript.KindReasoning && effect.reasoning == "strip":
		return nil
	case (call || result) && effect.tools.Policy == "omit":
		return nil
	case call && strips && effect.tools.Request:
		return to(replaced(e, "{}", "arguments", []byte("{}")))
	case result && strips && effect.tools.Response:
		said := "[compacted] " + cmp.Or(v.names[e.CallID], "unknown") + ": " + map[bool]string{true: "error", false: "success"}[e.IsError]
		return to(replaced(e, said, "content", appendQuoted(nil, said)))
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
func appendWith(dst, whole []byte, key string, value []byte) []byte {
	members := json.NewDecoder(bytes.NewReader(whole))
	_, _ = members.Token() // it is JSON
	var o object
	for members.More() {
		var old json.RawMessage
		name, _ := members.Token()
		_ = members.Decode(&old)
		if name == key {
			old = value
		}
		o = append(o, name, old)
	}
	return appendValue(dst, o)
}

// summary hands over a summary, where that of the event was not handed over yet:
// as a request that says what it is, and an answer.
func (v *compactedView) summary(e *conversations.Event, c *compaction, to func(*conversations.Event) error) error {
	if v.from <= e.Turn && e.Turn <= v.to {
		return nil
	}
	v.from, v.to = e.Turn, e.Turn
	for v.effect(v.from-1).summary == c {
		v.from--
	}
	for v.effect(v.to+1).summary == c {
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
			var event object
			if o.Turn {
				event = object{"turn", v.from, "last_turn", v.to}
			}
			if !at.IsZero() {
				event = append(event, "timestamp", recordedTime(at))
			}
			event = append(event, "type", said.name)
			text := []rune(said.text)
			if head := o.MaxText * 3 / 5; o.MaxText > 0 && len(text) > o.MaxText {
				ends := string(text[:head]) + string(text[len(text)-o.MaxText+head:])
				event = append(event, said.key, ends, "chars", len(text), "head_chars", head)
			} else {
				event = append(event, said.key, said.text)
			}
			return appendValue(dst, event)
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
