package install

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestReplaceBetween has another program write the file in the worst moments: just
// before it is exchanged, and before what came out is put back.
func TestReplaceBetween(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		writes []string // before each exchange; empty for none
		err    string
		want   map[string]string // all files then
	}{
		{"nobody", nil, "", map[string]string{"file": "after"}},
		{"one", []string{"theirs"}, "nothing was changed", map[string]string{"file": "theirs"}},
		{"one, while it is put back", []string{"", "theirs"}, "", map[string]string{"file": "after"}},
		{
			"two",
			[]string{"first", "second"},
			"all the time",
			map[string]string{"file": "second", "state/file.before": "first"},
		},
		{
			"three",
			[]string{"first", "second", "third"},
			"all the time",
			map[string]string{"file": "third", "state/file.before": "second"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			put(t, path, "before")
			calls := 0
			s := records{filepath.Join(dir, "state"), func(a, b string) error {
				if calls < len(test.writes) && test.writes[calls] != "" {
					put(t, path, test.writes[calls])
				}
				calls++
				return swap(a, b)
			}}
			if err := os.Mkdir(s.dir, 0o700); err != nil {
				t.Fatal(err)
			}
			err := s.replace(path, []byte("before"), []byte("after"), 0o600)
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want …%s…", err, test.err)
			}
			if diff := cmp.Diff(test.want, everything(t, dir)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReplaceWithoutExchange is for systems that cannot exchange files.
func TestReplaceWithoutExchange(t *testing.T) {
	t.Parallel()
	for now, want := range map[string]string{"before": "after", "theirs": "theirs"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		put(t, path, now)
		s := records{dir, func(string, string) error { return errors.ErrUnsupported }}
		if err := s.replace(path, []byte("before"), []byte("after"), 0o600); errors.Is(err, errMeanwhile) != (now == "theirs") {
			t.Errorf("%s: error %v", now, err)
		}
		if diff := cmp.Diff(map[string]string{"file": want}, everything(t, dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", now, diff)
		}
	}
}

// TestReplaceMovesNothingOfOthers has another program write the file before it is to
// be exchanged or removed: then it keeps its place all the time.
func TestReplaceMovesNothingOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put(t, path, "theirs")
	s := records{dir, func(string, string) error {
		t.Error("the files were exchanged")
		return errors.New("exchanged")
	}}
	if err := s.replace(path, []byte("before"), []byte("after"), 0o600); !errors.Is(err, errMeanwhile) {
		t.Errorf("replacing: error %v", err)
	}
	// Whatever is moved in a folder changes its time.
	old := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes(dir, old, old); err != nil {
		t.Fatal(err)
	}
	if err := s.remove(path, []byte("before")); !errors.Is(err, errMeanwhile) {
		t.Errorf("removing: error %v", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("removing moved the file: %v", err)
	}
	if diff := cmp.Diff(map[string]string{"file": "theirs"}, everything(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// TestCleanUpWithoutRecord has a run that was killed leave files beside one that
// there is no record of. The next run removes them, also if it has nothing to do.
func TestCleanUpWithoutRecord(t *testing.T) {
	t.Parallel()
	for _, changes := range []bool{true, false} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		put(t, path, "now")
		s := records{filepath.Join(dir, "state"), swap}
		if err := os.Mkdir(s.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, s.copyPath(path, digest([]byte("before"))), "before")
		current, err := readFile(path)
		if err != nil {
			t.Fatal(err)
		}
		put(t, s.temp(current.target), "before")
		put(t, s.temp(current.target)+unfinished, "bef")
		c := &Change{Path: path, records: s}
		want := map[string]string{"file": "now", "state/file.before": "before"}
		if changes {
			c.change(current, []byte("after"), nil, nil)
			want["file"] = "after"
		}
		if err := c.Apply(t.Context()); err != nil || len(c.Advice) > 0 {
			t.Errorf("changes %v: error %v, advice %q", changes, err, c.Advice)
		}
		if diff := cmp.Diff(want, everything(t, dir)); diff != "" {
			t.Errorf("changes %v: files (-want +got):\n%s", changes, diff)
		}
	}
}

// TestCleanUp has runs that were killed leave files behind: what there is a copy of
// goes, what another program may have written is kept, and links lead nowhere.
func TestCleanUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, secret := filepath.Join(dir, "file"), filepath.Join(dir, "secret")
	put(t, path, "now")
	put(t, secret, "secret")
	s := records{filepath.Join(dir, "state"), swap}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := &record{Version: recordVersion, Target: path, Existed: true, Before: digest([]byte("before")), After: digest([]byte("after"))}
	if err := s.save(old); err != nil {
		t.Fatal(err)
	}
	put(t, s.copyPath(path, old.Before), "before")
	known := everything(t, dir)
	temp := s.temp(path)
	for _, test := range []struct {
		left, kept string
		link       bool
	}{
		{left: "before"},
		{left: "after"},
		{left: "theirs", kept: "theirs"},
		{left: secret, link: true},
	} {
		put(t, temp+unfinished, "bef")
		put(t, filepath.Join(s.dir, ".convtools-0"), "bef")
		if test.link {
			if err := os.Symlink(test.left, temp); err != nil {
				t.Skipf("this system makes no links: %v", err)
			}
		} else {
			put(t, temp, test.left)
		}
		notes := s.cleanUp(nil)
		copies, err := filepath.Glob(filepath.Join(s.dir, "*"+digest([]byte(test.left))[:12]+".before"))
		if err != nil {
			t.Fatal(err)
		}
		if (len(notes) == 1 && len(copies) == 1) != (test.kept != "") {
			t.Errorf("%s: copies %v, notes %q", test.left, copies, notes)
		}
		if test.kept != "" {
			if data, err := os.ReadFile(copies[0]); string(data) != test.kept || err != nil || !strings.Contains(notes[0], copies[0]) {
				t.Errorf("kept %q, %v; notes %q", data, err, notes)
			}
			_ = os.Remove(copies[0])
		}
		_ = os.Remove(temp) // the link
		if diff := cmp.Diff(known, everything(t, dir)); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", test.left, diff)
		}
	}
}

// swap has two files change places as far as a test can see.
func swap(a, b string) error {
	return errors.Join(os.Rename(a, a+".swap"), os.Rename(b, a), os.Rename(a+".swap", b))
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// everything returns all files below a directory. Copies of what files were have
// short names.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		if strings.HasSuffix(name, ".before") {
			name = "state/file.before"
		}
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
