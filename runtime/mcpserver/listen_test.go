package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/convtools/convtools/runtime/mcpserver"
)

// listenMessage is a request to be told of changes.
func listenMessage(id, kinds string) string {
	return `{"jsonrpc":"2.0","id":"` + id + `","method":"subscriptions/listen","params":{"notifications":{` + kinds + `},` + modern + `}}`
}

const (
	toolChanges     = `"toolsListChanged":true`
	resourceChanges = `"resourcesListChanged":true`
)

// heard is what belongs to a request that listens.
type heard struct {
	ID     any    `json:"id"`
	Method string `json:"method"`
	Params struct {
		Meta map[string]any `json:"_meta"`
	} `json:"params"`
	Result struct {
		Type string         `json:"resultType"`
		Meta map[string]any `json:"_meta"`
	} `json:"result"`
	Error any `json:"error"`
}

const (
	subscriptionID = "io.modelcontextprotocol/subscriptionId"
	acknowledged   = "notifications/subscriptions/acknowledged"
)

// String names the request and what is said to it.
func (h heard) String() string {
	switch {
	case h.Error != nil:
		return fmt.Sprint(h.ID, " fails: ", h.Error)
	case h.Method != "":
		return fmt.Sprint(h.Params.Meta[subscriptionID], " ", h.Method)
	default:
		return fmt.Sprint(h.Result.Meta[subscriptionID], " ", h.Result.Type, " answer to ", h.ID)
	}
}

func parseHeard(t *testing.T, text string) string {
	t.Helper()
	var h heard
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		t.Fatalf("%.200q is no message: %v", text, err)
	}
	return h.String()
}

// hears demands messages, in any order.
func (s *session) hears(want ...string) {
	s.t.Helper()
	missing := map[string]int{}
	for _, w := range want {
		missing[w]++
	}
	for range want {
		line, ok := <-s.lines
		if !ok {
			s.t.Fatalf("the output ended before %v", missing)
		}
		got := parseHeard(s.t, line)
		if missing[got]--; missing[got] < 0 {
			s.t.Errorf("heard %q, want %q", got, want)
		}
	}
}

// finished demands that the server has ended in peace and said no more.
func (s *session) finished(since time.Time) {
	s.t.Helper()
	for line := range s.lines {
		s.t.Errorf("unexpected output: %.300s", line)
	}
	if err := <-s.ended; err != nil || time.Since(since) > time.Second {
		s.t.Errorf("ended after %v with %v", time.Since(since), err)
	}
}

// A server that is told to end ends who listens with an answer, not with an error.
func TestListeningEndsWithTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace("Topics: a")
		s := start(t, w.config())
		s.send(listenMessage("ears", toolChanges) + "\n")
		s.hears("ears " + acknowledged)
		s.send(callLine(1, "wait", `{}`))
		s.receive() // which needs a session
		s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait",` + modern + `}}` + "\n")
		<-w.started
		s.cancel()
		got := []string{<-s.lines, <-s.lines}
		if strings.Contains(got[1], `"ears"`) {
			got[0], got[1] = got[1], got[0]
		}
		if h := parseHeard(t, got[0]); h != "ears complete answer to ears" || !strings.Contains(got[1], `"id":2,"error":{"code":-32603,"message":"The server is shutting down`) {
			t.Errorf("got %q", got)
		}
		s.finished(time.Now())
	})
}

// What listens wrongly is refused, and does not get in the way of what follows.
func TestListeningToUnknown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := start(t, newWorkspace("Topics: a").config())
		for range 3 {
			s.send(listenMessage("ears", "") + "\n")
			s.hears("ears "+acknowledged, "ears complete answer to ears")
			s.send(`{"jsonrpc":"2.0","id":"ears","method":"subscriptions/listen","params":{` + modern + `}}` + "\n")
			if m := s.receive(); m.ID != "ears" || m.Error == nil || m.Error.Code != -32602 {
				t.Errorf("answer %+v, error %+v", m, m.Error)
			}
		}
		s.end()
	})
}

// ears listens over HTTP.
type ears struct {
	t     *testing.T
	conn  net.Conn
	lines chan string // data of events
}

// listenHeader is the header of a request that listens, of that length.
func listenHeader(length int) string {
	return strings.TrimSuffix(request(length, ""), "\r\n") + "Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n\r\n"
}

