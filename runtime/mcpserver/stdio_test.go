package mcpserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/mcpserver"
	"github.com/convtools/convtools/runtime/mcpserver/wire"
)

const ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}` + "\n"

func TestOversizedMessage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, message string
		id            any
		refused       bool
	}{
		{"largest", sized(`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"`, wire.MaxMessage, `"}}`), 5.0, false},
		{"one too many", sized(`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"`, wire.MaxMessage+1, `"}}`), 5.0, true},
		{"much too long", sized(`{"jsonrpc":"2.0","id":"a","method":"ping","params":{"x":"`, 5*wire.MaxMessage, `"}}`), "a", true},
		{"the id comes too late", sized(`{"jsonrpc":"2.0","params":{"x":"`, 2*wire.MaxMessage, `"},"id":7,"method":"ping"}`), nil, true},
		{"no JSON at all", strings.Repeat("x", wire.MaxMessage+1), nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, newTools().config())
			s.send(tc.message + "\n" + ping)
			got := map[any]*message{}
			for range 2 {
				m := s.receive()
				got[m.ID] = &m
			}
			if answer := got["ping"]; answer == nil || answer.Error != nil {
				t.Errorf("the next message was not answered: %v", got)
			}
			answer := got[tc.id]
			if answer == nil || (answer.Error != nil) != tc.refused {
				t.Fatalf("answer to the message: %+v (error %+v), want an error: %v", answer, answer.Error, tc.refused)
			}
			if tc.refused && (answer.Error.Code != -32600 || answer.Error.Message != "The message is longer than 4194304 bytes and was not read.") {
				t.Errorf("error %+v", *answer.Error)
			}
			s.end()
		})
	}
}

// sized fills the room between begin and end to make size bytes.
func sized(begin string, size int, end string) string {
	return begin + strings.Repeat("a", size-len(begin)-len(end)) + end
}

// An oversized message must not be kept in memory, however long it is.
func TestOversizedMessageIsNotBuffered(t *testing.T) {
	if testing.Short() {
		t.Skip("sends 256 MiB")
	}
	s := start(t, newTools().config())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 256 {
		if _, err := s.in.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	s.send("\n")
	if m := s.receive(); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("answer %+v", m)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
		t.Errorf("%d MiB were allocated for a message of 256 MiB", got>>20)
	}
	s.send(ping)
	if m := s.receive(); m.ID != "ping" {
		t.Errorf("answer %+v", m)
	}
	s.end()
}

func TestUnfinishedLastLine(t *testing.T) {
	t.Parallel()
	s := start(t, newTools().config())
	s.send(strings.TrimSuffix(ping, "\n"))
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	if m := s.receive(); m.ID != "ping" {
		t.Errorf("answer %+v", m)
	}
	s.end()
}

func TestDuplicateID(t *testing.T) {
	t.Parallel()
	f := newTools()
	s := begin(t, f.config())
	s.send(callLine(1, "wait", `{}`))
	<-f.started
	s.send(callLine(1, "echo", `{}`))
	if m := s.receive(); m.ID != nil || m.Error == nil || m.Error.Code != -32600 || !strings.Contains(m.Error.Message, `The id 1 is in use`) {
		t.Errorf("answer to the second request: %+v", m)
	}
	s.send(callLine("1", "echo", `{}`)) // another id: a string
	if m := s.receive(); m.ID != "1" || m.text() != "<echo>{}</echo>" {
		t.Errorf("answer to a string as id: %+v", m)
	}
	close(f.release)
	if m := s.receive(); m.ID != 1.0 || m.text() != "waited" {
		t.Errorf("answer to the first request: %+v", m)
	}
	s.send(callLine(1, "echo", `{}`)) // free again
	if m := s.receive(); m.ID != 1.0 || m.text() != "<echo>{}</echo>" {
		t.Errorf("answer to a request with the same id afterwards: %+v", m)
	}
	s.end()
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"with sessions", "stateless"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			f := newTools()
			s := start(t, f.config())
			if version == "stateless" {
				s.send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait",` + modern + `}}` + "\n")
			} else {
				s.send(initialize)
				s.receive()
				s.send(callLine(7, "wait", `{}`))
			}
			<-f.started
			s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}}` + "\n") // not the same id
			s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"no need"}}` + "\n")
			if err := <-f.stopped; !errors.Is(err, context.Canceled) {
				t.Errorf("the work was stopped with %v", err)
			}
			s.end() // nothing is answered
		})
	}
}

