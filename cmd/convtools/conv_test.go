package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// gatedModel is the program of a model that answers when the test wants it to. It sends its standard input to the
// address in its argument, and prints what comes back.
func gatedModel() {
	conn, err := net.Dial("tcp", os.Args[1])
	if err == nil {
		_, err = io.Copy(conn, os.Stdin)
	}
	if err == nil {
		err = conn.(*net.TCPConn).CloseWrite()
	}
	if err == nil {
		_, err = io.Copy(os.Stdout, conn)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// gate receives the questions to gated models.
type gate struct {
	t        *testing.T
	listener net.Listener
}

func newGate(t *testing.T) *gate {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	_ = listener.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute)) // a test that would hang fails
	return &gate{t: t, listener: listener}
}

// question is what a gated model was asked, and the connection on which it waits for the answer.
type question struct {
	prompt string
	conn   net.Conn
}

// next waits until a model is asked, and returns the question.
func (g *gate) next() question {
	g.t.Helper()
	conn, err := g.listener.Accept()
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = conn.Close() })
	prompt, err := io.ReadAll(conn)
	if err != nil {
		g.t.Fatal(err)
	}
	return question{strings.TrimSpace(string(prompt)), conn}
}

// answerNext answers the next question, in the background.
func (g *gate) answerNext(text string) {
	go func() {
		conn, err := g.listener.Accept()
		if err != nil {
			return // the test is over
		}
		_, _ = io.ReadAll(conn)
		_, _ = io.WriteString(conn, text)
		_ = conn.Close()
	}()
}

func (q question) answer(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(q.conn, text); err != nil {
		t.Fatal(err)
	}
	if err := q.conn.Close(); err != nil {
		t.Fatal(err)
	}
}

// household is a home directory where a gated model is configured, and a project.
type household struct {
	gate          *gate
	home, project string
}

func newHousehold(t *testing.T) *household {
	t.Helper()
	h := &household{gate: newGate(t), home: t.TempDir(), project: t.TempDir()}
	dir := filepath.Join(h.home, "config", "convtools")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("[model.gated]\napi = \"command\"\ncommand = [\"gated-model\", %q]\n", h.gate.listener.Addr())
	if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *household) env() []string {
	config := filepath.Join(h.home, "config")
	return append(os.Environ(), "HOME="+h.home, "USERPROFILE="+h.home, "XDG_CONFIG_HOME="+config, "AppData="+config, "XDG_DATA_HOME="+filepath.Join(h.home, "data"), "JP_USER_DATA_DIR=")
}

// convClient is a client of a server that it has started.
type convClient struct {
	*mcp.ClientSession
	cmd *exec.Cmd
}

// connect starts a server with the given transport, stdio or http, and connects a client with the given name to it.
func (h *household) connect(t *testing.T, transport, name string) *convClient {
	t.Helper()
	args := []string{"mcp"}
	if transport == "http" {
		args = append(args, "--http", "127.0.0.1:0")
	}
	cmd := exec.Command("convtools", args...) // the test binary, see TestMain
	cmd.Dir, cmd.Env = h.project, h.env()
	var clientTransport mcp.Transport = &mcp.CommandTransport{Command: cmd}
	if transport == "http" {
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		})
		line, err := bufio.NewReader(stderr).ReadString('\n')
		_, address, ok := strings.Cut(strings.TrimSpace(line), "MCP at ")
		if err != nil || !ok {
			t.Fatalf("the server says %q: %v", line, err)
		}
		go func() { _, _ = io.Copy(io.Discard, stderr) }()
		clientTransport = &mcp.StreamableClientTransport{Endpoint: address}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil).Connect(t.Context(), clientTransport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // a server that was killed has no answer to that
	return &convClient{session, cmd}
}

// convAnswer has the fields of the answers of all conv tools.
type convAnswer struct {
	OK             *bool  `json:"ok"`
	Code           string `json:"code"`
	Reason         string `json:"reason"`
	ConversationID string `json:"conversation_id"`
	First          string `json:"first_user_message"`
	Message        string `json:"last_assistant_message"`
	Status         string `json:"status"`
	TaskID         string `json:"task_id"`
	Entries        []struct {
		Role, Text, From string
	} `json:"entries"`
	Conversations []struct {
		ID       string `json:"id"`
		State    string `json:"state"`
		Messages int    `json:"message_count"`
		Title    string `json:"title"`
		Parent   string `json:"parent_id"`
		Root     bool   `json:"is_root"`
	} `json:"conversations"`
}