func listenOverHTTP(t *testing.T, listener *pipes, id, kinds string) *ears {
	t.Helper()
	e := &ears{t: t, conn: listener.dial(), lines: make(chan string, 100)}
	message := listenMessage(id, kinds)
	send(t, e.conn, listenHeader(len(message))+message)
	go func() {
		defer close(e.lines)
		resp, err := http.ReadResponse(bufio.NewReader(e.conn), nil)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		r := bufio.NewScanner(resp.Body)
		for r.Scan() {
			if data, ok := strings.CutPrefix(r.Text(), "data: "); ok {
				e.lines <- data
			}
		}
		if r.Err() != nil {
			e.lines <- "broken off: " + r.Err().Error()
		}
	}()
	t.Cleanup(func() { _ = e.conn.Close() })
	return e
}

func (e *ears) hears(want string) {
	e.t.Helper()
	line, ok := <-e.lines
	if !ok {
		e.t.Fatalf("the stream ended before %q", want)
	}
	if got := parseHeard(e.t, line); got != want {
		e.t.Errorf("heard %q, want %q", got, want)
	}
}

// Who listens over HTTP is told within ten seconds, though nobody asks for
// anything, and after hours still; when nobody listens any more, nobody looks.
func TestListeningOverHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace("Topics: a", "one")
		listener := servePipes(t, w.config())
		first := listenOverHTTP(t, listener, "ears", toolChanges)
		first.hears("ears " + acknowledged)
		second := listenOverHTTP(t, listener, "ears", toolChanges+","+resourceChanges)
		second.hears("ears " + acknowledged)
		for i, pause := range []time.Duration{time.Second, 10 * time.Minute, 3 * time.Hour} {
			time.Sleep(pause)
			w.looked()
			w.change(func() { w.learn = fmt.Sprint("Topics: ", i) })
			changed := time.Now()
			first.hears("ears " + toolsChanged)
			second.hears("ears " + toolsChanged)
			if took := time.Since(changed); took > 11*time.Second {
				t.Errorf("told after %v", took)
			}
		}
		w.looked()
		time.Sleep(time.Minute)
		if looks := w.looked(); looks < 5 || looks > 7 {
			t.Errorf("%d looks in a minute", looks)
		}
		_ = first.conn.Close()
		w.change(func() { w.subjects = nil })
		second.hears("ears " + resourcesChanged)
		_ = second.conn.Close()
		time.Sleep(time.Minute)
		w.looked()
		time.Sleep(time.Minute)
		if looks := w.looked(); looks != 0 {
			t.Errorf("%d looks for nobody", looks)
		}
	})
}

// Who listens over HTTP is answered when the server is told to end, at once.
func TestListeningOverHTTPEndsWithTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		ctx, shutdown := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- mcpserver.New(newWorkspace("Topics: a").config()).ServeListener(ctx, listener, mcpserver.HTTPOptions{})
		}()
		e := listenOverHTTP(t, listener, "ears", toolChanges)
		e.hears("ears " + acknowledged)
		time.Sleep(time.Minute)
		begun := time.Now()
		shutdown()
		e.hears("ears complete answer to ears")
		if err := <-ended; err != nil || time.Since(begun) > 2*time.Second {
			t.Errorf("ended after %v with %v", time.Since(begun), err)
		}
		if line, ok := <-e.lines; ok {
			t.Errorf("unexpected event %q", line)
		}
	})
}

// A client that listens and does not read is let go.
func TestListeningWithoutReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace("Topics: a")
		listener := servePipes(t, w.config())
		conn := listener.dial()
		defer conn.Close()
		message := listenMessage("ears", toolChanges)
		send(t, conn, listenHeader(len(message))+message)
		time.Sleep(time.Hour)
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("the connection is still open: %v", err)
		}
		w.looked()
		time.Sleep(time.Minute)
		if looks := w.looked(); looks != 0 {
			t.Errorf("%d looks for nobody", looks)
		}
	})
}

// What is read does not wait for tools that take long.
func TestReadingWhileToolsRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorkspace("Topics: a", "one")
		s := begin(t, w.config())
		for i := range 17 {
			s.send(callLine(i, "wait", `{}`))
		}
		for range 16 {
			<-w.started
		}
		for _, request := range []string{
			`"method":"resources/list"`,
			`"method":"resources/read","params":{"uri":"kb://notes/one"}`,
			`"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"kb://{topic}/{slug}"},"argument":{"name":"topic","value":""}}`,
		} {
			begun := time.Now()
			s.send(`{"jsonrpc":"2.0","id":"read",` + request + "}\n")
			if m := s.receive(); m.ID != "read" || m.Error != nil || time.Since(begun) > time.Second {
				t.Errorf("%s: %+v, %+v, after %v", request, m, m.Error, time.Since(begun))
			}
		}
		close(w.release)
		for range 17 {
			s.receive()
		}
		s.end()
	})
}
