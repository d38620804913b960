package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/mcpserver"
)

func serve(t *testing.T, cfg mcpserver.Config, opts mcpserver.HTTPOptions) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(mcpserver.New(cfg).Handler(opts))
	t.Cleanup(server.Close)
	return server
}

// post sends a message the way MCP clients do, after change has had its way with
// the request.
func post(t *testing.T, url, body string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req := postRequest(t, t.Context(), url, body)
	if change != nil {
		change(req)
	}
	resp, err := http.DefaultClient.Do(req)
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

func postRequest(t *testing.T, ctx context.Context, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	return req
}

// event returns the message in the first server-sent event.
func event(t *testing.T, text string) message {
	t.Helper()
	_, data, ok := strings.Cut(text, "data: ")
	data, _, _ = strings.Cut(data, "\n")
	var m message
	if err := json.Unmarshal([]byte(data), &m); !ok || err != nil {
		t.Fatalf("%.300q is no event with a message: %v", text, err)
	}
	return m
}

func TestHTTPBothEras(t *testing.T) {
	t.Parallel()
	server := serve(t, newTools().config(), mcpserver.HTTPOptions{})
	for _, path := range []string{"", "/", "/mcp", "/mcp/"} {
		resp, text := post(t, server.URL+path, initialize, nil)
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Mcp-Session-Id") == "" || event(t, text).ID != "init" {
			t.Errorf("initialize at %q: %s, %s", path, resp.Status, text)
		}
	}
	resp, text := post(t, server.URL, callLine(1, "echo", `{"a":1}`), func(r *http.Request) {
		r.Header.Set("Mcp-Session-Id", "any")
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	})
	if m := event(t, text); resp.StatusCode != http.StatusOK || m.text() != `<echo>{"a":1}</echo>` {
		t.Errorf("a call of the era with sessions: %s, %s", resp.Status, text)
	}
	resp, text = post(t, server.URL, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{},`+modern+`}}`, func(r *http.Request) {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/call")
		r.Header.Set("Mcp-Name", "echo")
	})
	if m := event(t, text); resp.StatusCode != http.StatusOK || m.text() != `<echo>{}</echo>` || resp.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("a call of the stateless era: %s, %s", resp.Status, text)
	}
}

func TestHTTPRefusals(t *testing.T) {
	t.Parallel()
	server := serve(t, newTools().config(), mcpserver.HTTPOptions{})
	for _, tc := range []struct {
		name, body string
		change     func(*http.Request)
		status     int
		want       string
	}{
		{"not JSON", "garbage", nil, 400, ""},
		{"empty", "", nil, 400, ""},
		{"too large", sized(`{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":"`, mcpserver.MaxMessage+1, `"}}`), nil, 413, "4194304"},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, ""},
		{"GET", "", func(r *http.Request) { r.Method = "GET"; r.Body = nil }, 405, ""},
		{"DELETE", "", func(r *http.Request) { r.Method = "DELETE" }, 405, ""},
		{"OPTIONS", "", func(r *http.Request) { r.Method = "OPTIONS" }, 405, ""},
		{"elsewhere", ping, func(r *http.Request) { r.URL.Path = "/nothing" }, 404, "MCP is at /mcp."},
		{"wrong type", ping, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415, ""},
		{"wrong Accept", ping, func(r *http.Request) { r.Header.Set("Accept", "text/html") }, 400, ""},
		{"unknown version", ping, func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "1999-01-01") }, 400, ""},
		{"too deep", `{"jsonrpc":"2.0","id":6,"method":"ping","params":{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}}`, nil, 400, ""},
		{"a foreign page", ping, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403, "Pages of the origin"},
		{"unknown method, stateless", `{"jsonrpc":"2.0","id":7,"method":"nothing/here","params":{` + modern + `}}`, stateless("nothing/here"), 404, `"code":-32601`},
		{"logging, which is not announced", `{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"debug"}}`, nil, 200, `"code":-32601`},
		{"wrong parameters, stateless", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7,` + modern + `}}`, stateless("tools/call"), 400, ""},
		{"headers of another request", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo",` + modern + `}}`, func(r *http.Request) {
			r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
			r.Header.Set("Mcp-Method", "tools/call")
			r.Header.Set("Mcp-Name", "other")
		}, 400, "-32020"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			resp, text := post(t, server.URL, tc.body, tc.change)
			if resp.StatusCode != tc.status || !strings.Contains(text, tc.want) {
				t.Errorf("%s, %q; want %d and %q", resp.Status, text, tc.status, tc.want)
			}
		})
	}
}

