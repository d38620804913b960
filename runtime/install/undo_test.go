package install_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated/jpfiles"
	"github.com/convtools/convtools/runtime/install"
)

// state is where the records of a desk's user are.
const state = "home/.local/state/convtools/install/"

// beside returns the files of the desk without the records.
func (d *desk) beside() map[string]string {
	files := d.files()
	for name := range files {
		if strings.HasPrefix(name, state) {
			delete(files, name)
		}
	}
	return files
}

// TestUndoRestoresTheEntryThatWasThere installs over an entry that its user has
// written, in every format and shape.
func TestUndoRestoresTheEntryThatWasThere(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, host, file, before string
		edit                     *strings.Replacer // what happens to the file in between
	}{
		{
			name: "JSON", host: "claude-code", file: "home/.claude.json",
			before: "{\"mcpServers\": {\"convtools\": { \"command\" : \"docker\", \"args\": [\"run\",\"-i\"], \"env\": {\"A\": \"b\"}}},\n \"n\": 1}",
			edit:   strings.NewReplacer(`"n": 1`, `"n": 2`),
		},
		{
			name: "JSONC", host: "cursor", file: "home/.cursor/mcp.json",
			before: "{\n  \"n\": 1,\n  \"mcpServers\": {\n    // my own build\n    \"convtools\": {\n      \"command\": \"/src/convtools\", // slow\n      \"args\": [\"mcp\"]\n    },\n  }\n}\n",
			edit:   strings.NewReplacer(`"n": 1`, `"n": 2`),
		},
		{
			name: "TOML", host: "codex", file: "home/.codex/config.toml",
			before: "n = 1\n\n[mcp_servers.convtools] # mine\ncommand = 'docker' # slow\nargs = [\n  'run',\n]\n\n[mcp_servers.convtools.env]\nA = 'b'\n\n[other]\nx = 1",
			edit:   strings.NewReplacer("n = 1", "n = 2"),
		},
		{
			name: "list", host: "opencode", file: "home/.config/opencode/opencode.json",
			before: `{"n": 1, "mcp": {"convtools": {"type": "local", "command": ["x", "y"], "enabled": false}}}`,
			edit:   strings.NewReplacer(`"n": 1`, `"n": 2`),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write(test.file, test.before)
			start := d.files()
			d.install(test.host)
			d.uninstall(test.host)
			if diff := cmp.Diff(start, d.files()); diff != "" {
				t.Errorf("after uninstalling (-want +got):\n%s", diff)
			}

			d.install(test.host)
			d.write(test.file, test.edit.Replace(d.read(test.file)))
			d.opts.Program = "/usr/bin/convtools"
			d.install(test.host) // an update of this program in between
			d.uninstall(test.host)
			if diff := cmp.Diff(test.edit.Replace(test.before), d.read(test.file)); diff != "" {
				t.Errorf("after an edit and uninstalling (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUndoOfAnEntryThatWasAddedTo removes the entry with what its user has put
// into it, and keeps a copy.
func TestUndoOfAnEntryThatWasAddedTo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.install("codex")
	edited := d.read("home/.codex/config.toml") + "env = { A = \"b\" }\n"
	d.write("home/.codex/config.toml", edited)
	change := d.uninstall("codex")
	if got := d.read("home/.codex/config.toml"); strings.Contains(got, "convtools") {
		t.Errorf("the entry is still there:\n%s", got)
	}
	if data, err := os.ReadFile(change.Files[0].Backup()); err != nil || string(data) != edited {
		t.Errorf("kept %q, %v", data, err)
	}
}

// TestUndoLeavesWhatIsNotOurs has entries that uninstalling must refuse to
// remove: those that installing refuses to touch, and those of somebody else.
func TestUndoLeavesWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, err string
		installed       bool // the text replaces what install wrote
	}{
		{"on the network", `{"mcpServers": {"convtools": {"url": "https://example.com"}}}`, "starts no command", false},
		{"put on the network", `{"mcpServers": {"convtools": {"url": "https://example.com"}}}`, "starts no command", true},
		{"text", `{"mcpServers": {"convtools": "x"}}`, "is not a table", false},
		{"put to another program", `{"mcpServers": {"convtools": {"command": "docker", "args": ["run"]}}}`, "changed since", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			if test.installed {
				d.install("cursor")
			}
			d.write("home/.cursor/mcp.json", test.text)
			before := d.files()
			_, err := install.PlanUninstall(host(t, "cursor"), d.opts)
			var manual *install.ManualError
			if !errors.As(err, &manual) || !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want …%s…", err, test.err)
			}
			if diff := cmp.Diff(before, d.files()); diff != "" {
				t.Errorf("files have changed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUndoOfWhatWasNotInstalled has entries that nothing says install wrote: to
// uninstall, there is nothing to do.
func TestUndoOfWhatWasNotInstalled(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"another program": `{"mcpServers": {"convtools": {"command": "docker", "args": ["run"]}}}`,
		"more in it":      `{"mcpServers": {"convtools": {"command": "convtools", "args": ["mcp"], "env": {}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write("home/.cursor/mcp.json", text)
			before := d.files()
			for range 2 { // also when it has been installed over, and undone
				change := d.uninstall("cursor")
				if notes := strings.Join(change.Notes, "\n"); len(change.Files) > 0 || !strings.Contains(notes, "not written by install") {
					t.Errorf("notes %q, changes:\n%s", notes, change.Diff())
				}
				if diff := cmp.Diff(before, d.files()); diff != "" {
					t.Errorf("files have changed (-want +got):\n%s", diff)
				}
				d.install("cursor")
				d.uninstall("cursor")
			}
		})
	}
}

// TestUndoOfFilesThatAreGone has the host's file removed by hand: what was kept
// for undoing goes, and nothing else.
func TestUndoOfFilesThatAreGone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"cursor", "jp"} {
		for _, before := range []bool{false, true} {
			t.Run(fmt.Sprint(name, before), func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				if before && name == "cursor" {
					d.write("home/.cursor/mcp.json", "{}")
				}
				for _, f := range d.install(name).Files {
					if err := os.Remove(f.Path); err != nil {
						t.Fatal(err)
					}
				}
				change := d.uninstall(name)
				if notes := strings.Join(change.Notes, "\n"); !strings.Contains(notes, "has been removed since it was installed") || change.Diff() != "" {
					t.Errorf("notes %q, diff:\n%s", notes, change.Diff())
				}
				want := map[string]string{"home/": "", "project/.jp/": ""}
				if before && name == "cursor" {
					want = map[string]string{"home/.cursor/": "", "project/.jp/": ""}
				}
				if diff := cmp.Diff(want, d.files()); diff != "" {
					t.Errorf("after uninstalling (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestUndoWithoutRecord loses what is known about the installation, in several
// ways: then nothing but our own entry goes, and that is said.
func TestUndoWithoutRecord(t *testing.T) {
	t.Parallel()
	each := func(d *desk, suffix string, do func(path string) error) {
		paths, err := filepath.Glob(d.path(state + "*" + suffix))
		if err != nil || len(paths) == 0 {
			d.t.Fatalf("no files %s: %v", suffix, err)
		}
		for _, path := range paths {
			if err := do(path); err != nil {
				d.t.Fatal(err)
			}
		}
	}
	damage := func(path string) error { return os.WriteFile(path, []byte(`{"version": 1, "target": `), 0o600) }
	tests := []struct {
		name string
		lose func(*desk)
		note string
	}{
		{"record lost", func(d *desk) { each(d, ".json", os.Remove) }, "no record"},
		{"record damaged", func(d *desk) { each(d, ".json", damage) }, "damaged"},
		{"copy lost", func(d *desk) { each(d, ".before", os.Remove) }, "copy"},
		{"copy damaged", func(d *desk) { each(d, ".before", damage) }, "copy"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write("home/.claude.json", "{\n  \"mcpServers\": {},\n  \"a\": 1\n}\n")
			d.install("claude-code")
			test.lose(d)
			change := d.uninstall("claude-code")
			if got, want := d.read("home/.claude.json"), "{\n  \"mcpServers\": {},\n  \"a\": 1\n}\n"; got != want {
				t.Errorf("after uninstalling:\n%s\nwant:\n%s", got, want)
			}
			if notes := strings.Join(change.Notes, "\n"); !strings.Contains(notes, test.note) {
				t.Errorf("notes %q, want …%s…", notes, test.note)
			}
		})
	}
}

func TestUndoOfDirectories(t *testing.T) {
	t.Parallel()
	for _, h := range install.Hosts() {
		for _, scope := range h.Scopes {
			t.Run(h.Name+"/"+string(scope), func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				d.opts.Scope = scope
				start := d.files()
				change := d.install(h.Name)
				d.uninstall(h.Name)
				if diff := cmp.Diff(start, d.files()); diff != "" {
					t.Errorf("directories that were made are left (-want +got):\n%s", diff)
				}
				for i := range change.Files {
					if err := os.MkdirAll(filepath.Dir(change.Files[i].Path), 0o755); err != nil {
						t.Fatal(err)
					}
				}
				start = d.files()
				d.install(h.Name)
				d.uninstall(h.Name)
				if diff := cmp.Diff(start, d.files()); diff != "" {
					t.Errorf("directories that were there (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestUndoOfSeveral registers with two hosts: the last to go takes the folders
// along that the first has made.
func TestUndoOfSeveral(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	start := d.files()
	d.install("cursor")
	d.install("codex")
	d.uninstall("cursor")
	d.uninstall("codex")
	if diff := cmp.Diff(start, d.files()); diff != "" {
		t.Errorf("after uninstalling (-want +got):\n%s", diff)
	}
}

func TestUndoKeepsLinkedDirectories(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.opts.Scope = install.Project
	d.write("dotfiles/keep", "")
	link(t, d.path("dotfiles"), d.path("project/.cursor"))
	change := d.install("cursor")
	if want := "+++ " + change.Path + " (through a link: " + d.path("dotfiles/mcp.json") + ")\n"; !strings.Contains(change.Diff(), want) {
		t.Errorf("no line %s in:\n%s", want, change.Diff())
	}
	if err := os.Remove(d.path("dotfiles/keep")); err != nil {
		t.Fatal(err)
	}
	d.uninstall("cursor")
	if _, err := os.Readlink(d.path("project/.cursor")); err != nil {
		t.Errorf("the link to a directory is gone: %v", err)
	}
	if info, err := os.Stat(d.path("dotfiles")); err != nil || !info.IsDir() {
		t.Errorf("the directory behind it is gone: %v", err)
	}
}

// TestUndoKeepsDirectoriesReplacedByLinks puts a link where install has made a
// directory.
func TestUndoKeepsDirectoriesReplacedByLinks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.opts.Scope = install.Project
	d.install("vscode")
	if err := os.Rename(d.path("project/.vscode"), d.path("moved")); err != nil {
		t.Fatal(err)
	}
	link(t, d.path("moved"), d.path("project/.vscode"))
	d.uninstall("vscode")
	if _, err := os.Readlink(d.path("project/.vscode")); err != nil {
		t.Errorf("the link is gone: %v", err)
	}
}

func TestUndoOfJPKeepsWhatWasEdited(t *testing.T) {
	t.Parallel()
	const file = "project/.jp/mcp/tools/conversation/grep.toml"
	const older = "# Generated by convgen from an older spec. DO NOT EDIT.\n"
	d := newDesk(t)
	d.write(file, older)
	change := d.install("jp")
	kept := ""
	for i := range change.Files {
		if change.Files[i].Path == d.path(file) {
			kept = change.Files[i].Backup()
		}
	}
	edited := d.read(file) + "# my own\n"
	d.write(file, edited)
	undone := d.uninstall("jp")
	if len(undone.Files) != len(jpfiles.Files())-1 {
		t.Errorf("%d files changed", len(undone.Files))
	}
	if got := d.read(file); got != edited {
		t.Errorf("the file that was edited is:\n%s", got)
	}
	if data, err := os.ReadFile(kept); err != nil || string(data) != older {
		t.Errorf("its copy is %q, %v", data, err)
	}
	if notes := strings.Join(undone.Notes, "\n"); !strings.Contains(notes, "grep.toml") || !strings.Contains(notes, kept) {
		t.Errorf("notes %q", notes)
	}
	if again := d.uninstall("jp"); len(again.Files) > 0 || len(again.Notes) == 0 {
		t.Errorf("uninstalling again: notes %q, changes:\n%s", again.Notes, again.Diff())
	}
}

func TestUndoOfJPRestoresOlderFiles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("project/.jp/mcp/tools/conversation/grep.toml", "# Generated by convgen from an older spec. DO NOT EDIT.\n")
	start := d.files()
	d.install("jp")
	d.opts.ProgramName = "" // an update writes other text
	d.install("jp")
	d.uninstall("jp")
	if diff := cmp.Diff(start, d.files()); diff != "" {
		t.Errorf("after uninstalling (-want +got):\n%s", diff)
	}
}

// TestNothingBesideFiles checks that a project is not littered, and that a file
// that happens to look like a backup is safe.
func TestNothingBesideFiles(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, suffix := range []string{"", ".convtools-backup", ".bak", ".before"} {
		d.write("home/.cursor/mcp.json"+suffix, `{"a": 1}`)
	}
	start := d.files()
	d.install("cursor")
	after := d.beside()
	for name, text := range start {
		if name != "home/.cursor/mcp.json" && after[name] != text {
			t.Errorf("%s is now %q", name, after[name])
		}
	}
	if len(after) != len(start) {
		t.Errorf("installing made other files: %v", after)
	}
	d.write("home/.cursor/mcp.json", strings.Replace(d.read("home/.cursor/mcp.json"), `"a": 1`, `"a": 2`, 1))
	d.uninstall("cursor")
	start["home/.cursor/mcp.json"] = `{"a": 2}`
	if diff := cmp.Diff(start, d.beside()); diff != "" {
		t.Errorf("after uninstalling (-want +got):\n%s", diff)
	}
}

// TestCopiesAreNotOverwritten installs over two versions of a user's own entry.
func TestCopiesAreNotOverwritten(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var kept []string
	texts := []string{`{"mcpServers": {"convtools": {"command": "one"}}}`, `{"mcpServers": {"convtools": {"command": "two"}}}`}
	for _, text := range texts {
		d.write("home/.cursor/mcp.json", text)
		kept = append(kept, d.install("cursor").Files[0].Backup())
	}
	for i, path := range kept {
		if data, err := os.ReadFile(path); err != nil || string(data) != texts[i] {
			t.Errorf("copy %d is %q, %v", i, data, err)
		}
	}
	d.uninstall("cursor")
	if got := d.read("home/.cursor/mcp.json"); got != texts[1] {
		t.Errorf("after uninstalling: %s", got)
	}
}

func TestModesOfNewFiles(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes on Windows")
	}
	for scope, want := range map[install.Scope]fs.FileMode{install.User: 0o600, install.Project: 0o644} {
		d := newDesk(t)
		d.opts.Scope = scope
		change := d.install("claude-code")
		info, err := os.Stat(change.Path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("scope %s: mode %v, want %v", scope, info.Mode().Perm(), want)
		}
		err = filepath.WalkDir(d.path(state), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s is open to others: %v", path, info.Mode())
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestFailedChangeLeavesNothing cannot write the file, once everything else has
// been prepared.
func TestFailedChangeLeavesNothing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("nothing can be forbidden to this user")
	}
	d := newDesk(t)
	d.write("home/.cursor/mcp.json", "{}")
	before := d.files()
	change, err := install.PlanInstall(host(t, "cursor"), d.opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(d.path("home/.cursor"), 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(d.path("home/.cursor"), 0o755) })
	if err := change.Apply(d.t.Context()); err == nil {
		t.Error("no error")
	}
	if diff := cmp.Diff(before, d.files()); diff != "" {
		t.Errorf("files have changed (-want +got):\n%s", diff)
	}
}

func TestArgumentsThatAreNotText(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("home/.cursor/mcp.json", `{"mcpServers": {"convtools": {"command": "/opt/bin/convtools", "args": ["mcp", 5, "--x"]}}}`)
	found := install.Registrations(host(t, "cursor"), d.opts)
	if len(found) != 1 || found[0].Err == nil || !strings.Contains(found[0].Err.Error(), "args[1]") {
		t.Fatalf("registrations %+v", found)
	}
	if diff := cmp.Diff([]string{"/opt/bin/convtools", "mcp", "5", "--x"}, found[0].Command); diff != "" {
		t.Errorf("command (-want +got):\n%s", diff)
	}
	if written(found[0]) || written(install.Registration{}) {
		t.Error("it counts as written by install")
	}
}
