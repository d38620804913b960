package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/mcpserver"
	"github.com/convtools/convtools/runtime/toolset"
)

// workspace is a family that changes while a server runs.
type workspace struct {
	*tools
	lookTime time.Duration

	mu       sync.Mutex
	looks    int
	learn    string // the description of learn, which is offered where there is one
	subjects []string
}

func newWorkspace(learn string, subjects ...string) *workspace {
	return &workspace{tools: newTools(), learn: learn, subjects: subjects}
}

func (w *workspace) config() mcpserver.Config {
	family := w.family()
	family.Declared, family.Offered, family.Version = w.declared, w.offered, w.version
	family.Instructions = func(ctx context.Context, _ contract.Context) string {
		if len(w.offered(ctx)) > len(w.list()) {
			return "Learn what concerns your task."
		}
		return ""
	}
	family.Resources = []toolset.Resources{{
		Name: "knowledge", Title: "Subject of the knowledge base", Template: "kb://{topic}/{slug}",
		List: w.resources, Read: w.read, Complete: w.complete,
		Version: func(context.Context) string {
			w.mu.Lock()
			defer w.mu.Unlock()
			return fmt.Sprint(w.subjects)
		},
	}}
	return w.configWith(family, conversations())
}

func (w *workspace) version(ctx context.Context) string {
	select {
	case <-time.After(w.lookTime):
	case <-ctx.Done():
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
	return w.learn
}

func (w *workspace) declared() []contract.Tool {
	return append(w.list(), contract.Tool{Name: "learn", Summary: "Learn", Effect: "read", InputSchema: `{"type":"object"}`})
}

func (w *workspace) offered(context.Context) []contract.Tool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.learn == "" {
		return w.list()
	}
	tools := w.declared()
	tools[len(tools)-1].Description = w.learn
	return tools
}

func (w *workspace) resources(_ context.Context, cursor string, limit int) (page []toolset.Resource, next string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range w.subjects {
		switch {
		case name <= cursor:
		case len(page) == limit:
			return page, page[limit-1].Description, nil
		default:
			page = append(page, toolset.Resource{URI: "kb://notes/" + name, Name: "notes/" + name, Title: "Notes: " + name, Description: name, MIMEType: "text/markdown"})
		}
	}
	if cursor > "z" {
		return nil, "", contract.Fixable("That is no cursor.")
	}
	return page, "", nil
}

func (w *workspace) read(_ context.Context, _ contract.Context, uri string) (toolset.Contents, error) {
	switch path := strings.TrimPrefix(uri, "kb://"); {
	case strings.HasSuffix(path, "broken"):
		return toolset.Contents{}, errors.New("open /home/somebody/notes/broken.md: input/output error")
	case strings.Contains(path, "nothing"):
		return toolset.Contents{}, &toolset.NotFoundError{URI: uri, Reason: "There is no such subject."}
	default:
		return toolset.Contents{Text: "This is " + path, MIMEType: "text/markdown"}, nil
	}
}

func (w *workspace) complete(_ context.Context, variable, prefix string, given map[string]string) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if variable == "topic" {
		return []string{"notes"}, nil
	}
	var names []string
	for _, name := range w.subjects {
		if given["topic"] == "notes" && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names, nil
}

func (w *workspace) change(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do()
}

// looked returns how often it was looked for changes since it was asked last.
func (w *workspace) looked() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.looks
	w.looks = 0
	return n
}

// silent demands that the server has nothing to say for some time.
func (s *session) silent(d time.Duration) {
	s.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	select {
	case line := <-s.lines:
		s.t.Errorf("unexpected message: %.300s", line)
	default:
	}
}

const (
	toolsChanged     = "notifications/tools/list_changed"
	resourcesChanged = "notifications/resources/list_changed"
	listTools        = `{"jsonrpc":"2.0","id":"list","method":"tools/list"}` + "\n"
)

// told demands that the next message says that a list has changed.
func (s *session) told(method string) {
	s.t.Helper()
	if m := s.receive(); m.Method != method {
		s.t.Errorf("got %+v, want %s", m, method)
	}
}

// A client with a session that says nothing is told within ten seconds what can
// be learned now, once, and nothing where nothing has changed.
func TestListChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace("Topics: a", "one")
		s := begin(t, w.config())
		w.looked()
		s.silent(time.Minute) // nothing has changed
		if looks := w.looked(); looks < 5 || looks > 6 {
			t.Errorf("%d looks in a minute", looks)
		}
		for _, learn := range []string{"Topics: a, b", "", "Topics: c"} {
			w.change(func() { w.learn = learn })
			changed := time.Now()
			s.told(toolsChanged)
			if took := time.Since(changed); took > 11*time.Second {
				t.Errorf("told after %v", took)
			}
			s.silent(30 * time.Second)
			s.send(listTools)
			line := <-s.lines
			if strings.Contains(line, `"name":"learn"`) != (learn != "") || !strings.Contains(line, learn) || !strings.Contains(line, `"name":"echo"`) {
				t.Errorf("the list for %q is %s", learn, line)
			}
		}
		w.change(func() { w.subjects = []string{"one", "two"} })
		s.told(resourcesChanged)
		w.change(func() { w.subjects = []string{"one"} })
		s.told(resourcesChanged)
		s.silent(time.Minute)
		s.end()
	})
}

