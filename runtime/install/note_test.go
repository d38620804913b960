package install_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/install"
)

// TestNotes has installations whose result is not what could be expected, which
// has to be said before they are made.
func TestNotes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, host, file, text string
		prepare                func(*desk)
		note                   string // empty: none
	}{
		{"nothing special", "cursor", "home/.cursor/mcp.json", "{}", nil, ""},
		{"disabled", "cursor", "home/.cursor/mcp.json", `{"mcpServers": {"convtools": {"command": "/opt/bin/convtools", "args": [], "disabled": true}}}`, nil, "switched off, and stays so. To switch it on, set disabled to false in the entry, in "},
		{"not enabled", "codex", "home/.codex/config.toml", "[mcp_servers.convtools]\ncommand = '/opt/bin/convtools'\nargs = ['mcp']\nenabled = false\n", nil, "set enabled to true in the entry, in "},
		{"taken over", "cursor", "home/.cursor/mcp.json", `{"mcpServers": {"convtools": {"command": "docker", "cwd": "/x", "env": {"TOKEN": "sk-1"}}}}`, nil, "stays: cwd, env."},
		{"shared path", "vscode", "project/.vscode/mcp.json", "{}", func(d *desk) { d.opts.ProgramName = "" }, "share names /opt/bin/convtools, a path of this computer"},
		{"shared path with JP", "jp", "project/.jp/x", "", func(d *desk) { d.opts.ProgramName = "" }, "share names /opt/bin/convtools"},
		{"own path", "cursor", "home/.cursor/mcp.json", "{}", func(d *desk) { d.opts.ProgramName = "" }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write(test.file, test.text)
			if test.prepare != nil {
				test.prepare(d)
			}
			change, err := install.PlanInstall(host(t, test.host), d.opts)
			if err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(change.Notes, "\n")
			if test.note == "" && notes != "" || !strings.Contains(notes, test.note) || strings.Contains(notes, "sk-1") {
				t.Errorf("notes %q, want …%s…", notes, test.note)
			}
		})
	}
}

func TestTemporaryPrograms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		program, name string
		refused       bool
	}{
		{"/home/u/.cache/go-build12/b001/exe/convtools", "", true},
		{"/tmp/go-build12/b001/exe/convtools", "convtools", true},
		{"/tmp/convtools", "", true},
		{"/var/folders/x/convtools", "", true},
		{"/tmp/bin/convtools", "convtools", false},
		{"/tmpfiles/convtools", "", false},
		{"/opt/bin/convtools", "", false},
	}
	for _, test := range tests {
		t.Run(test.program, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" {
				t.Skip("these paths are not absolute on Windows")
			}
			d := newDesk(t)
			d.opts.Program, d.opts.ProgramName = test.program, test.name
			d.env["TEMP"] = "/var/folders/x"
			_, err := install.PlanInstall(host(t, "cursor"), d.opts)
			if got := err != nil && strings.Contains(err.Error(), "install it first"); got != test.refused {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestRegistrationsSayHowMuchIsKnown(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		doubtful   bool
		url, err   string
	}{
		{"other servers", `{"mcpServers": {"x"`, true, "", "line 1"},
		{"broken entry", `{"mcpServers": {"convtools"`, false, "", "line 1"},
		{"on the network", `{"mcpServers": {"convtools": {"url": "http://me:pw@127.0.0.1:8765/mcp?token=x"}}}`, false, "http://127.0.0.1:8765/mcp", ""},
		{"number", `{"mcpServers": {"convtools": {"command": 5}}}`, false, "", "command of the entry is 5, which is not text"},
		{"empty", `{"mcpServers": {"convtools": {}}}`, false, "", "has no command"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.write("home/.cursor/mcp.json", test.text)
			found := install.Registrations(host(t, "cursor"), d.opts)
			if len(found) != 1 {
				t.Fatalf("registrations %+v", found)
			}
			r := found[0]
			if r.Doubtful != test.doubtful || r.URL != test.url || (r.Err == nil) != (test.err == "") || r.Err != nil && !strings.Contains(r.Err.Error(), test.err) {
				t.Errorf("%+v", r)
			}
		})
	}
}
