package jp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

func TestReadEventsLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "ten")
	c := f.find(10)
	c.w.maxEvents = int64(len(streamWith("ten")))
	if _, err := c.readEvents(t.Context()); err != nil {
		t.Errorf("a file of just the limit: %v", err)
	}
	c.w.maxEvents--
	if _, err := c.readEvents(t.Context()); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a file over the limit: %v", err)
	}
}

func TestMissingEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(inProject+"10-x/metadata.json", testTitle)
	f.write(inProject+"10-x/base_config.json", "{}")
	c := f.find(10)
	_, err := c.readEvents(t.Context())
	if err == nil || !strings.Contains(err.Error(), "events.json is missing") {
		t.Errorf("%v", err)
	}
}

// TestRenameDuringRead tests a directory that is renamed or archived just before a file is opened.
func TestRenameDuringRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		renames []string // one before each read
		want    string
	}{
		{"title change", []string{"10-new"}, "10-new"},
		{"twice", []string{"10-new", "10-newer"}, "10-newer"},
		{"archived", []string{".archive/10-old"}, ".archive/10-old"},
		{"for ever", []string{"10-1", "10-2", "10-3", "10-4", "10-5", "10-6", "10-7", "10-8", "10-9", "10-10", "10-11", "10-12"}, ""},
		{"removed", []string{""}, ""},
	} {
		start := func() (*fixture, *Workspace) {
			f := newFixture(t)
			f.conversation(inProject+"10-old", "x")
			w := f.open()
			current, n := "10-old", 0
			w.beforeRead = func(string) {
				if n == len(test.renames) {
					return
				}
				if test.renames[n] == "" {
					if err := os.RemoveAll(filepath.Join(f.base, inProject, current)); err != nil {
						t.Error(err)
					}
				} else {
					f.rename(inProject+current, inProject+test.renames[n])
				}
				current = test.renames[n]
				n++
			}
			return f, w
		}

		_, w := start()
		hook := w.beforeRead
		w.beforeRead = nil
		c, err := w.find(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		w.beforeRead = hook
		data, err := c.readEvents(t.Context())
		var notFound *store.NotFoundError
		switch {
		case test.want != "" && (err != nil || data != streamWith("x")):
			t.Errorf("%s: ReadEvents: %q, %v", test.name, data, err)
		case test.name == "removed" && !errors.As(err, &notFound):
			t.Errorf("%s: ReadEvents: %v", test.name, err)
		case test.name == "for ever" && (err == nil || !strings.Contains(err.Error(), "again and again")):
			t.Errorf("%s: ReadEvents: %v", test.name, err)
		}

		_, w = start()
		list, skipped, err := w.conversations(t.Context(), store.Live)
		switch {
		case err != nil:
			t.Errorf("%s: Conversations: %v", test.name, err)
		case test.want != "" && test.name != "archived" && (len(list) != 1 || list[0].Title != "x" || len(skipped) > 0):
			t.Errorf("%s: Conversations: %v, %v", test.name, list, skipped)
		case (test.name == "archived" || test.name == "removed") && len(list)+len(skipped) > 0:
			t.Errorf("%s: Conversations: %v, %v; it is not live any more", test.name, list, skipped)
		case test.name == "for ever" && (len(list) > 0 || len(skipped) != 1 || skipped[0].ID != "jp-c10"):
			t.Errorf("%s: Conversations: %v, %v", test.name, list, skipped)
		}

		_, w = start()
		c, err = w.find(t.Context(), 10)
		switch {
		case test.want != "" && (err != nil || c.Title != "x" || c.Archived != (test.name == "archived")):
			t.Errorf("%s: Find: %+v, %v", test.name, c, err)
		case test.name == "removed" && !errors.As(err, &notFound):
			t.Errorf("%s: Find: %v", test.name, err)
		case test.name == "for ever" && (err != nil || c.metadataErr() == nil):
			t.Errorf("%s: Find: %+v, %v", test.name, c, err)
		}
	}
}

