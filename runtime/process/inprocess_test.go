package process_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/process"
)

func TestInProcessResult(t *testing.T) {
	t.Parallel()
	command := process.InProcess(func(_ context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
		input, err := io.ReadAll(stdin)
		fmt.Fprintf(stdout, "%q %q %v", args, input, err)
		fmt.Fprint(stderr, "warning")
		return 3
	})
	got, err := command.Run(t.Context(), process.Command{Path: "conversation", Args: []string{"ls", "--limit=2"}, Stdin: []byte("in")})
	if err != nil {
		t.Fatal(err)
	}
	want := process.Result{Stdout: []byte(`["ls" "--limit=2"] "in" <nil>`), Stderr: []byte("warning"), ExitCode: 3}
	if diff := cmp.Diff(text(want), text(got)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestInProcessBadArgument(t *testing.T) {
	t.Parallel()
	command := process.InProcess(func(context.Context, []string, io.Reader, io.Writer, io.Writer) int {
		t.Error("the function was called")
		return 0
	})
	for name, test := range map[string]struct {
		runner process.InProcess
		cmd    process.Command
		want   string
	}{
		"NUL":         {command, process.Command{Path: "p", Args: []string{"\x00"}}, "argument 1"},
		"directory":   {command, process.Command{Path: "p", Dir: "."}, "no directory"},
		"environment": {command, process.Command{Path: "p", Env: []string{}}, "no directory or environment"},
		"no function": {nil, process.Command{Path: "p"}, "no function"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.runner.Run(t.Context(), test.cmd)
			wantContains(t, wantKind(t, err, process.BadArgument).Error(), test.want)
		})
	}
}

func TestInProcessTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		command := process.InProcess(func(ctx context.Context, _ []string, _ io.Reader, _, stderr io.Writer) int {
			<-ctx.Done()
			time.Sleep(300 * time.Millisecond) // cleaning up, within the time of grace
			fmt.Fprint(stderr, "cleaned up")
			return 1
		})
		_, err := command.Run(t.Context(), process.Command{Path: "conversation"})
		e := wantKind(t, err, process.Timeout)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v does not wrap context.DeadlineExceeded", err)
		}
		if got, want := e.Error(), "conversation: stopped because it did not finish within 30s"+
			" (last line on stderr: cleaned up); ask it for less, or raise the time limit"; got != want {
			t.Errorf("error text\n got %q\nwant %q", got, want)
		}
		if got, want := time.Since(began), process.DefaultTimeout+300*time.Millisecond; got != want {
			t.Errorf("took %s, want %s", got, want)
		}
	})
}

func TestInProcessAbandonsWhatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		release, late := make(chan struct{}), make(chan error, 2)
		stdin := []byte("input")
		command := process.InProcess(func(_ context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
			<-release
			input, _ := io.ReadAll(stdin)
			if args[0] != "arg" || string(input) != "input" {
				t.Errorf("arguments or input changed under the function: %q %q", args, input)
			}
			for _, w := range []io.Writer{stdout, stderr} {
				_, err := w.Write([]byte("late"))
				late <- err
			}
			return 0
		})
		cmd := process.Command{Path: "p", Args: []string{"arg"}, Stdin: stdin, Limits: process.Limits{Timeout: time.Minute, Grace: time.Second}}
		_, err := command.Run(t.Context(), cmd)
		e := wantKind(t, err, process.Timeout)
		if got, want := time.Since(began), time.Minute+time.Second; got != want {
			t.Errorf("took %s, want %s", got, want)
		}
		cmd.Args[0], stdin[0] = "changed", 'X'
		close(release)
		for range 2 {
			if <-late == nil {
				t.Error("an abandoned function can still write")
			}
		}
		if len(e.Stderr) != 0 {
			t.Errorf("late output %q got into the error", e.Stderr)
		}
	})
}

func TestInProcessCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		command := process.InProcess(func(ctx context.Context, _ []string, _ io.Reader, _, _ io.Writer) int {
			cancel()
			<-ctx.Done()
			return 0
		})
		_, err := command.Run(ctx, process.Command{Path: "p"})
		wantKind(t, err, process.Canceled)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v does not wrap context.Canceled", err)
		}
		_, err = command.Run(ctx, process.Command{Path: "p"})
		wantKind(t, err, process.Canceled)
	})
}