// call calls a conv tool. It returns an error if the call is not answered, such as after ctx is canceled.
func (c *convClient) call(t *testing.T, ctx context.Context, tool string, arguments map[string]any) (convAnswer, error) {
	t.Helper()
	result, err := c.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return convAnswer{}, err
	}
	var answer convAnswer
	text := result.Content[0].(*mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%s: %v: %s", tool, err, text)
	}
	if failed := answer.OK != nil && !*answer.OK; failed != result.IsError {
		t.Errorf("%s: isError is %v: %s", tool, result.IsError, text)
	}
	return answer, nil
}

// mustCall is call for a call that has to be answered.
func (c *convClient) mustCall(t *testing.T, tool string, arguments map[string]any) convAnswer {
	t.Helper()
	answer, err := c.call(t, t.Context(), tool, arguments)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return answer
}

type object = map[string]any

// An outside agent begins conversations, goes on with them, reads and destroys them, over stdio and over HTTP. After a
// restart the same agent sees them again, and no other agent does.
func TestConvForOutsideAgents(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			c := h.connect(t, transport, "agent")
			list, err := c.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				if strings.HasPrefix(tool.Name, "conv.") {
					names = append(names, tool.Name)
				}
			}
			if want := []string{"conv.create", "conv.destroy", "conv.history", "conv.list", "conv.send", "conv.wait"}; !slices.Equal(names, want) {
				t.Errorf("tools %v", names)
			}

			h.gate.answerNext("hello too")
			created := c.mustCall(t, "conv.create", object{"user_instruction": "hello", "title": "Greeting"})
			if created.Message != "hello too" || created.First != "hello" || created.Status != "completed" || created.OK != nil {
				t.Errorf("create: %+v", created)
			}
			id := created.ConversationID
			h.gate.answerNext("fine")
			if sent := c.mustCall(t, "conv_send", object{"conversation_id": id, "text": "how are you?"}); sent.Message != "fine" || sent.ConversationID != id {
				t.Errorf("send by the flat name: %+v", sent)
			}
			listed := c.mustCall(t, "conv.list", nil).Conversations
			if len(listed) != 2 || !listed[0].Root || listed[0].State != "idle" || listed[1].ID != id || listed[1].Messages != 4 ||
				listed[1].Title != "Greeting" || listed[1].Parent != listed[0].ID {
				t.Errorf("list: %+v", listed)
			}
			history := c.mustCall(t, "conv.history", object{"conversation_id": id, "limit": 2}).Entries
			if len(history) != 2 || history[0].Text != "how are you?" || history[0].From != listed[0].ID || history[1].Role != "assistant" || history[1].Text != "fine" {
				t.Errorf("history: %+v", history)
			}
			if refused := c.mustCall(t, "conv.create", object{}); refused.Code != "invalid_arguments" {
				t.Errorf("create without an input: %+v", refused)
			}
			if refused := c.mustCall(t, "conv.destroy", object{"conversation_id": listed[0].ID}); refused.Code != "root" {
				t.Errorf("destroy of the root: %+v", refused)
			}
			if err := c.Close(); err != nil && transport == "stdio" {
				t.Errorf("closing: %v", err)
			}

			again := h.connect(t, transport, "agent")
			if got := again.mustCall(t, "conv.list", nil).Conversations; len(got) != 2 || got[1].ID != id {
				t.Errorf("after a restart: %+v", got)
			}
			if destroyed := again.mustCall(t, "conv.destroy", object{"conversation_id": strings.ToUpper(id)}); destroyed.OK == nil || !*destroyed.OK {
				t.Errorf("destroy: %+v", destroyed)
			}
			if gone := again.mustCall(t, "conv.send", object{"conversation_id": id, "text": "there?"}); gone.Code != "destroyed" || gone.Reason != "conversation not found" {
				t.Errorf("send to a destroyed one: %+v", gone)
			}
			other := h.connect(t, transport, "another")
			if got := other.mustCall(t, "conv.list", nil).Conversations; len(got) != 1 {
				t.Errorf("another agent sees %+v", got)
			}
		})
	}
}

