package jp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// The conversations of newWritten: one for each way to be in the stores.
const (
	projected = transcript.ID("jp-c17000000001")
	userOnly  = transcript.ID("jp-c17000000002")
	external  = transcript.ID("jp-c17000000003")
	archived  = transcript.ID("jp-c17000000004")
)

const (
	oddMetadata = "{\n  \"title\": \"Odd\",\n  \"last_activated_at\": \"2026-05-29 20:04:40.293992\",\n  \"labels\": {\n    \"9 odd\": \"x\",\n    \"area\": \"feed\"\n  },\n  \"mystery\": {\"a\":  1.50}\n}\n"
	oddEvents   = "[\n  {\"timestamp\": \"2026-05-29 20:04:40.0\", \"type\": \"turn_start\"},\n  {\"timestamp\": \"2026-05-29 20:04:41.0\", \"type\": \"riddle\",  \"x\": 1.50}\n]\n"
)

// newWritten returns a fixture with four conversations with old files.
func newWritten(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	for _, dir := range []string{
		inUser + "17000000001-odd", inProject + "17000000001-odd", inUser + "17000000002-odd", inProject + "17000000003-odd",
		inUser + ".archive/17000000004-odd", inProject + ".archive/17000000004-odd",
	} {
		f.write(dir+"/metadata.json", oddMetadata)
		f.write(dir+"/events.json", oddEvents)
		f.write(dir+"/base_config.json", "{\n  \"x\": 1\n}\n")
		for _, name := range []string{MetadataFile, EventsFile, BaseConfigFile} {
			f.age(dir+"/"+name, 0)
		}
	}
	return f
}

// writtenAt is the time of writers in tests.
var writtenAt = time.Date(2026, 6, 1, 12, 0, 0, 299_000_000, time.UTC)

func (f *fixture) writer() *Writer {
	return f.open().Writer(WriterOptions{Now: func() time.Time { return writtenAt }})
}

