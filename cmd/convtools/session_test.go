package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// printedEvent is an event as query --json prints it.
type printedEvent struct {
	Seq          int    `json:"seq"`
	Session      string `json:"session_id"`
	Conversation string `json:"conversation_id"`
	Task         int    `json:"task_id"`
	Type         string `json:"type"`
	Reason       string `json:"reason"`
	Text         string `json:"text"`
	Last         string `json:"last_assistant_message"`
}

// readEvents decodes what query --json printed, one event a line. It returns an error if an event lacks an id or
// another key that every event has, and if the events are not of one session with numbers that follow each other.
func readEvents(printed string) ([]printedEvent, error) {
	var list []printedEvent
	for line := range strings.Lines(printed) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			return nil, fmt.Errorf("%w: %s", err, line)
		}
		for _, key := range []string{"seq", "ts", "session_id", "conversation_id", "task_id", "type"} {
			if fields[key] == nil {
				return nil, fmt.Errorf("no %s: %s", key, line)
			}
		}
		var e printedEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, fmt.Errorf("%w: %s", err, line)
		}
		if n := len(list); n > 0 && (e.Seq != list[n-1].Seq+1 || e.Session != list[n-1].Session) {
			return nil, fmt.Errorf("this does not follow: %s", line)
		}
		list = append(list, e)
	}
	return list, nil
}

// events checks the events in a file, and writes a line without ids about each to another file: events FILE OUT. $ROOT,
// $CHILD, $GRANDCHILD and $SIBLING become the ids of the conversations, in the order of their first events.
func events(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: events FILE OUT")
	}
	list, err := readEvents(ts.ReadFile(args[0]))
	ts.Check(err)
	var ids []string
	var out strings.Builder
	names := []string{"root", "child", "grandchild", "sibling"}
	for _, e := range list {
		name := "-"
		if e.Conversation != "" {
			i := slices.Index(ids, e.Conversation)
			if i < 0 {
				i, ids = len(ids), append(ids, e.Conversation)
			}
			name = names[i]
			ts.Setenv(strings.ToUpper(name), e.Conversation)
		}
		fields := []string{name, e.Type}
		for _, text := range []string{e.Reason, e.Text, e.Last} {
			if text != "" {
				fields = append(fields, text)
			}
		}
		fmt.Fprintln(&out, strings.Join(fields, " "))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out.String()), 0o644))
}

// running is a convtools that runs, whose standard output is read line by line.
type running struct {
	t       *testing.T
	cmd     *exec.Cmd
	out     *bufio.Scanner
	stderr  bytes.Buffer
	printed strings.Builder
}

// start starts convtools in the project of a household.
func (h *household) start(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{t: t, cmd: exec.Command("convtools", args...)} // the test binary, see TestMain
	r.cmd.Dir, r.cmd.Env, r.cmd.Stderr = h.project, h.env(), &r.stderr
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() }) // as a rule it has ended
	r.out = bufio.NewScanner(out)
	return r
}

// until reads lines up to one that contains a text.
func (r *running) until(text string) {
	r.t.Helper()
	for r.out.Scan() {
		r.printed.WriteString(r.out.Text() + "\n")
		if strings.Contains(r.out.Text(), text) {
			return
		}
	}
	r.t.Fatalf("%s is not printed, but:\n%s%s", text, r.printed.String(), r.stderr.String())
}

// wait waits for the end of the process, and returns the exit code, or -1 if a signal ended it.
func (r *running) wait() int {
	r.t.Helper()
	for r.out.Scan() {
		r.printed.WriteString(r.out.Text() + "\n")
	}
	_ = r.cmd.Wait() // the exit code is what counts
	return r.cmd.ProcessState.ExitCode()
}

// session returns the id of the session whose events were printed.
func (r *running) session() string {
	r.t.Helper()
	list, err := readEvents(r.printed.String())
	if err != nil || len(list) == 0 {
		r.t.Fatalf("%d events: %v", len(list), err)
	}
	return list[0].Session
}

