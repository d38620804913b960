package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
	"github.com/google/go-cmp/cmp"
)

func TestListing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"30-external", "external")
	f.conversation(inUser+"20-local", "local")
	f.conversation(inProject+"10-both", "both")
	f.conversation(inUser+"10-both-renamed", "both")
	f.conversation(inProject+"9", "numbers, not text")
	f.conversation(inProject+".archive/5-old", "old")
	f.conversation(inUser+".archive/5-old", "old")
	f.conversation(inUser+".archive/6", "older")
	// None of these is a conversation.
	f.conversation(inProject+".trash/40-broken", "trash")
	f.conversation(inProject+".50-staging", "dot")
	f.conversation(inProject+"notes", "notes")
	f.conversation(inProject+"x60", "letters")
	f.write(inProject+"70", "a file")
	f.write(inProject+"10-both/QUERY_MESSAGE.md", "a draft")
	f.write(inProject+"10-both/events.json.tmp", "half")

	lines, skipped := f.list(Live)
	if diff := cmp.Diff([]string{"9 numbers, not text ext", "10 both N", "20 local Y", "30 external ext"}, lines); diff != "" || len(skipped) > 0 {
		t.Errorf("live (-want +got):\n%s%v", diff, skipped)
	}
	lines, skipped = f.list(Archived)
	if diff := cmp.Diff([]string{"5 old N archived", "6 older Y archived"}, lines); diff != "" || len(skipped) > 0 {
		t.Errorf("archived (-want +got):\n%s%v", diff, skipped)
	}
	lines, _ = f.list(Live | Archived)
	want := []string{"5 old N archived", "6 older Y archived", "9 numbers, not text ext", "10 both N", "20 local Y", "30 external ext"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
}

func TestListingWithoutStores(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if err := os.RemoveAll(filepath.Join(f.root, ".jp", "conversations")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(f.data); err != nil {
		t.Fatal(err)
	}
	if lines, skipped := f.list(Live | Archived); len(lines)+len(skipped) > 0 {
		t.Errorf("%q, %v", lines, skipped)
	}
}

func TestLiveInOneStoreArchivedInTheOther(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "live")
	f.conversation(inUser+".archive/10", "archived")
	if lines, _ := f.list(Live | Archived); !cmp.Equal(lines, []string{"10 live ext"}) {
		t.Errorf("both: %q", lines)
	}
	if lines, _ := f.list(Archived); !cmp.Equal(lines, []string{"10 archived Y archived"}) {
		t.Errorf("archived: %q", lines)
	}
	if c := f.find(10); c.Archived || f.events(c) != events("live") {
		t.Errorf("found %+v", c)
	}
}

// Which copy counts is decided for the metadata and for the stream by
// themselves, by the time of their files.
func TestProjection(t *testing.T) {
	t.Parallel()
	const project, user = inProject + "10-p", inUser + "10-u"
	const missing = -1
	for _, test := range []struct {
		name                string
		metadata            [2]int // ages in project and user store
		events, base        [2]int
		wantTitle, wantText string
	}{
		{"tie", [2]int{5, 5}, [2]int{5, 5}, [2]int{5, 5}, "user", "user"},
		{"project newer", [2]int{6, 5}, [2]int{6, 5}, [2]int{5, 5}, "project", "project"},
		{"user newer", [2]int{5, 6}, [2]int{5, 6}, [2]int{5, 5}, "user", "user"},
		{"metadata and stream from different stores", [2]int{6, 5}, [2]int{5, 6}, [2]int{5, 5}, "project", "user"},
		{"and the other way round", [2]int{5, 6}, [2]int{6, 5}, [2]int{5, 5}, "user", "project"},
		{"base config makes a stream newer", [2]int{5, 5}, [2]int{5, 6}, [2]int{7, 5}, "user", "project"},
		{"no base config", [2]int{5, 5}, [2]int{6, 5}, [2]int{missing, missing}, "user", "project"},
		{"base config on one side", [2]int{5, 5}, [2]int{6, 5}, [2]int{missing, 7}, "user", "user"},
		{"missing metadata is old", [2]int{missing, 5}, [2]int{5, 5}, [2]int{5, 5}, "user", "user"},
		{"missing metadata is old, user", [2]int{5, missing}, [2]int{5, 5}, [2]int{5, 5}, "project", "user"},
		{"without events a copy has no say", [2]int{5, 5}, [2]int{5, missing}, [2]int{5, 9}, "user", "project"},
	} {
		f := newFixture(t)
		for store, dir := range []string{project, user} {
			name := []string{"project", "user"}[store]
			f.mkdir(dir)
			for file, age := range map[string]int{"metadata.json": test.metadata[store], "events.json": test.events[store], "base_config.json": test.base[store]} {
				if age == missing {
					continue
				}
				f.write(dir+"/"+file, map[string]string{"metadata.json": fmt.Sprintf(`{"title":%q}`, name), "events.json": events(name), "base_config.json": "{}"}[file])
				f.age(dir+"/"+file, age)
			}
		}
		c := f.find(10)
		if got := f.events(c); c.Metadata.Title != test.wantTitle || got != events(test.wantText) {
			t.Errorf("%s: title of %s, events %s; want %s, %s", test.name, c.Metadata.Title, got, test.wantTitle, test.wantText)
		}
	}
}

