package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// screen is a command on a terminal, and a person before it.
type screen struct {
	t        *testing.T
	cmd      *exec.Cmd
	terminal *os.File
	output   string // everything that was printed
	matched  int    // the number of bytes of output up to the end of the last text that until found
}

// chat starts convtools chat in the project of a household, on a terminal of so many columns.
func (h *household) chat(t *testing.T, columns uint16, args ...string) *screen {
	t.Helper()
	return h.onScreen(t, columns, append([]string{"chat"}, args...)...)
}

// onScreen starts a command as chat does.
func (h *household) onScreen(t *testing.T, columns uint16, args ...string) *screen {
	t.Helper()
	terminal, tty := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	s := &screen{t: t, terminal: terminal, cmd: exec.CommandContext(ctx, "convtools", args...)} // the test binary, see TestMain
	s.cmd.Dir, s.cmd.Env = h.project, append(h.env(), "TERM=xterm-256color")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	_ = terminal.SetReadDeadline(time.Now().Add(30 * time.Second)) // a test that would hang fails
	return s
}

// readMore waits until something is printed, and adds it to output. It returns false after the end of the command.
func (s *screen) readMore() bool {
	chunk := make([]byte, 4096)
	n, _ := s.terminal.Read(chunk) // fails once nobody has the other end
	s.output += strings.ReplaceAll(string(chunk[:n]), "\r\n", "\n")
	return n > 0
}

// until waits until the texts are printed, one after the other, after those of the last call.
func (s *screen) until(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		for !strings.Contains(s.output[s.matched:], text) {
			if !s.readMore() {
				s.t.Fatalf("%q is not printed behind %q, but:\n%s", text, s.output[:s.matched], s.output[s.matched:])
			}
		}
		s.matched += strings.Index(s.output[s.matched:], text) + len(text)
	}
}

// typeKeys types keys as a person would.
func (s *screen) typeKeys(keys string) {
	s.t.Helper()
	if _, err := s.terminal.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// waitExit waits for the end of the command. It fails if the exit code is not want, and if an escape sequence was
// printed.
func (s *screen) waitExit(want int) {
	s.t.Helper()
	for s.readMore() {
	}
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || s.cmd.ProcessState.ExitCode() != want {
		s.t.Errorf("it ended with %v, want %d:\n%s", err, want, s.output)
	}
	if strings.Contains(s.output, "\x1b") {
		s.t.Errorf("it drives the terminal: %q", s.output)
	}
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
)

// The text of a model is shown while it comes, with an escape character made visible. Then the prompt of the person
// follows.
func TestChatStreams(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	shown := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		piece := func(text string) {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n", text)
			_ = http.NewResponseController(w).Flush() // the client may have gone
		}
		piece("The Rhine is ")
		select {
		case <-shown:
		case <-r.Context().Done():
		}
		piece(`1233 \u001b[31mkm long.`)
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	defer server.Close()
	config := fmt.Sprintf("[model.local]\napi = \"chat\"\nbase_url = %q\nmodel = \"m\"\n", server.URL)
	if err := os.WriteFile(filepath.Join(h.home, "config", "convtools", "convtools.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := h.chat(t, 80)
	s.until(`This is the model "local". /help lists`, "root> ")
	s.typeKeys("How long is the Rhine?\n")
	s.until("The Rhine is ")
	close(shown)
	s.until("1233 \u241b[31mkm long.\nroot> ")
	s.typeKeys(ctrlD)
	s.until("To go on: convtools chat --id ", "\n")
	s.waitExit(0)
}

// Control characters in the text of a model or of a person are escaped in JSON on a terminal. The commands query and
// session events print the same JSON.
func TestJSONOnTerminal(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.script(t, `[[conversation]]
[[conversation.response]]
text = "red: \u009b31m, \u007f, \u202e"
`)
	const answer, request = `red: \u009b31m, \u007f, \u202e`, "Go.\u009b31m\x7f\u202e"
	query := h.onScreen(t, 80, "query", "--json", "--model", "scripted", request)
	query.waitExit(0)
	root := regexp.MustCompile(`"session_id":"([^"]+)"`).FindStringSubmatch(query.output)
	if root == nil {
		t.Fatalf("there is no id of the session in %q", query.output)
	}
	events := h.onScreen(t, 80, "session", "events", root[1])
	events.waitExit(0)
	if events.output != query.output || !strings.Contains(events.output, `"type":"agent_message","origin":"model","text":"`+answer) {
		t.Errorf("session events: %q", events.output)
	}
	list := h.onScreen(t, 80, "session", "ls", "--json")
	list.waitExit(0)
	for _, s := range []string{query.output, events.output, list.output} {
		if strings.ContainsAny(s, "\u009b\x7f\u202e") || !strings.Contains(s, `Go.\u009b31m\u007f\u202e`) {
			t.Errorf("it drives the terminal: %q", s)
		}
	}
}

// On a terminal, query prints after an answer the command that goes on with the session.
func TestQueryOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.script(t, "[[conversation]]\nfirst = \"Plan\"\n[[conversation.response]]\ntext = \"Done.\"\n[[conversation.response]]\ntext = \"More.\"\n")
	s := h.onScreen(t, 80, "query", "--model", "scripted", "Plan")
	s.until("Done.\nTo go on: convtools query --id ", " TEXT\n")
	s.waitExit(0)
	id := regexp.MustCompile(`--id (\S+) TEXT`).FindStringSubmatch(s.output)[1]
	s = h.onScreen(t, 80, "query", "--id", id, "And?")
	s.until("More.\nTo go on: convtools query --id " + id + " TEXT\n")
	s.waitExit(0)
}

// chatScript has a root conversation that asks another one. The other one takes an hour to answer, so that a test
// interrupts it. %s is the place of a delay of the root's answer.
const chatScript = `[[conversation]]
first = "Plan"
[[conversation.response]]
calls = [{ tool = "conv.create", arguments = { title = "Hotels", user_instruction = "Find one" } }]
[[conversation.response]]
text = "No hotel then."
%s
[[conversation.response]]
match = "And now?"
text = "Fine."
[[conversation]]
first = "Find one"
[[conversation.response]]
text = "The Adler."
delay = "1h"
[[conversation.response]]
match = "there?"
text = "Here I am."
`

// A first Ctrl-C ends the task that runs. The conversation that waits for this task goes on, and then there are two
// conversations to talk in.
func TestChatInterruptTask(t *testing.T) {
	t.Parallel()
	for _, columns := range []uint16{80, 7, 0} { // what does not fit on a line is wrapped, and not lost
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			h.script(t, fmt.Sprintf(chatScript, ""))
			s := h.chat(t, columns, "--model", "scripted")
			s.until("root> ")
			s.typeKeys("Plan\n")
			s.until("asking #2 (Hotels): Find one\n")
			s.typeKeys(ctrlC)
			s.until("ending the task that runs; Ctrl-C again ends all\n", "#2 (Hotels) interrupted\n", "going on\n",
				"conv.create failed: the call was interrupted before it had a result\n", "No hotel then.\nroot> ")
			s.typeKeys("/list\n")
			s.until("* root ", "  idle  2 messages  Plan\n", "  #2 ", "  idle  1 message  Hotels\n", "root> ")
			s.typeKeys("/switch 2\n")
			s.until("#2> ")
			s.typeKeys("Are you there?\n")
			s.until("Here I am.\n#2> ")
			s.typeKeys("/what\n")
			s.until(`there is no command "/what"`, "/switch N", "#2> ")
			s.typeKeys(ctrlD)
			s.waitExit(0)
		})
	}
}

