package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/store/internal/project"
)

// tree is directories and files below a temporary directory.
type tree struct {
	t   *testing.T
	dir string
}

func newTree(t *testing.T) tree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return tree{t, dir}
}

func (f tree) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f tree) mkdir(names ...string) {
	f.t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(f.path(name), 0o755); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f tree) write(name, text string) {
	f.t.Helper()
	f.mkdir(filepath.ToSlash(filepath.Dir(name)))
	if err := os.WriteFile(f.path(name), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// worktree adds a worktree to the repository main, as git lays it out.
func (f tree) worktree(name, dir string) {
	f.t.Helper()
	own := "main/.git/worktrees/" + name
	f.write(own+"/gitdir", f.path(dir+"/.git")+"\n")
	f.write(own+"/commondir", "../..\n")
	f.write(dir+"/.git", "gitdir: "+f.path(own)+"\n")
}

func TestHas(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.mkdir("main/.git", "main/sub/deep", "main/nested/.git", "other/.git", "plain/sub", "workspace/.jp", "workspace/sub", "workspace/repository/.git")
	f.worktree("feature", "feature")
	f.worktree("inside", "main/.claude/worktrees/inside")
	f.worktree("gone", "gone")
	if err := os.RemoveAll(f.path("gone")); err != nil {
		t.Fatal(err)
	}
	// Of a submodule; and of a project that only says that it is a worktree of main.
	f.write("main/module/.git", "gitdir: ../.git/modules/module\n")
	f.mkdir("main/.git/modules/module")
	f.write("liar/.git", "gitdir: "+f.path("main/.git/worktrees/feature")+"\n")
	if err := os.Symlink(f.path("main/sub"), f.path("link")); err != nil {
		t.Skip(err)
	}
	main := []string{"main", "main/sub", "main/sub/deep", "main/sub/removed", "main/module", "feature", "feature/sub", "main/.claude/worktrees/inside", "gone", "gone/sub", "link"}
	all := append(append([]string{}, main...),
		"main/nested", "other", "plain", "plain/sub", "workspace", "workspace/sub", "workspace/repository", "liar", "", "main2", "removed", "goneby")
	for _, test := range []struct {
		from []string
		has  []string
	}{
		{main[:4], main},
		{[]string{"feature", "main/.claude/worktrees/inside", "link"}, main},
		{[]string{"main/nested"}, []string{"main/nested"}},
		{[]string{"other"}, []string{"other"}},
		{[]string{"plain"}, []string{"plain"}},
		{[]string{"plain/sub"}, []string{"plain/sub"}},
		{[]string{"workspace", "workspace/sub"}, []string{"workspace", "workspace/sub"}},
		{[]string{"workspace/repository"}, []string{"workspace/repository"}},
		{[]string{"liar"}, []string{"liar"}},
		{[]string{"removed"}, []string{"removed"}},
	} {
		want := map[string]bool{}
		for _, name := range test.has {
			want[name] = true
		}
		for _, from := range test.from {
			p := project.Of(f.path(from))
			for _, name := range all {
				for range 2 { // the second time it is known
					if got := p.Has(f.path(name)); got != want[name] {
						t.Errorf("from %q: has %q: %t", from, name, got)
					}
				}
			}
			if p.Has("") || p.Has("main") {
				t.Errorf("from %q: has what is no absolute path", from)
			}
		}
	}
}

// Every directory of the project is below one of its roots, so that they can be looked
// for by name.
func TestRoots(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.mkdir("main/.git", "main/sub")
	f.worktree("feature", "feature")
	for _, from := range []string{"main", "main/sub", "feature"} {
		roots := map[string]bool{}
		for _, root := range project.Of(f.path(from)).Roots() {
			roots[root] = true
		}
		if len(roots) != 2 || !roots[f.path("main")] || !roots[f.path("feature")] {
			t.Errorf("from %q: %v", from, roots)
		}
	}
}