// Archived metadata comes from the project whatever its age; the stream by age.
func TestProjectionOfArchived(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+".archive/10", "project")
	f.conversation(inUser+".archive/10", "user")
	for _, file := range []string{"metadata.json", "events.json"} {
		f.age(inProject+".archive/10/"+file, 1)
		f.age(inUser+".archive/10/"+file, 2)
	}
	if c := f.find(10); c.Metadata.Title != "project" || !c.Archived || f.events(c) != events("user") {
		t.Errorf("title of %s, archived %v, events %s", c.Metadata.Title, c.Archived, f.events(c))
	}
	if err := os.Remove(filepath.Join(f.base, inProject+".archive/10/metadata.json")); err != nil {
		t.Fatal(err)
	}
	if c := f.find(10); c.Metadata.Title != "user" {
		t.Errorf("without metadata in the project: title of %q", c.Metadata.Title)
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10-a", "a")
	f.conversation(inProject+"10-b", "b")
	f.conversation(inProject+"010", "c")
	f.age(inProject+"010/events.json", 1)
	f.age(inProject+"10-a/events.json", 2)
	f.age(inProject+"10-b/events.json", 2)
	lines, skipped := f.list(Live)
	if !cmp.Equal(lines, []string{"10 a ext"}) {
		t.Errorf("listed %q", lines)
	}
	var reasons []string
	for _, s := range skipped {
		reasons = append(reasons, fmt.Sprint(s.ID, " ", filepath.Base(s.Path), ": ", s.Reason))
		if !s.Listed {
			t.Errorf("%s: not said to be listed", s.Path)
		}
	}
	want := []string{"jp-c10 010: another directory has the same id; 10-a is used", "jp-c10 10-b: another directory has the same id; 10-a is used"}
	if diff := cmp.Diff(want, reasons); diff != "" {
		t.Error(diff)
	}
}

