//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// A person who interrupts a query stops all that runs. Another query can go on with the conversations.
func TestQueryInterrupted(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	query := h.start(t, "query", "--json", "How long is the Rhine?")
	_ = h.gate.next()
	query.until(`"task_started"`)
	if err := query.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := query.wait(); code != 130 || !strings.Contains(query.printed.String(), `"type":"turn_aborted","reason":"interrupted"`) {
		t.Errorf("exit %d: %s%s", code, query.printed.String(), query.stderr.String())
	}
	id := query.session()
	if code := h.start(t, "session", "resume", id).wait(); code != 130 {
		t.Errorf("resume of what was interrupted: exit %d", code)
	}
	h.gate.answerNext("1233 km.")
	again := h.start(t, "query", "--id", id, "How long is it?")
	if code := again.wait(); code != 0 || again.printed.String() != "1233 km.\n" {
		t.Errorf("exit %d: %s%s", code, again.printed.String(), again.stderr.String())
	}
}

// A second interrupt ends a query that the first could not end: here, nobody reads what the query prints.
func TestQueryInterruptedTwice(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.script(t, "[[conversation]]\n[[conversation.response]]\ntext = \""+strings.Repeat("x", 1<<19)+"\"\n")
	query := h.start(t, "query", "--model", "scripted", "--json", "Go.")
	query.until(`"task_started"`)
	for query.out.Scan() { // ends within a line that is too long for the scanner and for a pipe
		query.printed.WriteString(query.out.Text() + "\n")
	}
	ended := make(chan error, 1)
	go func() { ended <- query.cmd.Wait() }()
	for running := true; running; {
		_ = query.cmd.Process.Signal(os.Interrupt) // it may have ended
		select {
		case <-ended:
			running = false
		case <-time.After(10 * time.Millisecond): // two that come at once are one
		}
	}
	if status, ok := query.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v", query.cmd.ProcessState)
	}
	if shown := h.start(t, "session", "show", query.session()); shown.wait() != 0 {
		t.Error(shown.stderr.String())
	}
}

// Whenever a person interrupts a query, its log can be read, and another query can go on with the session.
func TestQueryInterruptedAnywhere(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.script(t, killedScript)
	for line := 1; line <= 60; line += 7 {
		query := h.start(t, "query", "--model", "scripted", "--json", "Plan")
		for n := 0; n < line && query.out.Scan(); n++ {
			query.printed.WriteString(query.out.Text() + "\n")
		}
		_ = query.cmd.Process.Signal(os.Interrupt) // it may have ended
		code := query.wait()
		if status, ok := query.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGINT {
			code = 0 // the signal came after the answer, while the process ended
		}
		if code != 130 && code != 0 {
			t.Errorf("after %d lines, exit %d: %s", line, code, query.stderr.String())
		}
		id := query.session()
		if shown := h.start(t, "session", "show", id); shown.wait() != 0 {
			t.Errorf("after %d lines: %s", line, shown.stderr.String())
		}
		resumed := h.start(t, "session", "resume", id)
		if got := resumed.wait(); got != code && !strings.Contains(resumed.stderr.String(), "nothing has been asked") {
			t.Errorf("after %d lines, exit %d, resumed: %d %s", line, code, got, resumed.stderr.String())
		}
		again := h.start(t, "query", "--id", id, "--json", "And then?")
		again.wait()
		if events, err := readEvents(again.printed.String()); err != nil || !slices.ContainsFunc(events, func(e printedEvent) bool {
			return e.Type == "task_complete" || e.Type == "task_failed" // the script need not have an answer
		}) {
			t.Errorf("after %d lines, gone on with: %v\n%s%s", line, err, again.printed.String(), again.stderr.String())
		}
	}
}

// A query ends when the disk is full. When there is room again, the session goes on to the answer of killedScript.
func TestQueryFullDisk(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.script(t, killedScript)
	for _, blocks := range []string{"5", "12"} { // of 512 or 1024 bytes: the log needs more than either
		full := exec.Command("sh", "-c", "ulimit -f "+blocks+` && exec "$0" query --model scripted --json Plan`, "convtools")
		full.Dir, full.Env = h.project, h.env()
		out, err := full.Output() // a pipe, which has no limit
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(exit.Stderr), "error: writing the session log: ") || !strings.Contains(string(exit.Stderr), "hint: make room; ") {
			t.Fatalf("%s blocks: %v: %s%s", blocks, err, out, exit.Stderr)
		}
		events, err := readEvents(string(out))
		if err != nil || len(events) == 0 {
			t.Fatalf("%s blocks: %d events: %v", blocks, len(events), err)
		}
		id := events[0].Session
		resumed := h.start(t, "session", "resume", id)
		if code := resumed.wait(); code != 0 || resumed.printed.String() != "The plan: the Adler (four stars), at nine, ninety\n" {
			t.Errorf("%s blocks: exit %d: %s%s", blocks, code, resumed.printed.String(), resumed.stderr.String())
		}
		if shown := h.start(t, "session", "show", id); shown.wait() != 0 {
			t.Errorf("%s blocks: %s", blocks, shown.stderr.String())
		}
	}
}