// stateless has the headers of a request of the stateless era.
func stateless(method string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
	}
}

// A page may read what it asks for where its origin was named, and nowhere else.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	const token, page = "correct-horse-battery-staple", "https://app.example"
	server := serve(t, newTools().config(), mcpserver.HTTPOptions{Token: mcpserver.NewToken(token), Origins: []string{page}})
	preflight := func(origin string) func(*http.Request) {
		return func(r *http.Request) {
			r.Method = http.MethodOptions
			r.Header = http.Header{
				"Origin":                         {origin},
				"Access-Control-Request-Method":  {"POST"},
				"Access-Control-Request-Headers": {"authorization,content-type,mcp-protocol-version"},
			}
		}
	}
	resp, text := post(t, server.URL+"/mcp", "", preflight(page))
	want := http.Header{
		"Access-Control-Allow-Origin":   {page},
		"Access-Control-Allow-Methods":  {"POST"},
		"Access-Control-Allow-Headers":  {"Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id"},
		"Access-Control-Max-Age":        {"600"},
		"Access-Control-Expose-Headers": {"Mcp-Session-Id, Retry-After, WWW-Authenticate"},
		"Vary":                          {"Origin"},
		"X-Content-Type-Options":        {"nosniff"},
	}
	resp.Header.Del("Date")
	if diff := cmp.Diff(want, resp.Header); diff != "" || resp.StatusCode != http.StatusNoContent || text != "" {
		t.Errorf("preflight: %s %q (-want +got):\n%s", resp.Status, text, diff)
	}
	for _, origin := range []string{"https://app.example.evil.example", "http://app.example", "null", "http://localhost:6274"} {
		resp, _ := post(t, server.URL, "", preflight(origin))
		if resp.StatusCode < 400 || resp.Header.Get("Access-Control-Allow-Origin") != "" || resp.Header.Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("preflight of %s: %s %v", origin, resp.Status, resp.Header)
		}
	}
	for _, tc := range []struct {
		origin, token string
		status        int
		allowed       string
	}{
		{page, token, 200, page},
		{page, "wrong", 401, page}, // the page is to see why
		{"http://localhost:6274", token, 200, ""},
		{"https://evil.example", token, 403, ""},
		{"", token, 200, ""},
	} {
		resp, text := post(t, server.URL, initialize, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+tc.token)
			if tc.origin != "" {
				r.Header.Set("Origin", tc.origin)
			}
		})
		if resp.StatusCode != tc.status || resp.Header.Get("Access-Control-Allow-Origin") != tc.allowed || resp.Header.Get("Vary") != "Origin" {
			t.Errorf("origin %q, token %q: %s %v %s", tc.origin, tc.token, resp.Status, resp.Header, text)
		}
	}
}

// Over HTTP every request stands by itself: an id that is in use in a session is
// no reason to refuse another request with it, and each gets its own answer.
func TestHTTPDuplicateID(t *testing.T) {
	t.Parallel()
	f := newTools()
	server := serve(t, f.config(), mcpserver.HTTPOptions{})
	session := func(r *http.Request) { r.Header.Set("Mcp-Session-Id", "mine") }
	first := make(chan string, 1)
	go func() {
		_, text := post(t, server.URL, callLine(1, "wait", `{}`), session)
		first <- text
	}()
	<-f.started
	if _, text := post(t, server.URL, callLine(1, "echo", `{}`), session); event(t, text).text() != "<echo>{}</echo>" {
		t.Errorf("the second request was answered with %q", text)
	}
	close(f.release)
	if text := <-first; event(t, text).text() != "waited" {
		t.Errorf("the first request was answered with %q", text)
	}
}

