package jp

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
)

func TestOpenWalksUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mkdir("project/a/b/c")
	f.write("project/a/b/.jp", "a file of that name is not a workspace")
	f.mkdir("project/nested/.jp")
	f.mkdir("project/nested/deep")
	for dir, want := range map[string]string{
		"project":                   "project",
		"project/a/b/c":             "project",
		"project/.jp":               "project",
		"project/.jp/conversations": "project",
		"project/nested/deep":       "project/nested",
		"project/a/b/.jp":           "project", // a file: the search goes on above it
	} {
		w, err := Open(Options{Dir: filepath.Join(f.base, dir), Getenv: f.getenv})
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		if want := filepath.Join(f.base, want); w.Root() != want {
			t.Errorf("%s: root %s, want %s", dir, w.Root(), want)
		}
	}
}

func TestOpenFindsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mkdir("elsewhere/deep")
	for _, test := range []struct{ dir, want string }{
		{filepath.Join(f.base, "elsewhere", "deep"), "no .jp directory in " + filepath.Join(f.base, "elsewhere", "deep") + " or above it"},
		{filepath.Join(f.base, "missing"), "missing does not exist"},
		{"zzzzz", "zzzzz does not exist"},
	} {
		_, err := Open(Options{Dir: test.dir, Getenv: f.getenv})
		var notLocated *store.NoWorkspaceError
		if !errors.As(err, &notLocated) || !strings.HasPrefix(err.Error(), "Could not locate workspace") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.dir, err, test.want)
		}
	}
}

func TestOpenByWorkspaceID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w, err := Open(Options{Dir: testID, Getenv: f.getenv})
	if err != nil || w.Root() != f.root {
		t.Errorf("Open(%s) = %v, %v; want %s", testID, w, err, f.root)
	}
}

func TestWorkspaceID(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"DO NOT EDIT.\nabc12":                 "abc12",
		"DO NOT EDIT.\nabc12\n":               "abc12",
		"DO NOT EDIT.\r\nabc12\r\n":           "abc12",
		"abc12":                               "abc12",
		"":                                    "",
		"\n\n":                                "",
		"DO NOT EDIT.\nABC12":                 "",
		"DO NOT EDIT.\nabc123":                "",
		"abc12\nDO NOT EDIT.":                 "",
		"../..":                               "",
		strings.Repeat("x\n", 3000) + "abc12": "", // no such file is written by JP
	} {
		f := newFixture(t)
		f.write("project/.jp/.id", content)
		if w := f.open(); w.ID() != want || (w.user != "") != (want != "") {
			t.Errorf("%.40q: id %q, user store %q; want id %q", content, w.ID(), w.user, want)
		}
	}
	f := newFixture(t)
	if err := os.Remove(filepath.Join(f.root, ".jp", ".id")); err != nil {
		t.Fatal(err)
	}
	f.conversation(inProject+"10", "still there")
	f.conversation(inUser+"20", "not reachable")
	lines, skipped := f.list(store.Live)
	if len(lines) != 1 || lines[0] != "10 still there ext" || len(skipped) != 0 {
		t.Errorf("without an id: %q, %v", lines, skipped)
	}
}

