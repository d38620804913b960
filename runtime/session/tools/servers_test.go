package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/config"
)

// TestMain makes this binary the server that a test starts, as MCPTOOLS_SERVER says.
func TestMain(m *testing.M) {
	switch mode := os.Getenv("MCPTOOLS_SERVER"); mode {
	case "":
		if name := os.Getenv("CONV_TEST_SERVER"); name != "" {
			_ = namedServer(name).Run(context.Background(), &mcp.StdioTransport{}) // until its input ends
			return
		}
		os.Exit(m.Run())
	case "broken":
		fmt.Fprintln(os.Stderr, "no licence\x1b[31m")
		os.Exit(3)
	case "silent":
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "endless":
		for {
			fmt.Print(strings.Repeat("[", 1<<16))
		}
	default:
		_ = newServer(mode).Run(context.Background(), &mcp.StdioTransport{}) // until its input ends
	}
}

// namedServer is a server with two tools that say its name.
func namedServer(server string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	for _, name := range []string{"read", "write"} {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: server + " " + name + string(r.Params.Arguments)}}}, nil
		})
	}
	return s
}

func newServer(mode string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name, schema string, answer func(json.RawMessage) (*mcp.CallToolResult, error)) {
		s.AddTool(&mcp.Tool{Name: name, Description: "Tool " + name + ".\x1b", InputSchema: json.RawMessage(schema)},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return answer(r.Params.Arguments)
			})
	}
	const anything = `{"type":"object"}`
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	add("echo", anything, func(a json.RawMessage) (*mcp.CallToolResult, error) { return text(mode + string(a)), nil })
	add("fail", anything, func(json.RawMessage) (*mcp.CallToolResult, error) {
		r := text("no such thing")
		r.IsError = true
		return r, nil
	})
	add("protest", anything, func(json.RawMessage) (*mcp.CallToolResult, error) { return nil, errors.New("bad request") })
	add("mixed", anything, func(json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "a"}, &mcp.ImageContent{Data: []byte("123"), MIMEType: "image/png\n"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "x://y", Text: "b"}},
		}}, nil
	})
	add("structured", anything, func(json.RawMessage) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: map[string]int{"n": 1}}, nil
	})
	add("exit", anything, func(json.RawMessage) (*mcp.CallToolResult, error) { os.Exit(1); return nil, nil })
	add("slow", anything, func(json.RawMessage) (*mcp.CallToolResult, error) { select {} })
	add("vast", `{"type":"object","description":"`+strings.Repeat("x", 70<<10)+`"}`, nil)
	return s
}

// serversFor returns servers that end with the test.
func serversFor(t *testing.T, configured ...config.Table[config.Server]) *servers {
	t.Helper()
	s := newServers(configured, mcp.Implementation{Name: "test"}, "", func(string) {})
	t.Cleanup(s.Close)
	return s
}

func program(t *testing.T, name, mode string) config.Table[config.Server] {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return config.Table[config.Server]{Name: name, Value: config.Server{Command: path, Args: []string{"-test.run=^$"}, Env: map[string]string{"MCPTOOLS_SERVER": mode}}}
}

// toolsOf returns the tools of a server, or why there are none.
func toolsOf(t *testing.T, s *servers, name string) ([]serverTool, error) {
	var err error
	s.warn = func(why string) { err = errors.New(why) }
	tools := s.tools(t.Context(), func(server string) bool { return server == name })
	return tools, err
}

// find returns a tool of a server.
func find(t *testing.T, s *servers, server, name string) serverTool {
	t.Helper()
	tools, err := toolsOf(t, s, server)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(tools, func(tool serverTool) bool { return tool.name == name })
	if i < 0 {
		t.Fatalf("%s has no tool %s", server, name)
	}
	return tools[i]
}

