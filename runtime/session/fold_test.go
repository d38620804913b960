package session

import (
	"slices"
	"testing"
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
		kinds[string(e.Kind)] = true
		other := e
		other.Session = "another"
		earlier := e
		earlier.At = epoch.AddDate(-1, 0, 0)
		empty := e
		empty.Kind = ""
		for name, log := range map[string][]Event{
			"missing":            slices.Delete(slices.Clone(h.log), i, i+1),
			"twice":              slices.Insert(slices.Clone(h.log), i, e),
			"of another session": slices.Replace(slices.Clone(h.log), i, i+1, other),
			"of an earlier time": slices.Replace(slices.Clone(h.log), i, i+1, earlier),
			"without a kind":     slices.Replace(slices.Clone(h.log), i, i+1, empty),
		} {
			if name == "missing" && i == len(h.log)-1 || name == "of an earlier time" && i == 0 {
				continue
			}
			if _, err := (State{}).Apply(log); err == nil {
				t.Errorf("event %d %s %s: %v", i+1, string(e.Kind), name, err)
			}
		}
	}
	if len(kinds) != 18 {
		t.Errorf("the log has %d kinds of events: %v", len(kinds), kinds)
	}
}
