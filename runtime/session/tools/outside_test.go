package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/mcpserver"
	"github.com/convtools/convtools/runtime/model/modeltest"
	"github.com/convtools/convtools/runtime/session/tools"
	"github.com/convtools/convtools/runtime/toolset"
)

// lab is a machine on which a model is configured, which answers when the test has it do so.
type lab struct {
	t             *testing.T
	home, project string
	url           string      // of the model
	asked         chan string // what the model was asked last
	answers       chan string
	offered       []string // the names of the tools of the last request
	seconds       atomic.Int64
}

// now is a clock that goes on by a second each time that somebody looks.
func (l *lab) now() time.Time {
	return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(l.seconds.Add(1)) * time.Second)
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, home: t.TempDir(), project: t.TempDir(), asked: make(chan string, 10), answers: make(chan string, 10)}
	model := &modeltest.Server{Answer: func(e modeltest.Exchange) modeltest.Answer {
		last := e.Last // messages of the user that follow each other are one
		l.offered = nil
		for _, tool := range e.Tools {
			l.offered = append(l.offered, tool.Name)
		}
		l.asked <- last[strings.LastIndexByte(last, '\n')+1:]
		return modeltest.Answer{Pieces: []string{<-l.answers}}
	}}
	l.url = model.Start()
	t.Cleanup(func() {
		close(l.answers) // for those that nobody waits for
		model.Close()
	})
	l.configure("chat", "")
	return l
}

// configure writes the configuration: the model, with an interface, and more.
func (l *lab) configure(api, more string) {
	l.t.Helper()
	dir := filepath.Join(l.home, "config", "convtools")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		l.t.Fatal(err)
	}
	config := fmt.Sprintf("[model.gated]\napi = %q\nbase_url = %q\nmodel = \"gated\"\nkey_env = \"MODEL_KEY\"\n%s\n", api, l.url, more)
	if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte(config), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// connect starts a server and returns its client. stop ends both.
func (l *lab) connect(transport string, progress func(*mcp.ProgressNotificationParams)) (client *mcp.ClientSession, stop func()) {
	l.t.Helper()
	config := filepath.Join(l.home, "config")
	env := map[string]string{
		"HOME": l.home, "USERPROFILE": l.home, "XDG_CONFIG_HOME": config, "AppData": config,
		"XDG_DATA_HOME": filepath.Join(l.home, "data"), "MODEL_KEY": modeltest.Key,
	}
	family := tools.Family(&toolset.Host{Getenv: func(name string) string { return env[name] }, Now: l.now, Dir: l.project, Name: "test"})
	registry, err := toolset.NewRegistry(family)
	if err != nil {
		l.t.Fatal(err)
	}
	server := mcpserver.New(mcpserver.Config{Name: "test", Tools: registry, ProgressInterval: time.Millisecond})
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.t.Context()))
	var with mcp.Transport
	var serving sync.WaitGroup
	ends := func() {}
	if transport == "http" {
		listening := httptest.NewServer(server.Handler(mcpserver.HTTPOptions{}))
		ends = listening.Close
		with = &mcp.StreamableClientTransport{Endpoint: listening.URL}
	} else {
		serverIn, clientOut := io.Pipe()
		clientIn, serverOut := io.Pipe()
		serving.Go(func() {
			_ = server.ServeStdio(ctx, serverIn, serverOut) // it ends with the test
			_ = serverOut.Close()
		})
		with = &mcp.IOTransport{Reader: clientIn, Writer: clientOut}
	}
	o := &mcp.ClientOptions{}
	if progress != nil {
		o.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress(r.Params) }
	}
	client, err = mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, o).Connect(ctx, with, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return client, func() {
		_ = client.Close() // a server over HTTP may have ended the stream before
		cancel()
		serving.Wait()
		ends()
		registry.Close()
	}
}

// answer is what the conv tools answer.
type answer struct {
	Code           string `json:"code"`
	Reason         string `json:"reason"`
	ConversationID string `json:"conversation_id"`
	Message        string `json:"last_assistant_message"`
	Status         string `json:"status"`
	TaskID         string `json:"task_id"`
	Conversations  []struct {
		ID       string `json:"id"`
		State    string `json:"state"`
		Messages int    `json:"message_count"`
	} `json:"conversations"`
}

func (l *lab) call(ctx context.Context, client *mcp.ClientSession, token, tool string, arguments map[string]any) (a answer, err error) {
	p := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	if token != "" {
		p.SetProgressToken(token)
	}
	result, err := client.CallTool(ctx, p)
	if err != nil {
		return a, err
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		l.t.Errorf("%s: %v: %s", tool, err, text)
	}
	return a, nil
}