// TestLinks tests that no link is followed out of the store.
func TestLinks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation("outside/10", "outside")
	f.conversation(inProject+"20", "inside")
	f.conversation(inProject+"30", "thirty")
	f.conversation(inProject+"40", "forty")
	link := func(target, name string) {
		path := filepath.Join(f.base, name)
		_ = os.Remove(path)
		if err := os.Symlink(target, path); err != nil {
			t.Skipf("no symbolic links: %v", err)
		}
	}
	link(filepath.Join(f.base, "outside/10"), inProject+"10-link")
	link(filepath.Join(f.base, "outside/10/events.json"), inProject+"20/events.json")
	link("../../../../outside/10/metadata.json", inProject+"30/metadata.json")
	link("../20/metadata.json", inProject+"40/metadata.json") // inside the store, and fine

	lines, skipped := f.list(store.Live)
	if strings.Join(lines, ";") != "20 inside ext;40 inside ext" {
		t.Errorf("listed %q", lines)
	}
	var ids []transcript.ID
	for _, s := range skipped {
		ids = append(ids, s.ID)
	}
	if len(ids) != 2 || ids[0] != "jp-c10" || ids[1] != "jp-c30" {
		t.Errorf("skipped %v", skipped)
	}
	if reason := skipped[len(skipped)-1].Err.Error(); !strings.HasPrefix(reason, "metadata.json: ") {
		t.Errorf("metadata: %s", reason)
	}
	data, err := f.find(20).readEvents(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "events.json: ") {
		t.Errorf("events: %q, %v", data, err)
	}
	if _, err := f.open().find(t.Context(), 10); err == nil {
		t.Error("a link is found as a conversation")
	}
}

// TestLinkedStore tests a link in place of the directory of conversations: it may not lead out of the
// project to a place that the user does not trust, because whoever made the project chose it.
func TestLinkedStore(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation("project/shared/10", "shared")
	f.conversation("other/.jp/conversations/20", "secret")
	link := filepath.Join(f.root, ".jp", "conversations")
	relink := func(target string) {
		if err := os.RemoveAll(link); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, link); err != nil {
			t.Skipf("no symbolic links: %v", err)
		}
	}
	relink(filepath.Join("..", "shared"))
	if got := f.events(f.find(10)); got != streamWith("shared") {
		t.Errorf("a link inside the project: %s", got)
	}

	relink(filepath.Join(f.base, "other", ".jp", "conversations"))
	lines, problems := f.list(store.Live)
	if len(lines) > 0 || len(problems) != 1 || problems[0].Kind != store.Outside {
		t.Errorf("a link out of the project: listed %q, %v", lines, problems)
	}
	var outside *config.OutsideError
	if err := os.RemoveAll(f.data); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.open().conversations(t.Context(), store.Live); !errors.As(err, &outside) || !strings.Contains(err.Error(), "[trust]") {
		t.Errorf("a link out of the project, and no other store: %v", err)
	}

	f.write("config/convtools/convtools.toml", fmt.Sprintf("[trust]\ndirectories = [%q]\n", filepath.Join(f.base, "other")))
	if got := f.events(f.find(20)); got != streamWith("secret") {
		t.Errorf("a link into a directory that the user trusts: %s", got)
	}
}

func TestDirectoryInPlaceOfAFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mkdir(inProject + "10/metadata.json")
	f.mkdir(inProject + "10/events.json")
	c := f.find(10)
	if c.metadataErr() == nil || !strings.Contains(c.metadataErr().Error(), "not a regular file") {
		t.Errorf("metadata: %v", c.metadataErr())
	}
	if _, err := c.readEvents(t.Context()); !errors.Is(err, safefile.ErrNotRegular) {
		t.Errorf("events: %v", err)
	}
}

func TestLargeEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	content := `[{"timestamp":"2026-05-29 20:04:40.0","type":"tool_call_response","content":"` + strings.Repeat("QUFB", 50<<18) + `"}]`
	f.write(inProject+"10/metadata.json", testTitle)
	f.write(inProject+"10/events.json", content)
	if got := f.events(f.find(10)); got != content {
		t.Errorf("%d bytes, want %d", len(got), len(content))
	}
}

func TestSampleWorkspace(t *testing.T) {
	t.Parallel()
	const sample = "../../../../shared/data/jp-workspace"
	if _, err := os.Stat(sample); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no sample workspace at %s", sample)
	}
	w, err := Open(Options{Dir: sample, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	live, skipped, err := w.conversations(t.Context(), store.Live)
	if err != nil || len(live) != 7 || len(skipped) > 0 {
		t.Fatalf("%d live, %v, %v; want 7", len(live), skipped, err)
	}
	archived, skipped, err := w.conversations(t.Context(), store.Archived)
	if err != nil || len(archived) != 1 || len(skipped) > 0 {
		t.Fatalf("%d archived, %v, %v; want 1", len(archived), skipped, err)
	}
	for n, want := range map[number]struct{ events, turns int }{17800836875: {93, 4}, 17727391057: {118, 8}, 17659773217: {18, 1}} {
		s, _, err := w.open()
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.find(t.Context(), n.id())
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Read(t.Context(), nil)
		if err != nil || got.Uncounted != nil || got.Events != want.events || got.Turns != want.turns {
			t.Errorf("%v: %+v; want %+v", n, got, want)
		}
		s.Close()
	}
}