// A command that runs another one: what ends the outer is no limit of the inner.
func TestInProcessNested(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var inner error
		command := process.InProcess(func(ctx context.Context, args []string, _ io.Reader, stdout, _ io.Writer) int {
			wait := process.InProcess(func(ctx context.Context, _ []string, _ io.Reader, _, _ io.Writer) int {
				if args[0] == "flood" {
					io.WriteString(stdout, "too much")
				}
				<-ctx.Done()
				return 0
			})
			_, inner = wait.Run(ctx, process.Command{Path: "inner", Limits: process.Limits{Timeout: time.Hour}})
			return 0
		})
		cmd := process.Command{Path: "outer", Args: []string{"flood"}, Limits: process.Limits{Stdout: 1}}
		_, err := command.Run(t.Context(), cmd)
		wantKind(t, err, process.OutputTooLarge)
		wantKind(t, inner, process.Canceled)

		cmd.Args[0] = "wait"
		_, err = command.Run(t.Context(), cmd)
		wantContains(t, wantKind(t, err, process.Timeout).Error(), "did not finish within 30s")
		wantContains(t, wantKind(t, inner, process.Timeout).Error(), "whole request")
	})
}

func TestInProcessFlood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var written int
		command := process.InProcess(func(ctx context.Context, _ []string, _ io.Reader, stdout, _ io.Writer) int {
			for {
				n, err := io.WriteString(stdout, strings.Repeat("x", 300))
				written += n
				if err != nil {
					<-ctx.Done() // the limit also ends the context
					return 1
				}
			}
		})
		_, err := command.Run(t.Context(), process.Command{Path: "p", Limits: process.Limits{Stdout: 1000}})
		wantContains(t, wantKind(t, err, process.OutputTooLarge).Error(), "more than 1000 bytes")
		if written != 1000 {
			t.Errorf("accepted %d bytes, want 1000", written)
		}

		command = func(ctx context.Context, _ []string, _ io.Reader, _, stderr io.Writer) int {
			for {
				if _, err := io.WriteString(stderr, "no such shelf\n"); err != nil {
					<-ctx.Done()
					return 1
				}
			}
		}
		_, err = command.Run(t.Context(), process.Command{Path: "p", Limits: process.Limits{StderrTotal: 1000}})
		wantContains(t, wantKind(t, err, process.StderrTooLarge).Error(), "more than 1000 bytes to standard error (last line on stderr: no such shelf); ")
	})
}

func TestInProcessPanic(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom\x1b[31m")
	command := process.InProcess(func(_ context.Context, args []string, _ io.Reader, _, stderr io.Writer) int {
		fmt.Fprint(stderr, "before")
		if args[0] == "exit" {
			runtime.Goexit()
		}
		panic(boom)
	})
	_, err := command.Run(t.Context(), process.Command{Path: "p", Args: []string{"panic"}})
	e := wantKind(t, err, process.Panicked)
	if !errors.Is(err, boom) {
		t.Errorf("error %v does not wrap what was panicked with", err)
	}
	wantContains(t, e.Error(), "p panic: panicked: boom␛[31m", "last line on stderr: before")
	wantContains(t, string(e.Stack), "TestInProcessPanic")

	_, err = command.Run(t.Context(), process.Command{Path: "p", Args: []string{"exit"}})
	wantContains(t, wantKind(t, err, process.Panicked).Error(), "ended its goroutine")
}

// What the function's own goroutines write at the same time must not race.
func TestInProcessConcurrentWrites(t *testing.T) {
	t.Parallel()
	command := process.InProcess(func(_ context.Context, _ []string, _ io.Reader, stdout, _ io.Writer) int {
		done := make(chan struct{})
		for range 8 {
			go func() {
				defer func() { done <- struct{}{} }()
				for range 100 {
					io.WriteString(stdout, "0123456789")
				}
			}()
		}
		for range 8 {
			<-done
		}
		return 0
	})
	result, err := command.Run(t.Context(), process.Command{Path: "p"})
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("0123456789", 800); string(result.Stdout) != want {
		t.Errorf("got %d bytes, want %d whole writes", len(result.Stdout), len(want))
	}
}