// A second Ctrl-C ends all that runs. A person can go on with the conversations.
func TestChatInterruptChain(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.script(t, fmt.Sprintf(chatScript, `delay = "1h"`))
	s := h.chat(t, 80, "--model", "scripted")
	s.until("root> ")
	s.typeKeys("Plan\n")
	s.until("asking #2 (Hotels)")
	s.typeKeys(ctrlC)
	s.until("#2 (Hotels) interrupted\n", "going on\n")
	s.typeKeys(ctrlC)
	s.until("ending all that runs\n", "interrupted\n", "root> ")
	s.typeKeys("And now?\n")
	s.until("Fine.\n", "root> ")
	s.typeKeys("half a line" + ctrlC) // nothing runs: it is meant for a task that has just ended
	s.until("nothing runs; a second Ctrl-C ends", "root> ")
	s.typeKeys(ctrlC)
	s.until("convtools chat --id ")
	s.waitExit(0)
	id := strings.TrimSpace(s.output[s.matched:])
	shown := h.start(t, "session", "show", id)
	if code := shown.wait(); code != 0 {
		t.Errorf("exit %d: %s", code, shown.stderr.String())
	}
}

// A second Ctrl-C also ends the conversations that wait for the one that runs.
func TestChatInterruptWaiting(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.script(t, `[[conversation]]
first = "Plan"
[[conversation.response]]
calls = [{ tool = "conv.create", arguments = { user_instruction = "Find" } }]
[[conversation]]
first = "Find"
[[conversation.response]]
calls = [{ tool = "conv.create", arguments = { user_instruction = "Ask" } }]
[[conversation.response]]
text = "Nothing."
delay = "1h"
[[conversation]]
first = "Ask"
[[conversation.response]]
text = "Nobody."
delay = "1h"
`)
	s := h.chat(t, 80, "--model", "scripted")
	s.until("root> ")
	s.typeKeys("Plan\n")
	s.until("asking #3")
	s.typeKeys(ctrlC)
	s.until("#3 interrupted\n", "#2 going on\n")
	s.typeKeys(ctrlC)
	s.until("#2 interrupted\n", "stopped: ", "root> ")
	s.typeKeys("/quit\n")
	s.waitExit(0)
}
