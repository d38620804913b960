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
	"testing/synctest"
	"time"

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
	initialized = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"convtools","version":"1.2.3"}}}` + "\n"
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
	env := map[string]string{"HOME": filepath.Join(dir, "home"), "JP_USER_DATA_DIR": filepath.Join(dir, "data"), "TMPDIR": filepath.Join(dir, "temp")}
	runner := &fakeRunner{result: process.Result{Stdout: listing(ours()...)}}
	second := 0
	var mu sync.Mutex
	return doctor.Config{
		Version: "1.2.3", Dir: project, CacheDir: filepath.Join(dir, "cache"), Runner: runner,
		LookPath: func(name string) (string, error) {
			if name == "jp" {
				return "", exec.ErrNotFound
			}
			return exec.LookPath(name)
		},
		CLI: fakeCLI{live: noneListed, archived: noneListed},
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
		err = change.Apply(t.Context())
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
		}, "conversations", doctor.Problem, "does not list them in JSON (exit code 0) and says: warning: something"},
		{"no knowledge", func(*testing.T, *doctor.Config) {}, "knowledge", doctor.Off, "no topic is configured"},
		{"knowledge", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Dir, "convtools.toml"), "[kb.topic.p]\nsubjects = 'kb'\ndisabled = ['old']\n[kb.topic.q]\nsubjects = 'none'\nenable = false\n")
			for _, name := range []string{"style.md", "more/.hidden.md", "old.md"} {
				write(t, filepath.Join(c.Dir, "kb", name), "text")
			}
			write(t, filepath.Join(c.Dir, "kb", "logo.png"), "\x00")
		}, "knowledge", doctor.OK, "1 topic, 2 subjects"},
		{"knowledge without a directory", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Dir, "convtools.toml"), "[kb.topic.p]\nsubjects = 'kb'\n")
		}, "knowledge", doctor.Problem, "topic p cannot be learned: its directory kb does not exist"},
		{"knowledge that is configured wrongly", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Dir, "convtools.toml"), "[kb.topic.p]\nsubjects = 'kb'\ntitel = 'x'\nlearnt = 'x'\n")
		}, "knowledge", doctor.Problem, `convtools.toml:3:1: error: unknown key "titel" in topic "p" [KC003], and 1 more error`},
		{"knowledge in no directory", func(_ *testing.T, c *doctor.Config) {
			c.Dir = filepath.Join(c.Dir, "typo")
		}, "knowledge", doctor.Off, "no workspace"},
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
		{"no directory", func(_ *testing.T, c *doctor.Config) {
			c.Dir = filepath.Join(c.Dir, "nope")
		}, "workspace", doctor.Problem, "nope does not exist"},
		{"unreadable configuration", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "[mcp_servers.convtools]\na = [")
		}, "codex", doctor.Problem, "line 2"},
		{"unreadable configuration of others", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "a = [")
		}, "codex", doctor.Warning, "probably has no entry for this program: line 1"},
		{"on the network", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "[mcp_servers.convtools]\nurl = 'http://127.0.0.1:8765/mcp'\n")
		}, "codex", doctor.OK, "http: http://127.0.0.1:8765/mcp, not started by doctor"},
		{"number for a command", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "[mcp_servers.convtools]\ncommand = 5\n")
		}, "codex", doctor.Problem, "command of the entry is 5, which is not text"},
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
			if fixable := test.status == doctor.Problem || test.status == doctor.Warning || test.name == "switched off"; (got.Fix != "") != fixable {
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

// TestJPVersion has all kinds of programs called jp in PATH.
func TestJPVersion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		result   process.Result
		err      error
		version  string
		warnings int
		detail   string
	}{
		{"full", process.Result{Stdout: []byte("jp 0.4.1 (abc)\nmore\n")}, nil, "jp 0.4.1 (abc)", 0, ""},
		{"number", process.Result{Stdout: []byte("0.4.1\n")}, nil, "jp 0.4.1", 0, ""},
		{"long", process.Result{Stdout: []byte("jp " + strings.Repeat("é", 1000))}, nil, "jp " + strings.Repeat("é", 197) + "…", 0, ""},
		{"silent", process.Result{}, nil, "", 1, `exit code 0 and prints ""`},
		{"fails", process.Result{ExitCode: 3, Stdout: []byte("usage")}, nil, "", 1, "exit code 3"},
		{"hangs", process.Result{}, &process.Error{Kind: process.Timeout}, "", 1, "it hangs: it was stopped after 3s"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, runner := setup(t)
			c.LookPath = func(name string) (string, error) { return "/bin/" + name, nil }
			runner.result, runner.err = test.result, test.err
			report := doctor.Examine(t.Context(), c)
			if report.Versions.JP != test.version || report.Warnings != test.warnings || report.Problems != 0 {
				t.Errorf("%+v", report)
			}
			if test.detail != "" {
				if got := find(t, report, "jp in PATH"); !strings.Contains(got.Detail, test.detail) || got.Fix == "" {
					t.Errorf("%+v; want …%s…", got, test.detail)
				}
			}
			if want := []string{"--version"}; len(runner.commands) != 1 || !slices.Equal(runner.commands[0].Args, want) || runner.commands[0].Limits.Timeout > 5*time.Second {
				t.Errorf("ran %+v", runner.commands)
			}
		})
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	c, _ := setup(t)
	check := func(status doctor.Status, detail string, bytes int64) {
		t.Helper()
		got := find(t, doctor.Examine(t.Context(), c), "cache")
		if got.Status != status || got.Detail != detail || got.Bytes == nil || *got.Bytes != bytes {
			t.Errorf("%+v; want %s: %s, %d bytes", got, status, detail, bytes)
		}
	}
	check(doctor.Off, "0 bytes: there is no "+c.CacheDir, 0)
	write(t, filepath.Join(c.CacheDir, "a"), "12345")
	check(doctor.OK, "5 bytes in "+c.CacheDir, 5)
	write(t, filepath.Join(c.CacheDir, "deep", "b"), strings.Repeat("x", 1_500_000))
	check(doctor.OK, "1.5 MB in "+c.CacheDir, 1_500_005)
	c.CacheDir = ""
	if got := find(t, doctor.Examine(t.Context(), c), "cache"); got.Status != doctor.Off || got.Bytes != nil {
		t.Errorf("%+v", got)
	}
}

// hangingCLI does not answer until it is stopped.
type hangingCLI struct{}

func (hangingCLI) RunCLI(ctx context.Context, _ string, _ contract.Context, _ []string) (stdout, stderr []byte, exit int, err error) {
	<-ctx.Done()
	return nil, nil, 0, &contract.Error{Message: "it timed out", Err: &process.Error{Kind: process.Timeout}}
}

func TestHangingCommandLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		env, check, detail, fix string
		limit                   time.Duration
	}{
		{"go mod", "command line", "go mod (CONVTOOLS_CLI): conversation ls hangs: it was stopped after 5s", "try it: go mod conversation ls --format=json; correct CONVTOOLS_CLI, or unset it", 5 * time.Second},
		{"", "conversations", "conversation ls hangs: it was stopped after 30s", "convtools conversation ls", 30 * time.Second},
	} {
		t.Run(test.check, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, _ := setup(t)
				getenv := c.Install.Getenv
				c.Install.Getenv = func(name string) string {
					if name == "CONVTOOLS_CLI" {
						return test.env
					}
					return getenv(name)
				}
				c.CLI = hangingCLI{}
				start := time.Now()
				report := doctor.Examine(t.Context(), c)
				if took := time.Since(start); took != test.limit {
					t.Errorf("took %v, want %v", took, test.limit)
				}
				got := find(t, report, test.check)
				if got.Status != doctor.Problem || report.Problems != 1 || got.Detail != test.detail || !strings.Contains(got.Fix, test.fix) {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}
