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
	said     string // what is on it
	read     int    // up to where until has looked
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

// more reads what was printed since, and reports whether there was anything.
func (s *screen) more() bool {
	chunk := make([]byte, 4096)
	n, _ := s.terminal.Read(chunk) // fails once nobody has the other end
	s.said += strings.ReplaceAll(string(chunk[:n]), "\r\n", "\n")
	return n > 0
}

// until waits for texts to be printed, one after the other.
func (s *screen) until(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		for !strings.Contains(s.said[s.read:], text) {
			if !s.more() {
				s.t.Fatalf("%q is not printed behind %q, but:\n%s", text, s.said[:s.read], s.said[s.read:])
			}
		}
		s.read += strings.Index(s.said[s.read:], text) + len(text)
	}
}

func (s *screen) types(keys string) {
	s.t.Helper()
	if _, err := s.terminal.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// end waits for the end, and checks the exit code.
func (s *screen) end(want int) {
	s.t.Helper()
	for s.more() {
	}
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || s.cmd.ProcessState.ExitCode() != want {
		s.t.Errorf("it ended with %v, want %d:\n%s", err, want, s.said)
	}
	if strings.Contains(s.said, "\x1b") {
		s.t.Errorf("it drives the terminal: %q", s.said)
	}
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
)

// What a model writes is shown as it comes, what it cannot be shown as, and then it is the person's turn again.
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
	s.types("How long is the Rhine?\n")
	s.until("The Rhine is ")
	close(shown)
	s.until("1233 \u241b[31mkm long.\nroot> ")
	s.types(ctrlD)
	s.until("To go on: convtools chat --id ", "\n")
	s.end(0)
}

// JSON does not drive a terminal either, whatever a model and a person say, and is the same to a program.
func TestJSONOnTerminal(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.script(t, `[[conversation]]
[[conversation.response]]
text = "red: \u009b31m, \u007f, \u202e"
`)
	const said, asked = `red: \u009b31m, \u007f, \u202e`, "Go.\u009b31m\x7f\u202e"
	query := h.onScreen(t, 80, "query", "--json", "--model", "scripted", asked)
	query.end(0)
	root := regexp.MustCompile(`"session_id":"([^"]+)"`).FindStringSubmatch(query.said)
	if root == nil {
		t.Fatalf("there is no id of the session in %q", query.said)
	}
	events := h.onScreen(t, 80, "session", "events", root[1])
	events.end(0)
	if events.said != query.said || !strings.Contains(events.said, `"type":"agent_message","origin":"model","text":"`+said) {
		t.Errorf("session events: %q", events.said)
	}
	list := h.onScreen(t, 80, "session", "ls", "--json")
	list.end(0)
	for _, s := range []string{query.said, events.said, list.said} {
		if strings.ContainsAny(s, "\u009b\x7f\u202e") || !strings.Contains(s, `Go.\u009b31m\u007f\u202e`) {
			t.Errorf("it drives the terminal: %q", s)
		}
	}
}

// At a terminal an answer is followed by the command that goes on.
func TestQueryOnATerminal(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.script(t, "[[conversation]]\nfirst = \"Plan\"\n[[conversation.response]]\ntext = \"Done.\"\n[[conversation.response]]\ntext = \"More.\"\n")
	s := h.onScreen(t, 80, "query", "--model", "scripted", "Plan")
	s.until("Done.\nTo go on: convtools query --id ", " TEXT\n")
	s.end(0)
	id := regexp.MustCompile(`--id (\S+) TEXT`).FindStringSubmatch(s.said)[1]
	s = h.onScreen(t, 80, "query", "--id", id, "And?")
	s.until("More.\nTo go on: convtools query --id " + id + " TEXT\n")
	s.end(0)
}

// chatScript has a root that asks a conversation, which never answers, and is told of it.
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

// A first Ctrl-C ends the task that runs, and whoever waits for it goes on; then there are two conversations to talk in.
func TestChatInterruptTask(t *testing.T) {
	t.Parallel()
	for _, columns := range []uint16{80, 7, 0} { // what does not fit on a line is wrapped, and not lost
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			h.script(t, fmt.Sprintf(chatScript, ""))
			s := h.chat(t, columns, "--model", "scripted")
			s.until("root> ")
			s.types("Plan\n")
			s.until("asking #2 (Hotels): Find one\n")
			s.types(ctrlC)
			s.until("ending the task that runs; Ctrl-C again ends all\n", "#2 (Hotels) interrupted\n", "going on\n",
				"conv.create failed: the call was interrupted before it had a result\n", "No hotel then.\nroot> ")
			s.types("/list\n")
			s.until("* root ", "  idle  2 messages  Plan\n", "  #2 ", "  idle  1 message  Hotels\n", "root> ")
			s.types("/switch 2\n")
			s.until("#2> ")
			s.types("Are you there?\n")
			s.until("Here I am.\n#2> ")
			s.types("/what\n")
			s.until(`there is no command "/what"`, "/switch N", "#2> ")
			s.types(ctrlD)
			s.end(0)
		})
	}
}

// A second Ctrl-C ends all that runs, and the conversations stay fit to go on with.
func TestChatInterruptChain(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.script(t, fmt.Sprintf(chatScript, `delay = "1h"`))
	s := h.chat(t, 80, "--model", "scripted")
	s.until("root> ")
	s.types("Plan\n")
	s.until("asking #2 (Hotels)")
	s.types(ctrlC)
	s.until("#2 (Hotels) interrupted\n", "going on\n")
	s.types(ctrlC)
	s.until("ending all that runs\n", "interrupted\n", "root> ")
	s.types("And now?\n")
	s.until("Fine.\n", "root> ")
	s.types("half a line" + ctrlC) // nothing runs: it is meant for a task that has just ended
	s.until("nothing runs; a second Ctrl-C ends", "root> ")
	s.types(ctrlC)
	s.until("convtools chat --id ")
	s.end(0)
	id := strings.TrimSpace(s.said[s.read:])
	shown := h.start(t, "session", "show", id)
	if code := shown.wait(); code != 0 {
		t.Errorf("exit %d: %s", code, shown.stderr.String())
	}
}

// The second one also ends what waits for the conversation that runs.
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
	s.types("Plan\n")
	s.until("asking #3")
	s.types(ctrlC)
	s.until("#3 interrupted\n", "#2 going on\n")
	s.types(ctrlC)
	s.until("#2 interrupted\n", "stopped: ", "root> ")
	s.types("/quit\n")
	s.end(0)
}