// A conversation is not listed when the directory that is used is broken.
func TestDuplicateOfBroken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10-a", "a")
	f.conversation(inProject+"10-b", "b")
	f.write(inProject+"10-b/metadata.json", "{")
	f.age(inProject+"10-a/events.json", 1)
	lines, skipped := f.list(Live)
	if len(lines) > 0 || len(skipped) != 2 || skipped[0].Listed || skipped[1].Listed {
		t.Errorf("listed %q, skipped %+v", lines, skipped)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 29, 20, 4, 40, 293992000, time.UTC)
	for content, want := range map[string]Metadata{
		testTitle: {Title: "A title", LastActivatedAt: at},
		`{}`:      {},
		`{"title":null,"last_activated_at":"2026-05-29T20:04:40.293992Z","pinned_at":"2026-05-29T22:04:40.293992+02:00",
			"archived_at":"2026-05-29 20:04:40.293992","expires_at":"2026-05-29 20:04:40.293992","labels":{"a":"b","c":""},"new":[1]}`: {
			LastActivatedAt: at, PinnedAt: at, ArchivedAt: at, ExpiresAt: at, Labels: map[string]string{"a": "b", "c": ""},
		},
		`{"hidden":true}`:                {Hidden: true},
		`{"hidden":false,"labels":{}}`:   {},
		`{"labels":{"hidden":""}}`:       {Hidden: true, Labels: map[string]string{"hidden": ""}},
		`{"title":"东京 \ud800","x":null}`: {Title: "东京 \ufffd"},
	} {
		f := newFixture(t)
		f.write(inProject+"10/metadata.json", content)
		if diff := cmp.Diff(want, f.find(10).Metadata); diff != "" {
			t.Errorf("%s:\n%s", content, diff)
		}
	}
}

// A conversation that cannot be listed does not hide the others, and can still be
// read by its id.
func TestBrokenMetadata(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ content, want string }{
		"cut off":         {`{"title":"A ti`, "unexpected end of JSON input"},
		"not an object":   {`[]`, "cannot be read"},
		"wrong type":      {`{"title":7}`, "title"},
		"wrong timestamp": {`{"last_activated_at":"yesterday"}`, `invalid timestamp "yesterday"`},
		"empty":           {``, "unexpected end of JSON input"},
		"too large":       {`{"title":"` + strings.Repeat("x", 1<<20) + `"}`, "metadata.json has 1048588 bytes"},
		"missing":         {"", "metadata.json is missing"},
	} {
		f := newFixture(t)
		f.conversation(inProject+"10", "good")
		f.conversation(inProject+"20", "bad")
		if f.write(inProject+"20/metadata.json", test.content); name == "missing" {
			if err := os.Remove(filepath.Join(f.base, inProject+"20/metadata.json")); err != nil {
				t.Fatal(err)
			}
		}
		lines, skipped := f.list(Live)
		if !cmp.Equal(lines, []string{"10 good ext"}) {
			t.Errorf("%s: listed %q", name, lines)
		}
		if len(skipped) != 1 || skipped[0].ID != 20 || !strings.Contains(skipped[0].Reason, test.want) || strings.Contains(skipped[0].Reason, f.base) {
			t.Errorf("%s: skipped %v, want 20 with %q", name, skipped, test.want)
		}
		c := f.find(20)
		if c.MetadataErr == nil || f.events(c) != events("bad") {
			t.Errorf("%s: found %+v", name, c)
		}
	}
}

