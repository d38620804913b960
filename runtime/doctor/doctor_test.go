package doctor_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/generated/jpfiles"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/doctor"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// fakeRunner gives every command the same answer, and records the commands.
type fakeRunner struct {
	result process.Result
	err    error
	hangs  bool // as a server

	mu       sync.Mutex
	commands []process.Command
}

func (f *fakeRunner) Run(_ context.Context, cmd process.Command) (process.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commands = append(f.commands, cmd)
	return f.result, f.err
}

// connect returns a server that answers requests with the lines of the result, and then ends.
func (f *fakeRunner) connect(cmd process.Command) (mcp.Transport, func() []byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.commands = append(f.commands, cmd)
	if f.err != nil {
		return nil, nil, f.err
	}
	requests, input := io.Pipe()
	output, answers := io.Pipe()
	go func() {
		defer answers.Close()
		left := f.result.Stdout
		for lines := bufio.NewScanner(requests); lines.Scan(); {
			var request struct {
				ID     json.RawMessage
				Method string
			}
			if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
				return
			}
			isAnswered := f.hangs || request.ID == nil
			if request.Method != "initialize" && request.Method != "tools/list" && !isAnswered {
				fmt.Fprintf(answers, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", request.ID)
				isAnswered = true
			}
			for !isAnswered {
				line, rest, _ := bytes.Cut(left, []byte("\n"))
				if left = rest; len(line) == 0 {
					return
				}
				isAnswered = bytes.Contains(line, []byte(`"id":`))
				line = regexp.MustCompile(`"id":\d+`).ReplaceAll(line, append([]byte(`"id":`), request.ID...))
				if _, err := answers.Write(append(line, '\n')); err != nil {
					return
				}
			}
		}
	}()
	stop := func() []byte {
		input.Close()
		return f.result.Stderr
	}
	return &mcp.IOTransport{Reader: output, Writer: input}, stop, nil
}

