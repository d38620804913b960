package commandline_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// one returns a tool that runs a command line with the arguments log, -- and a word of hostile text.
func one(line string) *commandline.Tool {
	word := func(text string) commandline.Arg { return commandline.Arg{Value: []commandline.Part{{Text: text}}} }
	return &commandline.Tool{
		Tool: contract.Tool{Name: "one", Effect: "read", MaxChars: 1000}, Output: commandline.Output{Form: commandline.JSONAny},
		Command: commandline.Command{Line: line, OKExit: []int{0}, Args: []commandline.Arg{word("log"), word("--"), word("; rm")}},
	}
}

// ran is a process.Runner that records commands.
type ran struct {
	command process.Command
	err     error
}

func (r *ran) Run(_ context.Context, c process.Command) (process.Result, error) {
	r.command = c
	if r.err != nil {
		return process.Result{}, r.err
	}
	_, err := c.Output.Write([]byte("1"))
	return process.Result{}, err
}

func TestLines(t *testing.T) {
	t.Parallel()
	lines := commandline.Lines{
		{Name: "git", Command: []string{"git", "--no-pager"}, Env: "GIT_TOOL"},
		{Name: "own", Command: []string{"./bin/own"}, Env: "GIT_TOOL"},
	}
	for _, tc := range []struct {
		name, line, chosen string
		err                error
		wantWords          []string
		wantErr            string
	}{
		{name: "as tools.toml has it", line: "git", wantWords: []string{"git", "--no-pager", "log", "--", "; rm"}},
		{name: "as the user has it", line: "git", chosen: "'/opt/my git/git' -c color.ui=never", wantWords: []string{"/opt/my git/git", "-c", "color.ui=never", "log", "--", "; rm"}},
		{name: "a program of the project", line: "own", wantWords: []string{filepath.FromSlash("/tools/bin/own"), "log", "--", "; rm"}},
		{name: "a relative one of the user", line: "own", chosen: "./git", wantWords: []string{"./git", "log", "--", "; rm"}},
		{name: "a variable of blanks", line: "git", chosen: " ", wantWords: []string{"git", "--no-pager", "log", "--", "; rm"}},
		{name: "a variable that needs a shell", line: "git", chosen: "git | less", wantErr: "The user can name another program in the environment variable GIT_TOOL."},
		{name: "unknown", line: "hg", wantErr: "There is no command line hg here."},
		{name: "a program that is not there", line: "git", err: &process.Error{Kind: process.NotFound, Command: "/home/somebody/git log", Name: "git", Detail: "no such program"}, wantErr: "The command line git failed: git: no such program."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			program := &ran{err: tc.err}
			runner := &commandline.Runner{Lines: lines, Dir: "/tools", Process: program, Getenv: func(name string) string {
				if name == "GIT_TOOL" {
					return tc.chosen
				}
				return ""
			}}
			answer, err := runner.Call(t.Context(), one(tc.line), contract.Call{Tool: "one", Context: contract.Context{Dir: "/project"}})
			var worded *contract.Error
			if tc.wantErr != "" {
				if !errors.As(err, &worded) || !strings.Contains(worded.Message, tc.wantErr) {
					t.Fatalf("error %v, want one with %q", err, tc.wantErr)
				}
				if tc.err != nil && (strings.Contains(worded.Message, "/home/") || !strings.Contains(worded.ForPerson(), "/home/somebody/git log")) {
					t.Errorf("a model is told %q, a person %q", worded.Message, worded.ForPerson())
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := append([]string{program.command.Path}, program.command.Args...)
			if diff := cmp.Diff(tc.wantWords, got); diff != "" || program.command.Dir != "/project" {
				t.Errorf("it runs in %q (-want +got):\n%s", program.command.Dir, diff)
			}
			if answer != `{"value":1}` {
				t.Errorf("answer %s", answer)
			}
		})
	}
}

// The program gets the settings of its spec, and only the variables that tools.toml passes on.
func TestSurroundings(t *testing.T) {
	t.Setenv("COMMANDLINE_TOKEN", "passed")
	t.Setenv("COMMANDLINE_SECRET", "kept")
	t.Setenv("OTHER_TOKEN", "kept")
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "docs", "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	program := &ran{}
	runner := &commandline.Runner{
		Lines:   commandline.Lines{{Name: "notes", Command: []string{"notes"}, PassEnv: []string{"COMMANDLINE_TOK*"}}},
		Process: program, Getenv: func(string) string { return "" },
	}
	tool := one("notes")
	tool.Command.Stdin = []commandline.Part{{Text: "text"}}
	tool.Command.Env = []commandline.Variable{{Name: "STATE", Value: []commandline.Part{{Text: "open"}}}, {Name: "NO_COLOR"}}
	tool.Command.Dir, tool.Command.Timeout = "docs/notes", 5
	if _, err := runner.Call(t.Context(), tool, contract.Call{Tool: "one", Context: contract.Context{Dir: dir}}); err != nil {
		t.Fatal(err)
	}
	got := program.command
	if got.Dir != filepath.Join(dir, "docs", "notes") || string(got.Stdin) != "text" || got.Limits.Timeout != 5*time.Second {
		t.Errorf("it runs in %q for %v with %q", got.Dir, got.Limits.Timeout, got.Stdin)
	}
	env := strings.Join(got.Env, "\n")
	if !strings.Contains(env, "COMMANDLINE_TOKEN=passed\n") || strings.Contains(env, "kept") || !strings.HasSuffix(env, "\nSTATE=open\nNO_COLOR=") {
		t.Errorf("the environment is\n%s", env)
	}
}

// No link in a project changes which files a program works on.
func TestFoldersOfACall(t *testing.T) {
	t.Parallel()
	top, outside := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(top, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"in": "docs", "out": outside, "up": ".."} {
		if err := os.Symlink(to, filepath.Join(top, name)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	if err := os.Symlink(top, filepath.Join(outside, "project")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{top, filepath.Join(outside, "project")} {
		for folder, want := range map[string]string{
			"docs": "", "in": "",
			"gone": `there is no folder "gone" here to run it in`,
			"out":  `the folder "out" that it is to run in is a link that leads elsewhere`,
			"up":   `the folder "up" that it is to run in is a link that leads elsewhere`,
		} {
			program := &ran{}
			runner := &commandline.Runner{Lines: commandline.Lines{{Name: "ls", Command: []string{"ls"}}}, Process: program}
			tool := one("ls")
			tool.Command.Dir = folder
			_, err := runner.Call(t.Context(), tool, contract.Call{Tool: "one", Context: contract.Context{Dir: dir}})
			switch {
			case want == "" && (err != nil || program.command.Dir != filepath.Join(dir, folder)):
				t.Errorf("%s: it runs in %q, %v", folder, program.command.Dir, err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), top) || program.command.Path != ""):
				t.Errorf("%s: error %v, want %q, and nothing run", folder, err, want)
			}
		}
	}
}
