package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/transcript"
)

// searchEvents describes what the lines of a program are made.
func searchEvents(t *testing.T, stdout string, q conversations.EventQuery) (events []string, found conversations.EventMatches, err error) {
	t.Helper()
	q.Scopes = transcript.ScopeAll
	q.Event = func(m *conversations.EventMatch) error {
		line := fmt.Sprintf("%s #%d turn %d %s matches %d:", m.Conversation.ID, m.Number, m.Turn, m.Scope, m.Matches)
		for _, l := range m.Lines {
			line += fmt.Sprintf(" %d %s/%t", l.Number, l.Text, l.IsMatch)
		}
		events = append(events, line)
		return nil
	}
	found, err = in("", prints(stdout)).SearchEvents(t.Context(), q)
	return events, found, err
}

// Lines are grouped by event also where a program does not number events.
func TestLinesAreGroupedByEvent(t *testing.T) {
	t.Parallel()
	const plain = `[
		{"id":"jp-c1","scope":"title","title":"T","text":"an x","match":true},
		{"id":"jp-c1","turn":1,"scope":"user","timestamp":"2026-01-01T00:00:00Z","title":"T","text":"x one","match":true},
		{"id":"jp-c1","turn":1,"scope":"user","timestamp":"2026-01-01T00:00:00Z","title":"T","text":"between","match":false},
		{"id":"jp-c1","turn":1,"scope":"user","timestamp":"2026-01-01T00:00:00Z","title":"T","text":"x two","match":true},
		{"id":"jp-c1","turn":1,"scope":"user","timestamp":"2026-01-01T00:00:01Z","title":"T","text":"x three","match":true},
		{"id":"jp-c2","turn":4,"scope":"tool-result","text":"x four","match":true}]`
	got, found, err := searchEvents(t, plain, conversations.EventQuery{Pattern: "x", Context: 1})
	want := []string{
		"jp-c1 #0 turn 0 title matches 1: 1 an x/true",
		"jp-c1 #0 turn 1 user matches 2: 0 x one/true 0 between/false 0 x two/true",
		"jp-c1 #0 turn 1 user matches 1: 0 x three/true",
		"jp-c2 #0 turn 4 tool-result matches 1: 0 x four/true",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if found.Total != 5 || found.Searched >= 0 || len(found.Conversations) != 2 || found.Conversations[0].Matches != 4 || found.Conversations[1].Turns != 4 {
		t.Errorf("%+v", found)
	}
	if _, _, err := searchEvents(t, plain, conversations.EventQuery{Pattern: "x", Number: 2, Filter: conversations.Filter{IDs: []string{"jp-c1"}}}); !errors.Is(err, conversations.ErrUnsupported) {
		t.Errorf("one event, which has no number: %v", err)
	}
	const numbered = `[
		{"id":"jp-c1","scope":"title","text":"an x","match":true},
		{"id":"jp-c1","turn":1,"scope":"user","text":"before","match":false,"line":1,"event":1,"number":1},
		{"id":"jp-c1","turn":1,"scope":"user","text":"x one","match":true,"line":2,"event":1,"number":1},
		{"id":"jp-c1","turn":1,"scope":"user","text":"between","match":false,"line":3,"event":1,"number":1},
		{"id":"jp-c1","turn":1,"scope":"user","text":"x two","match":true,"line":4,"event":1,"number":1},
		{"id":"jp-c1","turn":1,"scope":"user","text":"x three","match":true,"line":5,"event":1,"number":1},
		{"id":"jp-c1","turn":1,"scope":"user","text":"x four","match":true,"line":1,"event":2,"number":2},
		{"summary":{"matches":99,"excluded_tool_matches":5,"searched":7,"conversations":[{"id":"jp-c1","matches":98,"turns":3}]}}]`
	for _, test := range []struct {
		q     conversations.EventQuery
		want  []string
		total int
		own   int
	}{
		{conversations.EventQuery{Pattern: "x", Context: 1, MaxLines: 1}, []string{
			"jp-c1 #0 turn 0 title matches 1: 1 an x/true",
			"jp-c1 #1 turn 1 user matches 3: 1 before/false 2 x one/true 3 between/false",
			"jp-c1 #2 turn 1 user matches 1: 1 x four/true",
		}, 99, 5},
		{conversations.EventQuery{Pattern: "x", Context: 1, MaxLines: 2, Number: 1}, []string{
			"jp-c1 #1 turn 1 user matches 3: 1 before/false 2 x one/true 3 between/false 4 x two/true 5 x three/false",
		}, 3, 0},
		{conversations.EventQuery{Pattern: "x", Wanted: func(_ transcript.ID, number int) bool { return number == 2 }}, []string{
			"jp-c1 #0 turn 0 title matches 1:",
			"jp-c1 #1 turn 1 user matches 3:",
			"jp-c1 #2 turn 1 user matches 1: 1 x four/true",
		}, 99, 5},
	} {
		got, found, err := searchEvents(t, numbered, test.q)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" || found.Total != test.total || found.Own != test.own {
			t.Errorf("%+v: %d in all, %d own, %v (-want +got):\n%s", test.q, found.Total, found.Own, err, diff)
		}
	}
	// Not all of the 99 lines were printed.
	if _, _, err := searchEvents(t, numbered, conversations.EventQuery{Words: []string{"x", "y"}}); !errors.Is(err, conversations.ErrUnsupported) {
		t.Errorf("words with more lines than are printed: %v", err)
	}
}

// inTurn is a program that prints something else each time.
type inTurn struct {
	runs []string
	next *int
}