// Servers over both transports list their tools and answer calls.
func TestCalls(t *testing.T) {
	t.Parallel()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newServer("http") }, nil)
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	s := serversFor(t, program(t, "local", "stdio"), config.Table[config.Server]{Name: "far", Value: config.Server{URL: web.URL}})
	for server, mode := range map[string]string{"local": "stdio", "far": "http"} {
		for _, tc := range []struct {
			tool, arguments, want string
			fails                 bool
		}{
			{tool: "echo", arguments: `{"a":1}`, want: mode + `{"a":1}`},
			{tool: "fail", want: "no such thing", fails: true},
			{tool: "protest", want: server + "/protest did not answer: ", fails: true},
			{tool: "mixed", want: `a` + "\n" + `{"type":"image","mimeType":"image/png\n","data":"MTIz"}` + "\nb"},
			{tool: "structured", want: `{"n":1}`},
			{tool: "echo", arguments: `[]`, want: "the arguments are not one JSON object", fails: true},
			{tool: "echo", arguments: `{`, want: "the arguments are not one JSON object", fails: true},
			{tool: "echo", arguments: ` `, want: mode + `{}`}, // the session is still there
		} {
			content, success := find(t, s, server, tc.tool).call(t.Context(), []byte(tc.arguments))
			if !strings.HasPrefix(content, tc.want) || success == tc.fails {
				t.Errorf("%s/%s: %q, %v, want %q", server, tc.tool, content, success, tc.want)
			}
		}
		tools, err := toolsOf(t, s, server)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			if tool.name == "vast" || strings.Contains(tool.Description, "\x1b") || tool.Name != "mcp__"+server+"__"+tool.name {
				t.Errorf("%+v", tool)
			}
		}
	}
}

// A server may have moved to another path of its origin, and to nowhere else: what it is asked is for nobody but it.
func TestRedirect(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Host }))
	t.Cleanup(elsewhere.Close)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newServer("moved") }, nil)
	var away atomic.Bool // in the middle of a session
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/away" || away.Load():
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		case r.URL.Path == "/old":
			http.Redirect(w, r, "/new", http.StatusTemporaryRedirect)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(here.Close)
	at := func(name, path string) config.Table[config.Server] {
		return config.Table[config.Server]{Name: name, Value: config.Server{URL: here.URL + path}}
	}
	s := serversFor(t, at("away", "/away"), at("loop", "/loop"), at("moved", "/old"))
	if _, err := toolsOf(t, s, "loop"); err == nil || !strings.Contains(err.Error(), "it redirects more than nine times") {
		t.Errorf("a loop of redirects: %v", err)
	}
	if _, err := toolsOf(t, s, "away"); err == nil || !strings.Contains(err.Error(), "it redirects to another origin, http://"+elsewhere.Listener.Addr().String()) {
		t.Errorf("a redirect to another origin: %v", err)
	}
	echo := find(t, s, "moved", "echo")
	if content, success := echo.call(t.Context(), nil); content != "moved{}" || !success {
		t.Errorf("a redirect to another path: %q, %v", content, success)
	}
	away.Store(true)
	if content, success := echo.call(t.Context(), []byte(`{"a":1}`)); success || !strings.Contains(content, "redirects to another origin") {
		t.Errorf("a redirect of a call: %q, %v", content, success)
	}
	if len(asked) > 0 {
		t.Errorf("%s was asked", <-asked)
	}
}

// A server that has ended is started again by the next call.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := serversFor(t, program(t, "local", "again"))
	exit, echo := find(t, s, "local", "exit"), find(t, s, "local", "echo")
	if content, success := exit.call(t.Context(), nil); success || !strings.Contains(content, "did not answer") {
		t.Errorf("%q, %v", content, success)
	}
	if content, success := echo.call(t.Context(), nil); content != "again{}" || !success {
		t.Errorf("%q, %v", content, success)
	}
}

// What cannot be started, never answers or has no end is an error in time, which says why.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"broken":  "it said: no licence␛[31m",
		"silent":  "it took too long",
		"endless": "exceeded",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serversFor(t, program(t, "one", name))
			if name == "silent" {
				s.startTime = 50 * time.Millisecond
			}
			_, err := toolsOf(t, s, "one")
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
	s := serversFor(t, config.Table[config.Server]{Name: "none", Value: config.Server{Command: "no-such-program-of-mcptools"}})
	if _, err := toolsOf(t, s, "none"); err == nil || !strings.Contains(err.Error(), "no such program in PATH") {
		t.Error(err)
	}
}

// A call that takes too long, or is canceled, returns.
func TestSlow(t *testing.T) {
	t.Parallel()
	s := serversFor(t, program(t, "local", "slow"))
	s.callTime = 50 * time.Millisecond
	slow := find(t, s, "local", "slow")
	if content, success := slow.call(t.Context(), nil); success || !strings.Contains(content, "it took too long") {
		t.Errorf("%q, %v", content, success)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, success := slow.call(ctx, nil); success {
		t.Error("a call that was canceled succeeded")
	}
}