func TestHostAndOrigin(t *testing.T) {
	t.Parallel()
	server := serve(t, newTools().config(), mcpserver.HTTPOptions{Hosts: []string{"tools.example"}, Origins: []string{"https://app.example"}})
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		host, origin string
		allowed      bool
	}{
		{"localhost:" + port, "", true},
		{"tools.example", "", true},
		{"evil.example", "", false},
		{"localhost", "http://localhost:6274", true},
		{"localhost", "https://app.example", true},
		{"localhost", "http://evil.example", false},
	} {
		resp, text := post(t, server.URL, initialize, func(r *http.Request) {
			r.Host = tc.host
			if strings.TrimSpace(tc.origin) != "" {
				r.Header.Set("Origin", tc.origin)
			}
		})
		if want := map[bool]int{true: 200, false: 403}[tc.allowed]; resp.StatusCode != want {
			t.Errorf("host %q and origin %q: %s, want %d: %.200s", tc.host, tc.origin, resp.Status, want, text)
		}
		health, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		health.Host = tc.host
		if resp, err := http.DefaultClient.Do(health); err != nil {
			t.Error(err)
		} else if _ = resp.Body.Close(); tc.allowed && resp.StatusCode != 200 {
			t.Errorf("/healthz of host %q: %s", tc.host, resp.Status)
		}
	}
}

func TestBearerToken(t *testing.T) {
	t.Parallel()
	const token = "correct-horse-battery-staple"
	server := serve(t, newTools().config(), mcpserver.HTTPOptions{Token: mcpserver.NewToken(token)})
	for authorization, status := range map[string]int{
		"Bearer " + token:              200,
		"bearer " + token:              200,
		"Bearer  " + token:             200,
		"":                             401,
		"Bearer":                       401,
		"Bearer ":                      401,
		token:                          401,
		"Basic " + token:               401,
		"Bearer " + token + "x":        401,
		"Bearer " + token[1:]:          401,
		"Bearer " + token + ", Bearer": 401,
	} {
		resp, text := post(t, server.URL, initialize, func(r *http.Request) {
			if authorization != "" {
				r.Header.Set("Authorization", authorization)
			}
		})
		if resp.StatusCode != status {
			t.Errorf("%q: %s, want %d", authorization, resp.Status, status)
		}
		if status == 401 && (resp.Header.Get("WWW-Authenticate") != `Bearer realm="convtools"` || strings.Contains(text, "horse")) {
			t.Errorf("%q: %v %s", authorization, resp.Header, text)
		}
	}
	resp, err := http.Get(server.URL + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || string(text) != "ok\n" {
		t.Errorf("/healthz without the token: %s %q %v", resp.Status, text, err)
	}
}

func TestListen(t *testing.T) {
	t.Parallel()
	token := mcpserver.NewToken("0123456789abcdef")
	for _, tc := range []struct {
		address string
		token   mcpserver.Token
		want    string // of the error
	}{
		{":0", mcpserver.Token{}, ""},
		{"127.0.0.1:0", mcpserver.Token{}, ""},
		{"localhost:0", mcpserver.Token{}, ""},
		{"0.0.0.0:0", mcpserver.Token{}, "can be reached from other machines: that needs a token"},
		{"[::]:0", mcpserver.Token{}, "can be reached from other machines"},
		{"192.0.2.1:0", mcpserver.Token{}, "can be reached from other machines"},
		{"0.0.0.0:0", token, ""},
		{"8080", mcpserver.Token{}, "has to be HOST:PORT"},
		{"", mcpserver.Token{}, "has to be HOST:PORT"},
		{"127.0.0.1:http-nonsense", mcpserver.Token{}, "finding the address"},
	} {
		listener, err := mcpserver.Listen(tc.address, tc.token)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Listen(%q): %v, want %q", tc.address, err, tc.want)
		}
		if err != nil {
			continue
		}
		addr, ok := listener.Addr().(*net.TCPAddr)
		if !ok || addr.IP.IsLoopback() == tc.token.IsSet() {
			t.Errorf("Listen(%q) listens on %v", tc.address, listener.Addr())
		}
		_ = listener.Close()
	}
}

// A client that goes away stops its call, in both eras.
func TestHTTPDisconnect(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			f := newTools()
			server := serve(t, f.config(), mcpserver.HTTPOptions{})
			ctx, leave := context.WithCancel(t.Context())
			req := postRequest(t, ctx, server.URL, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait",`+modern+`}}`)
			if version == "2025-11-25" {
				req = postRequest(t, ctx, server.URL, callLine(1, "wait", `{}`))
			}
			req.Header.Set("Mcp-Protocol-Version", version)
			req.Header.Set("Mcp-Method", "tools/call")
			req.Header.Set("Mcp-Name", "wait")
			done := make(chan struct{})
			go func() {
				defer close(done)
				if resp, err := http.DefaultClient.Do(req); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			}()
			<-f.started
			leave()
			<-f.stopped
			<-done
		})
	}
}