func (l *lab) must(client *mcp.ClientSession, tool string, arguments map[string]any) answer {
	l.t.Helper()
	a, err := l.call(l.t.Context(), client, "", tool, arguments)
	if err != nil {
		l.t.Fatalf("%s: %v", tool, err)
	}
	return a
}

// idle reports whether nothing runs and nothing waits in the session.
func (l *lab) idle(client *mcp.ClientSession) bool {
	l.t.Helper()
	for _, c := range l.must(client, "conv.list", nil).Conversations {
		if c.State != "idle" {
			return false
		}
	}
	return true
}

// calling is a call that is being made.
type calling struct {
	answer
	err error
}

func (l *lab) begin(ctx context.Context, client *mcp.ClientSession, token, tool string, arguments map[string]any) <-chan calling {
	done := make(chan calling, 1)
	go func() {
		a, err := l.call(ctx, client, token, tool, arguments)
		done <- calling{a, err}
	}()
	return done
}

// While the target of a call runs, the client hears of its progress, in order and of this call alone; a call that is
// canceled then is interrupted with all that it has begun, and the session goes on.
func TestProgressAndCancel(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			heard := make(chan *mcp.ProgressNotificationParams, 10_000)
			client, stop := l.connect(transport, func(p *mcp.ProgressNotificationParams) { heard <- p })
			defer stop()

			done := l.begin(t.Context(), client, "first", "conv.create", map[string]any{"user_instruction": "hello"})
			<-l.asked
			last := 0.0
			for range 3 {
				p := <-heard
				if p.ProgressToken != "first" || p.Progress <= last || p.Message == "" {
					t.Errorf("progress %+v after %v", p, last)
				}
				last = p.Progress
			}
			l.answers <- "hello too"
			created := <-done
			if created.err != nil || created.Message != "hello too" || created.Status != "completed" {
				t.Fatalf("%+v", created)
			}

			ctx, cancel := context.WithCancel(t.Context())
			done = l.begin(ctx, client, "second", "conv.send", map[string]any{"conversation_id": created.ConversationID, "text": "never mind"})
			<-l.asked
			for p := range heard {
				if p.ProgressToken == "second" {
					break
				}
			}
			cancel()
			if canceled := <-done; !errors.Is(canceled.err, context.Canceled) {
				t.Errorf("%+v", canceled)
			}
			for !l.idle(client) { // the server has heard of it
			}
			l.answers <- "too late"
			done = l.begin(t.Context(), client, "", "conv.send", map[string]any{"conversation_id": created.ConversationID, "text": "again"})
			if asked := <-l.asked; asked != "again" {
				t.Errorf("the model is asked %q", asked)
			}
			l.answers <- "here"
			if sent := <-done; sent.Message != "here" {
				t.Errorf("%+v", sent)
			}
			if list := l.must(client, "conv.list", nil).Conversations; len(list) != 2 || list[1].Messages != 5 || !l.idle(client) {
				t.Errorf("%+v", list)
			}
			for len(heard) > 0 {
				if p := <-heard; p.ProgressToken != "first" && p.ProgressToken != "second" {
					t.Errorf("progress of nobody: %+v", p)
				}
			}
		})
	}
}

// A call that is handed off is answered by conv.wait, also where the server has ended and another one goes on, and the
// answer is in the log once.
func TestHandOffOverARestart(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "http"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			client, stop := l.connect(transport, nil)
			running := l.must(client, "conv.create", map[string]any{"user_instruction": "long", "wait_ms": 1})
			if running.Status != "running" || running.TaskID == "" || running.ConversationID == "" || running.Message != "" {
				t.Fatalf("%+v", running)
			}
			<-l.asked
			stop()
			l.answers <- "for nobody" // the model that the first server had asked

			again, stop := l.connect(transport, nil)
			defer stop()
			done := l.begin(t.Context(), again, "", "conv.wait", map[string]any{"task_id": running.TaskID})
			<-l.asked
			l.answers <- "at last"
			waited := <-done
			if waited.err != nil || waited.Status != "completed" || waited.Message != "at last" || waited.ConversationID != running.ConversationID {
				t.Errorf("%+v", waited)
			}
			if kept := l.must(again, "conv.wait", map[string]any{"task_id": running.TaskID, "wait_ms": 0}); kept.Message != "at last" {
				t.Errorf("the answer is not kept: %+v", kept)
			}
			if list := l.must(again, "conv.list", nil).Conversations; len(list) != 2 || list[1].Messages != 2 || !l.idle(again) {
				t.Errorf("%+v", list)
			}
		})
	}
}

