package jp

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

	"github.com/convtools/convtools/runtime/store"
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

	lines, skipped := f.list(store.Live)
	if diff := cmp.Diff([]string{"9 numbers, not text ext", "10 both N", "20 local Y", "30 external ext"}, lines); diff != "" || len(skipped) > 0 {
		t.Errorf("live (-want +got):\n%s%v", diff, skipped)
	}
	lines, skipped = f.list(store.Archived)
	if diff := cmp.Diff([]string{"5 old N archived", "6 older Y archived"}, lines); diff != "" || len(skipped) > 0 {
		t.Errorf("archived (-want +got):\n%s%v", diff, skipped)
	}
	lines, _ = f.list(store.Live | store.Archived)
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
	if lines, skipped := f.list(store.Live | store.Archived); len(lines)+len(skipped) > 0 {
		t.Errorf("%q, %v", lines, skipped)
	}
}

func TestLiveInOneStoreArchivedInTheOther(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "live")
	f.conversation(inUser+".archive/10", "archived")
	if lines, _ := f.list(store.Live | store.Archived); !cmp.Equal(lines, []string{"10 live ext"}) {
		t.Errorf("both: %q", lines)
	}
	if lines, _ := f.list(store.Archived); !cmp.Equal(lines, []string{"10 archived Y archived"}) {
		t.Errorf("archived: %q", lines)
	}
	if c := f.find(10); c.Archived || f.events(c) != streamWith("live") {
		t.Errorf("found %+v", c)
	}
}

// TestProjection tests which copy counts: that is decided for the metadata and for the stream by the
// times of their files.
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
				f.write(dir+"/"+file, map[string]string{"metadata.json": fmt.Sprintf(`{"title":%q}`, name), "events.json": streamWith(name), "base_config.json": "{}"}[file])
				f.age(dir+"/"+file, age)
			}
		}
		c := f.find(10)
		if got := f.events(c); c.Title != test.wantTitle || got != streamWith(test.wantText) {
			t.Errorf("%s: title of %s, events %s; want %s, %s", test.name, c.Title, got, test.wantTitle, test.wantText)
		}
	}
}

// TestProjectionOfArchived tests that archived metadata comes from the project, and the stream from
// the newer copy.
func TestProjectionOfArchived(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+".archive/10", "project")
	f.conversation(inUser+".archive/10", "user")
	for _, file := range []string{"metadata.json", "events.json"} {
		f.age(inProject+".archive/10/"+file, 1)
		f.age(inUser+".archive/10/"+file, 2)
	}
	if c := f.find(10); c.Title != "project" || !c.Archived || f.events(c) != streamWith("user") {
		t.Errorf("title of %s, archived %v, events %s", c.Title, c.Archived, f.events(c))
	}
	if err := os.Remove(filepath.Join(f.base, inProject+".archive/10/metadata.json")); err != nil {
		t.Fatal(err)
	}
	if c := f.find(10); c.Title != "user" {
		t.Errorf("without metadata in the project: title of %q", c.Title)
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
	lines, skipped := f.list(store.Live)
	if !cmp.Equal(lines, []string{"10 a ext"}) {
		t.Errorf("listed %q", lines)
	}
	var reasons []string
	for _, s := range skipped {
		reasons = append(reasons, fmt.Sprint(s.ID, " ", filepath.Base(s.Path), ": ", s.Err.Error()))
		if s.Kind != store.Duplicate {
			t.Errorf("%s: problem of kind %v", s.Path, s.Kind)
		}
	}
	want := []string{"jp-c10 010: another directory has the same id; 10-a is used", "jp-c10 10-b: another directory has the same id; 10-a is used"}
	if diff := cmp.Diff(want, reasons); diff != "" {
		t.Error(diff)
	}
}

