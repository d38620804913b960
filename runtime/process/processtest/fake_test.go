package processtest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/process/processtest"
)

var _ process.Runner = (*processtest.Fake)(nil)

// recorder is a test that may fail without failing this one.
type recorder struct {
	failures []string
	cleanups []func()
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) end() []string {
	for _, cleanup := range r.cleanups {
		cleanup()
	}
	return r.failures
}

func TestFakeAnswers(t *testing.T) {
	t.Parallel()
	fake := processtest.New(t)
	boom := &process.Error{Kind: process.Timeout, Command: "jp", Detail: "stopped"}
	fake.Expect("jp", "ls").ReturnStdout("first")
	fake.Expect("jp", "ls").Return(process.Result{Stdout: []byte("second"), ExitCode: 1})
	fake.Expect("jp", "print").InDir("/ws").WithStdin("in").Fail(boom)
	fake.Expect("jp").Times(2)
	fake.Expect("jp", "wait").Do(func(ctx context.Context, cmd process.Command) (process.Result, error) {
		return process.Result{Stdout: []byte(cmd.Env[0])}, ctx.Err()
	})

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	commands := []process.Command{
		{Path: "jp"},
		{Path: "jp", Args: []string{"print"}, Dir: "/ws", Stdin: []byte("in")},
		{Path: "jp", Args: []string{"ls"}, Dir: "/anywhere"},
		{Path: "jp", Args: []string{"ls"}, Stdin: []byte("anything")},
		{Path: "jp", Args: []string{"wait"}, Env: []string{"A=1"}},
		{Path: "jp"},
	}
	want := []struct {
		stdout string
		code   int
		err    error
	}{{}, {err: boom}, {stdout: "first"}, {stdout: "second", code: 1}, {stdout: "A=1", err: context.Canceled}, {}}
	for i, cmd := range commands {
		got, err := fake.Run(canceled, cmd)
		if string(got.Stdout) != want[i].stdout || got.ExitCode != want[i].code || !errors.Is(err, want[i].err) {
			t.Errorf("command %d: got %q, exit code %d, error %v; want %+v", i, got.Stdout, got.ExitCode, err, want[i])
		}
	}
	if diff := cmp.Diff(commands, fake.Calls()); diff != "" {
		t.Errorf("recorded calls (-want +got):\n%s", diff)
	}
}

func TestFakeReportsUnexpectedCommand(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	fake := processtest.New(r)
	fake.Expect("jp", "conversation", "grep", "--", "pattern")
	fake.Expect("jp", "conversation", "ls", "--limit=10", "--archived").InDir("/ws")
	_, err := fake.Run(t.Context(), process.Command{Path: "jp", Args: []string{"conversation", "ls", "--limit=5", "--archived"}, Dir: "/ws"})
	if err == nil {
		t.Error("Run returned no error")
	}
	want := []string{
		`processtest: unexpected command (- the nearest expected one, + this one):
  path  "jp"
  arg   "conversation"
  arg   "ls"
- arg   "--limit=10"
+ arg   "--limit=5"
  arg   "--archived"
  dir   "/ws"`,
		`processtest: expected 1 more time(s), but never run:
path  "jp"
arg   "conversation"
arg   "grep"
arg   "--"
arg   "pattern"`,
		`processtest: expected 1 more time(s), but never run:
path  "jp"
arg   "conversation"
arg   "ls"
arg   "--limit=10"
arg   "--archived"
dir   "/ws"`,
	}
	if diff := cmp.Diff(want, r.end()); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if len(fake.Calls()) != 1 {
		t.Error("the unexpected call was not recorded")
	}
}

func TestFakeReportsOneCallTooMany(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	fake := processtest.New(r)
	fake.Expect("jp", "ls")
	for range 2 {
		fake.Run(t.Context(), process.Command{Path: "jp", Args: []string{"ls"}, Stdin: []byte("in")})
	}
	want := []string{`processtest: unexpected command, and no other is expected any more:
path  "jp"
arg   "ls"
dir   ""
stdin "in"`}
	if diff := cmp.Diff(want, r.end()); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
}

func TestFakeComparesExactly(t *testing.T) {
	t.Parallel()
	for name, cmd := range map[string]process.Command{
		"fewer arguments": {Path: "jp", Args: []string{"a"}, Dir: "/d", Stdin: []byte("in")},
		"other order":     {Path: "jp", Args: []string{"b", "a"}, Dir: "/d", Stdin: []byte("in")},
		"joined words":    {Path: "jp", Args: []string{"a b"}, Dir: "/d", Stdin: []byte("in")},
		"other path":      {Path: "JP", Args: []string{"a", "b"}, Dir: "/d", Stdin: []byte("in")},
		"other directory": {Path: "jp", Args: []string{"a", "b"}, Stdin: []byte("in")},
		"other stdin":     {Path: "jp", Args: []string{"a", "b"}, Dir: "/d"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &recorder{}
			fake := processtest.New(r)
			fake.Expect("jp", "a", "b").InDir("/d").WithStdin("in")
			if _, err := fake.Run(t.Context(), cmd); err == nil {
				t.Error("the command passed")
			}
		})
	}
}

func TestFakeFromSeveralGoroutines(t *testing.T) {
	t.Parallel()
	fake := processtest.New(t)
	fake.Expect("jp").Times(50)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { fake.Run(t.Context(), process.Command{Path: "jp"}) })
	}
	all.Wait()
	if got := len(fake.Calls()); got != 50 {
		t.Errorf("%d calls recorded, want 50", got)
	}
}
