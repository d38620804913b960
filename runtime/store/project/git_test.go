package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/store/project"
)

// git runs the real git in a directory of a tree.
func (f tree) git(dir string, args ...string) string {
	f.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", f.path(dir), "-c", "protocol.file.allow=always", "-c", "core.longpaths=true"}, args...)...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GIT_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+f.dir,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %q in %s: %v\n%s", args, dir, err, out)
	}
	return string(out)
}

// repository makes a repository with a commit.
func (f tree) repository(dir string, args ...string) {
	f.t.Helper()
	f.mkdir(dir)
	f.git(dir, append([]string{"init", "-q"}, args...)...)
	f.git(dir, "commit", "-q", "--allow-empty", "-m", "first")
}

func (f tree) rename(from, to string) {
	f.t.Helper()
	f.mkdir(filepath.ToSlash(filepath.Dir(to)))
	if err := os.Rename(f.path(from), f.path(to)); err != nil {
		f.t.Fatal(err)
	}
}

func (f tree) link(target, name string) {
	f.t.Helper()
	if err := os.Symlink(target, f.path(name)); err != nil {
		f.t.Skip(err)
	}
}

func (f tree) remove(dir string) {
	f.t.Helper()
	if err := os.RemoveAll(f.path(dir)); err != nil {
		f.t.Fatal(err)
	}
}

func newGitTree(t *testing.T) tree {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	return newTree(t)
}

