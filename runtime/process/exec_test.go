package process_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/process"
)

func TestExecResult(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789", 100_000)
	withStdin := func(cmd process.Command, stdin string) process.Command {
		cmd.Stdin = []byte(stdin)
		return cmd
	}
	tests := []struct {
		name string
		cmd  process.Command
		want process.Result
	}{
		{"output and exit code 0", helperCommand("print", "out", "err", "0"), process.Result{Stdout: []byte("out"), Stderr: []byte("err")}},
		{"exit code 3 is a result", helperCommand("print", "", "no match", "3"), process.Result{Stderr: []byte("no match"), ExitCode: 3}},
		{"half a JSON value is the caller's affair", helperCommand("print", `[{"id":`, "", "0"), process.Result{Stdout: []byte(`[{"id":`)}},
		{"no stdin is an empty one", helperCommand("cat"), process.Result{}},
		{"empty stdin", withStdin(helperCommand("cat"), ""), process.Result{}},
		{"stdin larger than a pipe", withStdin(helperCommand("cat"), long), process.Result{Stdout: []byte(long)}},
		{"stdin that nobody reads", withStdin(helperCommand("print", "done", "", "0"), long), process.Result{Stdout: []byte("done")}},
		{
			"arguments arrive as they are",
			helperCommand("args", "", " a  b ", "$HOME", "`id`", "*", "--", "-x", `"q"`, `back\slash`, "two\nlines", "日本語", "a;b|c&d>e"),
			process.Result{Stdout: []byte(`""` + "\n" + `" a  b "` + "\n" + `"$HOME"` + "\n" + "\"`id`\"\n" + `"*"` + "\n" + `"--"` + "\n" + `"-x"` + "\n" +
				`"\"q\""` + "\n" + `"back\\slash"` + "\n" + `"two\nlines"` + "\n" + `"日本語"` + "\n" + `"a;b|c&d>e"` + "\n")},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := process.Exec{}.Run(testContext(t), test.cmd)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(text(test.want), text(got)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// text makes results comparable; nil and empty are the same.
func text(r process.Result) map[string]any {
	return map[string]any{
		"stdout": string(r.Stdout), "stderr": string(r.Stderr), "exit code": r.ExitCode,
	}
}

func TestExecEnvironment(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "hunter2")
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("XDG_DATA_HOME", "/data")
	environment := func(env []string) []string {
		t.Helper()
		cmd := helperCommand("env")
		cmd.Env = env
		result, err := process.Exec{}.Run(testContext(t), cmd)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(result.Stdout))
	}

	got := environment(nil)
	for _, want := range []string{"NO_COLOR=1", "TERM=dumb", "XDG_DATA_HOME=/data"} {
		if !slices.Contains(got, want) {
			t.Errorf("default environment lacks %s: %q", want, got)
		}
	}
	for _, unwanted := range []string{"SECRET_TOKEN=hunter2", "TERM=xterm-256color"} {
		if slices.Contains(got, unwanted) {
			t.Errorf("default environment holds %s", unwanted)
		}
	}
	if got := environment(process.DefaultEnv("SECRET_*")); !slices.Contains(got, "SECRET_TOKEN=hunter2") {
		t.Errorf("a variable asked for by its prefix is missing: %q", got)
	}
	got = environment([]string{"ONLY=this"})
	got = slices.DeleteFunc(got, func(entry string) bool { return strings.HasPrefix(strings.ToUpper(entry), "SYSTEMROOT=") }) // Windows needs it
	if diff := cmp.Diff([]string{"ONLY=this"}, got); diff != "" {
		t.Errorf("own environment (-want +got):\n%s", diff)
	}
}

func TestExecDirectory(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := helperCommand("dir")
	cmd.Dir = dir
	result, err := process.Exec{}.Run(testContext(t), cmd)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(result.Stdout); got != dir {
		t.Errorf("ran in %q, want %q", got, dir)
	}
}

func TestExecBadArgument(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		cmd  process.Command
		want string
	}{
		{"empty path", process.Command{}, "no program"},
		{"blank path", process.Command{Path: " \t"}, "no program"},
		{"NUL in an argument", process.Command{Path: "p", Args: []string{"a", "b\x00"}}, "argument 2 holds a NUL byte"},
		{"missing directory", process.Command{Path: os.Args[0], Dir: missing}, "working directory"},
		{"directory is a file", process.Command{Path: os.Args[0], Dir: file}, "is not a directory"},
		{"arguments too long", process.Command{Path: os.Args[0], Args: []string{strings.Repeat("x", 2<<20)}}, "longer than the system allows"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := process.Exec{}.Run(testContext(t), test.cmd)
			e := wantKind(t, err, process.BadArgument)
			wantContains(t, e.Error(), test.want, "; ")
		})
	}
}

