package main

import (
	"context"
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/mcpserver"
	"github.com/convtools/convtools/runtime/toolset"
)

// answering returns a server whose tool answers with its arguments.
func answering(t *testing.T) *mcpserver.Server {
	t.Helper()
	echo := contract.Tool{Name: "echo", Summary: "Echo", Description: "Echoes.", Effect: "read", InputSchema: `{"type":"object"}`}
	registry, err := toolset.NewRegistry(toolset.Family{
		Name:     "echo",
		Declared: func() []contract.Tool { return []contract.Tool{echo} },
		Call: func(_ context.Context, call contract.Call) (string, error) {
			return string(call.Arguments), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return mcpserver.New(mcpserver.Config{Tools: registry})
}

// clients returns a client of each kind, for a request.
func clients(t *testing.T, of request) map[string]mcpClient {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- answering(t).ServeStdio(t.Context(), inRead, outWrite) }()
	stream, err := newStreamClient(inWrite, outRead, of)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stream.close()
		_ = outRead.Close() // answers that were not read must not keep the server
		<-ended
	})
	web := httptest.NewServer(answering(t).Handler(mcpserver.HTTPOptions{}))
	t.Cleanup(web.Close)
	overHTTP, err := newWebClient(t.Context(), web.URL, 4, of)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = overHTTP.close() })
	return map[string]mcpClient{"streams": stream, "HTTP": overHTTP}
}

func TestClients(t *testing.T) {
	t.Parallel()
	const arguments = `{"a":"<b>"}`
	for name, client := range clients(t, toolCall("echo", arguments)) {
		if text, err := client.text(); err != nil || text != arguments {
			t.Errorf("%s: text %q, %v", name, text, err)
		}
		for _, atOnce := range []int{1, 4} {
			if err := client.each(20, atOnce); err != nil {
				t.Errorf("%s: 20 calls, %d at once: %v", name, atOnce, err)
			}
		}
	}
}

// An error is answered faster than a call, and must not be measured for one.
func TestClientsSeeErrors(t *testing.T) {
	t.Parallel()
	for name, client := range clients(t, toolCall("no_such_tool", `{}`)) {
		if err := client.each(4, 2); err == nil || !strings.Contains(err.Error(), "no_such_tool") {
			t.Errorf("%s: error %v for a call that is not answered", name, err)
		}
		if text, err := client.text(); err == nil {
			t.Errorf("%s: text %q for a call that is not answered", name, text)
		}
	}
}

func TestResidentPeak(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the system has no /proc")
	}
	if peak := residentPeak(os.Getpid()); peak < 1<<20 || peak > 1<<32 {
		t.Errorf("this process had %d bytes resident", peak)
	}
}