func TestHTTPTwoClients(t *testing.T) {
	t.Parallel()
	server := serve(t, newTools().config(), mcpserver.HTTPOptions{})
	var clients sync.WaitGroup
	for client := range 2 {
		clients.Go(func() {
			for i := range 100 {
				_, text := post(t, server.URL, callLine(i, "echo", fmt.Sprintf(`{"client":%d,"call":%d}`, client, i)), nil)
				want := fmt.Sprintf(`<echo>{"client":%d,"call":%d}</echo>`, client, i)
				if m := event(t, text); m.ID != float64(i) || m.text() != want {
					t.Errorf("client %d got %+v, want %s", client, m, want)
				}
			}
		})
	}
	clients.Wait()
}

// Progress comes on the stream of the call it is about.
func TestHTTPProgress(t *testing.T) {
	t.Parallel()
	f := newTools()
	cfg := f.config()
	cfg.ProgressInterval = 1 // as often as can be
	server := serve(t, cfg, mcpserver.HTTPOptions{})
	req := postRequest(t, t.Context(), server.URL, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":7}}}`)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	progressed := false
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended with %v before the answer", err)
		}
		if !strings.HasPrefix(line, "data: ") {
			continue
		}
		m := event(t, line)
		if m.Method == "notifications/progress" && m.Params.Token == 7.0 && !progressed {
			progressed = true
			close(f.release)
		}
		if m.Method == "" {
			if !progressed || m.text() != "waited" {
				t.Errorf("answer %+v, progress before: %v", m, progressed)
			}
			return
		}
	}
}

func TestHTTPShutdown(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		patient   bool // calls end in time
		stateless bool
	}{
		{"calls end in time", true, false},
		{"calls are stopped", false, false},
		{"calls are stopped, stateless", false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			patient := tc.patient
			t.Parallel()
			f := newTools()
			cfg := f.config()
			if !patient {
				cfg.DrainTime = 1 // no time at all
			}
			listener, err := mcpserver.Listen("127.0.0.1:0", mcpserver.Token{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, shutdown := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- mcpserver.New(cfg).ServeListener(ctx, listener, mcpserver.HTTPOptions{}) }()
			url := "http://" + listener.Addr().String() + mcpserver.Path
			answer := make(chan string, 1)
			go func() {
				req := postRequest(t, t.Context(), url, callLine(1, "wait", `{}`))
				if tc.stateless {
					req = postRequest(t, t.Context(), url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"wait",`+modern+`}}`)
					stateless("tools/call")(req)
					req.Header.Set("Mcp-Name", "wait")
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					answer <- err.Error()
					return
				}
				defer resp.Body.Close()
				text, err := io.ReadAll(resp.Body)
				answer <- fmt.Sprint(string(text), err)
			}()
			<-f.started
			shutdown()
			if patient {
				close(f.release)
			} else {
				<-f.stopped
			}
			if err := <-ended; err != nil {
				t.Errorf("ServeListener ended with %v", err)
			}
			got := <-answer
			if m := event(t, got); patient && m.text() != "waited" || !patient && (m.ID != 1.0 || m.Error == nil || m.Error.Message != "The server is shutting down; the call was stopped.") {
				t.Errorf("answer %q", got)
			}
			// Dialing could reach somebody else, who was given the port since.
			if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("the server still listens: %v", err)
			}
		})
	}
}

// So many requests with large bodies are let in at once; small ones always are.
func TestHTTPBusy(t *testing.T) {
	t.Parallel()
	f := newTools()
	server := serve(t, f.config(), mcpserver.HTTPOptions{})
	big := callLine(1, "wait", `{"text":"`+strings.Repeat("x", 4<<20-1000)+`"}`)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			if resp, _ := post(t, server.URL, big, nil); resp.StatusCode != http.StatusOK {
				t.Errorf("a request that fits: %s", resp.Status)
			}
		})
		<-f.started
	}
	resp, text := post(t, server.URL, big, nil)
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a request too many: %s, %.300s", resp.Status, text)
	}
	if _, text := post(t, server.URL, callLine(2, "echo", `{}`), nil); event(t, text).text() != "<echo>{}</echo>" {
		t.Errorf("a small request: %.300s", text)
	}
	close(f.release)
	clients.Wait()
	if resp, _ := post(t, server.URL, big, nil); resp.StatusCode != http.StatusOK {
		t.Errorf("a request afterwards: %s", resp.Status)
	}
}