// What waits for its turn can be canceled, too.
func TestCancelWaiting(t *testing.T) {
	t.Parallel()
	f := newTools()
	s := begin(t, f.config())
	for i := range 16 {
		s.send(callLine(i, "wait", `{}`))
		<-f.started
	}
	s.send(callLine("waiting", "wait", `{}`))
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"waiting"}}` + "\n")
	close(f.release)
	for range 16 {
		if m := s.receive(); m.text() != "waited" {
			t.Errorf("answer %+v", m)
		}
	}
	s.end()
}

func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		s := begin(t, f.config())
		s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":"mine"}}}` + "\n")
		s.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait"}}` + "\n")
		s.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":["odd"]}}}` + "\n")
		for range 3 {
			<-f.started
		}
		for _, seconds := range []float64{5, 10, 15} {
			m := s.receive()
			if m.Method != "notifications/progress" || m.Params.Token != "mine" || m.Params.Progress != seconds || m.Params.Message != fmt.Sprintf("wait has been working for %.0f seconds", seconds) {
				t.Errorf("after %v seconds: %+v", seconds, m)
			}
		}
		close(f.release)
		for range 3 {
			if m := s.receive(); m.text() != "waited" {
				t.Errorf("answer %+v", m)
			}
		}
		time.Sleep(time.Minute) // nothing more may come
		s.end()
	})
}

// A client that pipes its requests in and closes the input gets its answers.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		s := begin(t, f.config())
		s.send(callLine(1, "wait", `{}`))
		<-f.started
		if err := s.in.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		close(f.release)
		if m := s.receive(); m.text() != "waited" {
			t.Errorf("answer %+v", m)
		}
		s.end()
	})
}

// Work does not go on for a client that is gone.
func TestDisconnect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		s := begin(t, f.config())
		for i := range 20 { // 4 of them wait for their turn
			s.send(callLine(i, "wait", `{}`))
		}
		for range 16 {
			<-f.started
		}
		begun := time.Now()
		if err := s.in.Close(); err != nil {
			t.Fatal(err)
		}
		for range 16 {
			<-f.stopped
		}
		if took := time.Since(begun); took != 5*time.Second {
			t.Errorf("the work went on for %v", took)
		}
		ids := map[any]bool{}
		for range 20 {
			ids[s.receiveStopped().ID] = true
		}
		if len(ids) != 20 {
			t.Errorf("answered were %v", ids)
		}
		s.end()
	})
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	f := newTools()
	s := begin(t, f.config())
	s.send(callLine(1, "wait", `{}`))
	<-f.started
	s.send(callLine(2, "wait", `{}`))
	<-f.started
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}` + "\n")
	<-f.stopped
	s.cancel()
	<-f.stopped
	if m := s.receiveStopped(); m.ID != 1.0 {
		t.Errorf("answer %+v", m)
	}
	for line := range s.lines {
		t.Errorf("unexpected output: %s", line)
	}
	if err := <-s.ended; err != nil {
		t.Errorf("the session ended with %v", err)
	}
}

// When nothing can be written any more, work stops.
func TestBrokenOutput(t *testing.T) {
	t.Parallel()
	f := newTools()
	in, client := io.Pipe()
	ended := make(chan error, 1)
	out := &breaking{}
	go func() { ended <- mcpserver.New(f.config()).ServeStdio(t.Context(), in, out) }()
	send := func(text string) {
		if _, err := io.WriteString(client, text); err != nil {
			t.Error(err)
		}
	}
	send(initialize)
	send(callLine(1, "wait", `{}`))
	<-f.started
	send(callLine(2, "wait", `{"second":true}`))
	<-f.started
	out.broken.Store(true)
	f.release <- struct{}{} // one is answered, in vain
	<-f.stopped             // the other one has no reason to go on
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, errGone) {
		t.Errorf("the session ended with %v, want %v", err, errGone)
	}
}

// Not parallel: it measures memory.
func TestManyCalls(t *testing.T) {
	f := newTools()
	s := begin(t, f.config())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const fit, more = 1016, 50
	go func() {
		for i := range fit + more {
			s.send(callLine(i, "wait", `{"text":"`+strings.Repeat("x", 1000)+`"}`))
		}
	}()
	for range more {
		m := s.receive()
		if !m.Result.IsError || m.text() != "Too many calls: 16 are running and 1000 are waiting. Call again when some of them are answered." {
			t.Fatalf("answer %+v", m)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 64<<20 {
		t.Errorf("%d calls in flight take %d MiB", fit, grown>>20)
	}
	if n := len(f.started); n != 16 {
		t.Errorf("%d calls run at once, want 16", n)
	}
	s.send(ping)
	if m := s.receive(); m.ID != "ping" {
		t.Errorf("answer %+v: a busy server still answers what costs nothing", m)
	}
	close(f.release)
	seen := map[any]bool{}
	for range fit {
		m := s.receive()
		if m.text() != "waited" || seen[m.ID] {
			t.Fatalf("answer %+v", m)
		}
		seen[m.ID] = true
	}
	s.end()
}

// Requests that are not calls have a limit as well, and so have bytes.
func TestBusy(t *testing.T) {
	t.Parallel()
	f := newTools()
	s := begin(t, f.config())
	big := `{"text":"` + strings.Repeat("x", 3<<20) + `"}`
	go func() {
		for i := range 12 {
			s.send(callLine(i, "wait", big))
		}
	}()
	for range 2 { // 32 MiB are ten of them
		m := s.receive()
		if m.Error == nil || m.Error.Code != -32000 || !strings.HasPrefix(m.Error.Message, "Busy: requests of 31") {
			t.Fatalf("answer %+v", m)
		}
	}
	close(f.release)
	for range 10 {
		if m := s.receive(); m.text() != "waited" {
			t.Fatalf("answer %.200v", m)
		}
	}
	s.end()
}

// Long nonsense must not come back at its full length.
func TestErrorsAreShort(t *testing.T) {
	t.Parallel()
	s := begin(t, newTools().config())
	long := strings.Repeat("é", 1<<20)
	for i, params := range []string{`{"name":{"x":"` + long + `"}}`, `{"name":"` + long + `"}`} {
		s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", i, params))
		if m := s.receive(); m.Error == nil || m.Error.Code != -32602 || utf8.RuneCountInString(m.Error.Message) > 1000 {
			t.Errorf("answer %.200v, message of %d bytes", m, len(m.Error.Message))
		}
	}
	s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":%q}`+"\n", long))
	if m := s.receive(); m.Error == nil || m.Error.Code != -32601 || utf8.RuneCountInString(m.Error.Message) > 1000 {
		t.Errorf("answer %.200v", m)
	}
	s.end()
}