func TestUserDataDir(t *testing.T) {
	t.Parallel()
	abs := t.TempDir()
	for _, test := range []struct {
		name, goos string
		env        map[string]string
		want       string
	}{
		{"named", "linux", map[string]string{"JP_USER_DATA_DIR": "rel/dir", "XDG_DATA_HOME": abs, "HOME": abs}, "rel/dir"},
		{"XDG", "linux", map[string]string{"XDG_DATA_HOME": abs, "HOME": "/h"}, filepath.Join(abs, "jp")},
		{"XDG on macOS", "darwin", map[string]string{"XDG_DATA_HOME": abs, "HOME": "/h"}, filepath.Join(abs, "jp")},
		{"relative XDG", "linux", map[string]string{"XDG_DATA_HOME": "data", "HOME": abs}, filepath.Join(abs, ".local", "share", "jp")},
		{"Linux", "linux", map[string]string{"HOME": abs}, filepath.Join(abs, ".local", "share", "jp")},
		{"macOS", "darwin", map[string]string{"HOME": abs}, filepath.Join(abs, "Library", "Application Support", "jp")},
		{"Windows", "windows", map[string]string{"LOCALAPPDATA": abs}, filepath.Join(abs, "jp", "data")},
		{"Windows without LOCALAPPDATA", "windows", map[string]string{"USERPROFILE": abs}, filepath.Join(abs, "AppData", "Local", "jp", "data")},
		{"no home", "linux", nil, ""},
		{"no home on Windows", "windows", nil, ""},
	} {
		got := userDataDir(func(name string) string { return test.env[name] }, test.goos)
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestChooseUserStore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		setup func(f *fixture)
		want  string
	}{
		{"none", func(*fixture) {}, ""},
		{"on record for no directory, or others", func(f *fixture) {
			f.mkdir("data/workspace/project-abc12/x")
			f.mkdir("other/.jp")
			f.record("other-abc12", "other")
			f.record("gone-abc12", "gone")
			f.record("above-abc12", ".")
			f.write("data/workspace/odd-abc12/roots/a.json", `{"path":"project"}`)
			f.write("data/workspace/odd-abc12/roots/b.json", "{")
		}, ""},
		{"of those on record for it", func(f *fixture) {
			f.record("a-abc12", "project")
			f.age("data/workspace/a-abc12", 1)
			f.mkdir("data/workspace/project-abc12")
			f.record("zz-abc12", "other")
			f.write("data/workspace/zz-abc12/new", "")
		}, "a-abc12"},
		{"as newer versions record it", func(f *fixture) {
			f.mkdir("other/.jp")
			for _, dir := range []string{"other", "project"} {
				f.write("data/workspace/a-abc12/roots/"+dir+".json", `{"path":`+strconv.Quote(filepath.Join(f.base, dir))+`,"last_used":"2026-05-29T20:04:40Z"}`)
			}
		}, "a-abc12"},
		{"other ids and files", func(f *fixture) {
			f.record("project-abc13", "project")
			f.record("projectabc12", "project")
			f.write("data/workspace/project-abc12", "a file")
		}, ""},
		{"only the id", func(f *fixture) { f.record("abc12", "project") }, "abc12"},
		{"the name of the project wins", func(f *fixture) {
			f.record("project-abc12", "project")
			f.age("data/workspace/project-abc12", 1)
			f.write("data/workspace/zz-abc12/new", "")
			f.age("data/workspace/zz-abc12/new", 9)
		}, "project-abc12"},
		{"the greatest name", func(f *fixture) {
			for _, name := range []string{"a-abc12", "c-abc12", "b-abc12"} {
				f.record(name, "project")
				f.write("data/workspace/"+name+"/x", "")
				f.age("data/workspace/"+name+"/x", 5)
			}
		}, "c-abc12"},
	} {
		f := newFixture(t)
		if err := os.RemoveAll(f.data); err != nil {
			t.Fatal(err)
		}
		test.setup(f)
		f.age("project/.jp", 0) // which a record may lead to
		want := ""
		if test.want != "" {
			want = filepath.Join(f.data, "workspace", test.want)
		}
		if got := f.open().user; got != want {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
}

// TestClonedID tests that a clone, which has the id of its original, does not get its user's store,
// and a worktree of the same repository does.
func TestClonedID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.conversation(inProject+"10", "in the project")
	f.conversation(inUser+"20", "local")
	f.mkdir("project/.git/worktrees/feature")
	f.write("project/.git/worktrees/feature/commondir", "../..\n")
	f.write("project/.git/worktrees/feature/gitdir", filepath.Join(f.base, "feature", ".git")+"\n")
	for _, clone := range []string{"clone", "elsewhere/project", "feature"} {
		f.write(clone+"/.jp/.id", "DO NOT EDIT.\n"+testID+"\n")
		f.write(clone+"/.git", "gitdir: "+filepath.Join(f.root, ".git", "worktrees", "feature")+"\n")
	}
	f.mkdir("linked")
	if err := os.Symlink(filepath.Join(f.root, ".jp"), filepath.Join(f.base, "linked", ".jp")); err != nil {
		t.Logf("no link is tried: %v", err)
		f.mkdir("linked/.jp")
	}
	for dir, local := range map[string]bool{"project": true, "feature": true, "clone": false, "elsewhere/project": false, "linked": false} {
		w, err := Open(Options{Dir: filepath.Join(f.base, dir), Getenv: f.getenv})
		if err != nil {
			t.Fatal(err)
		}
		session, _, err := w.open()
		if err != nil && dir != "linked" {
			t.Fatal(err)
		}
		if err == nil {
			_, err = session.find(t.Context(), "jp-c20")
			session.Close()
		}
		if (err == nil) != local || (w.user != "") != local {
			t.Errorf("from %s: %v, user store %q", dir, err, w.user)
		}
		if dir != "linked" && (len(w.Remarks(t.Context())) == 0) != local {
			t.Errorf("from %s: %q", dir, w.Remarks(t.Context()))
		}
	}
	// After the project was moved, JP has to run there first.
	f.rename("project", "project-moved")
	w, err := Open(Options{Dir: filepath.Join(f.base, "project-moved"), Getenv: f.getenv})
	if err != nil || w.user != "" {
		t.Errorf("moved: %q, %v", w.user, err)
	}
	if remarks := w.Remarks(t.Context()); len(remarks) != 1 || !strings.Contains(remarks[0], "run jp here once") {
		t.Errorf("moved: %q", remarks)
	}
}

func TestAll(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for name, target := range map[string]string{"other-zzzzz": "other/.jp", "again-zzzzz": "other", "gone-yyyyy": "gone/.jp"} {
		f.mkdir("data/workspace/" + name)
		if err := os.Symlink(filepath.Join(f.base, filepath.FromSlash(target)), filepath.Join(f.data, "workspace", name, "storage")); err != nil {
			t.Skip(err)
		}
	}
	f.mkdir("other/.jp")
	f.mkdir("here/.jp")
	f.mkdir("newer/.jp")
	f.write("data/workspace/newer-xxxxx/roots/a.json", `{"path":`+strconv.Quote(filepath.Join(f.base, "newer"))+`}`)
	roots := func(dir string) (names []string) {
		for _, w := range All(Options{Dir: filepath.Join(f.base, dir), Getenv: f.getenv}) {
			names = append(names, filepath.Base(w.Root()))
		}
		return names
	}
	if diff := cmp.Diff([]string{"here", "newer", "other", "project"}, roots("here")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"newer", "other", "project"}, roots(".")); diff != "" {
		t.Error(diff)
	}
	if found := All(Options{Dir: f.base, Getenv: func(string) string { return "" }}); len(found) > 0 {
		t.Errorf("without an environment: %d", len(found))
	}
}
