// Package storetest helps the tests of stores: it lists and reads conversations, and
// writes down what is said in them, so that a test can compare it.
//
// Only tests import it.
package storetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
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
	session, unread, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	found, problems, err := session.List(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	return found, append(unread, problems...)
}

// Find returns one conversation of a store.
func Find(t testing.TB, s store.Store, id transcript.ID) (store.Conversation, error) {
	t.Helper()
	session, _, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	return session.Find(t.Context(), id)
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
	events, err := c.Events(ctx)
	if err != nil {
		return "", err
	}
	defer events.Close()
	var b strings.Builder
	for n := 0; events.Next(ctx); n++ {
		b.WriteString(Describe(events.Event()))
		if events.Event().Index != n {
			return "", fmt.Errorf("event %d has the index %d", n, events.Event().Index)
		}
	}
	return b.String(), events.Err()
}

// Resumed reads a conversation to its end, has it grow, and goes on behind what was read, where
// that can be. It reports whether it could: what was read in all is what there is then.
func Resumed(t testing.TB, find func() store.Conversation, grow func()) bool {
	t.Helper()
	before, mark, _, _ := resume(t, find(), nil)
	if mark == nil {
		grow()
		return false
	}
	grow()
	behind, mark, totals, resumed := resume(t, find(), mark)
	whole, wholeMark, wholeTotals, _ := resume(t, find(), nil)
	if !resumed {
		before = ""
	}
	if before+behind != whole || totals != wholeTotals {
		t.Errorf("resumed %t: %+v\n%s\nbehind\n%s\nwant %+v\n%s", resumed, totals, behind, before, wholeTotals, whole)
	}
	if !bytes.Equal(mark, wholeMark) {
		t.Errorf("resumed %t: the mark %q, want %q", resumed, mark, wholeMark)
	}
	return resumed
}

// resume reads what a conversation has behind a mark, or all where it cannot.
func resume(t testing.TB, c store.Conversation, behind []byte) (text string, mark []byte, totals store.Totals, resumed bool) {
	t.Helper()
	events, err := c.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	resumable := events.(store.Resumable)
	if behind != nil {
		resumed = resumable.Resume(t.Context(), behind)
	}
	for events.Next(t.Context()) {
		text += Describe(events.Event())
	}
	if events.Err() != nil {
		t.Fatal(events.Err())
	}
	return text, resumable.Mark(t.Context()), events.Totals(), resumed
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
	body, _ := eventtext.Body(e, transcript.Limits{})
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
	events, err := c.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	var b strings.Builder
	turn, open := 0, false
	for events.Next(t.Context()) {
		e := events.Event()
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
	}
	if events.Err() != nil {
		t.Fatal(events.Err())
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
		checkLast(t, c)
	}
	return b.String()
}

// checkLast checks that what a listing has as the time of the last event is that.
func checkLast(t testing.TB, c store.Conversation) {
	t.Helper()
	events, err := c.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	for events.Next(t.Context()) {
	}
	if last := events.Totals().LastAt; !c.LastAt.IsZero() && !last.Equal(c.LastAt) {
		t.Errorf("%s: listed with the last event at %v; that was at %v", c.ID, c.LastAt, last)
	}
}

// CheckReading checks what holds for any conversation, whatever is recorded: reading it
// twice gives the same, in valid UTF-8 and valid JSON.
func CheckReading(t testing.TB, c store.Conversation) {
	t.Helper()
	if !utf8.ValidString(Called(c)) {
		t.Errorf("title %q", Called(c))
	}
	events, err := c.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	var passes [2]string
	for pass := range passes {
		var b strings.Builder
		for events.Next(t.Context()) {
			e := events.Event()
			b.WriteString(Describe(e))
			text := eventtext.Searched(e)
			object := eventtext.AppendJSON(nil, e, transcript.JSONOptions{Turn: true})
			if !utf8.Valid(text) || !json.Valid(object) {
				t.Fatalf("%q, %s", text, object)
			}
		}
		if events.Err() != nil {
			t.Fatal(events.Err())
		}
		passes[pass] = b.String()
		events.Restart()
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
	events, err := c.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	for events.Next(t.Context()) {
	}
	if totals := events.Totals(); totals.TooLarge != 1 || totals.Skipped == 0 || events.Err() != nil {
		t.Errorf("%+v, %v", totals, events.Err())
	}
}
