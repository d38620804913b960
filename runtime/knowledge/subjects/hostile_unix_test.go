//go:build unix

package subjects_test

import (
	"context"
	"errors"
	"fmt"
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
	base := topic(t, map[string]string{
		"kb/real.md": "inside", "kb/dir/in.md": "x", "outside.md": "secret", "kb_evil/secret.md": "secret",
	})
	dir := filepath.Join(base, "kb")
	for name, target := range map[string]string{
		"absolute-inside.md": filepath.Join(dir, "real.md"), "absolute.md": "/etc/passwd",
		"dangling.md": "missing", "loop-a.md": "loop-b.md", "loop-b.md": "loop-a.md", "self": "self",
		"outside.md": "../outside.md", "sibling.md": "../kb_evil/secret.md", "back.md": "../kb/real.md",
		"to-dir": "dir", "to-root": ".", "dir/up": "..", "to-parent": "..", "to-device.md": "/dev/zero",
		"good.md": "real.md", "dir/good.md": "../real.md", "twice.md": "good.md", "through.md": "dir/../real.md",
	} {
		link(t, target, filepath.Join(dir, name))
	}
	deadline(t)
	tree := scan(t, dir)
	want := []string{"dir/good.md", "dir/in.md", "good.md", "real.md", "through.md", "twice.md"}
	if diff := cmp.Diff(want, paths(tree)); diff != "" {
		t.Errorf("A-23: -want +got:\n%s", diff)
	}
	for _, path := range []string{"good.md", "dir/good.md", "twice.md", "through.md"} {
		if c, err := tree.Read(soon(t), find(t, tree, path)); err != nil || c.Text != "inside" {
			t.Errorf("%s: %q, %v", path, c.Text, err)
		}
	}
	reasons := map[string]string{}
	for _, w := range tree.Warnings {
		reasons[w.Path] = w.Reason
	}
	for path, reason := range map[string]string{
		"absolute-inside.md": "absolute target", "absolute.md": "absolute target", "to-device.md": "absolute target",
		"dangling.md": "link to nothing", "loop-a.md": "too many levels", "loop-b.md": "too many levels", "self": "too many levels",
		"outside.md": "escapes", "sibling.md": "escapes", "back.md": "escapes", "to-parent": "escapes",
		"to-dir": "link to a directory", "to-root": "link to a directory", "dir/up": "link to a directory",
	} {
		if !strings.Contains(reasons[path], reason) {
			t.Errorf("%s: %q does not say %q", path, reasons[path], reason)
		}
		delete(reasons, path)
	}
	if len(reasons) > 0 {
		t.Errorf("warnings for what is in order: %v", reasons)
	}
}

