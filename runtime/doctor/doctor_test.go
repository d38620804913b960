package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/doctor"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/process"
)

// fakeRunner answers every command in the same way, and notes the commands.
type fakeRunner struct {
	result process.Result
	err    error

	mu       sync.Mutex
	commands []process.Command
}

func (f *fakeRunner) Run(_ context.Context, cmd process.Command) (process.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commands = append(f.commands, cmd)
	return f.result, f.err
}

// fakeCLI is a conversation command line with two answers: for live and for
// archived conversations.
type fakeCLI struct {
	live, archived string
	err            error
}

func (f fakeCLI) RunCLI(_ context.Context, _ string, _ contract.Context, args []string) (stdout, stderr []byte, exit int, err error) {
	if slices.Contains(args, "--archived") {
		return []byte(f.archived), nil, 0, f.err
	}
	return []byte(f.live), []byte("warning: something\n"), 0, f.err
}

const (
	initialized = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"convtools","version":"1"}}}` + "\n"
	noneListed  = `[{"summary":{"total":0,"skipped":[]}}]`
)

// listing is the answer of a server with these tools.
func listing(names ...string) []byte {
	var tools []map[string]string
	for _, name := range names {
		tools = append(tools, map[string]string{"name": name})
	}
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 2, "result": map[string]any{"tools": tools}})
	if err != nil {
		panic(err)
	}
	return append([]byte(initialized), append(data, '\n')...)
}

func ours() []string {
	var names []string
	for _, tool := range generated.Tools() {
		names = append(names, tool.Name)
	}
	return names
}

// setup makes a home and a project, and a program that exists.
func setup(t *testing.T) (doctor.Config, *fakeRunner) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"home", "project/.jp"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "bin", "convtools")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	write(t, program, "#!/bin/sh\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "project")
	env := map[string]string{"HOME": filepath.Join(dir, "home"), "JP_USER_DATA_DIR": filepath.Join(dir, "data")}
	runner := &fakeRunner{result: process.Result{Stdout: listing(ours()...)}}
	second := 0
	var mu sync.Mutex
	return doctor.Config{
		Version: "1.2.3", Dir: project, Runner: runner, CLI: fakeCLI{live: noneListed, archived: noneListed},
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			second++
			return time.Unix(int64(second), 0)
		},
		Install: install.Options{
			GOOS: "linux", Getenv: func(name string) string { return env[name] },
			Project: project, Workspace: project, Program: program, ProgramName: "convtools",
		},
	}, runner
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func register(t *testing.T, c doctor.Config, name string, scope install.Scope) {
	t.Helper()
	host, ok := install.Lookup(name)
	if !ok {
		t.Fatalf("no host %q", name)
	}
	opts := c.Install
	opts.Scope = scope
	opts.ProgramName = "" // the name is not found in PATH here
	change, err := install.PlanInstall(host, opts)
	if err == nil {
		err = change.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, r doctor.Report, name string) doctor.Check {
	t.Helper()
	i := slices.IndexFunc(r.Checks, func(c doctor.Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("nothing about %s in %+v", name, r)
	}
	return r.Checks[i]
}

// TestServers registers with a host and has the server behave in all ways.
func TestServers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		result process.Result
		err    error
		status doctor.Status
		detail string
	}{
		{"good", process.Result{Stdout: listing(ours()...)}, nil, doctor.OK, "answers with 3 tools in 1000 ms"},
		{"more tools", process.Result{Stdout: listing(append(ours(), "learn")...)}, nil, doctor.OK, "answers with 4 tools"},
		{"notifications between", process.Result{Stdout: slices.Concat([]byte(`{"jsonrpc":"2.0","method":"notifications/message"}`+"\n"), listing(ours()...))}, nil, doctor.OK, "answers"},
		{"other tools", process.Result{Stdout: listing("fetch", "conversation_list")}, nil, doctor.Problem, "it has no conversation_grep, conversation_read"},
		{"ends early", process.Result{Stdout: []byte(initialized)}, nil, doctor.Problem, "ends without listing"},
		{"says nothing", process.Result{ExitCode: 3, Stderr: []byte("error: no such flag\nhint: x")}, nil, doctor.Problem, "exit code 3 without an answer, and says: error: no such flag"},
		{"silent", process.Result{ExitCode: 1}, nil, doctor.Problem, "says: nothing"},
		{"prints", process.Result{Stdout: []byte("Listening…\n")}, nil, doctor.Problem, "not MCP"},
		{"refuses", process.Result{Stdout: []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"too old"}}` + "\n")}, nil, doctor.Problem, "error: too old"},
		{"hangs", process.Result{}, &process.Error{Kind: process.Timeout}, doctor.Problem, "does not answer within 10s"},
		{"is not there", process.Result{}, &process.Error{Kind: process.NotFound, Command: "x", Detail: "no such file"}, doctor.Problem, "no such file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, runner := setup(t)
			runner.result, runner.err = test.result, test.err
			register(t, c, "claude-code", install.User)
			report := doctor.Examine(t.Context(), c)
			got := find(t, report, "claude-code")
			if got.Status != test.status || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("%s: %s; want %s: …%s…", got.Status, got.Detail, test.status, test.detail)
			}
			wantFix := ""
			if test.status == doctor.Problem {
				wantFix = "convtools install claude-code --scope user"
			}
			if got.Fix != wantFix || report.Problems != len(wantFix)/max(1, len(wantFix)) {
				t.Errorf("fix %q, %d problems", got.Fix, report.Problems)
			}
			if len(runner.commands) != 1 {
				t.Fatalf("%d commands run", len(runner.commands))
			}
			cmd := runner.commands[0]
			if cmd.Path != c.Install.Program || !slices.Equal(cmd.Args, []string{"mcp"}) || cmd.Dir != c.Install.Project || !strings.Contains(string(cmd.Stdin), "tools/list") {
				t.Errorf("ran %+v", cmd)
			}
		})
	}
}

