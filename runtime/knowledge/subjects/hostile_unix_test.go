//go:build unix

package subjects_test

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// deadline ends the test program when a test hangs. A call that waits in the
// operating system ends with no context.
func deadline(tb testing.TB) {
	tb.Helper()
	name := tb.Name()
	timer := time.AfterFunc(30*time.Second, func() { panic(name + " hangs") })
	tb.Cleanup(func() { timer.Stop() })
}

func link(tb testing.TB, target, name string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.Symlink(target, name); err != nil {
		tb.Fatal(err)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	base := topic(t, map[string]string{"kb/real.md": "inside", "kb/.secret.md": "x", "kb/dir/in.md": "x", "outside.md": "secret", "kb/.git/config": "x"})
	dir := filepath.Join(base, "kb")
	refused := map[string]string{
		"absolute-inside.md": filepath.Join(dir, "real.md"), "absolute.md": "/etc/passwd", "dangling.md": "missing", "self": "self",
		"outside.md": "../outside.md", "back.md": "../kb/real.md", "to-dir": "dir", "dir/up": "..", "to-device.md": "/dev/zero",
		"git.md": ".git/config", "loop-a.md": "loop-b.md", "loop-b.md": "loop-a.md", "by-dir.md": "to-dir/in.md", "twice.md": "good.md",
	}
	followed := map[string]string{
		"good.md": "real.md", "dir/good.md": "../real.md", "through.md": "dir/../real.md",
	}
	for _, links := range []map[string]string{refused, followed, {"to-secret.md": ".secret.md"}} {
		for name, target := range links {
			link(t, target, filepath.Join(dir, name))
		}
	}
	deadline(t)
	tree := scan(t, dir)
	want := []string{"dir/good.md", "dir/in.md", "good.md", "real.md", ".secret.md", "through.md", "to-secret.md"}
	if diff := cmp.Diff(want, paths(tree)); diff != "" {
		t.Errorf("A-23: -want +got:\n%s", diff)
	}
	for path := range followed {
		if c, err := tree.Read(soon(t), find(t, tree, path)); err != nil || c.Text != "inside" {
			t.Errorf("%s: %q, %v", path, c.Text, err)
		}
	}
	if !find(t, tree, "to-secret.md").Hidden {
		t.Error("a link to a hidden file is visible")
	}
	for _, w := range tree.Warnings {
		if refused[w.Path] == "" || !strings.Contains(w.Reason, "leads to no file of this directory") {
			t.Errorf("%+v", w)
		}
		delete(refused, w.Path)
	}
	if len(refused) > 0 {
		t.Errorf("no warning of %v", refused)
	}
}

// The file that a link led to when the directory was scanned decided whether it is offered:
// that file is read, wherever the link leads by then.
func TestLinkRetargetedAfterTheScan(t *testing.T) {
	t.Parallel()
	kb := topic(t, map[string]string{"open.md": "open", "drafts/secret.md": "secret"})
	path := filepath.Join(kb, "link.md")
	link(t, "open.md", path)
	tree := scan(t, kb)
	s := find(t, tree, "link.md")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	link(t, "drafts/secret.md", path)
	if c, err := tree.Read(soon(t), s); err != nil || c.Text != "open" {
		t.Errorf("read %q, %v", c.Text, err)
	}
}

func TestTheDirectoryMayBeALink(t *testing.T) {
	t.Parallel()
	base := topic(t, map[string]string{"kb/a.md": "x"})
	link(t, filepath.Join(base, "kb"), filepath.Join(base, "link"))
	tree := scan(t, filepath.Join(base, "link"))
	if c, err := tree.Read(soon(t), find(t, tree, "a.md")); err != nil || c.Text != "x" {
		t.Errorf("A-23: %q, %v", c.Text, err)
	}
}

func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := topic(t, map[string]string{"real.md": "x", "outside/secret.md": "linked"})
	kb := filepath.Join(dir, "kb")
	write(t, kb, "a.md", "a")
	if err := syscall.Mkfifo(filepath.Join(kb, "pipe.md"), 0o600); err != nil {
		t.Skipf("no FIFOs: %v", err)
	}
	link(t, "pipe.md", filepath.Join(kb, "to-pipe.md"))
	if err := os.Link(filepath.Join(dir, "outside/secret.md"), filepath.Join(kb, "hard.md")); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"pipe.md":    "is left out: it is neither a file nor a directory",
		"to-pipe.md": "is left out: it is a link, and leads to no file of this directory by a relative path",
	}
	if l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(kb, "s")); err == nil {
		defer l.Close()
		want["s"] = "is left out: it is neither a file nor a directory"
	}
	// The zero device, which only the superuser can make.
	if syscall.Mknod(filepath.Join(kb, "device.md"), syscall.S_IFCHR|0o600, 1<<8|5) == nil {
		want["device.md"] = "is left out: it is neither a file nor a directory"
	}
	deadline(t)
	tree := scan(t, kb)
	if diff := cmp.Diff([]string{"a.md", "hard.md"}, paths(tree)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	got := map[string]string{}
	for _, w := range tree.Warnings {
		got[w.Path] = w.Reason
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// A hard link is a file of the directory like any other.
	if c, err := tree.Read(soon(t), find(t, tree, "hard.md")); err != nil || c.Text != "linked" {
		t.Errorf("%q, %v", c.Text, err)
	}
}

// A file can be something else, or elsewhere, when it is read.
func TestReplacedAfterTheScan(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(base, path string) error{
		"by a pipe":                   func(_, path string) error { return syscall.Mkfifo(path, 0o600) },
		"by a link inside":            func(_, path string) error { return os.Symlink("other.md", path) },
		"by a link out":               func(base, path string) error { return os.Symlink("../secret.md", path) },
		"by an absolute link":         func(base, path string) error { return os.Symlink(filepath.Join(base, "secret.md"), path) },
		"by a link to a pipe outside": func(base, path string) error { return os.Symlink("../pipe", path) },
		"by a directory":              func(_, path string) error { return os.Mkdir(path, 0o755) },
		"by a link to a directory":    func(_, path string) error { return os.Symlink(".", path) },
		"by nothing":                  func(string, string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := topic(t, map[string]string{"kb/SKILL.md": "x", "kb/other.md": "fine", "secret.md": "---\ndescription: secret\n---\n"})
			if err := syscall.Mkfifo(filepath.Join(base, "pipe"), 0o600); err != nil {
				t.Skipf("no FIFOs: %v", err)
			}
			tree := scan(t, filepath.Join(base, "kb"))
			s := find(t, tree, "SKILL.md")
			path := filepath.Join(base, "kb", "SKILL.md")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := replace(base, path); err != nil {
				t.Fatal(err)
			}
			deadline(t)
			if c, err := tree.Read(soon(t), s); err == nil || c.Text != "" {
				t.Errorf("read %q", c.Text)
			}
			other := find(t, tree, "other.md")
			err := tree.Look(soon(t), []*subjects.Subject{s, other})
			if err != nil || s.Problem == "" || s.Size > 0 || s.Description != "" || other.Problem != "" || other.Size != 4 {
				t.Errorf("%+v, %+v, %v", s, other, err)
			}
		})
	}
}

