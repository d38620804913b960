package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/convtools/convtools/runtime/mcpserver"
)

// pipes is a listener on connections in memory, whose time is that of a bubble.
type pipes struct {
	incoming chan net.Conn
	closed   chan struct{}
	close    func()
}

func newPipes() *pipes {
	p := &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.incoming:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial() net.Conn {
	server, client := net.Pipe()
	p.incoming <- server
	return client
}

// servePipes serves on connections in memory until the test ends.
func servePipes(t *testing.T, cfg mcpserver.Config) *pipes {
	t.Helper()
	listener := newPipes()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mcpserver.New(cfg).ServeListener(ctx, listener, mcpserver.HTTPOptions{}) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("ServeListener ended with %v", err)
		}
	})
	return listener
}

// request is the header of a message of that length, and the part of it that is
// given.
func request(length int, part string) string {
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s", length, part)
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}

func readAnswer(t *testing.T, conn net.Conn) (*http.Response, string) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// Bodies that were begun and do not go on must not keep out other clients, and
// are given up.
func TestStalledBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		listener := servePipes(t, newTools().config())
		begun := time.Now()
		part := sized(`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"`, mcpserver.MaxMessage-1, ``)
		var stalled []net.Conn
		for range 8 {
			conn := listener.dial()
			defer conn.Close()
			send(t, conn, request(mcpserver.MaxMessage, part))
			stalled = append(stalled, conn)
		}
		synctest.Wait()
		message := strings.TrimSpace(callLine(1, "echo", `{}`))
		small := listener.dial()
		defer small.Close()
		send(t, small, request(len(message), message))
		if resp, text := readAnswer(t, small); resp.StatusCode != http.StatusOK || event(t, text).text() != "<echo>{}</echo>" {
			t.Errorf("a small message: %s %s", resp.Status, text)
		}
		for _, conn := range stalled {
			if resp, text := readAnswer(t, conn); resp.StatusCode != http.StatusBadRequest || time.Since(begun) != 30*time.Second {
				t.Errorf("a stalled message after %v: %s %s", time.Since(begun), resp.Status, text)
			}
		}
	})
}

// Many bodies that were begun hold little together, also of those that are as large as a
// message may be.
func TestHalfSentBodies(t *testing.T) { // alone: it counts what is held
	synctest.Test(t, func(t *testing.T) {
		listener := servePipes(t, newTools().config())
		held := func() int64 {
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return int64(stats.HeapAlloc)
		}
		part := sized(`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"`, 800_000, ``)
		before := held()
		sent := []byte(request(mcpserver.MaxMessage, part))
		for range 300 {
			conn := listener.dial()
			defer conn.Close()
			go func() { _, _ = conn.Write(sent) }() // of most no more than the beginning is read
		}
		synctest.Wait()
		if grown := held() - before; grown > 50<<20 {
			t.Errorf("300 bodies hold %d MB", grown>>20)
		}
	})
}

// A body that comes a byte at a time has to end as well.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		listener := servePipes(t, newTools().config())
		begun := time.Now()
		conn := listener.dial()
		var dripping sync.WaitGroup
		defer dripping.Wait()
		defer conn.Close()
		send(t, conn, request(1000, ""))
		dripping.Go(func() {
			for {
				if _, err := io.WriteString(conn, " "); err != nil {
					return
				}
				time.Sleep(4 * time.Second)
			}
		})
		if resp, text := readAnswer(t, conn); resp.StatusCode != http.StatusBadRequest || time.Since(begun) != 30*time.Second {
			t.Errorf("after %v: %s %s", time.Since(begun), resp.Status, text)
		}
	})
}

// The time a body may take is not the time its call may take.
func TestLongCallOverHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newTools()
		listener := servePipes(t, f.config())
		conn := listener.dial()
		defer conn.Close()
		message := callLine(1, "wait", `{}`)
		send(t, conn, request(len(message), message))
		<-f.started
		go func() {
			time.Sleep(time.Hour)
			close(f.release)
		}()
		if resp, text := readAnswer(t, conn); resp.StatusCode != http.StatusOK || event(t, text).text() != "waited" {
			t.Errorf("%s %s", resp.Status, text)
		}
	})
}