// TestDuplicateOfBroken tests that a conversation is not listed if the directory that counts is
// broken.
func TestDuplicateOfBroken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10-a", "a")
	f.conversation(inProject+"10-b", "b")
	f.write(inProject+"10-b/metadata.json", "{")
	f.age(inProject+"10-a/events.json", 1)
	lines, skipped := f.list(store.Live)
	if len(lines) > 0 || len(skipped) != 2 || skipped[0].Kind != store.Duplicate || skipped[1].Kind != store.BadMetadata {
		t.Errorf("listed %q, skipped %+v", lines, skipped)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 29, 20, 4, 40, 293992000, time.UTC)
	base := transcript.Conversation{ID: "jp-c10", CreatedAt: time.Unix(1, 0).UTC(), Locality: localityExternal}
	for content, edit := range map[string]func(*transcript.Conversation){
		testTitle: func(c *transcript.Conversation) { c.Title, c.LastActivatedAt = "A title", at },
		`{}`:      func(*transcript.Conversation) {},
		`{"title":null,"last_activated_at":"2026-05-29T20:04:40.293992Z","pinned_at":"2026-05-29T22:04:40.293992+02:00",
			"archived_at":"2026-05-29 20:04:40.293992","expires_at":"2026-05-29 20:04:40.293992","labels":{"a":"b","c":""},"new":[1]}`: func(c *transcript.Conversation) {
			// A live conversation is not archived, even if a time is recorded.
			c.LastActivatedAt, c.PinnedAt, c.ExpiresAt, c.Labels = at, at, at, map[string]string{"a": "b", "c": ""}
		},
		`{"hidden":true}`:                func(c *transcript.Conversation) { c.Hidden = true },
		`{"hidden":false,"labels":{}}`:   func(*transcript.Conversation) {},
		`{"labels":{"hidden":""}}`:       func(c *transcript.Conversation) { c.Hidden, c.Labels = true, map[string]string{"hidden": ""} },
		`{"title":"东京 \ud800","x":null}`: func(c *transcript.Conversation) { c.Title = "东京 \ufffd" },
	} {
		f := newFixture(t)
		f.write(inProject+"10/metadata.json", content)
		want := base
		want.Dir = f.root
		edit(&want)
		if diff := cmp.Diff(want, f.find(10).Conversation.Conversation); diff != "" {
			t.Errorf("%s:\n%s", content, diff)
		}
		f.write(inProject+".archive/20/metadata.json", content)
		wantTime := time.Time{}
		if strings.Contains(content, "archived_at") {
			wantTime = at
		}
		if c := f.find(20); !c.Archived || !c.ArchivedAt.Equal(wantTime) {
			t.Errorf("%s: archived %v at %v, want %v", content, c.Archived, c.ArchivedAt, wantTime)
		}
	}
}

// TestUnusableTimes tests that a value that cannot be used counts as missing, and the rest is used.
func TestUnusableTimes(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(inProject+"10/metadata.json", `{"title":"ten","expires_at":"9999-12-31T23:59:59-01:00","pinned_at":"yesterday",
		"last_activated_at":17,"archived_at":"0000-01-01T00:00:00+23:00"}`)
	f.conversation(inProject+"999999999999999999-x", "after the year 9999")
	list, problems, err := f.open().conversations(t.Context(), store.Live)
	if err != nil || len(list) != 2 || len(problems) > 0 {
		t.Fatalf("%v, %v, %v; want two conversations", list, problems, err)
	}
	for i, want := range []struct {
		title  string
		fields []string
	}{
		{"ten", []string{"archived_at", "expires_at", "last_activated_at", "pinned_at"}},
		{"after the year 9999", nil},
	} {
		c := &list[i]
		var fields []string
		for _, p := range c.Problems {
			if p.Kind != store.BadField || p.ID != c.ID || p.Err == nil {
				t.Errorf("%s: %+v", c.ID, p)
			}
			fields = append(fields, p.Field)
		}
		if diff := cmp.Diff(want.fields, fields); diff != "" || c.Title != want.title {
			t.Errorf("%s: title %q, fields (-want +got):\n%s", c.ID, c.Title, diff)
		}
		for _, at := range []time.Time{c.ExpiresAt, c.PinnedAt, c.ArchivedAt} {
			if !at.IsZero() {
				t.Errorf("%s: %v", c.ID, at)
			}
		}
	}
	if at := list[0].CreatedAt; at.IsZero() {
		t.Error("10 was created at an unknown time")
	}
	if at := list[1].CreatedAt; !at.IsZero() {
		t.Errorf("%s was created %v", list[1].ID, at)
	}
}

