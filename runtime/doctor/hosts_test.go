package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/doctor"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// TestServers registers a server that behaves in different ways.
func TestServers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		result process.Result
		err    error
		status toolset.Status
		detail string
	}{
		{"good", process.Result{Stdout: listing(ours()...)}, nil, toolset.OK, "answers with 4 tools in 1000 ms"},
		{"more tools", process.Result{Stdout: listing(append(ours(), "another")...)}, nil, toolset.OK, "answers with 5 tools"},
		{"nothing to sing", process.Result{Stdout: listing(slices.DeleteFunc(ours(), func(name string) bool { return name == "hum" })...)}, nil, toolset.OK, "answers with 3 tools"},
		{"notifications between", process.Result{Stdout: slices.Concat([]byte(`{"jsonrpc":"2.0","method":"notifications/message"}`+"\n"), listing(ours()...))}, nil, toolset.OK, "answers"},
		{"floods with an error", process.Result{Stdout: []byte(`{"jsonrpc":"2.0","id":1,"error":{"message":"` + strings.Repeat("x", 1<<20) + `"}}` + "\n")}, nil, toolset.Problem, "xxx…"},
		{"other tools", process.Result{Stdout: listing("fetch", "erase")}, nil, toolset.Problem, "it is convtools 1.2.3 and has no draw, show"},
		{"ends early", process.Result{Stdout: []byte(initialized)}, nil, toolset.Problem, "does not list its tools"},
		{"says nothing", process.Result{ExitCode: 3, Stderr: []byte("error: no such flag\nhint: x")}, nil, toolset.Problem, "does not list its tools: calling \"initialize\": EOF, and says: error: no such flag"},
		{"silent", process.Result{ExitCode: 1}, nil, toolset.Problem, "does not list its tools"},
		{"prints", process.Result{Stdout: []byte("Listening…\n")}, nil, toolset.Problem, "does not list its tools: "},
		{"refuses", process.Result{Stdout: []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"too old"}}` + "\n")}, nil, toolset.Problem, "too old"},
		{"hangs", process.Result{}, nil, toolset.Problem, "it hangs: it was stopped after 10s"},
		{"hangs and says why", process.Result{Stderr: []byte("waiting for a lock\n")}, nil, toolset.Problem, "tools/list, and says: waiting for a lock"},
		{"is not there", process.Result{}, &process.Error{Kind: process.NotFound, Command: "x", Detail: "no such file"}, toolset.Problem, "no such file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, runner := setup(t)
			runner.result, runner.err, runner.hangs = test.result, test.err, strings.HasPrefix(test.name, "hangs")
			ctx := t.Context()
			if runner.hangs {
				var cancel func()
				ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
			}
			register(t, c, "claude-code", install.User)
			report := doctor.Examine(ctx, c)
			got := find(t, report, "claude-code")
			if got.Status != test.status || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("%s: %s; want %s: …%s…", got.Status, got.Detail, test.status, test.detail)
			}
			wantFix := ""
			if test.status == toolset.Problem {
				wantFix = "convtools install claude-code --scope user"
			}
			if got.Fix != wantFix || report.Problems != len(wantFix)/max(1, len(wantFix)) {
				t.Errorf("fix %q, %d problems", got.Fix, report.Problems)
			}
			if len(runner.commands) != 1 {
				t.Fatalf("%d commands run", len(runner.commands))
			}
			cmd := runner.commands[0]
			if cmd.Path != c.Install.Program || !slices.Equal(cmd.Args, []string{"mcp"}) || cmd.Dir != c.Install.Project {
				t.Errorf("ran %+v", cmd)
			}
		})
	}
}

// TestProgramsOfProjectsAreNotStarted has project files with commands that install does not write.
func TestProgramsOfProjectsAreNotStarted(t *testing.T) {
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
		{"a flag of no family", "", `["mcp", "-k", "a/b"]`, "arguments that were not written by install"},
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
			if got.Status != toolset.Problem || !strings.Contains(got.Detail, test.detail) {
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
	config := filepath.Join(c.Install.Project, ".jp", "config.toml")
	for _, test := range []struct {
		config      string
		status      toolset.Status
		detail, fix string
	}{
		{"extends = ['mcp/tools/**/*.toml']\nconfig_load_paths = ['.jp/config']\n", toolset.OK, "answers in", ""},
		{"extends = ['**/*.toml']\nconfig_load_paths = ['.jp/config']\n", toolset.OK, "answers in", ""},
		{"config_load_paths = ['.jp/config']\n", toolset.Warning, "does not have JP load it", `add "mcp/tools/**/*.toml" to extends`},
		{"extends = ['mcp/tools/**/*.toml']\n", toolset.Warning, "does not have JP load it", `add ".jp/config" to config_load_paths`},
		{"extends = [", toolset.OK, `has to: Load the definitions: add "mcp/tools/**/*.toml" to extends`, ""},
	} {
		write(t, config, test.config)
		got := find(t, doctor.Examine(t.Context(), c), "jp")
		if got.Status != test.status || !strings.Contains(got.Detail, test.detail) || !strings.Contains(got.Fix, test.fix) || test.fix == "" && got.Fix != "" {
			t.Errorf("%s: %+v", test.config, got)
		}
	}
	want := []string{"jp-tool", `{"action":"format_arguments"}`, `{"name":"draw","arguments":{}}`}
	if diff := cmp.Diff(want, runner.commands[0].Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	for out, detail := range map[string]string{
		`{"type":"error","message":"broken"}`: "broken",
		`Hello`:                               "not an outcome",
	} {
		runner.result.Stdout = []byte(out)
		if got := find(t, doctor.Examine(t.Context(), c), "jp"); got.Status != toolset.Problem || !strings.Contains(got.Detail, detail) {
			t.Errorf("%s: %+v", out, got)
		}
	}
	skill := filepath.Join(c.Install.Project, ".jp", "config", "skill", "conversation-access.toml")
	if err := os.Remove(skill); err != nil {
		t.Fatal(err)
	}
	if got := find(t, doctor.Examine(t.Context(), c), "jp"); got.Status != toolset.Problem || !strings.Contains(got.Detail, "is missing") {
		t.Errorf("%+v", got)
	}
}

// TestRelativeCommands registers a path that is relative to a directory.
func TestRelativeCommands(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"./convtools", "bin/convtools", "../bin/convtools"} {
		for _, scope := range []install.Scope{install.User, install.Project} {
			t.Run(command+" "+string(scope), func(t *testing.T) {
				t.Parallel()
				c, runner := setup(t)
				path := filepath.Join(c.Install.Project, ".mcp.json")
				if scope == install.User {
					path = filepath.Join(c.Install.Getenv("HOME"), ".claude.json")
				}
				write(t, path, `{"mcpServers":{"convtools":{"command":"`+command+`","args":["mcp"]}}}`)
				report := doctor.Examine(t.Context(), c)
				got := find(t, report, "claude-code")
				if got.Status != toolset.Warning || report.Warnings != 1 || report.Problems != 0 || !strings.Contains(got.Detail, "which program "+command+" is depends on the directory") {
					t.Errorf("%+v", got)
				}
				if want := "absolute path: convtools install claude-code --scope " + string(scope); !strings.Contains(got.Fix, want) {
					t.Errorf("fix %q, want …%s", got.Fix, want)
				}
				if len(runner.commands) > 0 {
					t.Errorf("started %+v", runner.commands)
				}
			})
		}
	}
}

func TestOtherVersion(t *testing.T) {
	t.Parallel()
	c, runner := setup(t)
	c.Version = "2.0.0"
	runner.result.Stdout = listing(ours()...) // of version 1.2.3
	register(t, c, "claude-code", install.User)
	got := find(t, doctor.Examine(t.Context(), c), "claude-code")
	if got.Status != toolset.Warning || got.ServerVersion != "1.2.3" || got.ServerName != "convtools" || !strings.Contains(got.Detail, "and is convtools 1.2.3, while this is 2.0.0") || got.Fix == "" {
		t.Errorf("%+v", got)
	}
}

// TestFamilyFlags has a project's file with flags of families, which the advice to install again repeats.
func TestFamilyFlags(t *testing.T) {
	t.Parallel()
	c, runner := setup(t)
	program, err := json.Marshal(c.Install.Program)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(c.Install.Project, ".mcp.json"), `{"mcpServers":{"convtools":{"command":`+string(program)+`,"args":["mcp","-s","a song","--loud"]}}}`)
	if got := find(t, doctor.Examine(t.Context(), c), "claude-code"); got.Status != toolset.OK || len(runner.commands) != 1 {
		t.Errorf("%+v, ran %+v", got, runner.commands)
	}
	runner.err = errors.New("it is ill")
	if got := find(t, doctor.Examine(t.Context(), c), "claude-code"); got.Fix != "convtools install claude-code --scope project -s 'a song' --loud" {
		t.Errorf("%+v", got)
	}
}