func TestExecNotFound(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"in PATH":      "convtools-no-such-program",
		"by path":      filepath.Join(t.TempDir(), "program"),
		"below a file": filepath.Join(os.Args[0], "program"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := process.Exec{}.Run(testContext(t), process.Command{Path: path, Args: []string{"conversation", "ls"}})
			e := wantKind(t, err, process.NotFound)
			wantContains(t, e.Error(), "no such", " conversation ls: ", "; ")
		})
	}
}

// A relative path starts at the working directory of this process, so that a directory cannot replace a program.
func TestExecRelativePath(t *testing.T) {
	here, there := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(here, "program.exe")); err != nil {
		t.Skipf("needs symbolic links: %v", err)
	}
	if err := os.WriteFile(filepath.Join(there, "program.exe"), []byte("impostor"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(here)
	cmd := process.Command{Path: "." + string(filepath.Separator) + "program.exe", Args: []string{"helper", "print", "genuine", "", "0"}, Dir: there}
	result, err := process.Exec{}.Run(testContext(t), cmd)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(result.Stdout); got != "genuine" {
		t.Errorf("printed %q, want %q", got, "genuine")
	}

	t.Setenv("PATH", ".")
	cmd.Path = "program.exe"
	_, err = process.Exec{}.Run(testContext(t), cmd)
	wantContains(t, wantKind(t, err, process.NotFound).Error(), "current directory")
}

func TestExecCancelKillsTheWholeGroup(t *testing.T) {
	t.Parallel()
	m := newMonitor(t)
	ctx, cancel := context.WithCancelCause(testContext(t))
	cmd := helperCommand("tree", m.addr())
	cmd.Limits.Grace = 20 * time.Millisecond
	r := startRun(ctx, cmd)
	members := m.await(2)
	why := errors.New("client went away")
	cancel(why)

	result, err := r.wait(t)
	e := wantKind(t, err, process.Canceled)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
		t.Errorf("error %v wraps neither context.Canceled nor the cause", err)
	}
	wantContains(t, e.Error(), " helper tree ", "canceled: client went away")
	if diff := cmp.Diff(process.Result{}, result); diff != "" {
		t.Errorf("result next to an error (-want +got):\n%s", diff)
	}
	members["leader"].gone()
	members["child"].gone()
}

// The test does not wait for the helpers: their start must not matter.
func TestExecTimeout(t *testing.T) {
	t.Parallel()
	m := newMonitor(t)
	cmd := helperCommand("tree", m.addr())
	cmd.Limits = process.Limits{Timeout: time.Second, Grace: 20 * time.Millisecond}
	result, err := startRun(testContext(t), cmd).wait(t)
	e := wantKind(t, err, process.Timeout)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v does not wrap context.DeadlineExceeded", err)
	}
	wantContains(t, e.Error(), "did not finish within 1s; ")
	if diff := cmp.Diff(process.Result{}, result); diff != "" {
		t.Errorf("result next to an error (-want +got):\n%s", diff)
	}
	m.allGone()
}

func TestExecDeadlineOfTheContext(t *testing.T) {
	t.Parallel()
	m := newMonitor(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	cmd := helperCommand("hang", m.addr(), "hang")
	cmd.Limits.Grace = 20 * time.Millisecond
	_, err := startRun(ctx, cmd).wait(t)
	e := wantKind(t, err, process.Timeout)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v does not wrap context.DeadlineExceeded", err)
	}
	wantContains(t, e.Error(), "whole request")
	m.allGone()
}

func TestExecDoesNotStartWhenAlreadyCanceled(t *testing.T) {
	t.Parallel()
	m := newMonitor(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := process.Exec{}.Run(ctx, helperCommand("hang", m.addr(), "hang"))
	wantKind(t, err, process.Canceled)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v does not wrap context.Canceled", err)
	}
	m.listener.SetDeadline(time.Now().Add(50 * time.Millisecond))
	if conn, err := m.listener.Accept(); err == nil {
		conn.Close()
		t.Error("the command was started")
	}
}