// A process that is killed while the model is asked has printed the beginning of the task. A process that resumes the
// session gets the answer.
func TestQueryKilled(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	query := h.start(t, "query", "--json", "How long is the Rhine?")
	question := h.gate.next()
	query.until(`"task_started"`) // before the model has answered
	if err := query.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	query.wait()
	_ = question.conn.Close()

	h.gate.answerNext("1233 km.")
	resumed := h.start(t, "session", "resume", query.session())
	if code := resumed.wait(); code != 0 || resumed.printed.String() != "1233 km.\n" {
		t.Errorf("exit %d: %s%s", code, resumed.printed.String(), resumed.stderr.String())
	}
	again := h.start(t, "session", "resume", query.session())
	if code := again.wait(); code != 0 || again.printed.String() != "1233 km.\n" {
		t.Errorf("a second time, exit %d: %s%s", code, again.printed.String(), again.stderr.String())
	}
}

// A conversation that asked another one gets the real answer, although the process was killed in between.
func TestQueryKilledInChild(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	script := func(delay string) {
		h.script(t, `[[conversation]]
first = "Plan the trip"
[[conversation.response]]
calls = [{ tool = "conv.create", arguments = { user_instruction = "List the hotels" } }]
[[conversation.response]]
text = "They are: ${output.last_assistant_message}"
[[conversation]]
first = "List the hotels"
[[conversation.response]]
text = "The Adler."
delay = "`+delay+`"
`)
	}
	script("1h")
	query := h.start(t, "query", "--model", "scripted", "--json", "Plan the trip")
	query.until(`"text":"List the hotels"`)
	if err := query.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	query.wait()

	script("0s")
	resumed := h.start(t, "session", "resume", query.session())
	if code := resumed.wait(); code != 0 || resumed.printed.String() != "They are: The Adler.\n" {
		t.Errorf("exit %d: %s%s", code, resumed.printed.String(), resumed.stderr.String())
	}
}

// Two processes cannot work in one session.
func TestQueryBusy(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	query := h.start(t, "query", "--json", "Wait for me.")
	question := h.gate.next()
	query.until(`"task_started"`)
	other := h.start(t, "query", "--id", query.session(), "Me too.")
	if code := other.wait(); code != 1 || !strings.Contains(other.stderr.String(), "in use by another process") {
		t.Errorf("exit %d: %s", code, other.stderr.String())
	}
	question.answer(t, "Here I am.")
	if code := query.wait(); code != 0 {
		t.Errorf("exit %d: %s", code, query.stderr.String())
	}
}

// A process that follows a session prints every event once and in order, and ends with the session.
func TestEventsFollowed(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	query := h.start(t, "query", "--json", "How long is the Rhine?")
	question := h.gate.next()
	query.until(`"task_started"`)
	id := query.session()
	follower := h.start(t, "session", "events", "--follow", id)
	follower.until(`"task_started"`) // what has happened, while the model is still asked
	question.answer(t, "1233 km.")
	if code := query.wait(); code != 0 {
		t.Fatalf("exit %d: %s", code, query.stderr.String())
	}
	if code := follower.wait(); code != 0 {
		t.Errorf("the follower: exit %d: %s", code, follower.stderr.String())
	}
	if diff := cmp.Diff(query.printed.String(), follower.printed.String()); diff != "" {
		t.Errorf("what query has printed, and the follower (-want +got):\n%s", diff)
	}
	// Of a session that has ended there is nothing to wait for.
	again := h.start(t, "session", "events", "--follow", id)
	if code := again.wait(); code != 0 || again.printed.String() != query.printed.String() {
		t.Errorf("exit %d: %s", code, again.printed.String())
	}
}

// script configures a scripted model in a household, or replaces the text of its script.
func (h *household) script(t *testing.T, text string) {
	t.Helper()
	dir := filepath.Join(h.home, "config", "convtools")
	config := filepath.Join(dir, "convtools.toml")
	data, err := os.ReadFile(config)
	if err == nil && !strings.Contains(string(data), "[model.scripted]") {
		err = os.WriteFile(config, append(data, "[model.scripted]\napi = \"scripted\"\nscript = \"script.toml\"\n"...), 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "script.toml"), []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ids sets $NAME1, $NAME2, … to the texts in a file that match an expression, each once and sorted: ids FILE NAME
// EXPRESSION.
func ids(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: ids FILE NAME EXPRESSION")
	}
	found := regexp.MustCompile(args[2]).FindAllString(ts.ReadFile(args[0]), -1)
	slices.Sort(found)
	for i, id := range slices.Compact(found) {
		ts.Setenv(args[1]+strconv.Itoa(i+1), id)
	}
}