func (f *fixture) read(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.base, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

// files returns the names of all files in both stores but locks and JP's record.
func (f *fixture) files() []string {
	f.t.Helper()
	var names []string
	err := filepath.WalkDir(f.base, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() != ".id" && entry.Name() != "storage" && filepath.Base(filepath.Dir(name)) != "roots" {
			rel, _ := filepath.Rel(f.base, name)
			names = append(names, strings.NewReplacer(inProject, "W/", inUser, "U/").Replace(filepath.ToSlash(rel)))
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return names
}

// state returns a description of each conversation, also in the trash.
func (f *fixture) state() map[transcript.ID]string {
	f.t.Helper()
	w := f.open()
	l, err := w.List(f.t.Context(), store.Scope{Set: store.Live | store.Archived})
	if err != nil || len(l.Problems) > 0 {
		f.t.Fatalf("listing: %+v, %v", l, err)
	}
	defer l.Close()
	state := map[transcript.ID]string{}
	for _, c := range l.Conversations {
		text, err := c.Record.(*record).data(f.t.Context())
		if err != nil {
			f.t.Fatal(err)
		}
		state[c.ID] = describe(c.Conversation) + " " + string(text)
	}
	trash, err := w.Trash(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, c := range trash {
		if _, ok := state[c.ID]; !ok {
			state[c.ID] = "trash: " + describe(c.Conversation)
		}
	}
	return state
}

func describe(c transcript.Conversation) string {
	text := fmt.Sprintf("%q %v %s", c.Title, slices.Sorted(maps.Keys(c.Labels)), c.Parent)
	for _, is := range []struct {
		name string
		set  bool
	}{
		{"pinned", !c.PinnedAt.IsZero()}, {"hidden", c.Hidden}, {"archived", c.Archived}, {"expires", !c.ExpiresAt.IsZero()},
	} {
		if is.set {
			text += " " + is.name
		}
	}
	return text
}

func to[T any](v T) *T { return &v }

func always(change Change) func(transcript.Conversation) Change {
	return func(transcript.Conversation) Change { return change }
}

// TestEdit changes all fields in every store, and keeps every other byte.
func TestEdit(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	w := f.writer()
	change := Change{
		Title: to("Retry/policy <\x1b[1m>\n\u202e"), Pinned: to(true), Hidden: to(true), Expires: to(writtenAt.Add(time.Hour)),
		Labels: map[string]*string{"area": nil, "kind": to("a \"b\"")}, Parent: to(userOnly),
	}
	for _, id := range []transcript.ID{projected, userOnly, external, archived} {
		edited, err := w.Edit(t.Context(), id, always(change))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := numberOf(id)
		after := f.find(n)
		if edited.Title != *change.Title || after.Title != *change.Title || !after.Hidden || after.Parent != userOnly && id != userOnly || !after.PinnedAt.Equal(writtenAt) {
			t.Errorf("after %+v", after)
		}
	}
	want := `{
  "title": "Retry/policy <\u001b[1m>\n` + "\u202e" + `",
  "last_activated_at": "2026-05-29 20:04:40.293992",
  "pinned_at": "2026-06-01 12:00:00.299",
  "expires_at": "2026-06-01 13:00:00.299",
  "labels": {
    "9 odd": "x",
    "hidden": "",
    "kind": "a \"b\"",
    "parent_id": "jp-c17000000002"
  },
  "hidden": true,
  "mystery": {"a":  1.50}
}
`
	slug := "-retry-policy----1m"
	for _, dir := range []string{
		inUser + "17000000001", inProject + "17000000001", inUser + "17000000002", inProject + "17000000003",
		inUser + ".archive/17000000004", inProject + ".archive/17000000004",
	} {
		if diff := cmp.Diff(want, f.read(dir+slug+"/metadata.json")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", dir, diff)
		}
		if got := f.read(dir + slug + "/events.json"); got != oddEvents {
			t.Errorf("the events are %q", got)
		}
	}
	if names := strings.Join(f.files(), "\n"); strings.Contains(names, ".convtools-") || strings.Contains(names, ".lock") {
		t.Errorf("left behind:\n%s", names)
	}
	// Undone, the file is as before.
	undo := Change{
		Title: to("Odd"), Pinned: to(false), Hidden: to(false), Expires: to(time.Time{}),
		Labels: map[string]*string{"area": to("feed"), "kind": nil}, Parent: to(transcript.ID("")),
	}
	if _, err := w.Edit(t.Context(), projected, always(undo)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(oddMetadata, f.read(inUser+"17000000001-odd/metadata.json")); diff != "" {
		t.Errorf("undone (-want +got):\n%s", diff)
	}
}

// TestEditNothing tests that files that would not change are not written.
func TestEditNothing(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	w := f.writer()
	w.before = (&faults{at: 1}).before
	same := Change{Title: to("Odd"), Pinned: to(false), Hidden: to(false), Labels: map[string]*string{"area": to("feed"), "none": nil}, Expires: to(time.Time{})}
	if _, err := w.Edit(t.Context(), projected, always(same)); err != nil {
		t.Error(err)
	}
}

func TestEditRefuses(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	f.write(inUser+"17000000009-x/metadata.json", "{")
	f.write(inUser+"17000000010-x/metadata.json", `{"labels":[]}`)
	f.write(inUser+"17000000011-x/metadata.json", `{} {}`)
	before := f.files()
	w := f.writer()
	for _, id := range []transcript.ID{"jp-c17000000009", "jp-c17000000010", "jp-c17000000011"} {
		if _, err := w.Edit(t.Context(), id, always(Change{Hidden: to(true)})); err == nil || !strings.HasPrefix(err.Error(), string(id)+": ") {
			t.Errorf("%s: %v", id, err)
		}
	}
	var missing *store.NotFoundError
	for _, id := range []transcript.ID{"jp-c1", "../../x", "", "jp-c-1", "jp-c017000000001"} {
		if _, err := w.Edit(t.Context(), id, always(Change{Hidden: to(true)})); !errors.As(err, &missing) {
			t.Errorf("%q: %v", id, err)
		}
	}
	var label *BadLabelError
	for _, key := range []string{"", "9", "a b", "a/b", "ä", "a="} {
		if _, err := w.Edit(t.Context(), projected, always(Change{Labels: map[string]*string{key: to("")}})); !errors.As(err, &label) {
			t.Errorf("label %q: %v", key, err)
		}
	}
	if _, err := w.Edit(t.Context(), projected, always(Change{Title: to(strings.Repeat("x", maxMetadataSize))})); err == nil {
		t.Errorf("a title of a megabyte: %v", err)
	}
	if diff := cmp.Diff(before, f.files()); diff != "" {
		t.Errorf("changed (-before +after):\n%s", diff)
	}
	if got := f.read(inUser + "17000000001-odd/metadata.json"); got != oddMetadata {
		t.Errorf("changed: %s", got)
	}
}

// TestTitleTaken tests a new title whose directory exists already.
func TestTitleTaken(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	f.write(inUser+"17000000001-new/notes.txt", "mine")
	if _, err := f.writer().Edit(t.Context(), projected, always(Change{Title: to("new")})); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{inUser + "17000000001-odd/events.json", inUser + "17000000001-new/notes.txt", inProject + "17000000001-new/events.json"} {
		f.read(name)
	}
}

// TestDirName compares with names that JP gave.
func TestDirName(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"":                                   "7",
		"  -- ":                              "7",
		"Flexible LLM Provider Architecture": "7-flexible-llm-provider-architecture",
		"a/b\\c: d":                          "7-a-b-c--d",
		"Ünï 日本":                             "7-ünï-日本",
		"../../etc":                          "7-------etc",
		"Optimizing JP CLI Conversation Listing Performance and so on, a title": "7-optimizing-jp-cli-conversation-listing-performance-and-so",
		strings.Repeat("x", 61): "7",
		strings.Repeat("x", 60): "7-" + strings.Repeat("x", 60),
	} {
		if got := dirName(7, title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

func TestArchive(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	w := f.writer()
	for _, id := range []transcript.ID{projected, userOnly, external} {
		for _, want := range []bool{true, false} {
			if moved, err := w.SetArchived(t.Context(), id, true); moved != want || err != nil {
				t.Errorf("archiving %s: %v, %v", id, moved, err)
			}
		}
	}
	got, _ := f.list(store.Archived)
	want := []string{"17000000001 Odd N archived", "17000000002 Odd Y archived", "17000000003 Odd ext archived", "17000000004 Odd N archived"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("archived (-want +got):\n%s", diff)
	}
	stamped := strings.Replace(oddMetadata, "  \"labels", "  \"archived_at\": \"2026-06-01 12:00:00.299\",\n  \"labels", 1)
	if diff := cmp.Diff(stamped, f.read(inProject+".archive/17000000001-odd/metadata.json")); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	for _, id := range []transcript.ID{projected, userOnly, external, archived} {
		for _, want := range []bool{true, false} {
			if moved, err := w.SetArchived(t.Context(), id, false); moved != want || err != nil {
				t.Errorf("unarchiving %s: %v, %v", id, moved, err)
			}
		}
	}
	if got, _ := f.list(store.Archived); len(got) > 0 {
		t.Errorf("still archived: %v", got)
	}
	if diff := cmp.Diff(oddMetadata, f.read(inProject+"17000000001-odd/metadata.json")); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

func TestRemoveAndRestore(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	f.write(inUser+".trash/17000000009-broken/TRASHED.md", "by jp")
	before, w := f.files(), f.writer()
	var missing *store.NotFoundError
	if err := w.Remove(t.Context(), "jp-c17000000005"); !errors.As(err, &missing) || missing.IDs[0] != "jp-c17000000005" {
		t.Errorf("one that is not there: %v", err)
	}
	if diff := cmp.Diff(before, f.files()); diff != "" {
		t.Errorf("removed all the same (-before +after):\n%s", diff)
	}
	all := []transcript.ID{projected, userOnly, external, archived}
	for _, id := range all {
		if err := w.Remove(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := f.list(store.Live | store.Archived); len(got) > 0 {
		t.Errorf("still there: %v", got)
	}
	trash, err := f.open().Trash(t.Context())
	if err != nil || len(trash) != 4 || trash[0].Title != "Odd" || !trash[0].At.Equal(writtenAt) {
		t.Errorf("trash: %+v, %v", trash, err)
	}
	if err := w.Restore(t.Context(), "jp-c17000000009"); !errors.As(err, &missing) {
		t.Errorf("restoring what is not there: %v", err)
	}
	for _, id := range all {
		if err := w.Restore(t.Context(), id); err != nil {
			t.Errorf("restoring %s: %v", id, err)
		}
	}
	if diff := cmp.Diff(before, f.files()); diff != "" {
		t.Errorf("restored (-before +after):\n%s", diff)
	}
	for _, id := range all {
		if err := w.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if got := f.files(); len(got) != 1 {
		t.Errorf("left after deleting: %v", got)
	}
}

// TestRemoveHalfArchived removes a conversation that is live in one store and archived in the other,
// as after a crash: it is live before and after.
func TestRemoveHalfArchived(t *testing.T) {
	t.Parallel()
	for _, live := range []string{inUser, inProject} {
		f := newWritten(t)
		f.rename(live+".archive/17000000004-odd", live+"17000000004-odd")
		before, w := f.state(), f.writer()
		if err := w.Remove(t.Context(), archived); err != nil {
			t.Fatal(err)
		}
		if trash, err := f.open().Trash(t.Context()); err != nil || len(trash) != 1 || trash[0].Archived {
			t.Errorf("in the trash: %+v, %v", trash, err)
		}
		if err := w.Restore(t.Context(), archived); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, f.state()); diff != "" {
			t.Errorf("restored (-before +after):\n%s", diff)
		}
	}
}

// TestRestoreBesideOther restores a conversation when another one has its id.
func TestRestoreBesideOther(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	w := f.writer()
	if err := w.Remove(t.Context(), projected); err != nil {
		t.Fatal(err)
	}
	f.conversation(inUser+"17000000001-again", "again")
	f.conversation(inProject+"17000000001-again", "again")
	if err := w.Restore(t.Context(), projected); !errors.Is(err, ErrExists) {
		t.Errorf("restored over another: %v", err)
	}
	// Delete removes both, also the one in the trash.
	if err := w.Delete(t.Context(), projected); err != nil {
		t.Fatal(err)
	}
	if err := w.Restore(t.Context(), projected); err == nil {
		t.Error("restored what was deleted")
	}
}

func TestFork(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	w := f.writer()
	if _, err := w.Edit(t.Context(), projected, always(Change{Hidden: to(true), Pinned: to(true), Expires: to(writtenAt)})); err != nil {
		t.Fatal(err)
	}
	want := numberAt(writtenAt) - aheadOfJP // JP may take that of the moment
	for i, test := range []struct {
		source transcript.ID
		o      ForkOptions
		state  string
		local  string
	}{
		{projected, ForkOptions{}, `"Odd" [9 odd area parent_id] jp-c17000000001 pinned`, "N"},
		{userOnly, ForkOptions{Change: Change{Hidden: to(true), Title: to("A fork")}}, `"A fork" [9 odd area hidden parent_id] jp-c17000000002 hidden`, "Y"},
		{external, ForkOptions{ResetLabels: true, Change: Change{Labels: map[string]*string{"x": to("1")}}}, `"Odd" [parent_id x] jp-c17000000003`, "N"},
		{archived, ForkOptions{}, `"Odd" [9 odd area parent_id] jp-c17000000004`, "N"},
	} {
		id, err := w.Fork(t.Context(), test.source, test.o)
		if err != nil || id != (want-number(i)).id() {
			t.Errorf("fork of %s: %s, %v", test.source, id, err)
			continue
		}
		c := f.find(want - number(i))
		if got := describe(c.Conversation.Conversation); got != test.state || c.Locality != test.local {
			t.Errorf("fork of %s: %s in %s, want %s", test.source, got, c.Locality, test.state)
		}
		if got := f.events(c); got != oddEvents {
			t.Errorf("its events are %q", got)
		}
	}
	var missing *store.NotFoundError
	if _, err := w.Fork(t.Context(), "jp-c1", ForkOptions{}); !errors.As(err, &missing) {
		t.Errorf("a fork of nothing: %v", err)
	}
	f.write(inUser+"17000000009-cut/metadata.json", testTitle)
	f.write(inUser+"17000000009-cut/events.json", oddEvents[:90])
	if _, err := w.Fork(t.Context(), "jp-c17000000009", ForkOptions{}); err == nil {
		t.Errorf("a fork of a damaged one: %v", err)
	}
}

// TestForkAvoidsIDs tests numbers that are taken in different ways.
func TestForkAvoidsIDs(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	n := numberAt(writtenAt) - aheadOfJP
	f.conversation(fmt.Sprintf("%s%d-live", inProject, n), "x")
	f.conversation(fmt.Sprintf("%s.archive/%d-archived", inUser, n-1), "x")
	f.conversation(fmt.Sprintf("%s.trash/20260301T120000.000Z/%d-removed", inUser, n-2), "x")
	release := f.lock(lockName(n - 3)) // another process is making it
	defer release()
	if id, err := f.writer().Fork(t.Context(), projected, ForkOptions{}); id != (n-4).id() || err != nil {
		t.Errorf("%s, %v", id, err)
	}
}

func TestSetLocal(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	w := f.writer()
	for _, id := range []transcript.ID{projected, userOnly, external, archived} {
		before := f.state()
		for _, want := range []bool{true, false} {
			if changed, err := w.SetLocal(t.Context(), id, id != userOnly); err != nil || changed != want {
				t.Fatalf("%s: %v, %v", id, changed, err)
			}
		}
		if diff := cmp.Diff(before, f.state()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", id, diff)
		}
	}
	got, _ := f.list(store.Live | store.Archived)
	want := []string{"17000000001 Odd Y", "17000000002 Odd N", "17000000003 Odd Y", "17000000004 Odd Y archived"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMakeLocalRefuses tests files and directories in the project that would be lost, or would count
// afterwards.
func TestMakeLocalRefuses(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]string{
		"notes of people":               "17000000001-odd/notes.txt",
		"another directory with its id": ".archive/17000000001-older/metadata.json",
	} {
		f := newWritten(t)
		f.write(inProject+lost, "{}")
		before := f.files()
		if _, err := f.writer().SetLocal(t.Context(), projected, true); err == nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(before, f.files()); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
}

// TestMakeLocalKeepsNewer tests a project's copy that is the newer one.
func TestMakeLocalKeepsNewer(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	newer := strings.Replace(oddEvents, "riddle", "newer", 1)
	f.write(inProject+"17000000001-odd/events.json", newer)
	f.write(inProject+"17000000001-odd/metadata.json", strings.Replace(oddMetadata, "Odd", "Newer", 1))
	if _, err := f.writer().SetLocal(t.Context(), projected, true); err != nil {
		t.Fatal(err)
	}
	c := f.find(17000000001)
	if c.Title != "Newer" || f.events(c) != newer || c.Locality != "Y" {
		t.Errorf("%s %s: %s", c.Title, c.Locality, f.events(c))
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	f := newWritten(t)
	f.write(inProject+"17000000003-odd/events.json", "[]")
	w := f.writer()
	at := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	added := []NewEvent{
		{At: at, Kind: transcript.KindTurnStart, Metadata: map[string]any{"x": 1}},
		{At: at.Add(time.Second), Kind: transcript.KindUser, Text: "]"},
	}
	text := `  {
    "timestamp": "2026-06-01 12:00:00.0",
    "type": "turn_start"
  },
  {
    "content": "]",
    "timestamp": "2026-06-01 12:00:01.0",
    "type": "chat_request"
  }
]
`
	for id, want := range map[transcript.ID]string{
		projected: strings.TrimSuffix(oddEvents, "\n]\n") + ",\n" + text,
		external:  "[\n" + text,
		archived:  strings.TrimSuffix(oddEvents, "\n]\n") + ",\n" + text,
	} {
		if err := w.Append(t.Context(), id, added...); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		n, _ := numberOf(id)
		if diff := cmp.Diff(want, f.events(f.find(n))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	if f.read(inProject+"17000000001-odd/events.json") != f.read(inUser+"17000000001-odd/events.json") {
		t.Error("the copies differ")
	}
	before := f.events(f.find(17000000001))
	for _, bad := range []NewEvent{
		{},
		{At: at},
		{Kind: transcript.KindUser, Text: "a"},
		{At: at, Kind: transcript.KindCompaction},
		{At: at, Kind: transcript.KindToolCall, Arguments: json.RawMessage(`[]`)},
		{At: at, Kind: transcript.KindToolCall, Arguments: json.RawMessage(`{`)},
	} {
		if err := w.Append(t.Context(), projected, added[0], bad); err == nil || f.events(f.find(17000000001)) != before {
			t.Errorf("%+v is added: %v", bad, err)
		}
	}
	f.write(inUser+"17000000002-odd/events.json", oddEvents[:90])
	if err := w.Append(t.Context(), userOnly, added...); err == nil {
		t.Errorf("appended to damaged events: %v", err)
	}
}