// TestDoesNotStartWhatAProjectChose has a project's file name something else
// than what install writes.
func TestDoesNotStartWhatAProjectChose(t *testing.T) {
	t.Parallel()
	other, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no other program to name")
	}
	tests := []struct {
		name, command, args string
		detail              string
	}{
		{"another program", other, `["mcp"]`, "names another program"},
		{"no program", "/no/such/convtools", `["mcp"]`, "not started"},
		{"another command", "", `["uninstall", "jp", "--yes"]`, "arguments that were not written by install"},
		{"a flag as directory", "", `["mcp", "--workspace", "--http=:80"]`, "arguments that were not written by install"},
		{"more flags", "", `["mcp", "--http", ":80"]`, "arguments that were not written by install"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, runner := setup(t)
			command := test.command
			if command == "" {
				command = c.Install.Program
			}
			quoted, err := json.Marshal(command)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(c.Install.Project, ".mcp.json"), `{"mcpServers":{"convtools":{"command":`+string(quoted)+`,"args":`+test.args+`}}}`)
			got := find(t, doctor.Examine(t.Context(), c), "claude-code")
			if got.Status != doctor.Problem || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("%s: %s; want …%s…", got.Status, got.Detail, test.detail)
			}
			if len(runner.commands) > 0 {
				t.Errorf("started %+v", runner.commands)
			}
		})
	}
}

func TestProjectsAddNothingToTheEnvironment(t *testing.T) {
	t.Parallel()
	c, runner := setup(t)
	program, err := json.Marshal(c.Install.Program)
	if err != nil {
		t.Fatal(err)
	}
	entry := `{"mcpServers":{"convtools":{"command":` + string(program) + `,"args":["mcp"],"env":{"CONVTOOLS_DOCTOR_TEST":"yes"}}}}`
	write(t, filepath.Join(c.Install.Project, ".mcp.json"), entry)
	write(t, filepath.Join(c.Install.Getenv("HOME"), ".claude.json"), entry)
	doctor.Examine(t.Context(), c)
	if len(runner.commands) != 2 {
		t.Fatalf("ran %+v", runner.commands)
	}
	with := 0
	for _, cmd := range runner.commands {
		if slices.Contains(cmd.Env, "CONVTOOLS_DOCTOR_TEST=yes") {
			with++
		}
	}
	if with != 1 {
		t.Errorf("%d of 2 commands got the variable, want only that of the user", with)
	}
}

