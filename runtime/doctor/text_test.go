package doctor_test

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/doctor"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/toolset"
)

func TestText(t *testing.T) {
	t.Parallel()
	report := doctor.Report{
		Problems: 1, Warnings: 2,
		Checks: []doctor.Check{
			{Check: toolset.Check{Name: "program", Status: toolset.OK, Detail: "/home/me/bin/convtools"}},
			{Check: toolset.Check{Name: "voice", Status: toolset.Off, Detail: "there is no /home/me/voice"}},
			{Check: toolset.Check{Name: "zed", Status: toolset.Off, Detail: "not registered"}},
			{
				Check: toolset.Check{Name: "claude-desktop", Status: toolset.Problem, Detail: "it says:\n\x1b[31mno", Fix: "convtools install claude-desktop --scope user"},
				Scope: install.User, Path: "/home/me/x.json", Command: []string{"/x/a b/convtools", "mcp", "it's"},
			},
			{Check: toolset.Check{Name: "cursor", Status: toolset.Off, Detail: "not registered"}},
			{Check: toolset.Check{Name: "vscode", Status: toolset.Off, Detail: "not registered"}},
			{Check: toolset.Check{Name: "opencode", Status: toolset.Off, Detail: "not registered"}},
			{Check: toolset.Check{Name: "jp", Status: toolset.Off, Detail: "not registered"}},
			{Check: toolset.Check{Name: "codex", Status: toolset.Off, Detail: "not registered"}},
		},
	}
	var b strings.Builder
	if err := report.Text(&b, "/home/me"); err != nil {
		t.Fatal(err)
	}
	want := `ok       program         ~/bin/convtools
off      voice           there is no ~/voice
problem  claude-desktop  user: it says: ␛[31mno
                         '/x/a b/convtools' mcp 'it'\''s' (in ~/x.json)
                         fix: convtools install claude-desktop --scope user
off      not registered  zed, cursor, vscode, opencode, jp
                         codex

1 problem, 2 warnings.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOnePage checks that a report about many hosts fits a page.
func TestOnePage(t *testing.T) {
	t.Parallel()
	c, _ := setup(t)
	for _, host := range []string{"claude-code", "codex", "cursor", "zed"} {
		register(t, c, host, install.User)
	}
	var b strings.Builder
	report := doctor.Examine(t.Context(), c)
	if err := report.Text(&b, c.Install.Getenv("HOME")); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > 24 || report.Problems+report.Warnings > 0 {
		t.Errorf("%d lines, want at most 24 and nothing wrong:\n%s", n, &b)
	}
}

// TestJSONKeys checks the keys of the report that programs read.
func TestJSONKeys(t *testing.T) {
	t.Parallel()
	c, _ := setup(t)
	register(t, c, "codex", install.User)
	c.LookPath = func(name string) (string, error) { return "/bin/" + name, nil }
	write(t, filepath.Join(c.Install.Getenv("HOME"), ".claude.json"), `{"mcpServers":{"convtools":{"command":"./x"}}}`)
	data, err := json.Marshal(doctor.Examine(t.Context(), c))
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Versions, Checks json.RawMessage
	}
	var all map[string]any
	var checks []map[string]any
	var versions map[string]any
	for _, v := range []struct {
		data []byte
		to   any
	}{{data, &report}, {data, &all}} {
		if err := json.Unmarshal(v.data, v.to); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(json.Unmarshal(report.Checks, &checks), json.Unmarshal(report.Versions, &versions)); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, check := range checks {
		for key := range check {
			keys["checks."+key] = true
		}
	}
	for key := range versions {
		keys["versions."+key] = true
	}
	for key := range all {
		keys[key] = true
	}
	want := []string{
		"checks", "checks.command", "checks.detail", "checks.duration_ms", "checks.fix", "checks.hint", "checks.name", "checks.path",
		"checks.scope", "checks.server_name", "checks.server_version", "checks.status", "checks.tools", "problems", "versions",
		"versions.convtools", "versions.go", "versions.jp", "warnings",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(keys))); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
