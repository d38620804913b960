package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/contract"
)

// findings is an error with diagnostics.
type findings diag.List

func (f findings) Error() string          { return "there are findings" }
func (f findings) Diagnostics() diag.List { return diag.List(f) }

func TestReport(t *testing.T) {
	t.Parallel()
	bad := diag.Diagnostic{File: "a.toml", Span: diag.Span{Line: 3, Col: 7}, Rule: "R1", Message: "bad", Hint: "make it good"}
	flag := diag.Diagnostic{File: "-k", Rule: "R2", Message: "no such topic"}
	odd := diag.Diagnostic{File: "b.toml", Span: diag.Span{Line: 4}, Severity: diag.Warning, Message: "odd"}
	for _, tc := range []struct {
		name string
		err  error
		code int
		want string
	}{
		{"nothing", nil, 0, ""},
		{"an error", errors.New("no luck"), 1, "error: no luck\n"},
		{"all said", fmt.Errorf("searching: %w", cli.ErrFailed), 1, ""},
		{"a closed pipe", &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, 0, ""},
		{"a closed pipe in this process", fmt.Errorf("printing: %w", io.ErrClosedPipe), 0, ""},
		{"advice", fmt.Errorf("opening: %w", cli.Hint(errors.New("no luck"), "try again")), 1, "error: opening: no luck\nhint: try again\n"},
		{"wrong use", cli.Usagef("no %s", "way"), 2, "error: no way\nhint: see the help of the program\n"},
		{"wrong use with advice", cli.Hint(cli.Usagef("no way"), "go round"), 2, "error: no way\nhint: go round\n"},
		{"advice on wrong use", cli.Usage(cli.Hint(errors.New("no way"), "go round")), 2, "error: no way\nhint: go round\n"},
		{"lines from elsewhere", cli.Hint(errors.New("a\nhint: b\x1b[2J"), "c\nd"), 1, "error: a hint: b␛[2J\nhint: c d\n"},
		{"a tool's error", &contract.Error{Message: "It failed.\n- here\r"}, 1, "error: It failed.\n- here␍\n"},
		{"a tool's error for a person", &contract.Error{Message: "It is gone.", Detail: "It is gone from /a\nb."}, 1, "error: It is gone from /a\nb.\n"},
		{"arguments", &contract.InvalidArguments{Tool: "paint", Problems: []contract.Problem{{Message: "a."}, {Message: "b."}}}, 1, "error: Invalid arguments for paint, 2 problems:\n- a.\n- b.\n"},
		{"a tool that is not there", cli.Usage(contract.UnknownTool("pain", []string{"paint"})), 2, "error: There is no tool named \"pain\". Did you mean paint? Tools: paint.\nhint: see the help of the program\n"},
		{"findings", fmt.Errorf("reading: %w", findings{bad, odd}), 1, "error: a.toml:3:7: bad [R1]\nhint: make it good\nwarning: b.toml:4: odd\n"},
		{"a tool's error for findings", &contract.Error{Message: "It cannot be used.", Err: findings{bad}}, 1, "error: It cannot be used.\n"},
		{"findings about flags", findings{flag, odd}, 2, "error: -k: no such topic [R2]\nwarning: b.toml:4: odd\n"},
		{"findings about flags and more", findings{flag, bad}, 1, "error: -k: no such topic [R2]\nerror: a.toml:3:7: bad [R1]\nhint: make it good\n"},
	} {
		var stderr bytes.Buffer
		code := cli.Report(&stderr, tc.err)
		if diff := cmp.Diff(tc.want, stderr.String()); diff != "" || code != tc.code {
			t.Errorf("%s: exit code %d, want %d (-want +got):\n%s", tc.name, code, tc.code, diff)
		}
	}
}

func TestWarn(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	cli.Warn(&stderr, "%s is odd", "a\nb")
	if got, want := stderr.String(), "warning: a b is odd\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPrintJSON(t *testing.T) {
	t.Parallel()
	for terminal, want := range map[bool]string{
		false: "{\n  \"a\": \"<b> & \u202e\u009b\"\n}\n",
		true:  "{\n  \"a\": \"<b> & \\u202e\\u009b\"\n}\n",
	} {
		var stdout bytes.Buffer
		if err := cli.PrintJSON(&stdout, terminal, map[string]string{"a": "<b> & \u202e\u009b"}); err != nil {
			t.Fatal(err)
		}
		if got := stdout.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// commandLine runs a command line with a group of commands.
func commandLine(stdout, stderr io.Writer, args ...string) int {
	fails := func(*cobra.Command, []string) error { return errors.New("no luck") }
	root := cli.Group(&cobra.Command{Use: "convtools", Short: "Things", Example: "  convtools draw"},
		&cobra.Command{Use: "draw", Short: "Draw", Args: cli.NoArgs, RunE: fails},
		cli.Group(&cobra.Command{Use: "house", Short: "Houses", Aliases: []string{"h"}},
			&cobra.Command{Use: "paint COLOR", Short: "Paint it", SuggestFor: []string{"dye"}, Args: cli.OneArg("COLOR"), RunE: fails}))
	root.SetOut(stdout)
	root.SetErr(stderr)
	cli.Setup(root, []string{"brush"})
	root.SetArgs(args)
	return cli.Execute(context.Background(), root)
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"draw"}, 1, "error: no luck\n"},
		{[]string{"draw", "it"}, 2, "error: draw takes no arguments, got \"it\"\nhint: see convtools help draw\n"},
		{[]string{"h", "paint"}, 2, "error: paint takes one argument, COLOR, and got 0\nhint: see convtools help house paint\n"},
		{[]string{"house", "paint", "--x"}, 2, "error: unknown flag: --x\nhint: see convtools help house paint; to give text that starts with '-', put -- before it\n"},
		{[]string{"drow"}, 2, "error: unknown command \"drow\"; did you mean convtools draw?\nhint: see convtools help\n"},
		{[]string{"paint"}, 2, "error: unknown command \"paint\"; did you mean convtools house paint?\nhint: see convtools help\n"},
		{[]string{"house", "dye"}, 2, "error: unknown command \"dye\"; did you mean convtools house paint?\nhint: see convtools help house\n"},
		{[]string{"brush"}, 2, "error: unknown command \"brush\"; it is a tool: did you mean convtools call brush?\nhint: see convtools help\n"},
		{[]string{"zzz"}, 2, "error: unknown command \"zzz\"; the commands are draw, house\nhint: see convtools help\n"},
		{[]string{"help", "draw", "x"}, 2, "error: convtools draw has no commands, and got \"x\"\nhint: see convtools help help\n"},
	} {
		var stdout, stderr bytes.Buffer
		code := commandLine(&stdout, &stderr, tc.args...)
		if diff := cmp.Diff(tc.want, stderr.String()); diff != "" || code != tc.code || stdout.Len() > 0 {
			t.Errorf("%q: exit code %d, want %d, standard output %q (-want +got):\n%s", tc.args, code, tc.code, &stdout, diff)
		}
	}
}