// Whoever uses the server is told soon, but not looked for at every request.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace("Topics: a")
		s := begin(t, w.config())
		time.Sleep(2 * time.Second)
		w.looked()
		for range 20 {
			s.send(ping)
			s.receive()
		}
		time.Sleep(2 * time.Second)
		if looks := w.looked(); looks < 1 || looks > 2 {
			t.Errorf("%d looks for 20 requests at once", looks)
		}
		time.Sleep(2 * time.Second)
		w.change(func() { w.learn = "Topics: b" })
		changed := time.Now()
		s.send(ping)
		got := map[string]bool{s.receive().Method: true}
		got[s.receive().Method] = true
		if took := time.Since(changed); !got[""] || !got[toolsChanged] || took > 2*time.Second {
			t.Errorf("after %v: %v", took, got)
		}
		s.end()
	})
}

// A client that has not said anything gets nothing, nor one of the stateless era that
// does not listen.
func TestNoNotification(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, first string }{
		{"silent", ""},
		{"stateless", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modern + `}}` + "\n"},
		{"listens to nothing", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},` + modern + `}}` + "\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorkspace("Topics: a", "one")
				s := start(t, w.config())
				synctest.Wait()
				if tc.first != "" {
					s.send(tc.first)
					s.receive()
					time.Sleep(time.Second)
					synctest.Wait()
					for len(s.lines) > 0 {
						s.receive()
					}
				}
				w.change(func() { w.learn, w.subjects = "Topics: b", nil })
				s.silent(time.Minute)
				s.end()
			})
		})
	}
}

// Clients of the stateless era listen with a request, which names what they want
// to be told.
func TestListening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace("Topics: a", "one")
		s := start(t, w.config())
		s.send(`{"jsonrpc":"2.0","id":"ears","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true},` + modern + `}}` + "\n")
		if line := <-s.lines; !strings.Contains(line, `"notifications/subscriptions/acknowledged"`) || !strings.Contains(line, `"toolsListChanged":true`) || strings.Contains(line, `"promptsListChanged":true`) {
			t.Errorf("acknowledged with %s", line)
		}
		w.change(func() { w.learn, w.subjects = "Topics: b", nil })
		if line := <-s.lines; !strings.Contains(line, toolsChanged) || !strings.Contains(line, `"io.modelcontextprotocol/subscriptionId":"ears"`) {
			t.Errorf("told with %s", line)
		}
		s.silent(time.Minute)
		s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ears"}}` + "\n")
		s.hears("ears complete answer to ears")
		w.change(func() { w.learn = "Topics: c" })
		s.silent(time.Minute)
		s.end()
	})
}

// Who listens does not keep the server from ending with its input.
func TestListeningEndsWithTheInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := start(t, newWorkspace("Topics: a").config())
		s.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modern + `}}` + "\n")
		<-s.lines
		begun := time.Now()
		_ = s.in.Close()
		for range s.lines {
		}
		if err := <-s.ended; err != nil || time.Since(begun) > time.Second {
			t.Errorf("ended after %v with %v", time.Since(begun), err)
		}
	})
}

// A look that was cut short has not seen that there is nothing left.
func TestCanceledLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace("Topics: a")
		w.lookTime = time.Hour
		s := begin(t, w.config())
		s.send(listTools)
		synctest.Wait()
		s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"list"}}` + "\n")
		s.receive()
		s.send(callLine(1, "echo", `{}`))
		if m := s.receive(); m.text() != "<echo>{}</echo>" {
			t.Errorf("answer %+v", m)
		}
		s.cancel()
		<-s.ended
	})
}

// A tool that has just come into being can be called, though nobody has looked for
// it yet, and one that is not there leads to no more than a look each.
func TestCallOfWhatIsNew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace("")
		s := begin(t, w.config())
		s.send(callLine(1, "learn", `{}`))
		if m := s.receive(); m.Error == nil {
			t.Errorf("what is not offered answers %+v", m)
		}
		w.change(func() { w.learn = "Topics: a" })
		s.send(callLine(2, "learn", `{}`))
		changed := false
		for range 2 { // in no order
			m := s.receive()
			if m.Error != nil {
				t.Errorf("what is new answers %+v", m.Error)
			}
			changed = changed || m.Method == toolsChanged
		}
		if !changed {
			t.Error("who called what is new was not told of it")
		}
		s.end()
	})
}

// learn is spoken of where it is offered, and where nothing can be told of
// changes, that is not promised.
func TestIntroduction(t *testing.T) {
	t.Parallel()
	w := newWorkspace("")
	cfg := w.config()
	handler := serve(t, cfg, mcpserver.HTTPOptions{})
	introduced := func() *mcp.InitializeResult {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: handler.URL + mcpserver.Path}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		return session.InitializeResult()
	}
	without := introduced()
	w.change(func() { w.learn = "Topics: a" })
	with := introduced()
	if strings.Contains(without.Instructions, "Learn") || !strings.Contains(with.Instructions, "Learn what concerns your task") {
		t.Errorf("without learn:\n%s\n\nwith:\n%s", without.Instructions, with.Instructions)
	}
	if n := utf8.RuneCountInString(with.Instructions); n > 2048 {
		t.Errorf("the instructions have %d characters; clients cut them at 2048", n)
	}
	if !with.Capabilities.Tools.ListChanged || !with.Capabilities.Resources.ListChanged {
		t.Errorf("capabilities %+v", with.Capabilities)
	}
	if _, body := post(t, handler.URL, initialize, nil); strings.Contains(body, "listChanged") {
		t.Errorf("sessions over HTTP are promised what they cannot get: %s", body)
	}
	s := start(t, cfg)
	s.send(initialize)
	if line := <-s.lines; !strings.Contains(line, `"tools":{"listChanged":true}`) || !strings.Contains(line, `"resources":{"listChanged":true}`) || !strings.Contains(line, `"prompts":{}`) {
		t.Errorf("capabilities on stdio: %s", line)
	}
	s.end()
}