// A call that takes longer than the client waits is handed off: it goes on, and conv.wait returns its answer. A client
// can wait for it several times. A call that is made meanwhile has its turn after it.
func TestConvHandOff(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			c := h.connect(t, transport, "agent")
			running := c.mustCall(t, "conv.create", object{"user_instruction": "long", "wait_ms": 0})
			if running.Status != "running" || running.ConversationID == "" || running.TaskID == "" || running.Message != "" {
				t.Fatalf("create: %+v", running)
			}
			first := h.gate.next()
			queued := c.mustCall(t, "conv.create", object{"user_instruction": "behind", "wait_ms": 0})
			if queued.Status != "running" || queued.ConversationID == running.ConversationID {
				t.Errorf("a second call: %+v", queued)
			}
			if still := c.mustCall(t, "conv.wait", object{"task_id": running.TaskID, "wait_ms": 0}); still.Status != "running" {
				t.Errorf("wait: %+v", still)
			}
			listed := c.mustCall(t, "conv.list", nil).Conversations
			if len(listed) != 2 || listed[0].State != "suspended" || listed[1].State != "running" {
				t.Errorf("list: %+v", listed)
			}
			first.answer(t, "at last")
			if done := c.mustCall(t, "conv.wait", object{"task_id": running.TaskID}); done.Status != "completed" || done.Message != "at last" || done.ConversationID != running.ConversationID {
				t.Errorf("wait: %+v", done)
			}
			second := h.gate.next()
			if second.prompt != "behind" {
				t.Errorf("the second asks %q", second.prompt)
			}
			second.answer(t, "too")
			if done := c.mustCall(t, "conv.wait", object{"task_id": queued.TaskID}); done.Message != "too" {
				t.Errorf("wait for the second: %+v", done)
			}
			if again := c.mustCall(t, "conv.wait", object{"task_id": running.TaskID}); again.Message != "at last" {
				t.Errorf("an answer is not kept: %+v", again)
			}
			if none := c.mustCall(t, "conv.wait", object{"task_id": "none"}); none.Code != "not_found" {
				t.Errorf("wait for nothing: %+v", none)
			}
		})
	}
}

// A call that the client cancels interrupts its chain of conversations: the model is ended, and every conversation is
// idle and can go on.
func TestConvCancel(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			c := h.connect(t, transport, "agent")
			ctx, cancel := context.WithCancel(t.Context())
			canceled := make(chan error, 1)
			go func() {
				_, err := c.call(t, ctx, "conv.create", object{"user_instruction": "never mind"})
				canceled <- err
			}()
			model := h.gate.next()
			queued := c.mustCall(t, "conv.create", object{"user_instruction": "behind", "wait_ms": 0})
			cancel()
			if err := <-canceled; !errors.Is(err, context.Canceled) {
				t.Errorf("the call: %v", err)
			}
			if next := h.gate.next(); next.prompt != "behind" {
				t.Errorf("behind it %q is asked", next.prompt)
			} else {
				next.answer(t, "my turn")
			}
			if n, err := model.conn.Read(make([]byte, 1)); n != 0 || err == nil {
				t.Errorf("the model is still there: %d bytes, %v", n, err)
			}
			if done := c.mustCall(t, "conv.wait", object{"task_id": queued.TaskID}); done.Message != "my turn" {
				t.Errorf("the call behind it: %+v", done)
			}
			listed := c.mustCall(t, "conv.list", nil).Conversations
			for _, conversation := range listed {
				if conversation.State != "idle" {
					t.Errorf("list: %+v", listed)
				}
			}
			h.gate.answerNext("yes")
			if sent := c.mustCall(t, "conv.send", object{"conversation_id": listed[1].ID, "text": "again?"}); sent.Message != "yes" {
				t.Errorf("send to the one that was interrupted: %+v", sent)
			}
		})
	}
}

// TestConvDestroyWhatRuns destroys a running conversation. The engine cancels the request to the model, and conv.wait
// reports the conversation as destroyed.
func TestConvDestroyWhatRuns(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	c := h.connect(t, "stdio", "agent")
	running := c.mustCall(t, "conv.create", object{"user_instruction": "long", "wait_ms": 0})
	model := h.gate.next()
	if destroyed := c.mustCall(t, "conv.destroy", object{"conversation_id": running.ConversationID}); destroyed.OK == nil || !*destroyed.OK {
		t.Errorf("destroy: %+v", destroyed)
	}
	if n, err := model.conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("the model is still there: %d bytes, %v", n, err)
	}
	if done := c.mustCall(t, "conv.wait", object{"task_id": running.TaskID}); done.Status != "destroyed" || done.Code != "destroyed" {
		t.Errorf("wait: %+v", done)
	}
	if listed := c.mustCall(t, "conv.list", nil).Conversations; len(listed) != 1 || listed[0].State != "idle" {
		t.Errorf("list: %+v", listed)
	}
}