// A folder on the way can be replaced too, by a link that stays inside.
func TestFolderReplacedByALinkInside(t *testing.T) {
	t.Parallel()
	kb := topic(t, map[string]string{"open/a.md": "x", "drafts/a.md": "secret"})
	tree := scan(t, kb)
	if err := os.RemoveAll(filepath.Join(kb, "open")); err != nil {
		t.Fatal(err)
	}
	link(t, "drafts", filepath.Join(kb, "open"))
	s := find(t, tree, "open/a.md")
	if c, err := tree.Read(soon(t), s); err == nil {
		t.Errorf("read %q", c.Text)
	}
}

// A folder on the way can be replaced too.
func TestFolderReplacedAfterTheScan(t *testing.T) {
	t.Parallel()
	base := topic(t, map[string]string{"kb/dir/a.md": "x", "evil/a.md": "secret"})
	tree := scan(t, filepath.Join(base, "kb"))
	if err := os.RemoveAll(filepath.Join(base, "kb/dir")); err != nil {
		t.Fatal(err)
	}
	link(t, "../evil", filepath.Join(base, "kb/dir"))
	if c, err := tree.Read(soon(t), find(t, tree, "dir/a.md")); err == nil {
		t.Errorf("read %q", c.Text)
	}
}

func TestNamesOnDisk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, path, slug string }{
		{"line break", "a\nb\n.md", "a␊b␊"},
		{"other controls", "a\tb\rc\x1b[31m\x7f.md", "a␉b␍c␛[31m␡"},
		{"quotes", `a"b'c.md`, `a"b'c`},
		{"markup", "<subject>&.md", "<subject>&"},
		{"invalid UTF-8", "a\xffb.md", "a\ufffdb"},
		{"reordering", "a\u202eb.md", `a\u{202E}b`},
		{"backslash", `a\..\b.md`, `a\..\b`},
		{"as long as may be", strings.Repeat("x", 252) + ".md", strings.Repeat("x", 252)},
		{"a flag", "-rf.md", "-rf"},
		{"a pattern", "a[*]{b,c}.md", "a[*]{b,c}"},
		{"a folder with a line break", "a\nb/c.md", "a␊b/c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			full := filepath.Join(dir, test.path)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Skipf("the file system refuses the name: %v", err)
			}
			if err := os.WriteFile(full, []byte("read"), 0o600); err != nil {
				t.Skipf("the file system refuses the name: %v", err)
			}
			tree := scan(t, dir)
			s := find(t, tree, test.path)
			if s.Slug != test.slug || s.Name != test.slug || s.PathSlug != test.slug {
				t.Errorf("%+v", s)
			}
			if c, err := tree.Read(soon(t), s); err != nil || c.Text != "read" {
				t.Errorf("%q, %v", c.Text, err)
			}
			if err := os.Remove(full); err != nil {
				t.Fatal(err)
			}
			if _, err := tree.Read(soon(t), s); !errors.Is(err, fs.ErrNotExist) || strings.ContainsAny(err.Error(), "\n\t\x1b") || !utf8.ValidString(err.Error()) {
				t.Errorf("%q", err)
			}
		})
	}
}

