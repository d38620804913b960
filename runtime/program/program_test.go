package program_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/process/processtest"
	"github.com/convtools/convtools/runtime/program"
)

// TestMain lets the test binary stand in for a program that hangs, floods, or
// ends early.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "behave=") {
		behave(strings.TrimPrefix(os.Args[1], "behave="))
		return
	}
	os.Exit(m.Run())
}

func behave(how string) {
	switch how {
	case "hang":
		time.Sleep(time.Hour)
	case "flood":
		chunk := []byte(strings.Repeat("x", 1<<20))
		for {
			if _, err := os.Stdout.Write(chunk); err != nil {
				os.Exit(3)
			}
		}
	case "complain":
		for {
			fmt.Fprintln(os.Stderr, strings.Repeat("no such shelf ", 1000))
		}
	case "fail":
		fmt.Println(`[]`)
		fmt.Fprintln(os.Stderr, "error: no")
		os.Exit(7)
	case "environment":
		fmt.Print(os.Getenv("CONVTOOLS_TEST_SECRET"), os.Getenv("JP_PROGRAM_TEST"), os.Getenv("NO_COLOR"))
	}
}

const env = "CONVTOOLS_CLI"

func programs(runner process.Runner, chosen string, spec program.Spec) *program.Programs {
	spec.Env = env
	return &program.Programs{
		Lookup: func(name string) (program.Spec, bool) { return spec, name == "conversation" },
		Getenv: func(name string) string {
			if name == env {
				return chosen
			}
			return ""
		},
		Runner: runner,
	}
}

func echo(_ context.Context, dir string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	input, _ := io.ReadAll(stdin)
	fmt.Fprintf(stdout, "dir=%s args=%q stdin=%q", dir, args, input)
	fmt.Fprint(stderr, "said")
	return 4
}

var where = contract.Context{Dir: "/work/space", ConversationID: "jp-c1"}

