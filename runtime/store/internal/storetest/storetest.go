// Package storetest helps the tests of stores: it lists and reads conversations, and
// writes down what is said in them, so that a test can compare it.
//
// Only tests import it.
package storetest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// Env returns an environment with these values alone.
func Env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// List returns the conversations of a store, and what could not be used.
func List(t testing.TB, s store.Store, set store.Set) ([]store.Conversation, []store.Problem) {
	t.Helper()
	listing, err := s.List(t.Context(), store.Scope{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	defer listing.Close()
	return listing.Conversations, listing.Problems
}

// Find returns one conversation of a store.
func Find(t testing.TB, s store.Store, id transcript.ID) (store.Conversation, error) {
	t.Helper()
	listing, err := s.List(t.Context(), store.Scope{IDs: []transcript.ID{id}})
	if err != nil {
		t.Fatal(err)
	}
	defer listing.Close()
	for _, c := range listing.Conversations {
		if c.ID == id {
			return c, nil
		}
	}
	for _, p := range listing.Problems {
		if p.ID == id {
			return store.Conversation{}, p.Err
		}
	}
	all, _ := List(t, s, store.Live|store.Archived)
	return store.Conversation{}, &store.NotFoundError{IDs: []transcript.ID{id}, Place: s.Place(), Nearest: store.Nearest(id, all)}
}

// Only returns the only conversation of a store.
func Only(t testing.TB, s store.Store) store.Conversation {
	t.Helper()
	found, problems := List(t, s, store.Live|store.Archived)
	if len(found) != 1 || len(problems) != 0 {
		t.Fatalf("%d conversations, problems %v; want one and none", len(found), problems)
	}
	return found[0]
}

// Said returns a line for each event: its turn, its kind, a name and the text, with each
// white space as one space.
func Said(t testing.TB, c store.Conversation) string {
	t.Helper()
	text, err := Read(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Read is [Said], with the error at which reading ends.
func Read(ctx context.Context, c store.Conversation) (string, error) {
	var b strings.Builder
	var wrong error
	n := 0
	_, err := c.Read(ctx, func(e *transcript.Event) bool {
		b.WriteString(Describe(e))
		if e.Index != n {
			wrong = fmt.Errorf("event %d has the index %d", n, e.Index)
		}
		n++
		return true
	})
	return b.String(), cmp.Or(wrong, err)
}

// Describe returns the line for an event.
func Describe(e *transcript.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s", e.Turn, e.Kind)
	if e.Copied {
		b.WriteString(" copied")
	}
	if e.Name != "" {
		fmt.Fprintf(&b, " %s", e.Name)
	}
	if e.Failed {
		b.WriteString(" failed")
	}
	body, _ := eventtext.Body(e)
	if len(body) > 0 {
		fmt.Fprintf(&b, ": %s", strings.Join(strings.Fields(string(body)), " "))
	}
	return b.String() + "\n"
}

// letters stand for the kinds of events in [Turns].
var letters = map[transcript.Kind]string{
	transcript.KindUser: "u", transcript.KindReasoning: "r", transcript.KindAssistant: "a", transcript.KindToolCall: "c",
	transcript.KindToolResult: "t", transcript.KindInquiry: "q", transcript.KindInquiryResponse: "q", transcript.KindCompaction: "|",
}

// Turns returns a letter for each event, with a space before each turn and brackets
// around one that is a copy: u is the user, r reasoning, a the assistant, c a call, t a
// result, ! one that failed, q a question or its answer, | a compaction.
func Turns(t testing.TB, c store.Conversation) string {
	t.Helper()
	var b strings.Builder
	turn, open := 0, false
	_, err := c.Read(t.Context(), func(e *transcript.Event) bool {
		if e.Turn > turn {
			if turn = e.Turn; open {
				b.WriteString("]")
			}
			b.WriteString(" ")
			if open = e.Copied; open {
				b.WriteString("[")
			}
		}
		b.WriteString(letters[e.Kind])
		if e.Failed {
			b.WriteString("!")
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if open {
		b.WriteString("]")
	}
	return b.String()
}

// Called returns the title of a conversation, or how its first request begins.
func Called(c store.Conversation) string { return cmp.Or(c.Title, c.Request) }

// Listing returns a line for each conversation of a store: its id, its title, its parent,
// whether it is archived, and its turns. Each is looked for by its id too.
func Listing(t testing.TB, s store.Store) string {
	t.Helper()
	found, problems := List(t, s, store.Live|store.Archived)
	if len(problems) > 0 {
		t.Error(problems)
	}
	var b strings.Builder
	for _, c := range found {
		fmt.Fprintf(&b, "%s %q", c.ID, Called(c))
		if c.Parent != "" {
			fmt.Fprintf(&b, " of %s", c.Parent)
		}
		if c.Archived {
			b.WriteString(" archived")
		}
		b.WriteString(Turns(t, c) + "\n")
		again, err := Find(t, s, c.ID)
		if err != nil || Called(again) != Called(c) || again.Parent != c.Parent || !again.CreatedAt.Equal(c.CreatedAt) || again.Dir != c.Dir {
			t.Errorf("Find: %+v, %v; List: %+v", again, err, c)
		}
		if totals, err := c.Read(t.Context(), nil); err != nil || !c.LastAt.IsZero() && !totals.LastAt.Equal(c.LastAt) {
			t.Errorf("%s: listed with the last event at %v; that was at %v; %v", c.ID, c.LastAt, totals.LastAt, err)
		}
	}
	return b.String()
}

// CheckReading checks what holds for any conversation, whatever is recorded: reading it
// twice gives the same, in valid UTF-8 and valid JSON.
func CheckReading(t testing.TB, c store.Conversation) {
	t.Helper()
	if !utf8.ValidString(Called(c)) {
		t.Errorf("title %q", Called(c))
	}
	var passes [2]string
	for pass := range passes {
		var b strings.Builder
		_, err := c.Read(t.Context(), func(e *transcript.Event) bool {
			b.WriteString(Describe(e))
			text := eventtext.Searched(e)
			object := eventtext.AppendJSON(nil, e, transcript.JSONOptions{Turn: true})
			if !utf8.Valid(text) || !json.Valid(object) {
				t.Fatalf("%q, %s", text, object)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		passes[pass] = b.String()
	}
	if passes[0] != passes[1] || !utf8.ValidString(passes[0]) {
		t.Errorf("%q, then %q", passes[0], passes[1])
	}
}

// CheckLongLine checks that a line which is too long to be read costs itself, in the only
// conversation of a store, which a file of lines has.
func CheckLongLine(t testing.TB, s store.Store, file string) {
	t.Helper()
	before := Said(t, Only(t, s))
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("\n"), info.Size()+jsonl.MaxLine+1); err != nil { // behind a hole
		t.Fatal(err)
	}
	c := Only(t, s)
	if after := Said(t, c); after != before {
		t.Errorf("it says %q, and %q with the line", before, after)
	}
	totals, err := c.Read(t.Context(), nil)
	if totals.TooLarge != 1 || totals.Skipped == 0 || err != nil {
		t.Errorf("%+v, %v", totals, err)
	}
}

// Reader reads the events of a conversation one by one.
type Reader struct {
	next   func() (*transcript.Event, bool)
	stop   func()
	event  *transcript.Event
	ahead  bool // the event has not been asked for
	totals store.Totals
	err    error
}

// Events begins to read a conversation. The error is that of reading where there is no event.
func Events(ctx context.Context, c store.Conversation) (*Reader, error) {
	r := &Reader{ahead: true}
	r.next, r.stop = iter.Pull(func(yield func(*transcript.Event) bool) { r.totals, r.err = c.Read(ctx, yield) })
	r.event, _ = r.next()
	var damage *store.DamageError
	if r.event == nil && r.err != nil && !errors.As(r.err, &damage) && ctx.Err() == nil {
		return nil, r.err
	}
	return r, nil
}

// Next advances to the next event.
func (r *Reader) Next(context.Context) bool {
	if !r.ahead {
		r.event, _ = r.next()
	}
	r.ahead = false
	return r.event != nil
}

// Event returns the current event, Err why there is no other one, and Totals describes them all.
func (r *Reader) Event() *transcript.Event { return r.event }
func (r *Reader) Err() error               { return r.err }
func (r *Reader) Totals() store.Totals     { return r.totals }

// Close ends the reading.
func (r *Reader) Close() { r.stop() }
