package install_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/convtools/convtools/runtime/install"
)

func TestFollowsLinks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("home/dotfiles/mcp.json", "{}\n")
	link(t, filepath.Join("..", "dotfiles", "mcp.json"), d.path("home/.cursor/mcp.json"))
	if change := d.install("cursor"); !strings.Contains(change.Diff(), "+++ "+change.Path+" (through a link: ") {
		t.Errorf("the link is not shown:\n%s", change.Diff())
	}
	if !strings.Contains(d.read("home/dotfiles/mcp.json"), "convtools") {
		t.Error("the file that the link leads to was not changed")
	}
	if target, err := os.Readlink(d.path("home/.cursor/mcp.json")); err != nil || target != filepath.Join("..", "dotfiles", "mcp.json") {
		t.Errorf("the link is %q, %v", target, err)
	}
	d.uninstall("cursor")
	want := map[string]string{"home/.cursor/mcp.json": "{}\n", "home/dotfiles/mcp.json": "{}\n", "project/.jp/": ""}
	if diff := cmp.Diff(want, d.files()); diff != "" {
		t.Errorf("after uninstalling (-want +got):\n%s", diff)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skipf("this system makes no links: %v", err)
	}
}

func TestFilesItCannotTake(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		make func(*testing.T, *desk, string)
		err  string
	}{
		{"dangling link", func(t *testing.T, d *desk, path string) { link(t, d.path("nowhere"), path) }, "leads nowhere"},
		{"link to itself", func(t *testing.T, _ *desk, path string) { link(t, path, path) }, "leads nowhere"},
		{"directory", func(t *testing.T, _ *desk, path string) {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
		{"huge", func(_ *testing.T, d *desk, _ string) {
			d.write("home/.cursor/mcp.json", "{"+strings.Repeat(" ", 16<<20)+"}")
		}, "larger than 16 MiB"},
		{"read-only", func(t *testing.T, d *desk, path string) {
			d.write("home/.cursor/mcp.json", "{}")
			if err := os.Chmod(path, 0o444); err != nil {
				t.Fatal(err)
			}
		}, "read-only"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			path := d.path("home/.cursor/mcp.json")
			test.make(t, d, path)
			change, err := install.PlanInstall(host(t, "cursor"), d.opts)
			if err == nil {
				err = change.Apply()
			}
			if err == nil || !strings.Contains(err.Error(), test.err) || !strings.Contains(err.Error(), "mcp.json") {
				t.Errorf("error %v, want …%s…", err, test.err)
			}
			if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
				t.Errorf("%d files beside it", len(entries)-1)
			}
		})
	}
}

func TestEmptyFileIsADocument(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "blank": " \n\n", "byte order mark": "\ufeff"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write("home/.claude.json", text)
			d.install("claude-code")
			if found := install.Registrations(host(t, "claude-code"), d.opts); len(found) != 1 || found[0].Err != nil {
				t.Errorf("registrations %+v", found)
			}
			d.uninstall("claude-code")
			if got := d.read("home/.claude.json"); got != text {
				t.Errorf("after uninstalling: %q, want %q", got, text)
			}
		})
	}
}

func TestDoesNotOverwriteWhatChangedSince(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"changed": "{}", "made": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if before != "" {
				d.write("home/.claude.json", before)
			}
			change, err := install.PlanInstall(host(t, "claude-code"), d.opts)
			if err != nil {
				t.Fatal(err)
			}
			d.write("home/.claude.json", `{"by": "somebody else"}`)
			files := d.files()
			if err := change.Apply(); err == nil || !strings.Contains(err.Error(), "in the meantime") {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(files, d.files()); diff != "" {
				t.Errorf("files have changed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeepsModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes on Windows")
	}
	d := newDesk(t)
	d.write("home/.claude.json", "{}")
	if err := os.Chmod(d.path("home/.claude.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	change := d.install("claude-code")
	for _, path := range []string{change.Path, change.Files[0].Backup()} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", filepath.Base(path), info.Mode())
		}
	}
}

// FuzzDiff shows changes of anybody's making. Files with short lines are shown in
// full; what is shown of others are lines of a diff, and text where it was text.
func FuzzDiff(f *testing.F) {
	long := strings.Repeat("é, ", 200)
	f.Add([]byte(long+"a"+long), []byte(long+"bc"+long+"\n"))
	f.Add([]byte("a\n"+long+"\nb"), []byte("a\n"+long+"\n"))
	f.Add([]byte("--- a\n+++ b\n"), []byte(""))
	f.Add([]byte(long), []byte{})
	f.Fuzz(func(t *testing.T, before, after []byte) {
		change := install.Change{Files: []install.FileChange{{Path: "f", Target: "f", Before: before, After: after}}}
		text := change.Diff()
		if utf8.Valid(before) && utf8.Valid(after) && !utf8.ValidString(text) {
			t.Errorf("not text: %q", text)
		}
		for line := range strings.Lines(text) {
			if !strings.ContainsRune("-+ @\\", rune(line[0])) {
				t.Errorf("no line of a diff: %q", line)
			}
		}
		full := string(diff.Diff("f", unix(before), "f", unix(after)))
		_, full, _ = strings.Cut(full, "\n")
		if slices.Max(append(lengths(full), 0)) <= 200 && text != full {
			t.Errorf("shows %q of %q", text, full)
		}
		if shown := slices.Max(append(lengths(text), 0)); len(before) > 0 && len(after) == 0 && shown > 201 {
			t.Errorf("a line of %d bytes is removed and shown in full", shown)
		}
	})
}

func unix(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }

func lengths(text string) []int {
	var list []int
	for line := range strings.Lines(text) {
		list = append(list, len(line))
	}
	return list
}

func TestDiff(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("home/.cursor/mcp.json", "{\r\n  \"mcpServers\": {}\r\n}")
	change, err := install.PlanInstall(host(t, "cursor"), d.opts)
	if err != nil {
		t.Fatal(err)
	}
	want := `--- /WORK/home/.cursor/mcp.json
+++ /WORK/home/.cursor/mcp.json
@@ -1,3 +1,8 @@
 {
-  "mcpServers": {}
+  "mcpServers": {
+    "convtools": {
+      "command": "/opt/bin/convtools",
+      "args": ["mcp", "--workspace", "${workspaceFolder}"]
+    }
+  }
 }
\ No newline at end of file
`
	if diff := cmp.Diff(want, strings.ReplaceAll(change.Diff(), d.dir, "/WORK")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !bytes.Contains(change.Files[0].After, []byte("\r\n")) {
		t.Error("the file lost its line ends")
	}
}
