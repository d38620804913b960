package commandline_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// ran is a process.Runner that keeps what it is to run.
type ran struct {
	command process.Command
	err     error
}

func (r *ran) Run(_ context.Context, c process.Command) (process.Result, error) {
	r.command = c
	if r.err != nil {
		return process.Result{}, r.err
	}
	return process.Result{Stdout: []byte("out"), Stderr: []byte("err"), ExitCode: 3}, nil
}

func TestRunCLI(t *testing.T) {
	t.Parallel()
	lines := contract.CommandLines{
		{Name: "git", Command: []string{"git", "--no-pager"}, Env: "GIT_TOOL"},
		{Name: "own", Command: []string{"own"}, Builtin: true},
	}
	for _, tc := range []struct {
		name, line, chosen string
		err                error
		wantWords          []string
		wantErr            string
	}{
		{name: "as tools.toml has it", line: "git", wantWords: []string{"git", "--no-pager", "log", "--", "; rm"}},
		{name: "as the user has it", line: "git", chosen: "'/opt/my git/git' -c color.ui=never", wantWords: []string{"/opt/my git/git", "-c", "color.ui=never", "log", "--", "; rm"}},
		{name: "a variable of blanks", line: "git", chosen: " ", wantWords: []string{"git", "--no-pager", "log", "--", "; rm"}},
		{name: "a variable that needs a shell", line: "git", chosen: "git | less", wantErr: "The user can name another program in the environment variable GIT_TOOL."},
		{name: "builtin", line: "own", wantErr: "The command line own failed: this program does not serve it itself."},
		{name: "unknown", line: "hg", wantErr: "There is no command line hg here."},
		{name: "a program that is not there", line: "git", err: &process.Error{Kind: process.NotFound, Command: "/home/somebody/git log", Name: "git", Detail: "no such program"}, wantErr: "The command line git failed: git: no such program."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			program := &ran{err: tc.err}
			runner := commandline.Runner{Lines: lines, Process: program, Getenv: func(name string) string {
				if name == "GIT_TOOL" {
					return tc.chosen
				}
				return ""
			}}
			stdout, stderr, exit, err := runner.RunCLI(t.Context(), tc.line, contract.Context{Dir: "/project"}, []string{"log", "--", "; rm"})
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
			if string(stdout) != "out" || string(stderr) != "err" || exit != 3 {
				t.Errorf("it returns %q, %q and %d", stdout, stderr, exit)
			}
		})
	}
}
