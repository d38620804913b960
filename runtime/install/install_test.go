package install_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/generated/jpfiles"
	"github.com/convtools/convtools/runtime/install"
)

// desk is a machine of a user with one project.
type desk struct {
	t    testing.TB
	dir  string // holds home and project
	opts install.Options
	env  map[string]string
}

func newDesk(t testing.TB) *desk {
	dir, err := filepath.EvalSymlinks(t.TempDir()) // links are shown
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: dir, env: map[string]string{}}
	for _, dir := range []string{"home", "project/.jp"} {
		if err := os.MkdirAll(d.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.env["HOME"] = d.path("home")
	d.opts = deskOptions(d.dir, d.env)
	return d
}

func deskOptions(dir string, env map[string]string) install.Options {
	project := filepath.Join(dir, "project")
	return install.Options{
		Name: "convtools", JPFiles: jpfiles.Files(),
		GOOS: "linux", Getenv: func(name string) string { return env[name] },
		Project: project, Workspace: project,
		Program: "/opt/bin/convtools", ProgramName: "convtools",
		Flags: familyFlags(),
	}
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(d.path(name), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) read(name string) string {
	d.t.Helper()
	data, err := os.ReadFile(d.path(name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

// files returns every file with its text, and every empty directory.
func (d *desk) files() map[string]string {
	d.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(d.dir, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(d.dir, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			inside, err := os.ReadDir(path)
			if err == nil && len(inside) == 0 {
				files[name+"/"] = ""
			}
			return err
		}
		files[name] = d.read(name)
		return nil
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return files
}

func host(t testing.TB, name string) install.Host {
	t.Helper()
	h, ok := install.Lookup(name)
	if !ok {
		t.Fatalf("no host %q", name)
	}
	return h
}

func (d *desk) install(name string) *install.Change {
	d.t.Helper()
	change, err := install.PlanInstall(host(d.t, name), d.opts)
	if err == nil {
		err = change.Apply(d.t.Context())
	}
	if err != nil {
		d.t.Fatalf("installing: %v", err)
	}
	return change
}

func (d *desk) uninstall(name string) *install.Change {
	d.t.Helper()
	change, err := install.PlanUninstall(host(d.t, name), d.opts)
	if err == nil {
		err = change.Apply(d.t.Context())
	}
	if err != nil {
		d.t.Fatalf("uninstalling: %v", err)
	}
	return change
}

// TestHosts installs with every host, for each of its scopes, with no file there
// and with the files of testdata/hosts/HOST, and compares all files with those
// of testdata/hosts/HOST.txtar. Uninstalling then has to restore everything.
func TestHosts(t *testing.T) {
	t.Parallel()
	for _, h := range install.Hosts() {
		if h.Name == "jp" {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			golden := filepath.Join("testdata", "hosts", h.Name+".txtar")
			archive, err := txtar.ParseFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: archive.Comment}
			existing := map[string]string{}
			for _, f := range archive.Files {
				if name, ok := strings.CutPrefix(f.Name, "before/"); ok {
					existing[name] = string(f.Data)
					got.Files = append(got.Files, f)
				}
			}
			if len(existing) == 0 {
				t.Error("there is no case with a file that is there already")
			}
			for _, scope := range h.Scopes {
				for _, before := range []map[string]string{nil, existing} {
					d := newDesk(t)
					d.opts.Scope = scope
					for name, text := range before {
						d.write(name, text)
					}
					start := d.beside()
					change := d.install(h.Name)
					if change.Scope != scope || len(change.Files) != 1 {
						t.Errorf("scope %s: changes %d files for scope %s", scope, len(change.Files), change.Scope)
					}
					label := "fresh "
					if before != nil {
						label = "after "
					}
					name, err := filepath.Rel(d.dir, change.Path)
					if err != nil {
						t.Fatal(err)
					}
					name = filepath.ToSlash(name)
					if _, ok := before[name]; before == nil || ok {
						text := strings.ReplaceAll(d.read(name), d.dir, "/WORK")
						got.Files = append(got.Files, txtar.File{Name: label + name, Data: []byte(text)})
					}
					if again := d.install(h.Name); len(again.Files) > 0 {
						t.Errorf("scope %s: installing again changes:\n%s", scope, again.Diff())
					}
					found := install.Registrations(h, d.opts)
					if len(found) != 1 || found[0].Scope != scope || found[0].Err != nil || found[0].Command[1] != "mcp" {
						t.Errorf("scope %s: registrations %+v", scope, found)
					}
					d.uninstall(h.Name)
					if diff := cmp.Diff(start, d.beside()); diff != "" {
						t.Errorf("scope %s: after uninstalling (-want +got):\n%s", scope, diff)
					}
					if again := d.uninstall(h.Name); len(again.Files) > 0 {
						t.Errorf("scope %s: uninstalling again changes:\n%s", scope, again.Diff())
					}
				}
			}
			if os.Getenv("UPDATE_GOLDEN") == "1" {
				if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		host  string
		scope install.Scope
		goos  string
		env   map[string]string
		want  string
	}{
		{"claude-code", install.User, "linux", nil, "/h/.claude.json"},
		{"claude-code", install.User, "windows", nil, "/w/.claude.json"},
		{"claude-code", install.User, "darwin", map[string]string{"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"},
		{"claude-code", install.Project, "linux", nil, "/p/.mcp.json"},
		{"claude-desktop", install.User, "linux", nil, "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", install.User, "darwin", nil, "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", install.User, "windows", nil, "/w/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"claude-desktop", install.User, "windows", map[string]string{"APPDATA": "/a"}, "/a/Claude/claude_desktop_config.json"},
		{"codex", install.User, "linux", nil, "/h/.codex/config.toml"},
		{"codex", install.User, "linux", map[string]string{"CODEX_HOME": "/c"}, "/c/config.toml"},
		{"codex", install.User, "linux", map[string]string{"CODEX_HOME": "relative"}, "/h/.codex/config.toml"},
		{"codex", install.Project, "darwin", nil, "/p/.codex/config.toml"},
		{"cursor", install.User, "windows", nil, "/w/.cursor/mcp.json"},
		{"cursor", install.Project, "linux", nil, "/p/.cursor/mcp.json"},
		{"opencode", install.User, "darwin", nil, "/h/.config/opencode/opencode.json"},
		{"opencode", install.User, "windows", nil, "/w/.config/opencode/opencode.json"},
		{"opencode", install.User, "linux", map[string]string{"XDG_CONFIG_HOME": "/x"}, "/x/opencode/opencode.json"},
		{"opencode", install.Project, "linux", nil, "/p/opencode.json"},
		{"vscode", install.Project, "linux", nil, "/p/.vscode/mcp.json"},
		{"vscode", install.User, "linux", nil, "/h/.config/Code/User/mcp.json"},
		{"vscode", install.User, "darwin", nil, "/h/Library/Application Support/Code/User/mcp.json"},
		{"vscode", install.User, "windows", map[string]string{"APPDATA": "/a"}, "/a/Code/User/mcp.json"},
		{"zed", install.User, "linux", map[string]string{"XDG_CONFIG_HOME": "/x"}, "/x/zed/settings.json"},
		{"zed", install.User, "darwin", map[string]string{"XDG_CONFIG_HOME": "/x"}, "/h/.config/zed/settings.json"},
		{"zed", install.User, "windows", nil, "/w/AppData/Roaming/Zed/settings.json"},
		{"zed", install.Project, "linux", nil, "/p/.zed/settings.json"},
	}
	for _, test := range tests {
		t.Run(test.host+"/"+test.goos+"/"+string(test.scope), func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" {
				t.Skip("these paths are not absolute on Windows")
			}
			env := map[string]string{"HOME": "/h"}
			if test.goos == "windows" {
				env = map[string]string{"USERPROFILE": "/w"}
			}
			for name, value := range test.env {
				env[name] = value
			}
			change, err := install.PlanInstall(host(t, test.host), install.Options{
				GOOS: test.goos, Getenv: func(name string) string { return env[name] },
				Scope: test.scope, Project: "/p", Workspace: "/p", Program: "/opt/convtools",
			})
			if err != nil {
				t.Fatal(err)
			}
			if change.Path != test.want {
				t.Errorf("%s, want %s", change.Path, test.want)
			}
		})
	}
}

// TestServer checks the command that is registered.
func TestServer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, host string
		scope      install.Scope
		change     func(*install.Options)
		want       string // with blanks between words, and /WORK for the desk
		err        string
	}{
		{"a user's file has the path", "claude-code", install.User, nil, "/opt/bin/convtools mcp", ""},
		{"a project's file has the name", "claude-code", install.Project, nil, "convtools mcp", ""},
		{"not in PATH", "claude-code", install.Project, func(o *install.Options) { o.ProgramName = "" }, "/opt/bin/convtools mcp", ""},
		{"bound", "codex", install.User, func(o *install.Options) { o.Bind = true }, "/opt/bin/convtools mcp --workspace /WORK/project", ""},
		{"bound by where the file is", "codex", install.Project, func(o *install.Options) { o.Bind = true }, "convtools mcp", ""},
		{"a variable", "cursor", install.User, nil, "/opt/bin/convtools mcp --workspace ${workspaceFolder}", ""},
		{"no variable for users", "vscode", install.User, nil, "/opt/bin/convtools mcp --workspace /WORK/project", ""},
		{"no workspace", "claude-desktop", install.User, func(o *install.Options) { o.Workspace = "" }, "", "--workspace DIR"},
		{"no such scope", "claude-desktop", install.Project, nil, "", "only for: user"},
		{"no home", "zed", install.User, func(o *install.Options) { o.Getenv = func(string) string { return "" } }, "", "HOME is not set"},
		{"relative home", "zed", install.User, func(o *install.Options) { o.Getenv = func(string) string { return "home" } }, "", `HOME is "home", which is not an absolute path`},
		{"relative home, in a project", "zed", install.Project, func(o *install.Options) { o.Getenv = func(string) string { return "." } }, "", "not an absolute path"},
		{"no home on Windows", "cursor", install.User, func(o *install.Options) {
			o.Getenv, o.GOOS = func(string) string { return "" }, "windows"
		}, "", "USERPROFILE is not set"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.opts.Scope = test.scope
			if test.change != nil {
				test.change(&d.opts)
			}
			change, err := install.PlanInstall(host(t, test.host), d.opts)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want …%s…", err, test.err)
				}
				return
			}
			if err == nil {
				err = change.Apply(d.t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			found := install.Registrations(host(t, test.host), d.opts)
			if len(found) != 1 || found[0].Err != nil {
				t.Fatalf("registrations %+v", found)
			}
			got := strings.ReplaceAll(strings.Join(found[0].Command, " "), d.dir, "/WORK")
			if got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
			if !written(found[0]) {
				t.Error("it does not count as written by install")
			}
		})
	}
}

func TestOpencodeExistingFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("home/.config/opencode/opencode.jsonc", "{\n  // mine\n}\n")
	if change := d.install("opencode"); filepath.Base(change.Path) != "opencode.jsonc" {
		t.Errorf("wrote %s", change.Path)
	}
}

func TestUninstallAfterOtherChanges(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("home/.cursor/mcp.json", "{\n  \"a\": 1\n}\n")
	d.install("cursor")
	edited := strings.Replace(d.read("home/.cursor/mcp.json"), `"a": 1`, `"a": 2`, 1)
	d.write("home/.cursor/mcp.json", edited)
	change := d.uninstall("cursor")
	if diff := cmp.Diff("{\n  \"a\": 2\n}\n", d.read("home/.cursor/mcp.json")); diff != "" {
		t.Errorf("after uninstalling (-want +got):\n%s", diff)
	}
	if data, err := os.ReadFile(change.Files[0].Backup()); err != nil || string(data) != edited {
		t.Errorf("kept %q, %v", data, err)
	}
}

// TestUninstallAfterUpdate moves the program between installing twice.
func TestUninstallAfterUpdate(t *testing.T) {
	t.Parallel()
	const before = "{\r\n}"
	d := newDesk(t)
	d.write("home/.claude.json", before)
	copied := d.install("claude-code").Files[0].Backup()
	d.opts.Program = "/usr/bin/convtools"
	d.install("claude-code")
	if !strings.Contains(d.read("home/.claude.json"), "/usr/bin/convtools") {
		t.Error("the program's new place was not registered")
	}
	d.uninstall("claude-code")
	if data, err := os.ReadFile(copied); err != nil || string(data) != before {
		t.Errorf("the copy is %q, %v", data, err)
	}
	if _, err := os.Stat(d.path("home/.claude.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file with nothing else in it is there: %v", err)
	}
}

func TestAdditionsOfUsersAreKept(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("home/.codex/config.toml", "[mcp_servers.convtools]\ncommand = \"old\"\ntool_timeout_sec = 5 # slow disk\n")
	d.install("codex")
	want := "[mcp_servers.convtools]\ncommand = \"/opt/bin/convtools\"\ntool_timeout_sec = 5 # slow disk\nargs = [\"mcp\"]\n"
	if diff := cmp.Diff(want, d.read("home/.codex/config.toml")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLeavesFilesAlone(t *testing.T) {
	t.Parallel()
	const (
		zed   = "home/.config/zed/settings.json"
		codex = "home/.codex/config.toml"
	)
	tests := []struct {
		name, host, file, text string
		err, fix               string
		where, snippet         string // empty: writing into the file does not help
	}{
		{
			"syntax error", "claude-code", "home/.claude.json", "{\n  \"mcpServers\": \n}", "line 3, column 1", "correct that place",
			`where there is a "mcpServers" already`, "\"mcpServers\": {\n  \"convtools\": {\n    \"type\": \"stdio\"",
		},
		{"syntax error without servers", "claude-code", "home/.claude.json", "{\n  \"a\": \n}", "line 3, column 1", "correct", "between the outermost braces", "\"mcpServers\": {\n  \"convtools\": {\n    \"type\": \"stdio\""},
		{"comment in plain JSON", "claude-desktop", "home/.config/Claude/claude_desktop_config.json", "{\n  // a\n}", "line 2, column 3", "correct", "outermost", `"--workspace"`},
		{"not UTF-8", "claude-code", "home/.claude.json", "{\n  \"a\": \"\xff\"}", "line 2, column 9: a byte that is not UTF-8", "correct", "outermost", "convtools"},
		{"syntax error in TOML", "codex", codex, "a = \n", "line 1, column 5", "correct", "at the end of the file", "[mcp_servers.convtools]\ncommand = "},
		{"inline table", "codex", codex, "mcp_servers = {}\n", "no table can be added", "[mcp_servers.NAME]", "", ""},
		{"inline entry", "codex", codex, "mcp_servers = { convtools = { command = 'x' } }\n", "no", "remove it", "", ""},
		{"number for a table", "codex", codex, "mcp_servers = 5\n", "mcp_servers is written", "remove it, or make it one", "", ""},
		{"another server of that name", "cursor", "home/.cursor/mcp.json", `{"mcpServers": {"convtools": {"url": "https://example.com"}}}`, "mcpServers.convtools is there already and starts no command", "remove that entry", "", ""},
		{"a list", "zed", zed, "[]", "is not an object", "remove it, or make it one", "", ""},
		{"a number for servers", "zed", zed, `{"context_servers": 5}`, "context_servers is not an object", "remove it, or make it one", "", ""},
		{"servers twice", "zed", zed, `{"context_servers": {}, "context_servers": {}}`, "twice", "remove one of the two", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write(test.file, test.text)
			before := d.files()
			_, err := install.PlanInstall(host(t, test.host), d.opts)
			var manual *install.ManualError
			if !errors.As(err, &manual) {
				t.Fatalf("error %v", err)
			}
			if manual.Path != d.path(test.file) || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v\nwant %s: …%s…", err, test.file, test.err)
			}
			if !strings.Contains(manual.Fix, test.fix) {
				t.Errorf("fix %q, want …%s…", manual.Fix, test.fix)
			}
			if !strings.Contains(manual.Where, test.where) || !strings.Contains(manual.Snippet, test.snippet) {
				t.Errorf("%s:\n%s\nwant …%s…:\n…%s…", manual.Where, manual.Snippet, test.where, test.snippet)
			}
			if test.snippet == "" && manual.Snippet+manual.Where != "" {
				t.Errorf("advises to write into it, which does not help: %s\n%s", manual.Where, manual.Snippet)
			}
			if diff := cmp.Diff(before, d.files()); diff != "" {
				t.Errorf("files have changed (-want +got):\n%s", diff)
			}
		})
	}
}
