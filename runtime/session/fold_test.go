package session

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// full is a log with an event of every kind but agent_message_delta.
func full(t *testing.T) *host {
	t.Helper()
	return played(t, Config{}, "think + tool + create x", "create y", "!crash", "say inner", "fail", "create z + send 1 x",
		"!submit 1 more", "!destroy 1", "!submit 0 next", "say done", "!chain", "!submit 0 last", "create w", "!chain")
}

// A log with an event missing, twice, or in another place does not fold, and the error names where.
func TestFoldRefuses(t *testing.T) {
	t.Parallel()
	h := full(t)
	kinds := map[string]bool{}
	for i, e := range h.log {
		kinds[e.Body.Type()] = true
		other := e
		other.Session = "another"
		earlier := e
		earlier.At = epoch.AddDate(-1, 0, 0)
		empty := e
		empty.Body = nil
		for name, log := range map[string][]Event{
			"missing":            slices.Delete(slices.Clone(h.log), i, i+1),
			"twice":              slices.Insert(slices.Clone(h.log), i, e),
			"of another session": slices.Replace(slices.Clone(h.log), i, i+1, other),
			"of an earlier time": slices.Replace(slices.Clone(h.log), i, i+1, earlier),
			"without a body":     slices.Replace(slices.Clone(h.log), i, i+1, empty),
		} {
			if name == "missing" && i == len(h.log)-1 || name == "of an earlier time" && i == 0 {
				continue
			}
			var damaged *LogError
			if _, err := Fold(log); !errors.As(err, &damaged) || damaged.Seq == 0 || damaged.Error() == "" {
				t.Errorf("event %d %s %s: %v", i+1, e.Body.Type(), name, err)
			}
		}
	}
	if len(kinds) != 20 {
		t.Errorf("the log has %d kinds of events: %v", len(kinds), kinds)
	}
}

// Events of Step in an order that no Step wrote are refused, or lead to a state that comes to rest.
func TestFoldRenumbered(t *testing.T) {
	t.Parallel()
	log := full(t).log
	rapid.Check(t, func(t *rapid.T) {
		events := slices.Clone(log)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			i, j := rapid.IntRange(0, len(events)-1).Draw(t, "i"), rapid.IntRange(0, len(events)-1).Draw(t, "j")
			switch rapid.IntRange(0, 2).Draw(t, "change") {
			case 0:
				events[i].Body, events[j].Body = events[j].Body, events[i].Body
			case 1:
				events[i], events[j] = events[j], events[i]
			default:
				if len(events) > 1 {
					events = slices.Delete(events, i, i+1)
				}
			}
		}
		events = events[:rapid.IntRange(1, len(events)).Draw(t, "length")]
		for i := range events {
			events[i].Seq, events[i].At = int64(i+1), epoch
		}
		s, err := Fold(events)
		if err != nil {
			var damaged *LogError
			if !errors.As(err, &damaged) {
				t.Fatal(err)
			}
			return
		}
		s, effects, _, err := Step(s, epoch, Recover{})
		for range 100 {
			if err != nil || s.Idle() {
				return
			}
			task, _ := s.Running()
			var in Input = Response{Task: task, Items: []Item{says("end")}}
			if len(effects) > 0 {
				if run, ok := effects[len(effects)-1].(RunTool); ok {
					in = ToolDone{Task: task, Call: run.Call.CallID}
				}
			}
			s, effects, _, err = Step(s, epoch, in)
		}
		t.Fatal("it does not come to rest")
	})
}