// A link is what it leads to: it is as hidden, and what must not be read by one
// name is not read by another.
func TestLinksToWhatIsHiddenOrPassedOver(t *testing.T) {
	t.Parallel()
	dir := topic(t, map[string]string{
		".secret.md": "x", ".dir/a.md": "x", "open/b.md": "x", "skill/SKILL.md": "x", ".git/config": "x", "sub/.git/HEAD": "x", "gone/.git": "x",
		strings.Repeat("d/", 16) + "deep.md": "x",
	})
	for name, target := range map[string]string{
		"to-secret.md": ".secret.md", "to-dir.md": "./.dir//a.md", "to-open.md": "open/../open/b.md", "to-link.md": "to-secret.md",
		"open/up.md": "../.dir/a.md", "to-skill": "skill/SKILL.md",
		"link-to-dir": ".dir", "through.md": "link-to-dir/a.md", "above.md": "link-to-dir/../open/b.md",
		"git.md": ".git/config", "git-twice.md": "git.md", "head.md": "sub/.git/HEAD", "file.md": "gone/.git",
		"git-dir": ".git", "by-dir.md": "git-dir/config", "back.md": ".git/../open/b.md",
		"deep.md": strings.Repeat("d/", 16) + "deep.md",
	} {
		link(t, target, filepath.Join(dir, name))
	}
	for i := range 60 {
		link(t, fmt.Sprintf("chain-%d", i+1), filepath.Join(dir, fmt.Sprintf("chain-%d", i)))
	}
	write(t, dir, "chain-60", "x")
	deadline(t)
	tree := scan(t, dir)
	type linked struct {
		Hidden  bool
		Targets []string
	}
	got := map[string]linked{}
	chained := 0
	for _, s := range tree.Subjects {
		if strings.HasPrefix(s.Path, "chain-") && len(s.Targets) <= 41 {
			chained++
			continue
		}
		if s.Targets != nil {
			l := linked{Hidden: s.Hidden}
			for _, target := range s.Targets {
				l.Targets = append(l.Targets, target.Path)
			}
			got[s.Path] = l
		}
	}
	want := map[string]linked{
		"to-secret.md": {true, []string{".secret.md"}},
		"to-dir.md":    {true, []string{".dir/a.md"}},
		"to-open.md":   {false, []string{"open/b.md"}},
		"to-link.md":   {true, []string{".secret.md"}},
		"open/up.md":   {true, []string{".dir/a.md"}},
		"to-skill":     {false, []string{"skill/SKILL.md"}},
		"through.md":   {true, []string{".dir/a.md"}},
		"above.md":     {false, []string{"open/b.md"}},
		"back.md":      {false, []string{"open/b.md"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if chained < 5 || chained > 41 {
		t.Errorf("%d files of a chain of links are followed", chained)
	}
	if s := find(t, tree, "to-skill"); s.Targets[0].Slug != "skill" || s.Targets[0].PathSlug != "skill/SKILL" {
		t.Errorf("%+v", s)
	}
	refused := map[string]string{}
	for _, w := range tree.Warnings {
		refused[w.Path] = w.Reason
	}
	for _, name := range []string{"git.md", "git-twice.md", "head.md", "file.md", "by-dir.md", "deep.md"} {
		if !strings.Contains(refused[name], "no subject") {
			t.Errorf("%s: %q", name, refused[name])
		}
	}
	if !strings.Contains(refused["chain-0"], "too many") {
		t.Errorf("%q", refused["chain-0"])
	}
	if !find(t, tree, "to-secret.md").Hidden {
		t.Error("a link to a hidden file is visible")
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
		"pipe.md":    "is left out: it is a pipe, not a file",
		"to-pipe.md": "is a link to a pipe, not a file",
	}
	if l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(kb, "s")); err == nil {
		defer l.Close()
		want["s"] = "is left out: it is a socket, not a file"
	}
	// The zero device, which only the superuser can make.
	if syscall.Mknod(filepath.Join(kb, "device.md"), syscall.S_IFCHR|0o600, 1<<8|5) == nil {
		want["device.md"] = "is left out: it is a device, not a file"
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
			facts, err := tree.Facts(soon(t), []*subjects.Subject{s, find(t, tree, "other.md")})
			if err != nil || facts[0].Err == nil || facts[0].Size > 0 || facts[1].Err != nil || facts[1].Size != 4 {
				t.Errorf("%+v, %v", facts, err)
			}
			if err := tree.Describe(soon(t)); err != nil || s.Description != "" {
				t.Errorf("%q, %v", s.Description, err)
			}
		})
	}
}

// What a link led to when the directory was scanned decided whether it is offered:
// that is what is read, wherever the link leads by then.
func TestLinkRetargetedAfterTheScan(t *testing.T) {
	t.Parallel()
	for name, layout := range map[string]struct{ path, before, then string }{
		"a link":                 {"link.md", "open.md", "drafts/secret.md"},
		"a skill":                {"skill/SKILL.md", "../open.md", "../drafts/secret.md"},
		"a link to another link": {"link.md", "second.md", "drafts/secret.md"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const open, secret = "---\ndescription: open\n---\n", "---\ndescription: secret\n---\n"
			kb := topic(t, map[string]string{"open.md": open, "drafts/secret.md": secret, "skill/other.md": "x"})
			link(t, "open.md", filepath.Join(kb, "second.md"))
			path := filepath.Join(kb, filepath.FromSlash(layout.path))
			link(t, layout.before, path)
			tree := scan(t, kb)
			s := find(t, tree, layout.path)
			for _, changed := range []string{path, filepath.Join(kb, "second.md")} {
				if err := os.Remove(changed); err != nil {
					t.Fatal(err)
				}
			}
			link(t, layout.then, path)
			link(t, "drafts/secret.md", filepath.Join(kb, "second.md"))
			want := strings.TrimSuffix(open, "\n")
			if c, err := tree.Read(soon(t), s); err != nil || c.Text != want {
				t.Errorf("Read = %q, %v; want %q", c.Text, err, want)
			}
			facts, err := tree.Facts(soon(t), []*subjects.Subject{s})
			if err != nil || facts[0].Err != nil || facts[0].Size != int64(len(open)) {
				t.Errorf("Facts = %+v, %v; want those of a file of %d bytes", facts, err, len(open))
			}
			if err := tree.Describe(soon(t)); err != nil || strings.Contains(s.Description, "secret") {
				t.Errorf("described as %q, %v", s.Description, err)
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
	s := &tree.Subjects[0]
	if c, err := tree.Read(soon(t), s); err != nil || !c.TooLarge || c.Size != 1<<30 || c.Text != "" {
		t.Errorf("A-24: %d bytes of text, %d in all, %v", len(c.Text), c.Size, err)
	}
	facts, err := tree.Facts(soon(t), []*subjects.Subject{s})
	if err != nil || !facts[0].TooLarge || facts[0].Size != 1<<30 || facts[0].Tokens != 1<<28 {
		t.Errorf("A-24: %+v, %v", facts, err)
	}
	if err := tree.Describe(soon(t)); err != nil || s.Description != "huge" {
		t.Errorf("%q, %v", s.Description, err)
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