// TestBrokenMetadata tests that a conversation that cannot be listed does not hide others, and can be
// read by its id.
func TestBrokenMetadata(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ content, want string }{
		"cut off":       {`{"title":"A ti`, "unexpected end of JSON input"},
		"not an object": {` []`, "cannot be read: it is not an object"},
		"a text":        {`"x"`, "cannot be read: it is not an object"},
		"empty":         {``, "unexpected end of JSON input"},
		"too large":     {`{"title":"` + strings.Repeat("x", 1<<20) + `"}`, "metadata.json: it has more than 1048576 bytes"},
		"missing":       {"", "metadata.json is missing"},
	} {
		f := newFixture(t)
		f.conversation(inProject+"10", "good")
		f.conversation(inProject+"20", "bad")
		if f.write(inProject+"20/metadata.json", test.content); name == "missing" {
			if err := os.Remove(filepath.Join(f.base, inProject+"20/metadata.json")); err != nil {
				t.Fatal(err)
			}
		}
		lines, skipped := f.list(store.Live)
		if !cmp.Equal(lines, []string{"10 good ext"}) {
			t.Errorf("%s: listed %q", name, lines)
		}
		if len(skipped) != 1 || skipped[0].ID != "jp-c20" || !strings.Contains(skipped[0].Err.Error(), test.want) || strings.Contains(skipped[0].Err.Error(), f.base) {
			t.Errorf("%s: skipped %v, want 20 with %q", name, skipped, test.want)
		}
		c := f.find(20)
		if c.metadataErr() == nil || f.events(c) != streamWith("bad") {
			t.Errorf("%s: found %+v", name, c)
		}
	}
}

// TestLabelsOfOthers tests labels that JP does not write: texts are labels, other values are problems,
// and an edit changes neither.
func TestLabelsOfOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inUser+"20", "x")
	const labels = `{"n": 5,"weird key!":"\u001b[31m" ,"o":{"a":[1.50]},"t":true,"a":"b","z":null}`
	f.write(inUser+"20/metadata.json", `{"title":"Old","last_activated_at":"2026-05-29 20:04:40.293992","labels":`+labels+`}`)
	c := f.find(20)
	if diff := cmp.Diff(map[string]string{"weird key!": "\x1b[31m", "a": "b", "z": ""}, c.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	var problems []string
	for _, p := range c.Problems {
		if p.Kind != store.BadField {
			t.Errorf("%+v", p)
		}
		problems = append(problems, p.Err.Error())
	}
	want := []string{
		`the label "n" counts as missing: it is not a string`,
		`the label "o" counts as missing: it is not a string`,
		`the label "t" counts as missing: it is not a string`,
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if lines, _ := f.list(store.Live); len(lines) != 1 {
		t.Errorf("listed %q", lines)
	}
	if _, err := f.writer().Edit(t.Context(), "jp-c20", always(Change{Title: to("New")})); err != nil {
		t.Fatal(err)
	}
	if got := f.read(inUser + "20-new/metadata.json"); !strings.Contains(got, labels) {
		t.Errorf("changed to %s", got)
	}
}

func TestBrokenCopy(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "project")
	f.conversation(inUser+"10", "user")
	f.write(inUser+"10/metadata.json", "{")
	f.age(inProject+"10/metadata.json", 1)
	if lines, skipped := f.list(store.Live); !cmp.Equal(lines, []string{"10 project N"}) || len(skipped) > 0 {
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
	if c := f.find(17659773217); !c.Archived || c.Locality != localityUser || c.Title != "archived" {
		t.Errorf("archived: %+v", c)
	}
	_, err := f.open().find(t.Context(), 7)
	var notFound *store.NotFoundError
	if !errors.As(err, &notFound) || len(notFound.IDs) != 1 || notFound.IDs[0] != "jp-c7" || notFound.Place != f.root {
		t.Errorf("%v", err)
	}
}

func TestContextEnds(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "x")
	w, c := f.open(), f.find(10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := w.conversations(ctx, store.Live); !errors.Is(err, context.Canceled) {
		t.Errorf("Conversations: %v", err)
	}
	if _, err := w.find(ctx, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("Find: %v", err)
	}
	if _, err := c.readEvents(ctx); !errors.Is(err, context.Canceled) {
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
	lines, skipped := f.list(store.Live)
	if !cmp.Equal(lines, []string{"10 user Y"}) || len(skipped) != 1 || skipped[0].ID != "" || !strings.Contains(skipped[0].Err.Error(), "not a directory") {
		t.Errorf("%q, %v", lines, skipped)
	}
	if err := os.RemoveAll(f.data); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.open().conversations(t.Context(), store.Live); err == nil {
		t.Error("no store can be read, and no error")
	}
}

// TestReadingWritesNothing tests that reading works in read-only directories and changes nothing.
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
	f.list(store.Live | store.Archived)
	f.events(f.find(10))
	f.events(f.find(20))
	_, _ = f.open().find(t.Context(), 99)
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
	lines, skipped := f.list(store.Live)
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
		if list, _, err := w.conversations(b.Context(), store.Live); err != nil || len(list) != 2000 {
			b.Fatal(len(list), err)
		}
	}
}