func (p inTurn) Run(context.Context, process.Command) (process.Result, error) {
	*p.next++
	return process.Result{Stdout: []byte(p.runs[(*p.next-1)%len(p.runs)])}, nil
}

// Each word is a run, and what matters is where their lines come together.
func TestWordsOfOneEvent(t *testing.T) {
	t.Parallel()
	line := func(id string, event, number int, text string) string {
		return fmt.Sprintf(`{"id":%q,"turn":1,"scope":"user","text":%q,"match":true,"line":%d,"event":%d,"number":%d}`, id, text, number, event, event)
	}
	lines := func(all ...string) string { return "[" + strings.Join(all, ",") + "]" }
	var got []conversations.EventMatch
	q := conversations.EventQuery{
		Words: []string{"a", "b"}, Scopes: transcript.ScopeAll, MaxLines: 2,
		Event: func(m *conversations.EventMatch) error {
			got = append(got, *m)
			return nil
		},
	}
	found, err := in("", inTurn{[]string{
		lines(line("jp-c1", 1, 1, "a"), line("jp-c1", 1, 8, "a b"), line("jp-c1", 2, 1, "a"), line("jp-c2", 1, 1, "a")),
		lines(line("jp-c1", 1, 8, "a b"), line("jp-c1", 1, 20, "b"), line("jp-c2", 2, 1, "b"), line("jp-c3", 1, 1, "b")),
	}, new(int)}).SearchEvents(t.Context(), q)
	if err != nil || found.Total != 1 || !slices.Equal(found.Words, []int{3, 3}) || found.Together != nil || len(found.Conversations) != 1 || found.Conversations[0].Matches != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	if len(got) != 1 || got[0].Matches != 3 || len(got[0].Lines) != 1 || got[0].Lines[0].Text != "a b" || !got[0].Lines[0].IsMatch {
		t.Errorf("%+v", got)
	}
	got, q.Number = nil, 1
	if _, err := in("", inTurn{[]string{
		lines(line("jp-c1", 1, 1, "a"), line("jp-c1", 1, 8, "a b")), lines(line("jp-c1", 1, 3, "b"), line("jp-c1", 1, 8, "a b")),
	}, new(int)}).SearchEvents(t.Context(), q); err != nil || len(got) != 1 || len(got[0].Lines) != 2 || got[0].Lines[0].Number != 1 || got[0].Lines[1].Number != 3 {
		t.Errorf("one event: %+v, %v", got, err)
	}
	q.Number = 0
	found, err = in("", inTurn{[]string{lines(line("jp-c1", 1, 1, "a"), line("jp-c2", 1, 1, "a")), lines(line("jp-c2", 2, 1, "b"))}, new(int)}).SearchEvents(t.Context(), q)
	if err != nil || found.Total != 0 || !slices.Equal(found.Together, []transcript.ID{"jp-c2"}) || found.Conversations != nil {
		t.Errorf("%+v, %v", found, err)
	}
	var pattern *conversations.PatternError
	for _, words := range [][]string{{"a", ""}, {"a\nb"}, make([]string, conversations.MaxWords+1)} {
		if _, err := in("", prints("[]")).SearchEvents(t.Context(), conversations.EventQuery{Words: words, Scopes: transcript.ScopeAll}); !errors.As(err, &pattern) {
			t.Errorf("%q: %v", words, err)
		}
	}
}

// FuzzSearchEvents: whatever a program prints is an error, or what a source
// promises.
func FuzzSearchEvents(f *testing.F) {
	for _, s := range []string{
		`[]`, `[{"id":"jp-c1","scope":"user","turn":-1,"text":"abc","match":true,"line":-3,"event":-9,"number":-5,"event_chars":-5,"chars":-5}]`,
		`[{"id":"jp-c1","scope":"user","turn":1,"text":"a","match":true,"line":2,"event":1,"number":1},{"id":"jp-c1","scope":"user","turn":1,"text":"b","match":false,"line":1,"event":1,"number":1},{"id":"jp-c1","scope":"title","text":"b","match":true},{"summary":{"matches":1,"excluded_tool_matches":-8}}]`,
		`[{"id":"jp-c1","scope":"user","text":"a","match":true},{"id":"jp-c2","scope":"user","text":"a","match":true},{"id":"jp-c1","scope":"user","text":"a","match":true}]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stdout string) {
		for _, words := range [][]string{nil, {"x", "y"}} {
			matches := 0
			found, err := in("", prints(stdout)).SearchEvents(t.Context(), conversations.EventQuery{
				Pattern: "x", Words: words, Scopes: transcript.ScopeAll, MaxLines: 2, MaxLine: 20, Context: 1,
				Event: func(e *conversations.EventMatch) error {
					shown := 0
					for _, l := range e.Lines {
						if l.IsMatch {
							shown++
						}
						if utf8.RuneCountInString(l.Text) > 20+marks {
							t.Errorf("line %+v", l)
						}
					}
					if matches++; words == nil {
						matches += e.Matches - 1
					}
					_, err := conversations.ParseID(string(e.Conversation.ID))
					if err != nil || shown < 1 || shown > 2 || e.Matches < shown || e.Scope&(e.Scope-1) != 0 || e.Number < 0 || e.Chars < 0 {
						t.Errorf("event %+v, %v", e, err)
					}
					return nil
				},
			})
			if err == nil && (words != nil && found.Total != matches || found.Own < 0) {
				t.Errorf("%+v, although %d were handed over", found, matches)
			}
		}
	})
}