// Names that only differ in what cannot be shown are different files that share a
// name.
func TestNamesThatLookAlike(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a\xff.md", "a\xfe.md", "a\x01.md", "a\u2401.md", "b\xff\\.md", "b\xff\\.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Skipf("the file system refuses the name: %v", err)
		}
	}
	tree := scan(t, dir)
	got := map[string][2]string{}
	for _, s := range tree.Subjects {
		got[s.Path] = [2]string{s.Slug, s.Name}
	}
	want := map[string][2]string{
		"a\xff.md": {"a\ufffd", "a\ufffd.md"}, "a\xfe.md": {"a\ufffd", "a\ufffd.md"},
		"a\x01.md": {"a\u2401", "a\u2401.md"}, "a\u2401.md": {"a\u2401", "a\u2401.md"},
		"b\xff\\.md": {"b\ufffd\\", "b\ufffd\\.md"}, "b\xff\\.txt": {"b\ufffd\\", "b\ufffd\\.txt"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestHugeFile(t *testing.T) {
	t.Parallel()
	dir := topic(t, map[string]string{"huge/SKILL.md": "---\ndescription: huge\n---\n"})
	if err := os.Truncate(filepath.Join(dir, "huge/SKILL.md"), 1<<30); err != nil {
		t.Skipf("no sparse files: %v", err)
	}
	deadline(t)
	tree := scan(t, dir)
	s := tree.Subjects[0]
	if c, err := tree.Read(soon(t), s); err != nil || !c.TooLarge || c.Size != 1<<30 || c.Text != "" {
		t.Errorf("A-24: %d bytes of text, %d in all, %v", len(c.Text), c.Size, err)
	}
	err := tree.Look(soon(t), []*subjects.Subject{s})
	if err != nil || !s.TooLarge || s.Size != 1<<30 || s.Tokens != 0 || s.Description != "huge" {
		t.Errorf("A-24: %+v, %v", s, err)
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("the superuser may read everything")
	}
	dir := topic(t, map[string]string{"a.md": "x", "closed/b.md": "x", "c.md": "x"})
	for _, name := range []string{"closed", "c.md"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "closed"), 0o700) })
	tree := scan(t, dir)
	if diff := cmp.Diff([]subjects.Warning{{Path: "closed", Reason: "cannot be read: permission denied"}}, tree.Warnings); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := tree.Read(context.Background(), find(t, tree, "c.md")); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
}
