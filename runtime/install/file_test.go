package install_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	if got := d.read("home/dotfiles/mcp.json"); got != "{}\n" { // or the link would lead nowhere
		t.Errorf("after uninstalling: %q", got)
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
				err = change.Apply(d.t.Context())
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
			if diff := cmp.Diff(map[string]string{"project/.jp/": ""}, d.beside()); diff != "" {
				t.Errorf("after uninstalling (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConcurrentChangesAreKept(t *testing.T) {
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
			files := d.beside()
			if err := change.Apply(d.t.Context()); err == nil || !strings.Contains(err.Error(), "in the meantime") {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(files, d.beside()); diff != "" {
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

// TestFilesThatCannotBeTaken demands a fix, and what to write by hand only where
// that is possible.
func TestFilesThatCannotBeTaken(t *testing.T) {
	t.Parallel()
	const file = "home/.codex/config.toml"
	chmod := func(t *testing.T, d *desk, mode os.FileMode) {
		if err := os.Chmod(d.path(file), mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(d.path(file), 0o600) })
	}
	tests := []struct {
		name    string
		prepare func(*testing.T, *desk)
		fix     string
		byHand  bool
	}{
		{"directory", func(_ *testing.T, d *desk) { d.write(file+"/x", "") }, "move away", false},
		{"file for a directory", func(_ *testing.T, d *desk) { d.write("home/.codex", "") }, "stands in its way", false},
		{"dangling link", func(t *testing.T, d *desk) { link(t, d.path("nowhere"), d.path(file)) }, "remove the link", false},
		{"too large", func(_ *testing.T, d *desk) { d.write(file, "#"+strings.Repeat("x", 16<<20)) }, "smaller", true},
		{"read-only", func(t *testing.T, d *desk) {
			d.write(file, "a = 1\n")
			chmod(t, d, 0o444)
		}, "make it writable", true},
		{"forbidden", func(t *testing.T, d *desk) {
			if runtime.GOOS == "windows" || os.Geteuid() == 0 {
				t.Skip("nothing can be forbidden to this user")
			}
			d.write(file, "a = 1\n")
			chmod(t, d, 0)
		}, "give yourself access", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			test.prepare(t, d)
			_, err := install.PlanInstall(host(t, "codex"), d.opts)
			var manual *install.ManualError
			if !errors.As(err, &manual) {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(manual.Fix, test.fix) {
				t.Errorf("fix %q, want …%s…", manual.Fix, test.fix)
			}
			if got := strings.Contains(manual.Snippet, "[mcp_servers.convtools]\ncommand = \"/opt/bin/convtools\""); got != test.byHand {
				t.Errorf("snippet:\n%s", manual.Snippet)
			}
		})
	}
}