func TestExecFlood(t *testing.T) {
	t.Parallel()
	t.Run("by the command", func(t *testing.T) {
		t.Parallel()
		m := newMonitor(t)
		cmd := helperCommand("flood", m.addr(), "flood")
		cmd.Limits = process.Limits{Stdout: 1 << 20, Grace: 20 * time.Millisecond}
		r := startRun(testContext(t), cmd)
		flood := m.await(1)["flood"]
		flood.release()
		_, err := r.wait(t)
		wantContains(t, wantKind(t, err, process.OutputTooLarge).Error(), "printed more than 1 MiB; ")
		flood.gone()
	})
	t.Run("by what it left behind", func(t *testing.T) {
		t.Parallel()
		m := newMonitor(t)
		cmd := helperCommand("leave-behind", m.addr(), "0", "flood")
		cmd.Limits = process.Limits{Stdout: 1 << 20, Grace: 10 * patience}
		r := startRun(testContext(t), cmd)
		members := m.await(2)
		members["leader"].release()
		members["leader"].gone()
		members["child"].release()
		_, err := r.wait(t)
		wantKind(t, err, process.OutputTooLarge)
		members["child"].gone()
	})
	t.Run("on stderr", func(t *testing.T) {
		t.Parallel()
		m := newMonitor(t)
		cmd := helperCommand("flood-stderr", m.addr(), "flood")
		cmd.Limits = process.Limits{Stderr: 1000, Timeout: 300 * time.Millisecond, Grace: 20 * time.Millisecond}
		r := startRun(testContext(t), cmd)
		flood := m.await(1)["flood"]
		flood.release()
		_, err := r.wait(t)
		e := wantKind(t, err, process.Timeout)
		if !strings.HasPrefix(string(e.Stderr), "no such shelf\n") || len(e.Stderr) > 1100 {
			t.Errorf("%d bytes of stderr: %.100q", len(e.Stderr), e.Stderr)
		}
		flood.gone()
	})
}

func TestExecStdoutLimitIsExact(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	for count, fits := range map[int]bool{0: true, limit - 1: true, limit: true, limit + 1: false} {
		t.Run(strconv.Itoa(count), func(t *testing.T) {
			t.Parallel()
			cmd := helperCommand("bytes", strconv.Itoa(count))
			cmd.Limits.Stdout = limit
			result, err := process.Exec{}.Run(testContext(t), cmd)
			if !fits {
				wantKind(t, err, process.OutputTooLarge)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Stdout) != count {
				t.Errorf("got %d bytes, want %d", len(result.Stdout), count)
			}
		})
	}
}

func TestExecKeepsBothEndsOfStderr(t *testing.T) {
	t.Parallel()
	cmd := helperCommand("numbered-stderr", "200000")
	cmd.Limits.Stderr = 1000
	result, err := process.Exec{}.Run(testContext(t), cmd)
	if err != nil {
		t.Fatal(err)
	}
	got := string(result.Stderr)
	if !strings.HasPrefix(got, "line 0\nline 1\n") || !strings.HasSuffix(got, "\nline 199999\n") {
		t.Errorf("stderr %q", got)
	}
	// 10 of 7 bytes, 90 of 8, 900 of 9, and so on.
	total := 10*7 + 90*8 + 900*9 + 9_000*10 + 90_000*11 + 100_000*12
	wantContains(t, got, "\n[… "+strconv.Itoa(total-1000)+" bytes omitted …]\n")
}

func TestExecKillsLeftProcesses(t *testing.T) {
	t.Parallel()
	for _, code := range []int{0, 3} {
		t.Run(fmt.Sprintf("holding the output, exit code %d", code), func(t *testing.T) {
			t.Parallel()
			m := newMonitor(t)
			cmd := helperCommand("leave-behind", m.addr(), strconv.Itoa(code), "hang")
			cmd.Limits.Grace = 50 * time.Millisecond
			r := startRun(testContext(t), cmd)
			members := m.await(2)
			members["leader"].release()
			result, err := r.wait(t)
			if err != nil {
				t.Fatal(err)
			}
			want := process.Result{Stdout: []byte("leader's output\n"), ExitCode: code}
			if diff := cmp.Diff(text(want), text(result)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
			members["child"].gone()
		})
	}
	t.Run("not holding the output", func(t *testing.T) {
		t.Parallel()
		m := newMonitor(t)
		cmd := helperCommand("leave-behind-quietly", m.addr())
		cmd.Limits.Grace = 10 * patience // must not be waited for
		r := startRun(testContext(t), cmd)
		members := m.await(2)
		members["leader"].release()
		if _, err := r.wait(t); err != nil {
			t.Fatal(err)
		}
		members["child"].gone()
	})
	t.Run("canceled meanwhile", func(t *testing.T) {
		t.Parallel()
		m := newMonitor(t)
		ctx, cancel := context.WithCancel(testContext(t))
		// Run may see the cancellation before the leader's end, and then asks the
		// child to stop: it must be one that does.
		cmd := helperCommand("leave-behind", m.addr(), "0", "polite")
		cmd.Limits.Grace = 10 * patience
		r := startRun(ctx, cmd)
		members := m.await(2)
		members["leader"].release()
		members["leader"].gone()
		cancel()
		_, err := r.wait(t)
		wantKind(t, err, process.Canceled)
		members["child"].gone()
	})
}

// BenchmarkExec compares a run with one by package exec.
func BenchmarkExec(b *testing.B) {
	args := []string{"helper", "print", "out", "err", "0"}
	b.Run("Exec", func(b *testing.B) {
		for b.Loop() {
			if _, err := (process.Exec{}).Run(b.Context(), process.Command{Path: os.Args[0], Args: args}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("os-exec", func(b *testing.B) {
		for b.Loop() {
			if _, err := exec.Command(os.Args[0], args...).Output(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
