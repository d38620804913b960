// Package storetest lists and reads the conversations of a store, and describes them in text for tests to
// compare. Only tests import it.
package storetest

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/eventtext"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// Env returns an environment with only these values.
func Env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// Home returns a new directory with files, by their names, which have slashes.
func Home(t testing.TB, files map[string]string) (home string) {
	t.Helper()
	home = t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o750)
		if err = cmp.Or(err, os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// List returns the conversations and the problems of a store.
func List(t testing.TB, s store.Store, set store.Set) ([]store.Conversation, []store.Problem) {
	t.Helper()
	return list(t, s, store.Scope{Set: set})
}

// list returns the conversations of a scope and the problems of a store.
func list(t testing.TB, s store.Store, scope store.Scope) ([]store.Conversation, []store.Problem) {
	t.Helper()
	listing, err := s.List(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	defer listing.Close()
	return listing.Conversations, listing.Problems
}

// Database makes a database with statements, which each have their arguments after them. Its program has it
// open until the test ends, and has merged nothing from the log into it. It returns the open database.
func Database(t testing.TB, path string, statements ...[]any) *sql.DB {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	options := url.Values{"_pragma": {"journal_mode(wal)", "wal_autocheckpoint(0)", "synchronous(off)"}}
	db, err := sql.Open("sqlite", sqlitefile.URI(path, options))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, s := range statements {
		if _, err := db.Exec(s[0].(string), s[1:]...); err != nil {
			t.Fatal(s, err)
		}
	}
	return db
}

// Object returns a value as JSON.
func Object(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// Find returns the conversation with an id. The error is the first problem with that id, or else a
// [*store.NotFoundError].
func Find(t testing.TB, s store.Store, id transcript.ID) (store.Conversation, error) {
	t.Helper()
	found, problems := list(t, s, store.Scope{IDs: []transcript.ID{id}})
	if i := slices.IndexFunc(found, func(c store.Conversation) bool { return c.ID == id }); i >= 0 {
		return found[i], nil
	}
	if i := slices.IndexFunc(problems, func(p store.Problem) bool { return p.ID == id }); i >= 0 {
		return store.Conversation{}, problems[i].Err
	}
	all, _ := List(t, s, store.Live|store.Archived)
	return store.Conversation{}, &store.NotFoundError{IDs: []transcript.ID{id}, Place: s.Place(), Nearest: store.Nearest(id, all)}
}

// Only returns the only conversation of a store, which must have no problems.
func Only(t testing.TB, s store.Store) store.Conversation {
	t.Helper()
	found, problems := List(t, s, store.Live|store.Archived)
	if len(found) != 1 || len(problems) != 0 {
		t.Fatalf("%d conversations, problems %v; want one and none", len(found), problems)
	}
	return found[0]
}

// Said returns a line for each event, as [Describe] does.
func Said(t testing.TB, c store.Conversation) string {
	t.Helper()
	text, err := Read(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Read is [Said], with the error of reading. It checks that events are numbered in order.
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

// Describe returns a line with the turn of an event, its kind, whether it is copied, its name, whether it
// failed, and the text with single spaces.
func Describe(e *transcript.Event) string {
	line := fmt.Sprintf("%d %v", e.Turn, e.Kind)
	if e.Copied {
		line += " copied"
	}
	if e.Name != "" {
		line += " " + e.Name
	}
	if e.Failed {
		line += " failed"
	}
	if body := eventtext.Body(e); len(body) > 0 {
		line += ": " + strings.Join(strings.Fields(string(body)), " ")
	}
	return line + "\n"
}

// Turns returns a letter for each event, with a space before each turn and brackets around copied turns: u is the user,
// r reasoning, a the assistant, c a call, t a result, ! a failed result, q a question or its answer, | a compaction.
func Turns(t testing.TB, c store.Conversation) string {
	t.Helper()
	letters := map[transcript.Kind]string{
		transcript.KindUser: "u", transcript.KindReasoning: "r", transcript.KindAssistant: "a", transcript.KindToolCall: "c",
		transcript.KindToolResult: "t", transcript.KindInquiry: "q", transcript.KindInquiryResponse: "q", transcript.KindCompaction: "|",
	}
	var line strings.Builder
	turn, end := 0, ""
	_, err := c.Read(t.Context(), func(e *transcript.Event) bool {
		if e.Turn > turn {
			line.WriteString(end + " ")
			turn, end = e.Turn, ""
			if e.Copied {
				line.WriteString("[")
				end = "]"
			}
		}
		line.WriteString(letters[e.Kind])
		if e.Failed {
			line.WriteString("!")
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return line.String() + end
}

// Called returns the title of a conversation, or the beginning of its first request.
func Called(c store.Conversation) string { return cmp.Or(c.Title, c.Request) }

// Listing returns a line for each conversation of a store: its id, its title, its parent, whether it is
// archived, and its turns. It checks that each is found by its id too.
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
			t.Errorf("%s: the last event is listed at %v; it was at %v; %v", c.ID, c.LastAt, totals.LastAt, err)
		}
	}
	return b.String()
}

// CheckReading checks that reading a conversation twice has the same result, in valid UTF-8 and JSON.
func CheckReading(t testing.TB, c store.Conversation) {
	t.Helper()
	_, err := c.Read(t.Context(), func(e *transcript.Event) bool {
		text, object := eventtext.Searched(e), eventtext.AppendJSON(nil, e, true)
		if !utf8.Valid(text) || !json.Valid(object) {
			t.Fatalf("%q, %s", text, object)
		}
		return true
	})
	first, again := Said(t, c), Said(t, c)
	if err != nil || first != again || !utf8.ValidString(first+Called(c)) {
		t.Errorf("%v: %q says %q, then %q", err, Called(c), first, again)
	}
}

// CheckLongLine adds a line over the size limit to the file of the only conversation of a store, and checks
// that nothing but this line is left out.
func CheckLongLine(t testing.TB, s store.Store, file string) {
	t.Helper()
	before := Said(t, Only(t, s))
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(jsonl.MaxLine+1, io.SeekEnd); err != nil { // zeros that take no room
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "\n"); err != nil {
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
