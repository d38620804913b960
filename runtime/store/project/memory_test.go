package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store/project"
)

// memory opens the memory of a tree, as the next process does.
func (f tree) memory() *project.Memory {
	f.t.Helper()
	m, err := project.OpenMemory(f.path("state/excluded"))
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

// remembered returns the directories in the memory, relative to the tree.
func (f tree) remembered() []string {
	f.t.Helper()
	var names []string
	for _, e := range f.memory().Exclusions() {
		name, err := filepath.Rel(f.dir, e.Dir)
		if err != nil {
			f.t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
	}
	return names
}

// excluded returns the excluded ones of some directories.
func (f tree) excluded(dirs ...string) []string {
	f.t.Helper()
	all := project.New(project.Options{All: true, Memory: f.memory()})
	return slices.DeleteFunc(dirs, func(dir string) bool { return !all.Excludes(f.path(dir)) })
}

// TestRemembered tests that directories stay excluded after the file, the directory or the repository
// is gone.
func TestRemembered(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.mkdir("main/.git", "main/sub", "plain/sub", "part/deep", "disk/project/sub", "other/.git", "beside", "seen/.git")
	f.worktree("feature", "feature")
	f.worktree("second", "second")
	for _, dir := range []string{"main", "plain", "part/deep", "disk/project", "seen"} {
		f.write(dir+"/"+project.ExcludeFile, "")
	}
	all := []string{
		"main", "main/sub", "main/new", "feature", "feature/sub", "second", "plain/sub", "part/deep", "part/deep/x", "disk/project/sub",
		"seen", "part", "other", "beside", "disk", "feature2", "state",
	}
	want := all[:11]
	if got := f.excluded(all...); !slices.Equal(got, want) {
		t.Fatalf("with nothing remembered: %q", got)
	}
	if got := f.remembered(); !slices.Equal(got, []string{"disk/project", "feature", "main", "part/deep", "plain", "second", "seen"}) {
		t.Errorf("remembered: %q", got)
	}
	f.remove("feature")                 // a worktree
	f.remove("main")                    // a project, of which a worktree is left
	f.rename("disk", "unmounted")       // a disk
	f.remove("plain")                   // a directory
	f.remove("part")                    // one above it
	f.remove("seen/.convtools-exclude") // the file alone
	if got := f.excluded(all...); !slices.Equal(got, want) {
		t.Errorf("once they are gone: %q, want %q", got, want)
	}
	for _, dir := range []string{"main", "seen", "second", "plain/sub"} {
		p := project.New(project.Options{Dir: f.path(dir), Memory: f.memory()})
		e := p.Excluded()
		if e.Dir == "" || filepath.Base(e.By) != project.ExcludeFile || p.Has(f.path(dir)) {
			t.Errorf("from %s: excluded by %+v", dir, e)
		}
	}
}

// TestRememberedFromInside tests that one call from the project, or from a worktree of it, is enough.
func TestRememberedFromInside(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"main/sub", "feature"} {
		f := newTree(t)
		f.mkdir("main/.git", "main/sub")
		f.worktree("feature", "feature")
		f.worktree("gone", "gone")
		f.remove("gone")
		f.write("main/"+project.ExcludeFile, "")
		p := project.New(project.Options{Dir: f.path(from), Memory: f.memory()})
		if e := p.Excluded(); e.Dir != "" || e.By != f.path("main/"+project.ExcludeFile) {
			t.Errorf("from %s: %+v", from, p.Excluded())
		}
		if got := f.remembered(); !slices.Equal(got, []string{"feature", "main"}) {
			t.Errorf("from %s: %q", from, got)
		}
	}
}

// TestRememberedByALink tests directories that are recorded by the name of a link, which may go too.
func TestRememberedByALink(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.mkdir("disk/project/sub")
	f.link(f.path("disk/project"), "link")
	f.write("disk/project/"+project.ExcludeFile, "")
	f.mkdir("linked")
	f.link(f.path("disk/project/sub"), "linked/sub") // not to where the file is
	long := strings.Repeat("/long", 2000)
	if got := f.excluded("link/sub", "link/sub/deep", "link"+long, "linked/sub", "linked/sub"+long); len(got) != 5 {
		t.Fatalf("excluded: %q", got)
	}
	if got := f.remembered(); !slices.Equal(got, []string{"disk/project", "link", "linked/sub"}) {
		t.Errorf("remembered: %q", got)
	}
	f.remove("disk")
	if got := f.excluded("link/sub", "disk/project/x"); len(got) != 2 {
		t.Errorf("the disk is gone: %q", got)
	}
	f.remove("link")
	if got := f.excluded("link/sub", "disk/project/x"); len(got) != 2 {
		t.Errorf("the link is gone: %q", got)
	}
}

// TestForget tests that a directory is not excluded any more after Forget, and others are.
func TestForget(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.mkdir("main/.git", "main/sub", "other")
	f.worktree("feature", "feature")
	f.write("main/"+project.ExcludeFile, "")
	f.excluded("main")
	var still *project.StillError
	if err := f.memory().Forget(f.path("feature")); !errors.As(err, &still) || still.By != f.path("main/"+project.ExcludeFile) {
		t.Errorf("while the file is there: %v", err)
	}
	f.remove("main/" + project.ExcludeFile)
	var missing *project.NotRememberedError
	if err := f.memory().Forget(f.path("main/sub")); !errors.As(err, &missing) || missing.By != f.path("main") {
		t.Errorf("below what is remembered: %v", err)
	}
	if err := f.memory().Forget(f.path("other")); !errors.As(err, &missing) || missing.By != "" {
		t.Errorf("not remembered: %v", err)
	}
	m := f.memory()
	if err := m.Forget(f.path("main")); err != nil || len(m.Exclusions()) != 1 {
		t.Errorf("%v, %v", err, m.Exclusions())
	}
	if got := f.excluded("main", "main/sub", "feature"); !slices.Equal(got, []string{"feature"}) {
		t.Errorf("still excluded: %q", got)
	}
	f.remove("feature")
	if err := f.memory().Forget(f.path("feature")); err != nil {
		t.Error(err)
	}
	if got := f.excluded("main", "feature"); len(got) != 0 || len(f.remembered()) != 0 {
		t.Errorf("still excluded: %q, %q", got, f.remembered())
	}
}

// TestMemoryThatFails tests the errors for a memory that cannot be read, and for one that cannot be
// written.
func TestMemoryThatFails(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(f tree){
		"no JSON":             func(f tree) { f.write("state/excluded/a.json", "{") },
		"nothing":             func(f tree) { f.write("state/excluded/a.json", "") },
		"another type":        func(f tree) { f.write("state/excluded/a.json", `{"directory": 1}`) },
		"no absolute path":    func(f tree) { f.write("state/excluded/a.json", `{"directory": "main"}`) },
		"too large":           func(f tree) { f.write("state/excluded/a.json", strings.Repeat(" ", 1<<20)) },
		"a directory":         func(f tree) { f.mkdir("state/excluded/a.json") },
		"a file in its place": func(f tree) { f.write("state/excluded", "") },
	} {
		f := newTree(t)
		spoil(f)
		_, err := project.OpenMemory(f.path("state/excluded"))
		if err == nil || !strings.HasPrefix(err.Error(), "reading what was excluded: "+f.path("state/excluded")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := newTree(t)
	f.write("state/excluded/.DS_Store", "\x00")
	f.write("state/excluded/notes.txt", "mine")
	if got := f.remembered(); len(got) != 0 {
		t.Errorf("other files: %q", got)
	}

	f = newTree(t)
	m, err := project.OpenMemory(f.path("elsewhere/excluded"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("elsewhere", "no directory can be made here")
	f.write("main/"+project.ExcludeFile, "")
	if all := project.New(project.Options{All: true, Memory: m}); !all.Excludes(f.path("main")) || m.Err() == nil {
		t.Errorf("excluded, but not kept: %v", m.Err())
	}
	if diff := cmp.Diff([]project.Exclusion{{Dir: f.path("main"), By: f.path("main/" + project.ExcludeFile)}}, m.Exclusions()); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(f.path("elsewhere/excluded")); err == nil {
		t.Error("it is there")
	}
}