func TestBrokenCopyLeavesTheWordToTheOther(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "project")
	f.conversation(inUser+"10", "user")
	f.write(inUser+"10/metadata.json", "{")
	f.age(inProject+"10/metadata.json", 1)
	if lines, skipped := f.list(Live); !cmp.Equal(lines, []string{"10 project N"}) || len(skipped) > 0 {
		t.Errorf("%q, %v", lines, skipped)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, id := range []string{"17800836875", "17800836975", "17727391057", "17738500500", "5"} {
		f.conversation(inProject+id+"-title", id)
	}
	f.conversation(inUser+".archive/17659773217", "archived")
	if c := f.find(17659773217); !c.Archived || c.Locality != LocalityUser || c.Metadata.Title != "archived" {
		t.Errorf("archived: %+v", c)
	}
	// The nearest ids are those with the fewest typing mistakes.
	for id, want := range map[transcript.ID][]transcript.ID{
		17800836876: {17800836875, 17800836975}, // one digit is wrong
		1780083687:  {17800836875, 17800836975}, // one digit is missing
		71800836875: {17800836875, 17800836975}, // two digits are swapped
		7:           {5},
	} {
		_, err := f.open().Find(t.Context(), id)
		var notFound *NotFoundError
		if !errors.As(err, &notFound) || notFound.ID != id || err.Error() != "conversation "+id.String()+" not found" {
			t.Errorf("%v: %v", id, err)
			continue
		}
		if len(notFound.Nearest) != 3 || !cmp.Equal(notFound.Nearest[:len(want)], want) {
			t.Errorf("%v: nearest %v, want three, first %v", id, notFound.Nearest, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{{"1", "1", 0}, {"1", "2", 1}, {"123", "13", 1}, {"13", "123", 1}, {"123", "456", 3}, {"12345", "21345", 2}, {"9223372036854775807", "1", 19}} {
		if got := editDistance(test.a, test.b); got != test.want {
			t.Errorf("editDistance(%s, %s) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func TestContextEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "x")
	w, c := f.open(), f.find(10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := w.Conversations(ctx, Live); !errors.Is(err, context.Canceled) {
		t.Errorf("Conversations: %v", err)
	}
	if _, err := w.Find(ctx, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("Find: %v", err)
	}
	if _, err := c.ReadEvents(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("ReadEvents: %v", err)
	}
}

func TestUnreadableStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inUser+"10", "user")
	if err := os.RemoveAll(filepath.Join(f.base, inProject)); err != nil {
		t.Fatal(err)
	}
	f.write("project/.jp/conversations", "a file")
	lines, skipped := f.list(Live)
	if !cmp.Equal(lines, []string{"10 user Y"}) || len(skipped) != 1 || skipped[0].ID != 0 || !strings.Contains(skipped[0].Reason, "not a directory") {
		t.Errorf("%q, %v", lines, skipped)
	}
	if _, err := f.open().Find(t.Context(), 11); err == nil || !strings.Contains(err.Error(), "cannot be opened") {
		t.Errorf("a store that may hold the conversation is not named: %v", err)
	}
	if err := os.RemoveAll(f.data); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.open().Conversations(t.Context(), Live); err == nil {
		t.Error("no store can be read, and no error")
	}
}

// Nothing is written, so directories may be read-only and everything stays as it is.
func TestReadingWritesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10-a", "a")
	f.conversation(inUser+"10-b", "b")
	f.conversation(inProject+"10-c", "c")
	f.conversation(inUser+".archive/20", "d")
	f.write(inProject+"30/metadata.json", "{")
	f.write(inProject+"30/events.json.tmp", "[")
	f.write("project/.jp/.id", "not valid for JP\n"+testID)
	before := f.snapshot()
	if runtime.GOOS != "windows" {
		_ = filepath.Walk(f.base, func(path string, info os.FileInfo, err error) error {
			mode := os.FileMode(0o444)
			if info.IsDir() {
				mode = 0o555
			}
			return os.Chmod(path, mode)
		})
		t.Cleanup(func() {
			_ = filepath.Walk(f.base, func(path string, info os.FileInfo, err error) error { return os.Chmod(path, 0o755) })
		})
		before = f.snapshot()
	}
	f.list(Live | Archived)
	f.events(f.find(10))
	f.events(f.find(20))
	_, _ = f.open().Find(t.Context(), 99)
	if f.snapshot() != before {
		t.Error("the tree changed")
	}
}

func TestManyConversations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const n = 2000
	for i := range n {
		f.write(fmt.Sprintf("%s%d-title/metadata.json", inProject, 17800000000+i), fmt.Sprintf(`{"title":"%d"}`, i))
	}
	lines, skipped := f.list(Live)
	if len(lines) != n || len(skipped) > 0 || lines[0] != "17800000000 0 ext" || lines[n-1] != "17800001999 1999 ext" {
		t.Errorf("%d listed, %v", len(lines), skipped)
	}
}

func BenchmarkConversations(b *testing.B) {
	base := b.TempDir()
	for i := range 2000 {
		dir := filepath.Join(base, ".jp", "conversations", fmt.Sprintf("%d-title", 17800000000+i))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(testTitle), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	w, err := Open(Options{Dir: base, Getenv: func(string) string { return "" }})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if list, _, err := w.Conversations(b.Context(), Live); err != nil || len(list) != 2000 {
			b.Fatal(len(list), err)
		}
	}
}