// A call that was handed off before the server is killed goes on in the next server, and is answered there.
func TestConvSurvivesAKill(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	c := h.connect(t, "stdio", "agent")
	running := c.mustCall(t, "conv.create", object{"user_instruction": "long", "wait_ms": 0})
	h.gate.next()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Close() // waits for it to be gone
	again := h.connect(t, "stdio", "agent")
	done := make(chan convAnswer, 1)
	go func() {
		answer, err := again.call(t, t.Context(), "conv.wait", object{"task_id": running.TaskID})
		if err != nil {
			t.Error(err)
		}
		done <- answer
	}()
	h.gate.next().answer(t, "after all")
	if answer := <-done; answer.Message != "after all" || answer.ConversationID != running.ConversationID || answer.Status != "completed" {
		t.Errorf("wait: %+v", answer)
	}
	listed := again.mustCall(t, "conv.list", nil).Conversations
	if len(listed) != 2 || listed[1].State != "idle" || listed[1].Messages != 2 {
		t.Errorf("list: %+v", listed)
	}
}

// Two servers of one agent share its session. While one works in the session, the other can only read it, and says why
// it refuses a call that would work in it.
func TestConvTwoServers(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	one, other := h.connect(t, "stdio", "agent"), h.connect(t, "stdio", "agent")
	running := one.mustCall(t, "conv.create", object{"user_instruction": "long", "wait_ms": 0})
	model := h.gate.next()
	if busy := other.mustCall(t, "conv.create", object{"user_instruction": "mine", "wait_ms": 0}); busy.Code != "unavailable" || !strings.Contains(busy.Reason, "another process") {
		t.Errorf("create: %+v", busy)
	}
	if listed := other.mustCall(t, "conv.list", nil).Conversations; len(listed) != 2 || listed[1].State != "running" {
		t.Errorf("list: %+v", listed)
	}
	model.answer(t, "done")
	one.mustCall(t, "conv.wait", object{"task_id": running.TaskID})
	h.gate.answerNext("now")
	if sent := other.mustCall(t, "conv.send", object{"conversation_id": running.ConversationID, "text": "and?"}); sent.Message != "now" {
		t.Errorf("send: %+v", sent)
	}
}

// Without a model the conv tools are not offered, and the answer to a call of one says why.
func TestConvWithoutAModel(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	if err := os.Remove(filepath.Join(h.home, "config", "convtools", "convtools.toml")); err != nil {
		t.Fatal(err)
	}
	c := h.connect(t, "stdio", "agent")
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if strings.HasPrefix(tool.Name, "conv.") {
			t.Errorf("%s is offered", tool.Name)
		}
	}
	cmd := exec.Command("convtools", "call", "conv.list")
	cmd.Dir, cmd.Env = h.project, h.env()
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), `"code":"unavailable","reason":"no conversation can be held here: no model is configured; add a table [model.NAME] to `) {
		t.Errorf("%v: %s", err, out)
	}
}

// A call from a shell or from JP waits until the answer is there, because no process is left after it.
func TestConvFromAShell(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	run := func(args ...string) string {
		cmd := exec.Command("convtools", args...)
		cmd.Dir, cmd.Env = h.project, h.env()
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%v: %v", args, err)
		}
		return string(out)
	}
	h.gate.answerNext("hello")
	if out := run("call", "conv.create", "user_instruction=hi"); !strings.Contains(out, `"last_assistant_message":"hello","status":"completed"}`) {
		t.Errorf("call: %s", out)
	}
	h.gate.answerNext("hello JP")
	root, err := json.Marshal(object{"root": h.project, "conversation_id": "jp-c17737387251"})
	if err != nil {
		t.Fatal(err)
	}
	if out := run("jp-tool", string(root), `{"name":"conv_create","arguments":{"user_instruction":"hi"}}`); !strings.Contains(out, `\"last_assistant_message\":\"hello JP\"`) || !strings.Contains(out, `"type":"success"`) {
		t.Errorf("jp-tool: %s", out)
	}
	if out := run("call", "conv.list"); strings.Count(out, `"id":`) != 2 || strings.Count(out, `"state":"idle"`) != 2 {
		t.Errorf("the conversation of JP is not by itself: %s", out)
	}
}