// A follower that is interrupted ends, and the query that it follows goes on.
func TestEventsFollowedUntilInterrupted(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	query := h.start(t, "query", "--json", "How long is the Rhine?")
	question := h.gate.next()
	query.until(`"task_started"`)
	follower := h.start(t, "session", "events", "--follow", query.session())
	follower.until(`"task_started"`)
	if err := follower.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := follower.wait(); code != 130 {
		t.Errorf("exit %d: %s", code, follower.stderr.String())
	}
	question.answer(t, "1233 km.")
	if code := query.wait(); code != 0 {
		t.Errorf("exit %d: %s", code, query.stderr.String())
	}
}

// For a file that cannot hold instructions, the model gets an error as the answer to its call, and the query goes on.
func TestQueryBadInstructionFiles(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	if err := syscall.Mkfifo(filepath.Join(h.project, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	huge := filepath.Join(h.project, "huge")
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 1<<30); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.home, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(h.home, "secret"), filepath.Join(h.project, "link")); err != nil {
		t.Fatal(err)
	}
	files := []string{"fifo", "huge", "link", "../secret", filepath.Join(h.home, "secret"), "missing", "."}
	var calls []string
	for _, file := range files {
		calls = append(calls, fmt.Sprintf(`{ tool = "conv.create", arguments = { user_instruction = "x", base_instruction_file = %q } }`, file))
	}
	h.script(t, "[[conversation]]\n[[conversation.response]]\ncalls = ["+strings.Join(calls, ", ")+"]\n[[conversation.response]]\ntext = \"Done.\"\n")
	query := h.start(t, "query", "--model", "scripted", "--json", "Go.")
	if code := query.wait(); code != 0 {
		t.Fatalf("exit %d: %s", code, query.stderr.String())
	}
	out := query.printed.String()
	if n := strings.Count(out, `\"code\":\"unreadable_file\"`); n != len(files) {
		t.Errorf("%d of %d files cannot be read:\n%s", n, len(files), out)
	}
	if strings.Contains(out, "replaced") || strings.Contains(out, `"base":"secret`) {
		t.Errorf("a call has had an effect:\n%s", out)
	}
}

// A conversation of JP that is removed while a model is asked in it stays removed, and the query says so.
func TestRemovedDuringSend(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	if err := jptest.New(h.project, "abc12").Write(); err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(h.home, "data", "jp", "workspace", filepath.Base(h.project)+"-abc12")
	stores := []string{filepath.Join(h.project, ".jp", "conversations"), filepath.Join(user, "conversations")}
	for _, dir := range stores {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(h.project, ".jp"), filepath.Join(user, "storage")); err != nil { // as JP has it on record
		t.Fatal(err)
	}
	recorded := func() (names []string) {
		for _, dir := range stores {
			found, _ := filepath.Glob(filepath.Join(dir, "1*"))
			names = append(names, found...)
		}
		return names
	}
	h.gate.answerNext("1233 km.")
	if first := h.start(t, "query", "How long is the Rhine?"); first.wait() != 0 {
		t.Fatal(first.stderr.String())
	}
	names := recorded()
	if len(names) != 2 {
		t.Fatalf("recorded as %v", names)
	}
	digits, _, _ := strings.Cut(filepath.Base(names[0]), "-")
	query := h.start(t, "query", "--id", "jp-c"+digits, "And the Aare?")
	question := h.gate.next()
	for _, name := range names {
		if err := os.RemoveAll(name); err != nil { // as jp c rm
			t.Fatal(err)
		}
	}
	question.answer(t, "288 km.")
	code, stderr := query.wait(), query.stderr.String()
	if code != 1 || query.printed.String() != "288 km.\n" || !strings.Contains(stderr, "error: conversation jp-c"+digits+" was removed while") {
		t.Errorf("exit %d: %s%s", code, query.printed.String(), stderr)
	}
	if names := recorded(); len(names) > 0 {
		t.Errorf("it has come back: %v", names)
	}
}