// roots returns the roots of the project of a directory, relative to the tree and sorted.
func (f tree) roots(dir string) []string {
	f.t.Helper()
	var names []string
	for _, root := range project.New(project.Options{Dir: f.path(dir)}).Roots() {
		name, err := filepath.Rel(f.dir, root)
		if err != nil {
			f.t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
	}
	slices.Sort(names)
	return names
}

// listed returns the existing working trees that git lists, relative to the tree and sorted.
func (f tree) listed(dir string) []string {
	f.t.Helper()
	var names []string
	for _, entry := range strings.Split(f.git(dir, "worktree", "list", "--porcelain"), "\n\n") {
		root, _, _ := strings.Cut(strings.TrimPrefix(entry, "worktree "), "\n")
		if _, err := os.Stat(filepath.Join(root, ".git")); root == "" || err != nil {
			continue // the end of the list, the directory of a repository, or one that is gone
		}
		root, err := filepath.EvalSymlinks(root)
		if err != nil {
			f.t.Fatal(err)
		}
		name, err := filepath.Rel(f.dir, root)
		if err != nil {
			f.t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
	}
	slices.Sort(names)
	return names
}

// TestWorktreesOfGit tests that the working trees of one repository are one project, and no others
// are.
func TestWorktreesOfGit(t *testing.T) {
	t.Parallel()
	f := newGitTree(t)
	f.repository("lib")

	f.repository("main")
	f.mkdir("main/sub", "main/.claude/worktrees")
	for _, w := range []string{"feature", "main/.claude/worktrees/inside", "renamed", "carried", "repaired", "taken", "pruned", "gone", "gone-below/deep"} {
		f.git("main", "worktree", "add", "-q", f.path(w))
	}
	f.git("main", "worktree", "add", "-q", "--detach", "--lock", f.path("locked"))
	f.git("main", "worktree", "move", f.path("renamed"), f.path("elsewhere"))
	f.rename("repaired", "away/repaired")
	f.git("away/repaired", "worktree", "repair")
	f.git("main", "worktree", "remove", f.path("taken"))
	f.remove("pruned")
	f.git("main", "worktree", "prune", "--expire=now")
	f.rename("carried", "away/carried")
	f.remove("gone")
	f.remove("gone-below")
	f.mkdir("away/carried/sub", "away/repaired/sub", "feature/sub")
	f.git("main", "submodule", "--quiet", "add", f.path("lib"), "module")
	f.git("main", "commit", "-q", "-m", "a module")
	f.git("feature", "merge", "-q", "--ff-only", f.git("main", "rev-parse", "HEAD")[:40])
	f.git("feature", "submodule", "--quiet", "update", "--init")
	f.git("main/module", "worktree", "add", "-q", f.path("of-module"))
	f.mkdir("main/module/sub", "feature/module/sub")
	f.repository("main/nested")

	f.mkdir("kept")
	f.repository("separate", "--separate-git-dir", f.path("kept/separate.git"))
	f.git("separate", "worktree", "add", "-q", f.path("of-separate"))
	f.git("separate", "worktree", "add", "-q", f.path("of-separate-2"))
	f.git("separate", "submodule", "--quiet", "add", f.path("lib"), "module")
	f.repository("main/separate", "--separate-git-dir", f.path("kept/inner.git"))
	f.mkdir("separate/sub", "main/separate/sub", "separate/module/sub")

	f.mkdir("bare")
	f.git(".", "clone", "-q", "--bare", f.path("lib"), f.path("bare/repository"))
	f.git("bare/repository", "worktree", "add", "-q", f.path("bare/one"))
	f.git("bare/repository", "worktree", "add", "-q", f.path("bare/two"))

	f.repository("moved")
	f.git("moved", "worktree", "add", "-q", f.path("of-moved"))
	f.rename("moved", "moved-to")
	f.git("moved-to", "worktree", "repair", f.path("of-moved"))

	f.repository("removed")
	f.git("removed", "worktree", "add", "-q", f.path("orphan"))
	f.remove("removed")
	f.mkdir("orphan/sub")

	f.mkdir("workspace/.jp")
	f.repository("workspace/repository")
	f.repository("workspace/separate", "--separate-git-dir", f.path("kept/of-workspace.git"))

	main := []string{"away/repaired", "elsewhere", "feature", "locked", "main", "main/.claude/worktrees/inside"}
	both := func(names ...string) []string { return names }
	tests := []struct {
		from, roots []string
		git         bool // lists the same
	}{
		{both("main", "main/sub", "feature", "feature/sub", "elsewhere", "away/repaired/sub", "locked", "main/.claude/worktrees/inside"), main, true},
		{both("main/module", "main/module/sub", "feature/module"), main, false},
		{both("of-module"), both("of-module"), false},
		{both("main/nested"), both("main/nested"), true},
		// A directory that only claims to be a worktree is a project of its own.
		{both("away/carried", "away/carried/sub"), both("away/carried"), false},
		// So is a repository whose files are elsewhere: they do not name its directory.
		{both("separate", "separate/sub"), both("separate"), false},
		{both("main/separate", "main/separate/sub"), both("main/separate"), false},
		{both("of-separate", "of-separate-2"), both("of-separate", "of-separate-2"), true},
		{both("bare/one", "bare/two"), both("bare/one", "bare/two"), true},
		{both("moved-to", "of-moved"), both("moved-to", "of-moved"), true},
		{both("orphan", "orphan/sub"), both("orphan"), false},
		{both("gone"), both("gone"), false},
		{both("workspace"), both("workspace"), false},
		{both("workspace/repository"), both("workspace/repository"), true},
		{both("workspace/separate"), both("workspace/separate"), false},
	}
	for _, test := range tests {
		for _, from := range test.from {
			if got := f.roots(from); !slices.Equal(got, test.roots) {
				t.Errorf("from %s: roots %q, want %q", from, got, test.roots)
			}
			if !test.git {
				continue
			}
			if got := f.listed(from); !slices.Equal(got, test.roots) {
				t.Errorf("from %s: git lists %q, want %q", from, got, test.roots)
			}
		}
	}
	// A directory belongs to one project.
	for i, one := range tests {
		for _, from := range one.from {
			p := project.New(project.Options{Dir: f.path(from)})
			for j, other := range tests {
				for _, dir := range other.from {
					want := i == j || slices.Equal(one.roots, other.roots)
					if got := p.Has(f.path(dir)); got != want {
						t.Errorf("from %s: has %s: %t", from, dir, got)
					}
				}
			}
			for _, dir := range []string{"pruned", "taken", "gone", "gone/sub", "gone-below/deep", "carried", "moved", "removed"} {
				if from != dir && p.Has(f.path(dir)) {
					t.Errorf("from %s: has %s, which is gone", from, dir)
				}
			}
		}
	}
}

// TestExcludedWorktreesOfGit tests that the exclusion of a repository excludes directories that claim
// to be its worktrees, and the worktrees of its submodules.
func TestExcludedWorktreesOfGit(t *testing.T) {
	t.Parallel()
	f := newGitTree(t)
	f.repository("lib")
	f.repository("main")
	f.git("main", "worktree", "add", "-q", f.path("feature"))
	f.git("main", "worktree", "add", "-q", f.path("carried"))
	f.git("main", "submodule", "--quiet", "add", f.path("lib"), "module")
	f.git("main/module", "worktree", "add", "-q", f.path("of-module"))
	f.rename("carried", "away/carried")
	f.mkdir("away/carried/sub")
	all := project.New(project.Options{All: true, Exclude: []string{f.path("main")}})
	f.write("main/"+project.ExcludeFile, "")
	marked := project.New(project.Options{All: true})
	for _, dir := range []string{"main", "feature", "away/carried", "away/carried/sub", "main/module", "of-module"} {
		if all.Has(f.path(dir)) || marked.Has(f.path(dir)) {
			t.Errorf("%s: %t, %t", dir, all.Has(f.path(dir)), marked.Has(f.path(dir)))
		}
	}
	if !marked.Has(f.path("lib")) || !marked.Has(f.path("away")) {
		t.Error("others are excluded too")
	}
}

// TestRelativeWorktree tests the relative paths that newer versions of git may write.
func TestRelativeWorktree(t *testing.T) {
	t.Parallel()
	f := newGitTree(t)
	f.repository("main")
	f.git("main", "worktree", "add", "-q", f.path("feature"))
	f.write("feature/.git", "gitdir: ../main/.git/worktrees/feature\n")
	f.write("main/.git/worktrees/feature/gitdir", "../../../../feature/.git\n")
	want := []string{"feature", "main"}
	for _, from := range want {
		if got := f.roots(from); !slices.Equal(got, want) {
			t.Errorf("from %s: %q", from, got)
		}
	}
}

// TestHostileProject tests that no file of a project makes it a part of another project, or makes
// another directory a part of it.
func TestHostileProject(t *testing.T) {
	t.Parallel()
	const victim = "home/work"
	disguise := func(f tree, at, common string) { // as git lays out the directory of a worktree
		f.write("evil/"+at+"/HEAD", "ref: refs/heads/master\n")
		f.write("evil/"+at+"/gitdir", f.path("evil/.git")+"\n")
		f.write("evil/"+at+"/commondir", common+"\n")
		f.write("evil/.git", "gitdir: "+at+"\n")
	}
	for name, test := range map[string]struct {
		git  bool // takes it for the other project
		make func(f tree)
	}{
		"a directory of a worktree": {true, func(f tree) { disguise(f, "fakegit", f.path(victim+"/.git")) }},
		"one in worktrees":          {true, func(f tree) { disguise(f, "x/worktrees/fake", f.path(victim+"/.git")) }},
		"a relative one":            {true, func(f tree) { disguise(f, "fakegit", "../../home/work/.git") }},
		"one that goes by a link": {true, func(f tree) {
			disguise(f, "x/worktrees/fake", "../..")
			f.remove("evil/x/worktrees/fake/commondir")
			f.link(f.path(victim+"/.git"), "evil/y")
			f.write("evil/x/worktrees/fake/commondir", "../../../y\n")
		}},
		"a link to the directory of a worktree": {true, func(f tree) {
			f.link(f.path(victim+"/.git/worktrees/feature"), "evil/fakegit")
			f.write("evil/.git", "gitdir: fakegit\n")
		}},
		"the directory of a worktree itself": {true, func(f tree) { f.write("evil/.git", "gitdir: "+f.path(victim+"/.git/worktrees/feature")+"\n") }},
		"that of one that is gone":           {true, func(f tree) { f.write("evil/.git", "gitdir: "+f.path(victim+"/.git/worktrees/gone")+"\n") }},
		"the repository":                     {true, func(f tree) { f.write("evil/.git", "gitdir: "+f.path(victim+"/.git")+"\n") }},
		"a link to the repository":           {true, func(f tree) { f.link(f.path(victim+"/.git"), "evil/.git") }},
		"a link to the .git file of a worktree": {true, func(f tree) {
			f.link(f.path("home/feature/.git"), "evil/.git")
		}},
		"a repository with a commondir": {true, func(f tree) {
			f.repository("evil")
			f.write("evil/.git/commondir", f.path(victim+"/.git")+"\n")
		}},
		"worktrees that are another's": {false, func(f tree) {
			f.repository("evil")
			for i, dir := range []string{victim, "home/feature", "home/gone", "home/deleted", "home/plain", "home", victim + "/sub"} {
				own := "evil/.git/worktrees/" + string(rune('a'+i))
				f.write(own+"/gitdir", f.path(dir+"/.git")+"\n")
				f.write(own+"/commondir", "../..\n")
				f.write(own+"/HEAD", "ref: refs/heads/master\n")
			}
		}},
		"a link to the worktrees of another": {false, func(f tree) {
			f.repository("evil")
			f.link(f.path(victim+"/.git/worktrees"), "evil/.git/worktrees")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newGitTree(t)
			f.mkdir("home/plain", "evil/sub")
			f.repository(victim)
			f.mkdir(victim + "/sub")
			f.git(victim, "worktree", "add", "-q", f.path("home/feature"))
			f.git(victim, "worktree", "add", "-q", f.path("home/gone"))
			f.remove("home/gone")
			test.make(f)
			if test.git {
				common := strings.TrimSpace(f.git("evil", "rev-parse", "--git-common-dir"))
				if !filepath.IsAbs(common) {
					common = filepath.Join(f.path("evil"), common)
				}
				if real, err := filepath.EvalSymlinks(common); err != nil || real != f.path(victim+"/.git") {
					t.Errorf("git takes %s for the repository: this is no disguise: %v", common, err)
				}
			}
			others := []string{victim, victim + "/sub", "home/feature", "home/gone", "home/gone/sub", "home/deleted", "home/plain", "home"}
			for _, from := range []string{"evil", "evil/sub"} {
				p := project.New(project.Options{Dir: f.path(from)})
				for _, dir := range others {
					if p.Has(f.path(dir)) {
						t.Errorf("from %s: has %s", from, dir)
					}
				}
				for _, dir := range append(p.Roots(), p.Dirs()...) {
					if dir != f.path("evil") && dir != f.path("evil/sub") {
						t.Errorf("from %s: looks into %s", from, dir)
					}
				}
			}
			for _, from := range others {
				p := project.New(project.Options{Dir: f.path(from)})
				if p.Has(f.path("evil")) || p.Has(f.path("evil/sub")) {
					t.Errorf("from %s: has evil", from)
				}
			}
			if got, want := f.roots(victim), []string{"home/feature", victim}; !slices.Equal(got, want) {
				t.Errorf("roots of the other project: %q", got)
			}
		})
	}
}