// answered is a call that the model answers.
func (l *lab) answered(client *mcp.ClientSession, tool string, arguments map[string]any) answer {
	l.t.Helper()
	done := l.begin(l.t.Context(), client, "", tool, arguments)
	for {
		select {
		case <-l.asked:
			l.answers <- "yes"
		case made := <-done:
			if made.err != nil {
				l.t.Fatalf("%s: %v", tool, made.err)
			}
			return made.answer
		}
	}
}

// Where the model that is configured cannot search the web any more, a conversation that could is not offered it, and
// none is given it: the call is refused before anything happens.
func TestWebSearchIsTakenAway(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.configure("responses", "web_search = true")
	create := map[string]any{"user_instruction": "look", "internal_tools": map[string]any{"web_search_request": true}}
	client, stop := l.connect("stdio", nil)
	created := l.answered(client, "conv.create", create)
	if created.Status != "completed" || !slices.Contains(l.offered, "web_search") {
		t.Errorf("%+v, offered %v", created, l.offered)
	}
	stop()
	l.configure("responses", "")
	client, stop = l.connect("stdio", nil)
	defer stop()
	if refused := l.answered(client, "conv.create", create); refused.Code != "unavailable" {
		t.Errorf("%+v", refused)
	}
	if list := l.must(client, "conv.list", nil).Conversations; len(list) != 2 || list[0].Messages != 0 || list[1].Messages != 2 {
		t.Errorf("something has happened: %+v", list)
	}
	sent := l.answered(client, "conv.send", map[string]any{"conversation_id": created.ConversationID, "text": "again"})
	if sent.Status != "completed" || slices.Contains(l.offered, "web_search") {
		t.Errorf("%+v, offered %v", sent, l.offered)
	}
}

// What programs have left behind makes room for new conversations, the one idle longest first; what this one has begun
// does not.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.configure("chat", "[session]\nmax_conversations = 3")
	create := func(client *mcp.ClientSession, text string) answer {
		t.Helper()
		return l.answered(client, "conv.create", map[string]any{"user_instruction": text})
	}
	send := func(client *mcp.ClientSession, to answer) answer {
		t.Helper()
		return l.answered(client, "conv.send", map[string]any{"conversation_id": to.ConversationID, "text": "more"})
	}
	client, stop := l.connect("stdio", nil)
	first, second := create(client, "one"), create(client, "two")
	if full := create(client, "three"); full.Code != "conversations_exceeded" || !strings.Contains(full.Reason, "conv.destroy") {
		t.Errorf("a third one of the same program: %+v", full)
	}
	send(client, first)
	stop()

	client, stop = l.connect("stdio", nil)
	defer stop()
	third := create(client, "three")
	if third.Status != "completed" {
		t.Fatalf("a third one after a restart: %+v", third)
	}
	list := l.must(client, "conv.list", nil).Conversations
	if len(list) != 3 || list[1].ID != first.ConversationID || list[2].ID != third.ConversationID {
		t.Errorf("there are %+v", list)
	}
	if gone := send(client, second); gone.Code != "destroyed" || gone.Reason != "conversation not found" {
		t.Errorf("the one idle longest: %+v", gone)
	}
	if used := send(client, first); used.Status != "completed" {
		t.Errorf("the other: %+v", used)
	}
	if full := create(client, "four"); full.Code != "conversations_exceeded" {
		t.Errorf("a fourth one where all are in use: %+v", full)
	}
}

// A conversation that somebody has asked meanwhile stays, though it has been idle longest.
func TestLeftOpen(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.configure("chat", "[session]\nmax_conversations = 3")
	client, stop := l.connect("stdio", nil)
	first := l.answered(client, "conv.create", map[string]any{"user_instruction": "one"})
	second := l.answered(client, "conv.create", map[string]any{"user_instruction": "two"})
	stop()
	client, stop = l.connect("stdio", nil)
	defer stop()
	running := l.must(client, "conv.send", map[string]any{"conversation_id": second.ConversationID, "text": "long", "wait_ms": 0})
	<-l.asked
	queued := l.must(client, "conv.send", map[string]any{"conversation_id": first.ConversationID, "text": "behind", "wait_ms": 0})
	if full := l.must(client, "conv.create", map[string]any{"user_instruction": "three", "wait_ms": 0}); full.Status != "running" {
		t.Errorf("%+v", full)
	}
	l.answers <- "yes"
	for _, task := range []answer{running, queued} {
		if got := l.answered(client, "conv.wait", map[string]any{"task_id": task.TaskID}); got.Status != "completed" || got.Message != "yes" {
			t.Errorf("%+v", got)
		}
	}
	if list := l.must(client, "conv.list", nil).Conversations; len(list) != 3 {
		t.Errorf("there are %+v", list)
	}
}