// A panic of a tool is told to the person who runs the server.
func TestPanicIsLogged(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	cfg := newTools().config()
	cfg.Log = &log
	s := begin(t, cfg)
	s.send(callLine(1, "crash", `{}`))
	if m := s.receive(); m.Error == nil || m.Error.Code != -32603 {
		t.Errorf("answer %+v", m)
	}
	s.end()
	if !strings.Contains(log.String(), "cause=boom") {
		t.Errorf("the log says %q", &log)
	}
}

// A client may compare ids as text, so they come back the way they were written.
func TestIDsComeBack(t *testing.T) {
	t.Parallel()
	web := serve(t, newTools().config(), mcpserver.HTTPOptions{})
	for _, tc := range []struct{ id, method, params, want string }{
		{`9007199254740993`, "ping", `{}`, `"result":{}`},
		{`-9223372036854775809`, "ping", `{}`, `"result":{}`},
		{`123456789012345678901234567890`, "tools/call", `{"name":"echo"}`, `"result":{"content":[{`},
		{`1.0`, "ping", `{}`, `"result":{}`},
		{`1e3`, "ping", `{}`, `"result":{}`},
		{`-0`, "ping", `{}`, `"result":{}`},
		{`1.5`, "ping", `{}`, `"code":-32600`},
		{`1e400`, "ping", `{}`, `"code":-32600`},
		{`"\u0061\/<&>\ud83d\ude00\u2028"`, "ping", `{}`, `"result":{}`},
		{`"\u0061\/b"`, "nothing", `{}`, `"code":-32601`},
		{`"\u0061\/b"`, "tools/call", `{"name":"crash"}`, `"code":-32603`},
		{`"<b>"`, "tools/call", `{"name":"echo","arguments":{"a":"<&>"}}`, `{\"a\":\"<&>\"}`},
	} {
		t.Run(tc.id+" "+tc.method, func(t *testing.T) {
			t.Parallel()
			line := `{"jsonrpc":"2.0","id":` + tc.id + `,"method":"` + tc.method + `","params":` + tc.params + `}`
			s := begin(t, newTools().config())
			s.send(line + "\n")
			_, event := post(t, web.URL, line, nil)
			for _, got := range []string{<-s.lines, event} {
				if !strings.Contains(got, `{"jsonrpc":"2.0","id":`+tc.id+`,`) || !strings.Contains(got, tc.want) {
					t.Errorf("%s was answered with %s", line, got)
				}
			}
			s.end()
		})
	}
}