func TestJP(t *testing.T) {
	t.Parallel()
	c, runner := setup(t)
	register(t, c, "jp", install.Project)
	runner.result = process.Result{Stdout: []byte(`{"type":"success","content":""}`)}
	if got := find(t, doctor.Examine(t.Context(), c), "jp"); got.Status != doctor.OK {
		t.Errorf("%+v", got)
	}
	want := []string{"jp-tool", `{"action":"format_arguments"}`, `{"name":"conversation_grep","arguments":{}}`}
	if diff := cmp.Diff(want, runner.commands[0].Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	for out, detail := range map[string]string{
		`{"type":"error","message":"broken"}`: "broken",
		`Hello`:                               "not an outcome",
	} {
		runner.result.Stdout = []byte(out)
		if got := find(t, doctor.Examine(t.Context(), c), "jp"); got.Status != doctor.Problem || !strings.Contains(got.Detail, detail) {
			t.Errorf("%s: %+v", out, got)
		}
	}
	skill := filepath.Join(c.Install.Project, ".jp", "config", "skill", "conversation-access.toml")
	if err := os.Remove(skill); err != nil {
		t.Fatal(err)
	}
	if got := find(t, doctor.Examine(t.Context(), c), "jp"); got.Status != doctor.Problem || !strings.Contains(got.Detail, "is missing") {
		t.Errorf("%+v", got)
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*testing.T, *doctor.Config)
		check  string
		status doctor.Status
		detail string
	}{
		{"conversations", func(_ *testing.T, c *doctor.Config) {
			c.CLI = fakeCLI{live: `[{"id":"jp-c1","error":null},{"summary":{"total":1,"skipped":[]}}]`, archived: noneListed}
		}, "conversations", doctor.OK, "1 live, 0 archived"},
		{"damaged", func(_ *testing.T, c *doctor.Config) {
			c.CLI = fakeCLI{live: `[{"id":"jp-c1","error":"cut off"},{"summary":{"total":1,"skipped":[{"id":"jp-c2","reason":"no metadata"}]}}]`, archived: noneListed}
		}, "damaged", doctor.Problem, "jp-c1 (cut off), jp-c2 (no metadata)"},
		{"many damaged", func(_ *testing.T, c *doctor.Config) {
			c.CLI = fakeCLI{live: `[` + strings.Repeat(`{"id":"jp-c1","error":"cut off"},`, 9) + `{"summary":{"total":9,"skipped":[]}}]`, archived: noneListed}
		}, "damaged", doctor.Problem, "and 4 more"},
		{"command line fails", func(_ *testing.T, c *doctor.Config) {
			c.CLI = fakeCLI{err: errors.New("no such program")}
		}, "conversations", doctor.Problem, "no such program"},
		{"command line prints something else", func(_ *testing.T, c *doctor.Config) {
			c.CLI = fakeCLI{live: "usage: …"}
		}, "conversations", doctor.Problem, "does not list them (exit code 0): warning: something"},
		{"no workspace", func(t *testing.T, c *doctor.Config) {
			c.Dir = filepath.Dir(c.Dir)
		}, "workspace", doctor.Problem, "or above it"},
		{"other command line", func(_ *testing.T, c *doctor.Config) {
			getenv := c.Install.Getenv
			c.Install.Getenv = func(name string) string {
				if name == "CONVTOOLS_CLI" {
					return "no-such-program-anywhere --x"
				}
				return getenv(name)
			}
		}, "command line", doctor.Problem, "no-such-program-anywhere --x (CONVTOOLS_CLI)"},
		{"unreadable configuration", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "a = [")
		}, "codex", doctor.Problem, "line 1"},
		{"switched off", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "[mcp_servers.convtools]\ncommand = 'x'\nenabled = false\n")
		}, "codex", doctor.Off, "switched off"},
		{"entry without command", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "[mcp_servers.convtools]\nurl = 'x'\n")
		}, "codex", doctor.Problem, "no command"},
		{"not registered", func(*testing.T, *doctor.Config) {}, "zed", doctor.Off, "not registered"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, _ := setup(t)
			test.change(t, &c)
			report := doctor.Examine(t.Context(), c)
			got := find(t, report, test.check)
			if got.Status != test.status || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("%s: %s; want %s: …%s…", got.Status, got.Detail, test.status, test.detail)
			}
			if (got.Fix != "") != (test.status == doctor.Problem) {
				t.Errorf("%s, and the fix is %q", got.Status, got.Fix)
			}
			problems := 0
			for _, check := range report.Checks {
				if check.Status == doctor.Problem {
					problems++
				}
			}
			if problems != report.Problems {
				t.Errorf("%d problems counted, %d reported", report.Problems, problems)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	report := doctor.Report{
		Version: "1.2.3", Problems: 1,
		Checks: []doctor.Check{
			{Name: "program", Status: doctor.OK, Detail: "/home/me/bin/convtools"},
			{
				Name: "claude-desktop", Status: doctor.Problem, Detail: "it says:\n\x1b[31mno", Scope: install.User, Path: "/home/me/x.json",
				Command: []string{"convtools", "mcp"}, Fix: "convtools install claude-desktop --scope user",
			},
			{Name: "cache", Status: doctor.Off, Detail: "nothing is cached"},
		},
	}
	var b strings.Builder
	if err := report.Text(&b, "/home/me"); err != nil {
		t.Fatal(err)
	}
	want := `convtools 1.2.3

ok       program         ~/bin/convtools
problem  claude-desktop  user: it says: ␛[31mno
                         convtools mcp
                         in ~/x.json
                         fix: convtools install claude-desktop --scope user
off      cache           nothing is cached

1 problem.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
