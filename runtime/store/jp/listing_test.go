package jp

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
)

// missing makes directory reads miss what starts with prefix, as the system may
// when an entry is renamed meanwhile: the reads for which miss says so, counted
// from 1. Each of these renames the directory.
func (f *fixture) missing(w *Workspace, prefix string, miss func(read int) bool) (reads *int) {
	reads = new(int)
	w.readDir = func(root *os.Root, name string) ([]fs.DirEntry, error) {
		entries, err := readDir(root, name)
		found := slices.IndexFunc(entries, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), prefix) })
		if found < 0 {
			return entries, err
		}
		*reads++
		if !miss(*reads) {
			return entries, err
		}
		from := filepath.Join(f.path(root), name, entries[found].Name())
		to := filepath.Join(f.path(root), name, fmt.Sprintf("%s-%d", prefix, *reads))
		if err := os.Rename(from, to); err != nil {
			f.t.Error(err)
		}
		return slices.Delete(entries, found, found+1), err
	}
	return reads
}

func TestRenameDuringListing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		miss func(read int) bool
	}{
		{"once", func(read int) bool { return read == 1 }},
	} {
		for _, parent := range []string{"", ".archive/"} {
			start := func() *Workspace {
				f := newFixture(t)
				f.conversation(inProject+parent+"10-old", "ten")
				f.conversation(inProject+parent+"20-x", "twenty")
				f.age(strings.TrimSuffix(inProject+parent, "/"), 1)
				w := f.open()
				f.missing(w, "10", test.miss)
				return w
			}
			list, skipped, err := start().conversations(t.Context(), store.Live|store.Archived)
			if err != nil || len(list) != 2 || list[0].Title != "ten" || list[1].Title != "twenty" || len(skipped) > 0 {
				t.Errorf("%s in %q: Conversations: %v, %v, %v", test.name, parent, list, skipped, err)
			}
			if c, err := start().find(t.Context(), 10); err != nil || c.Title != "ten" {
				t.Errorf("%s in %q: Find: %v, %v", test.name, parent, c, err)
			}
			w := start()
			read := w.readDir
			w.readDir = readDir
			c, err := w.find(t.Context(), 10)
			if err != nil {
				t.Fatal(err)
			}
			w.readDir = read
			stale := filepath.Join(w.root, storageDir, conversationsDir, c.place.dirs[projectStore])
			if err := os.Rename(stale, filepath.Join(filepath.Dir(stale), "10-renamed")); err != nil {
				t.Fatal(err)
			}
			if data, err := c.readEvents(t.Context()); err != nil || data != streamWith("ten") {
				t.Errorf("%s in %q: ReadEvents: %q, %v", test.name, parent, data, err)
			}
		}
	}
}

// A conversation that leaves the archive after the live ones were read is in
// neither read.
func TestUnarchivedDuringListing(t *testing.T) {
	t.Parallel()
	start := func() *Workspace {
		f := newFixture(t)
		f.conversation(inProject+".archive/10-x", "ten")
		f.age(inProject+".archive", 1)
		f.age(strings.TrimSuffix(inProject, "/"), 1)
		w := f.open()
		var once sync.Once
		w.readDir = func(root *os.Root, name string) ([]fs.DirEntry, error) {
			if name == archiveDir {
				once.Do(func() { f.rename(inProject+".archive/10-x", inProject+"10-x") })
			}
			return readDir(root, name)
		}
		return w
	}
	if list, skipped, err := start().conversations(t.Context(), store.Live|store.Archived); err != nil || len(list) != 1 || list[0].Archived || len(skipped) > 0 {
		t.Errorf("Conversations: %v, %v, %v", list, skipped, err)
	}
	if c, err := start().find(t.Context(), 10); err != nil || c.Archived {
		t.Errorf("Find: %v, %v", c, err)
	}
}

// Where nothing changed for a while, directories are read once; also when an id
// is not found.
func TestQuietDirectoriesAreReadOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "ten")
	f.conversation(inUser+"20", "twenty")
	f.conversation(inProject+".archive/30", "thirty")
	for _, dir := range []string{inProject, inUser, inProject + ".archive/"} {
		f.age(strings.TrimSuffix(dir, "/"), 1)
	}
	w := f.open()
	var reads []string
	w.readDir = func(root *os.Root, name string) ([]fs.DirEntry, error) {
		rel, err := filepath.Rel(f.base, f.path(root))
		if err != nil {
			t.Error(err)
		}
		reads = append(reads, filepath.ToSlash(filepath.Join(rel, name))+"/")
		return readDir(root, name)
	}
	if _, _, err := w.conversations(t.Context(), store.Live); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{inProject, inUser}, reads); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
	reads = nil
	if _, err := w.find(t.Context(), 11); err == nil {
		t.Error("11 is found")
	}
	if diff := cmp.Diff([]string{inProject, inUser, inProject + ".archive/", inUser + ".archive/"}, reads); diff != "" {
		t.Errorf("not found (-want +got):\n%s", diff)
	}
}

// A version is another one when the metadata or the events have changed.
func TestVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "ten")
	version := func() string {
		t.Helper()
		s, _, err := f.open().Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		c, err := s.Find(t.Context(), "jp-c10")
		if err != nil {
			t.Fatal(err)
		}
		v, err := c.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	f.age(inProject+"10/metadata.json", 1)
	f.age(inProject+"10/events.json", 1)
	seen := map[string]string{version(): "before"}
	if v := version(); seen[v] != "before" {
		t.Errorf("nothing changed, and the version is %q", v)
	}
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"metadata", func() { f.age(inProject+"10/metadata.json", 2) }},
		{"events", func() { f.age(inProject+"10/events.json", 3) }},
		{"archived", func() { f.rename(inProject+"10", inProject+".archive/10") }},
	} {
		change.do()
		v := version()
		if before, ok := seen[v]; ok {
			t.Errorf("%s: the version is that of %s", change.name, before)
		}
		seen[v] = change.name
	}
}
