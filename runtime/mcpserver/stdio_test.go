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

	"github.com/convtools/convtools/runtime/mcpserver"
)

const ping = `{"jsonrpc":"2.0","id":"ping","method":"ping"}` + "\n"

func TestOversizedMessage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, message string
		refused       bool
	}{
		{"largest", sized(`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"`, mcpserver.MaxMessage, `"}}`), false},
		{"one too many", sized(`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"`, mcpserver.MaxMessage+1, `"}}`), true},
		{"much too long", sized(`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"`, 5*mcpserver.MaxMessage, `"}}`), true},
		{"no JSON at all", strings.Repeat("x", mcpserver.MaxMessage+1), true},
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
			answer := got[5.0]
			if tc.refused {
				answer = got[nil]
			}
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
			if m := s.receive(); m.ID != 7.0 || m.Error == nil {
				t.Errorf("answer %+v", m)
			}
			s.end()
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
	if m := s.receive(); m.ID != "waiting" || m.Error == nil {
		t.Errorf("answer %+v", m)
	}
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

// An id that is used again while its first answer is being written belongs to two requests, and both are answered.
func TestDrainReusedID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		in, client := io.Pipe()
		var answers []string
		out := writerFunc(func(p []byte) (int, error) {
			if answers = append(answers, string(p)); len(answers) == 2 {
				_, _ = io.WriteString(client, callLine(1, "wait", `{}`))
				<-f.started
				_ = client.Close()
				synctest.Wait() // for the server to have seen the end
			}
			return len(p), nil
		})
		go func() {
			_, _ = io.WriteString(client, initialize+callLine(1, "echo", `{}`))
			time.Sleep(2 * time.Second)
			close(f.release)
		}()
		if err := mcpserver.New(f.config()).ServeStdio(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		if len(answers) != 3 || !strings.Contains(answers[2], `"waited"`) {
			t.Errorf("answers %q", answers)
		}
	})
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

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
	if m := s.receive(); m.ID != 2.0 || m.Error == nil {
		t.Errorf("answer %+v", m)
	}
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

// A client that stops reading cannot keep the server alive when it has ended its
// input, or when the server is told to end.
func TestUnreadOutput(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"the input ends", "the server is told to end"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				in, client := io.Pipe()
				out, server := io.Pipe() // of which nobody reads
				defer out.Close()
				ctx, shutdown := context.WithCancel(t.Context())
				defer shutdown()
				ended := make(chan error, 1)
				go func() { ended <- mcpserver.New(newTools().config()).ServeStdio(ctx, in, server) }()
				begun := time.Now()
				_, _ = io.WriteString(client, ping)
				synctest.Wait()
				if how == "the input ends" {
					_ = client.Close()
				} else {
					shutdown()
				}
				<-ended
				if took := time.Since(begun); took > 15*time.Second {
					t.Errorf("the server ended after %v", took)
				}
				_ = client.Close()
			})
		})
	}
}