// Large integers that are next to each other are not one id.
func TestLargeIDs(t *testing.T) {
	t.Parallel()
	f := newTools()
	s := begin(t, f.config())
	const call = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"wait"}}` + "\n"
	s.send(fmt.Sprintf(call, "9007199254740992"))
	<-f.started
	s.send(fmt.Sprintf(call, "9007199254740993"))
	<-f.started
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}` + "\n")
	<-f.stopped
	close(f.release)
	if line := <-s.lines; !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":9007199254740992,"result"`) {
		t.Errorf("answer %s", line)
	}
	s.end()
}

// A client that stops reading cannot keep the server alive.
func TestUnreadOutput(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"an answer", "a refusal", "the server is told to end"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				in, client := io.Pipe()
				out, server := io.Pipe() // of which nobody reads
				defer out.Close()
				f := newTools()
				ctx, shutdown := context.WithCancel(t.Context())
				defer shutdown()
				ended := make(chan error, 1)
				go func() { ended <- mcpserver.New(f.config()).ServeStdio(ctx, in, server) }()
				begun := time.Now()
				limit := 6 * time.Second // a second more than the work has
				switch how {
				case "an answer":
					io.WriteString(client, ping)
					synctest.Wait()
					client.Close()
				case "a refusal":
					io.WriteString(client, "garbage\n")
					synctest.Wait()
					client.Close()
					limit = 10 * time.Minute // it is not known that the input has ended
				default:
					io.WriteString(client, ping)
					synctest.Wait()
					shutdown()
				}
				err := <-ended
				if took := time.Since(begun); took > limit {
					t.Errorf("the server ended after %v", took)
				}
				if (err == nil) != (how == "the server is told to end") || err != nil && !strings.Contains(err.Error(), "does not read") {
					t.Errorf("the server ended with %v", err)
				}
				client.Close()
			})
		})
	}
}

// What the SDK says to the people who write servers is not for clients.
func TestErrorsAreForClients(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ method, params, want string }{
		{"tools/call", `{"name":"echo","_meta":7}`, `tools/call: "_meta" in "params" has a value of the wrong type.`},
		{"prompts/get", `{"name":"recall","arguments":{"topic":7}}`, `prompts/get: "arguments.topic" in "params" has a value of the wrong type.`},
		{"prompts/get", `{"name":"dance"}`, `unknown prompt "dance"`},
		{"completion/complete", `{"ref":{"type":"ref/nothing"},"argument":{"name":"id","value":"x"}}`, `completion/complete: "params" does not have the form that the protocol wants.`},
		{"completion/complete", `{"ref":"5","argument":{"name":"id","value":""}}`, `completion/complete: "ref" in "params" has a value of the wrong type.`},
		{"completion/complete", `{"ref":5,"argument":{"name":"id","value":""}}`, `completion/complete: "ref" in "params" has a value of the wrong type.`},
		{"completion/complete", `{"ref":["x"],"argument":{"name":"id","value":""}}`, `completion/complete: "ref" in "params" has a value of the wrong type.`},
		{"completion/complete", `{"ref":true,"argument":{"name":"id","value":""}}`, `completion/complete: "ref" in "params" has a value of the wrong type.`},
		{"resources/read", `{"uri":["x"]}`, `resources/read: "uri" in "params" has a value of the wrong type.`},
	} {
		s := begin(t, newTools().config())
		s.send(`{"jsonrpc":"2.0","id":1,"method":"` + tc.method + `","params":` + tc.params + "}\n")
		m := s.receive()
		if m.Error == nil || m.Error.Code != -32602 || m.Error.Message != tc.want {
			t.Errorf("%s %.80s: answer %+v, error %+v", tc.method, tc.params, m, m.Error)
		}
		s.end()
	}
}