func TestBuiltin(t *testing.T) {
	t.Parallel()
	p := programs(processtest.New(t), "", program.Spec{Command: []string{"convtools"}, Builtin: echo})
	stdout, stderr, exit, err := p.RunCLI(t.Context(), "conversation", where, []string{"ls", "--x=y z"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(stdout), `dir=/work/space args=["ls" "--x=y z"] stdin=""`; got != want || string(stderr) != "said" || exit != 4 {
		t.Errorf("stdout %q, stderr %q, exit %d", got, stderr, exit)
	}
}

func TestChosenProgram(t *testing.T) {
	t.Parallel()
	fake := processtest.New(t)
	fake.Expect("/opt/my jp", "--quiet", "ls", "--", "a b").InDir("/work/space").
		Return(process.Result{Stdout: []byte("[]"), Stderr: []byte("warning"), ExitCode: 1})
	p := programs(fake, " '/opt/my jp' --quiet ", program.Spec{Command: []string{"convtools"}, Builtin: echo})
	stdout, stderr, exit, err := p.RunCLI(t.Context(), "conversation", where, []string{"ls", "--", "a b"})
	if err != nil || string(stdout) != "[]" || string(stderr) != "warning" || exit != 1 {
		t.Errorf("stdout %q, stderr %q, exit %d, error %v", stdout, stderr, exit, err)
	}
	limits := fake.Calls()[0].Limits
	if diff := cmp.Diff(process.Limits{Timeout: program.DefaultTimeout, Stdout: program.ProgramStdout}, limits, cmpopts.IgnoreFields(process.Limits{}, "Shared")); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

// All runs of programs share one budget: many at once must not hold many times
// what one may.
func TestRunsShareBudget(t *testing.T) {
	t.Parallel()
	fake := processtest.New(t)
	fake.Expect("jp", "ls")
	fake.Expect("jp", "print")
	p := programs(fake, "jp", program.Spec{Builtin: echo})
	for _, word := range []string{"ls", "print"} {
		if _, _, _, err := p.RunCLI(t.Context(), "conversation", where, []string{word}); err != nil {
			t.Fatal(err)
		}
	}
	first, second := fake.Calls()[0].Limits.Shared, fake.Calls()[1].Limits.Shared
	if first == nil || first != second {
		t.Errorf("budgets %p and %p", first, second)
	}
}

func TestConfiguredProgram(t *testing.T) {
	t.Parallel()
	fake := processtest.New(t)
	fake.Expect("jp", "conversation", "ls")
	command := make([]string, 2, 8) // room that appending must not use
	copy(command, []string{"jp", "conversation"})
	p := programs(fake, "", program.Spec{Command: command})
	p.Timeout = time.Minute / 2
	if _, _, _, err := p.RunCLI(t.Context(), "conversation", where, []string{"ls"}); err != nil {
		t.Fatal(err)
	}
	if rest := command[:3][2]; rest != "" {
		t.Errorf("the configured command was written to: %q", rest)
	}
	if got := fake.Calls()[0].Limits.Timeout; got != time.Minute/2 {
		t.Errorf("time limit %s", got)
	}
}

func TestNothingToRun(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, cli, chosen string
		spec              program.Spec
		want              string
	}{
		{"unknown", "browser", "", program.Spec{}, `No command line named "browser" is configured.`},
		{"empty", "conversation", "  ", program.Spec{}, `The command line "conversation" has no program.`},
		{
			"open quote", "conversation", "'jp",
			program.Spec{Builtin: echo},
			"The environment variable CONVTOOLS_CLI does not hold a command line: command line 'jp: character 1 opens a single quote that is never closed; close it, or escape it with a backslash. Unset CONVTOOLS_CLI to use the built-in one.",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, _, _, err := programs(processtest.New(t), tc.chosen, tc.spec).RunCLI(t.Context(), tc.cli, where, nil)
			if err == nil || err.Error() != tc.want {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestFailuresAreDescribed(t *testing.T) {
	t.Parallel()
	const chosen = " The environment variable CONVTOOLS_CLI names it. Unset CONVTOOLS_CLI to use the built-in one."
	for _, tc := range []struct {
		name      string
		err       error
		builtin   program.Builtin
		want      string
		transient bool
	}{
		{
			"missing", &process.Error{Kind: process.NotFound, Command: "jp ls", Detail: "no such program", Hint: "install it"}, echo,
			`The command line "conversation" failed: jp ls: no such program; install it.` + chosen, false,
		},
		{
			"nothing built in", &process.Error{Kind: process.NotFound, Command: "jp ls", Detail: "no such program"}, nil,
			`The command line "conversation" failed: jp ls: no such program. The environment variable CONVTOOLS_CLI names it.`, false,
		},
		{
			"hangs", &process.Error{Kind: process.Timeout, Command: "jp ls", Detail: "stopped because it did not finish within 1m0s", Hint: "raise the time limit", Stderr: []byte("waiting for lock\n")}, echo,
			`The command line "conversation" failed: jp ls: stopped because it did not finish within 1m0s (last line on stderr: waiting for lock); ask for less.` + chosen, true,
		},
		{
			"floods", &process.Error{Kind: process.OutputTooLarge, Command: "jp ls", Detail: "stopped because it printed more than 64 MiB", Hint: "raise the output limit"}, echo,
			`The command line "conversation" failed: jp ls: stopped because it printed more than 64 MiB; ask for less.` + chosen, false,
		},
		{
			"complains", &process.Error{Kind: process.StderrTooLarge, Command: "jp ls", Detail: "stopped because it printed more than 64 MiB to standard error", Hint: "find out what is wrong with it"}, echo,
			`The command line "conversation" failed: jp ls: stopped because it printed more than 64 MiB to standard error; find out what is wrong with it.` + chosen, false,
		},
		{
			"floods with others", &process.Error{Kind: process.BudgetExhausted, Command: "jp ls", Detail: "stopped because the commands running at the same time printed more than 128 MiB together", Hint: "try again when fewer of them run, or ask for less"}, echo,
			`The command line "conversation" failed: jp ls: stopped because the commands running at the same time printed more than 128 MiB together; try again when fewer of them run, or ask for less.` + chosen, true,
		},
		{
			"dies", &process.Error{Kind: process.Signaled, Command: "jp ls", Detail: "ended by signal SIGKILL", Signal: "SIGKILL"}, echo,
			`The command line "conversation" failed: jp ls: ended by signal SIGKILL.` + chosen, false,
		},
		{
			"canceled", &process.Error{Kind: process.Canceled, Command: "jp ls", Detail: "stopped because the request was canceled", Err: context.Canceled}, echo,
			`The command line "conversation" failed: jp ls: stopped because the request was canceled.` + chosen, true,
		},
		{"of another type", errors.New("out of luck."), echo, `The command line "conversation" failed: out of luck.` + chosen, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			fake := processtest.New(t)
			fake.Expect("jp", "ls").Fail(tc.err)
			_, _, _, err := programs(fake, "jp", program.Spec{Builtin: tc.builtin}).RunCLI(t.Context(), "conversation", where, []string{"ls"})
			var e *contract.Error
			if !errors.As(err, &e) || e.Message != tc.want || e.Transient != tc.transient {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
			if !errors.Is(err, tc.err) {
				t.Error("the cause is lost")
			}
		})
	}
}

// TestRealPrograms runs programs that misbehave under the limits of this
// package.
func TestRealPrograms(t *testing.T) {
	t.Setenv("CONVTOOLS_TEST_SECRET", "secret")
	t.Setenv("JP_PROGRAM_TEST", "jp")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(how string, timeout time.Duration) (stdout, stderr []byte, exit int, err error) {
		p := programs(process.Exec{}, "", program.Spec{Command: []string{self, "behave=" + how}})
		p.Timeout = timeout
		return p.RunCLI(t.Context(), "conversation", contract.Context{Dir: t.TempDir()}, nil)
	}
	kind := func(err error) process.Kind {
		var e *process.Error
		if !errors.As(err, &e) {
			return 0
		}
		return e.Kind
	}
	if _, _, _, err := run("hang", 200*time.Millisecond); kind(err) != process.Timeout {
		t.Errorf("hang: %v", err)
	}
	if _, _, _, err := run("flood", time.Minute); kind(err) != process.OutputTooLarge {
		t.Errorf("flood: %v", err)
	}
	if _, _, _, err := run("complain", time.Minute); kind(err) != process.StderrTooLarge || !strings.Contains(err.Error(), "no such shelf") {
		t.Errorf("complain: %v", err)
	}
	if stdout, stderr, exit, err := run("fail", time.Minute); err != nil || string(stdout) != "[]\n" || string(stderr) != "error: no\n" || exit != 7 {
		t.Errorf("fail: stdout %q, stderr %q, exit %d, error %v", stdout, stderr, exit, err)
	}
	if stdout, _, _, err := run("environment", time.Minute); err != nil || string(stdout) != "jp1" {
		t.Errorf("environment: stdout %q, error %v", stdout, err)
	}
	p := programs(process.Exec{}, filepath.Join(t.TempDir(), "missing"), program.Spec{Builtin: echo})
	if _, _, _, err := p.RunCLI(t.Context(), "conversation", contract.Context{}, nil); kind(err) != process.NotFound {
		t.Errorf("missing: %v", err)
	}
}

func TestBuiltinPanics(t *testing.T) {
	t.Parallel()
	p := programs(processtest.New(t), "", program.Spec{Builtin: func(context.Context, string, []string, io.Reader, io.Writer, io.Writer) int { panic("boom") }})
	if _, _, _, err := p.RunCLI(t.Context(), "conversation", where, nil); err == nil || !strings.Contains(err.Error(), "panicked: boom") {
		t.Errorf("error %v", err)
	}
}

func TestExternal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, cli, chosen string
		spec              program.Spec
		setting           string
		external          bool
	}{
		{"built in", "conversation", " ", program.Spec{Builtin: echo}, "", false},
		{"chosen", "conversation", "jp", program.Spec{Builtin: echo}, "The environment variable CONVTOOLS_CLI names it. Unset CONVTOOLS_CLI to use the built-in one.", true},
		{"chosen, nothing built in", "conversation", "jp", program.Spec{}, "The environment variable CONVTOOLS_CLI names it.", true},
		{"configured", "conversation", "", program.Spec{Command: []string{"jp"}}, "", true},
		{"unknown", "browser", "jp", program.Spec{}, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			setting, external := programs(processtest.New(t), tc.chosen, tc.spec).External(tc.cli)
			if setting != tc.setting || external != tc.external {
				t.Errorf("%q, %v", setting, external)
			}
		})
	}
}
