package conversationcli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/transcript"
)

// compactedView is a conversation as JP sends it to a model: compactions say of which
// turns a summary stands in for what was said, and of which reasoning and tool calls are
// left out or shortened. Where several are about a turn, the last one counts, for each of
// the three by itself.
type compactedView struct {
	list     []compaction
	effects  []compaction      // what is said of each turn, from 1
	names    map[string]string // tools of the calls that were seen, by the id of the call
	from, to int               // turns of the summary that was handed over last
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
	v.effects = make([]compaction, turns+2) // none is about the first or the last
	for _, c := range v.list {
		for turn := c.FromTurn + 1; turn <= min(c.ToTurn+1, turns); turn++ {
			to := &v.effects[turn]
			to.Summary, to.ToolCalls = cmp.Or(c.Summary, to.Summary), cmp.Or(c.ToolCalls, to.ToolCalls)
			to.Reasoning = cmp.Or(c.Reasoning, to.Reasoning)
		}
	}
}

// pass hands over an event as it is in the view, if it is.
func (v *compactedView) pass(e *conversations.Event, to func(*conversations.Event) error) error {
	if e.Kind == transcript.KindToolCall {
		v.names[e.CallID] = e.Name
	}
	effect := v.effects[e.Turn]
	if effect.Summary != nil {
		return v.summary(e, to)
	}
	if e.Kind == transcript.KindReasoning && effect.Reasoning == "strip" {
		return nil
	}
	if tools := effect.ToolCalls; tools != nil {
		isCall, isResult, isStripped := e.Kind == transcript.KindToolCall, e.Kind == transcript.KindToolResult, tools.Policy == "strip"
		switch {
		case (isCall || isResult) && tools.Policy == "omit":
			return nil
		case isCall && isStripped && tools.Request:
			return to(made(*e, "{}", 0))
		case isResult && isStripped && tools.Response:
			how := either(e.IsError, "error", "success")
			return to(made(*e, "[compacted] "+cmp.Or(v.names[e.CallID], "unknown")+": "+how, 0))
		}
	}
	return to(e)
}

// made is an event with another text, which stands in for those up to a turn.
func made(e conversations.Event, said string, lastTurn int) *conversations.Event {
	e.Text, e.Encoding, e.JSON = []byte(said), transcript.Plain, false
	recorded := transcript.Event{Turn: e.Turn, Kind: e.Kind, Time: e.Time, Name: e.Name, CallID: e.CallID, Failed: e.IsError, Text: e.Text}
	if e.Kind == transcript.KindToolCall {
		recorded.Text, recorded.Arguments = nil, e.Text
	}
	e.AppendJSON = func(dst []byte, o transcript.JSONOptions) []byte {
		dst = eventtext.AppendJSON(dst, &recorded, o)
		if lastTurn > 0 {
			dst = fmt.Appendf(bytes.TrimSuffix(dst, []byte("}")), `,"last_turn":%d}`, lastTurn)
		}
		return dst
	}
	return &e
}

// summary hands over the summary of an event's turn, where it was not handed over yet: as
// a request that says what it is, and an answer.
func (v *compactedView) summary(e *conversations.Event, to func(*conversations.Event) error) error {
	if v.from <= e.Turn && e.Turn <= v.to {
		return nil
	}
	summary := v.effects[e.Turn].Summary
	for v.from = e.Turn; v.effects[v.from-1].Summary == summary; v.from-- {
	}
	for v.to = e.Turn; v.effects[v.to+1].Summary == summary; v.to++ {
	}
	of := conversations.Event{Index: -1, Turn: v.from, Kind: transcript.KindUser, Time: e.Time}
	err := to(made(of, "[Summary of previous conversation]", v.to))
	of.Kind = transcript.KindAssistant
	if err == nil {
		err = to(made(of, summary.Summary, v.to))
	}
	return err
}

// turns names the turn of an event, or those that it stands in for.
func (v *compactedView) turns(e *conversations.Event) string {
	if v != nil && v.from == e.Turn && v.to > v.from && e.Index < 0 {
		return fmt.Sprintf("turns %d–%d", v.from, v.to)
	}
	return fmt.Sprintf("turn %d", e.Turn)
}
