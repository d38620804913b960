package web_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/web"
)

// pipes is a listener whose connections are pipes: in a bubble of synctest, time passes while all wait for them.
type pipes struct {
	opened chan net.Conn
	closed chan struct{}
	close  func()
}

func newPipes() *pipes {
	p := &pipes{opened: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.opened:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.close()
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8000} }

// dial opens a connection to the listener.
func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.opened <- there:
		return here, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// getter gets a page with the cookie. The changes are made to the request.
type getter func(path string, changes ...func(*http.Request)) *http.Response

// inBubble serves an empty home and a live page to a client in a bubble, in which time only passes while all wait.
func inBubble(t *testing.T, visit func(get getter, stop func(), ended <-chan error)) {
	t.Parallel()
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		page := toolset.Page{
			Name: "things", Title: "Things", Version: func(context.Context, contract.Context) string { return "1" },
			Show: func(context.Context, contract.Context) ([]toolset.Item, error) { return nil, nil },
		}
		env := map[string]string{"HOME": home, "USERPROFILE": home}
		server := web.New(&toolset.Host{
			Name: "convtools", Dir: home, Now: time.Now, Stderr: io.Discard, Getenv: func(name string) string { return env[name] },
		}, family(page))
		listener := newPipes()
		ended := make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { ended <- server.Serve(ctx, listener) }()
		transport := &http.Transport{DialContext: listener.dial}
		defer transport.CloseIdleConnections()
		var cookies []*http.Cookie
		get := func(path string, changes ...func(*http.Request)) *http.Response {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:8000"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, cookie := range cookies {
				r.AddCookie(cookie)
			}
			for _, change := range changes {
				change(r)
			}
			answer, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			return answer
		}
		opened := get(server.Address(listener)[len("http://127.0.0.1:8000"):])
		cookies = opened.Cookies()
		_ = opened.Body.Close()
		visit(get, stop, ended)
	})
}

// elapsed returns how long the server of a bubble goes on, in whole minutes.
func elapsed(t *testing.T, ended <-chan error) time.Duration {
	t.Helper()
	begun := time.Now()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return time.Since(begun).Truncate(time.Minute)
}

// The server ends an hour after the last request: an open page sends one every ten minutes.
func TestEndsAnHourAfterTheLastPage(t *testing.T) {
	inBubble(t, func(get getter, _ func(), ended <-chan error) {
		for range 12 {
			time.Sleep(10 * time.Minute)
			_ = get("/alive").Body.Close()
		}
		if got := elapsed(t, ended); got < time.Hour || got > time.Hour+time.Minute {
			t.Errorf("the server has ended %v after the last request", got)
		}
	})
}

// A request that is refused does not keep the server alive.
func TestRefusedRequestsKeepNothingAlive(t *testing.T) {
	inBubble(t, func(get getter, _ func(), ended <-chan error) {
		time.Sleep(50 * time.Minute)
		_ = get("/", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }).Body.Close()
		if got := elapsed(t, ended); got > 11*time.Minute {
			t.Errorf("the server goes on for %v", got)
		}
	})
}

// A page that listens for what runs is open, as long as it listens.
func TestLivePageKeepsTheServer(t *testing.T) {
	inBubble(t, func(get getter, _ func(), ended <-chan error) {
		answer := get("/p/things/live")
		go func() { _, _ = io.Copy(io.Discard, answer.Body) }()
		time.Sleep(2 * time.Hour)
		select {
		case err := <-ended:
			t.Fatalf("the server has ended under an open page: %v", err)
		default:
		}
		_ = answer.Body.Close()
		if got := elapsed(t, ended); got < time.Hour || got > time.Hour+time.Minute {
			t.Errorf("the server has ended %v after the page", got)
		}
	})
}

// A server that is stopped does not wait for pages that listen.
func TestStopsUnderALivePage(t *testing.T) {
	inBubble(t, func(get getter, stop func(), ended <-chan error) {
		answer := get("/p/things/live")
		stop()
		rest, err := io.ReadAll(answer.Body)
		if got := elapsed(t, ended); got > 0 || err != nil {
			t.Errorf("the server ends after %v; the page gets %q, %v", got, rest, err)
		}
	})
}
