package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/store/project"
)

// tree is a temporary directory.
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
	// A submodule, and a project that claims to be a worktree of main.
	f.write("main/module/.git", "gitdir: ../.git/modules/module\n")
	f.mkdir("main/.git/modules/module")
	f.write("liar/.git", "gitdir: "+f.path("main/.git/worktrees/feature")+"\n")
	if err := os.Symlink(f.path("main/sub"), f.path("link")); err != nil {
		t.Skip(err)
	}
	main := []string{"main", "main/sub", "main/sub/deep", "main/sub/removed", "main/module", "feature", "feature/sub", "main/.claude/worktrees/inside", "link"}
	all := append(append([]string{}, main...),
		"main/nested", "other", "plain", "plain/sub", "workspace", "workspace/sub", "workspace/repository", "liar", "", "main2", "removed", "gone", "gone/sub")
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
		{[]string{"gone"}, []string{"gone"}}, // nothing there leads to main
		{[]string{"removed"}, []string{"removed"}},
	} {
		want := map[string]bool{}
		for _, name := range test.has {
			want[name] = true
		}
		for _, from := range test.from {
			p := project.New(project.Options{Dir: f.path(from)})
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

// TestClaimedWorktree tests a project that lists other directories as its worktrees: it does not get
// the directories below them, not even those that are gone.
func TestClaimedWorktree(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.mkdir("home/other/.git", "home/archive/.git")
	f.write("home/archive/.git/worktrees/x/gitdir", f.path("home/.git")+"\n")
	f.write("home/archive/.git/worktrees/y/gitdir", f.path("home/other/.git")+"\n")
	p := project.New(project.Options{Dir: f.path("home/archive")})
	for _, name := range []string{"home", "home/removed", "home/removed/sub", "home/other", "home/other/removed"} {
		if p.Has(f.path(name)) {
			t.Errorf("has %q", name)
		}
	}
}

// TestRoots tests that every directory of the project is below one of its roots.
func TestRoots(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.mkdir("main/.git", "main/sub")
	f.worktree("feature", "feature")
	for _, from := range []string{"main", "main/sub", "feature"} {
		roots := map[string]bool{}
		for _, root := range project.New(project.Options{Dir: f.path(from)}).Roots() {
			roots[root] = true
		}
		if len(roots) != 2 || !roots[f.path("main")] || !roots[f.path("feature")] {
			t.Errorf("from %q: %v", from, roots)
		}
	}
}

// TestExclude tests that an excluded directory belongs to no project, and not to all projects either.
func TestExclude(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.mkdir("main/.git", "main/sub", "main/nested/.git", "secret/sub", "secrets", "marked/sub", "open")
	f.worktree("feature", "feature")
	f.write("marked/"+project.ExcludeFile, "")
	f.write("main/sub/"+project.ExcludeFile, "for other people's reasons")
	f.write("feature/.ignored", "")
	if err := os.Symlink(f.path("secret"), f.path("link")); err != nil {
		t.Skip(err)
	}
	secret, mark, sub := f.path("secret"), f.path("marked/"+project.ExcludeFile), f.path("main/sub/"+project.ExcludeFile)
	by := map[string]string{
		"main": "", "main/sub": sub, "main/sub/removed": sub, "main/nested": "", "feature": "", "secret": secret, "secret/sub": secret,
		"secret/removed": secret, "secrets": "", "link": secret, "link/sub": secret, "marked": mark, "marked/sub": mark, "open": "",
	}
	all := project.New(project.Options{Dir: f.path("secret"), All: true, Exclude: []string{f.path("link")}})
	for name, want := range by {
		p := project.New(project.Options{Dir: f.path(name), Exclude: []string{secret}})
		if got := p.Excluded().By; got != want {
			t.Errorf("%s is excluded by %q, want %q", name, got, want)
		}
		if p.Has(f.path(name)) != (want == "") || all.Has(f.path(name)) != (want == "") {
			t.Errorf("%s: has %t, all has %t", name, p.Has(f.path(name)), all.Has(f.path(name)))
		}
	}
	if !all.All() || len(all.Roots()) > 0 || !all.Has("") || !all.Has(`elsewhere\on\another\system`) {
		t.Error("not all projects")
	}
	// In a repository the file in the main working tree counts.
	f.write("main/"+project.ExcludeFile, "")
	p := project.New(project.Options{Dir: f.path("feature")})
	if got := p.Excluded().By; got != f.path("main/"+project.ExcludeFile) || p.Has(f.path("feature")) {
		t.Errorf("a worktree is excluded by %q", got)
	}
}

// TestExcludePatterns tests that a pattern excludes every directory that it matches, with all below,
// existing or not, and through a link.
func TestExcludePatterns(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.mkdir("main/.git", "clients/acme/site", "clients/[a]", "real/x")
	f.worktree("feature", "feature")
	if err := os.Symlink(f.path("real"), f.path("link")); err != nil {
		t.Skip(err)
	}
	base := filepath.ToSlash(f.dir)
	for pattern, want := range map[string]map[string]bool{
		"/clients/*":      {"clients": false, "clients/acme": true, "clients/acme/site": true, "clients/gone/site": true, "clients2/acme": false},
		"/clients/**":     {"clients": true, "clients/gone": true, "clients2": false},
		"/**/site":        {"clients/acme": false, "clients/acme/site": true, "clients/acme/site/deep": true, "site": true},
		"/{clients,real}": {"clients/acme": true, "real/x": true, "main": false, "link/x": true},
		"/link/*":         {"real/x": true, "link/x": true, "real": false},
		`/clients/\[a\]`:  {"clients/[a]": true, "clients/a": false},
		"/ma?n":           {"main": true, "feature": true}, // a worktree of it
		"/a[":             {"main": true},                  // nobody knows what it is for
	} {
		all := project.New(project.Options{All: true, Patterns: []string{base + pattern}})
		for name, excluded := range want {
			p := project.New(project.Options{Dir: f.path(name), Patterns: []string{base + pattern}})
			if got := p.Excluded().By; (got != "") != excluded || all.Excludes(f.path(name)) != excluded || all.Has(f.path(name)) == excluded {
				t.Errorf("%s: %s: excluded by %q, of all %t", pattern, name, got, all.Excludes(f.path(name)))
			}
		}
	}
}

// TestExcludeDanglingLink tests that a link is followed if its target is gone.
func TestExcludeDanglingLink(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	for link, target := range map[string]string{"link": "gone", "chain": "link", "loop": "loop"} {
		if err := os.Symlink(target, f.path(link)); err != nil {
			t.Skip(err)
		}
	}
	for _, dir := range []string{"link", "chain"} {
		all := project.New(project.Options{All: true, Exclude: []string{f.path(dir)}})
		if !all.Excludes(f.path("gone/sub")) || !all.Excludes(f.path(dir)) || all.Excludes(f.path("other")) {
			t.Errorf("%s does not exclude what it leads to", dir)
		}
	}
	if all := project.New(project.Options{All: true, Exclude: []string{f.path("loop")}}); !all.Excludes(f.path("loop/sub")) {
		t.Error("a link to itself excludes nothing")
	}
}

func TestRoot(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.mkdir("main/.git", "main/sub", "plain/sub", "workspace/.jp/x")
	f.worktree("feature", "feature")
	all := project.New(project.Options{All: true})
	for dir, want := range map[string]string{
		"main": "main", "main/sub": "main", "feature": "main", "plain/sub": "plain/sub", "workspace/.jp/x": "workspace", "gone": "gone",
	} {
		if got := all.Root(f.path(dir)); got != f.path(want) {
			t.Errorf("%s: %s", dir, got)
		}
	}
	if got := all.Root("elsewhere"); got != "elsewhere" {
		t.Errorf("of another system: %s", got)
	}
}