const initialized = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"convtools","version":"1.2.3"}}}` + "\n"

// listing is the answer of a server with these tools.
func listing(names ...string) []byte {
	var tools []map[string]any
	for _, name := range names {
		tools = append(tools, map[string]any{"name": name, "inputSchema": map[string]string{"type": "object"}})
	}
	data, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 2, "result": map[string]any{"tools": tools}})
	if err != nil {
		panic(err)
	}
	return append([]byte(initialized), append(data, '\n')...)
}

// family returns a family that declares tools and reports checks.
func family(name string, checks *[]toolset.Check, tools ...string) toolset.Family {
	return toolset.Family{
		Name: name,
		Declared: func() []contract.Tool {
			var declared []contract.Tool
			for _, tool := range tools {
				declared = append(declared, contract.Tool{Name: tool})
			}
			return declared
		},
		Checks: func(context.Context) []toolset.Check { return *checks },
	}
}

// families returns two families: "paint", which always offers its tools and reports checks, and "sing", which does
// not always offer its tool, and has a project in every directory that contains "project".
func families(t *testing.T, checks *[]toolset.Check, project string) *toolset.Registry {
	t.Helper()
	paint := family("paint", checks, "draw", "erase", "show")
	sing := family("sing", &[]toolset.Check{{Name: "voice", Status: toolset.Off, Detail: "silent"}}, "hum")
	sing.Offered = func(context.Context) []contract.Tool { return nil }
	sing.Flags = []toolset.Flag{{Name: "song", Shorthand: "s"}, {Name: "loud", Switch: true}}
	sing.Project = func(dir string) (string, error) {
		if dir != project {
			return "", errors.New("no project")
		}
		return dir, nil
	}
	registry, err := toolset.NewRegistry(paint, sing)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// ours returns the names of the tools of families.
func ours() []string { return []string{"draw", "erase", "hum", "show"} }

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
	registry := families(t, &[]toolset.Check{}, "")
	return doctor.Config{
		Version: "1.2.3", Dir: project, Runner: runner, Connect: runner.connect, Registry: registry,
		LookPath: func(name string) (string, error) {
			if name == "jp" {
				return "", exec.ErrNotFound
			}
			return exec.LookPath(name)
		},
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			second++
			return time.Unix(int64(second), 0)
		},
		Install: install.Options{
			Name: "convtools", JPFiles: jpfiles.Files(), GOOS: "linux", Getenv: func(name string) string { return env[name] },
			Project: project, Workspace: project, Program: program, ProgramName: "convtools",
			Flags: registry.Flags(),
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
		status toolset.Status
		detail string
	}{
		{"another program first", func(_ *testing.T, c *doctor.Config) {
			c.Install.ProgramName = ""
			c.LookPath = func(name string) (string, error) { return "/usr/bin/" + name, nil }
		}, "program", toolset.Problem, "PATH finds another one first: /usr/bin/convtools"},
		{"not in PATH", func(_ *testing.T, c *doctor.Config) {
			c.Install.ProgramName = ""
			c.LookPath = func(string) (string, error) { return "", exec.ErrNotFound }
		}, "program", toolset.OK, ", not in PATH"},
		{"unreadable configuration", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "[mcp_servers.convtools]\na = [")
		}, "codex", toolset.Problem, "line 2"},
		{"unreadable configuration of others", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "a = [")
		}, "codex", toolset.Warning, "probably has no entry for this program: line 1"},
		{"on the network", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "[mcp_servers.convtools]\nurl = 'http://127.0.0.1:8765/mcp'\n")
		}, "codex", toolset.OK, "http: http://127.0.0.1:8765/mcp, not started by doctor"},
		{"number for a command", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "[mcp_servers.convtools]\ncommand = 5\n")
		}, "codex", toolset.Problem, "command of the entry is 5, which is not text"},
		{"switched off", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "[mcp_servers.convtools]\ncommand = 'x'\nenabled = false\n")
		}, "codex", toolset.Off, "switched off"},
		{"entry without command", func(t *testing.T, c *doctor.Config) {
			write(t, filepath.Join(c.Install.Getenv("HOME"), ".codex", "config.toml"), "[mcp_servers.convtools]\nurl = 'x'\n")
		}, "codex", toolset.Problem, "no command"},
		{"not registered", func(*testing.T, *doctor.Config) {}, "zed", toolset.Off, "not registered"},
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
			if fixable := test.status == toolset.Problem || test.status == toolset.Warning || test.name == "switched off"; (got.Fix != "") != fixable {
				t.Errorf("%s, and the fix is %q", got.Status, got.Fix)
			}
			problems := 0
			for _, check := range report.Checks {
				if check.Status == toolset.Problem {
					problems++
				}
			}
			if problems != report.Problems {
				t.Errorf("%d problems counted, %d reported", report.Problems, problems)
			}
		})
	}
}

// TestJPVersion runs programs called jp that behave in different ways.
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
			if report.Versions["jp"] != test.version || report.Warnings != test.warnings || report.Problems != 0 {
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

// TestFamilies checks the findings of families and their order.
func TestFamilies(t *testing.T) {
	t.Parallel()
	missing := toolset.Check{
		Name: "easel", Status: toolset.Problem, Detail: "there is none", Fix: "buy one",
	}
	found := toolset.Check{Name: "colours", Status: toolset.Warning, Detail: "few", Fix: "buy more"}
	c, _ := setup(t)
	c.Registry = families(t, &[]toolset.Check{missing, found}, "")
	report := doctor.Examine(t.Context(), c)
	var got []string
	for _, check := range report.Checks[2:5] { // after the versions and the program
		got = append(got, check.Name+": "+string(check.Status)+": "+check.Detail)
	}
	if diff := cmp.Diff([]string{"easel: problem: there is none", "colours: warning: few", "voice: off: silent"}, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if report.Problems != 1 || report.Warnings != 1 {
		t.Errorf("%d problems, %d warnings", report.Problems, report.Warnings)
	}
}
