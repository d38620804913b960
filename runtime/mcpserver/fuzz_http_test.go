package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/mcpserver"
)

// FuzzHTTP posts anything, with any version, method and name in the headers. The
// answer has to be of a size and a status that clients know, and JSON-RPC where it is said to be.
func FuzzHTTP(f *testing.F) {
	const any, both = "", "application/json, text/event-stream"
	for _, seed := range []struct{ body, contentType, accept, version, method, name, session, origin string }{
		{strings.TrimSpace(initialize), "application/json", both, any, any, any, any, any},
		{callLine(1, "echo", `{"a":1}`), "application/json", both, "2025-11-25", any, any, "s", any},
		{callLine(1, "crash", `{}`), "application/json; charset=utf-8", "*/*", "2025-06-18", any, any, "s", "http://localhost"},
		{`{"jsonrpc":"2.0","id":"\u0061","method":"tools/call","params":{"name":"echo",` + modern + `}}`, "application/json", both, "2026-07-28", "tools/call", "echo", any, any},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x",` + modern + `}}`, "application/json", both, "2026-07-28", "tools/list", any, any, any},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"prompts/get","params":{"name":7}}`, "application/json", both, any, any, any, any, any},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, "application/json", both, "2025-11-25", any, any, "s", any},
		{`[` + strings.TrimSpace(ping) + `]`, "text/plain", "text/html", "1999-01-01", "x", "y", "z", "https://evil.example"},
		{`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + modern + `}}`, "application/json", both, "2099-01-01", "server/discover", any, any, any},
	} {
		f.Add([]byte(seed.body), seed.contentType, seed.accept, seed.version, seed.method, seed.name, seed.session, seed.origin)
	}
	handler := mcpserver.New(newTools().config()).Handler(mcpserver.HTTPOptions{})
	f.Fuzz(func(t *testing.T, body []byte, contentType, accept, version, method, name, session, origin string) {
		if bytes.Contains(body, []byte("wait")) || bytes.Contains(body, []byte("listen")) {
			return // they take until they are stopped
		}
		req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/mcp", bytes.NewReader(body))
		for header, value := range map[string]string{
			"Content-Type": contentType, "Accept": accept, "Mcp-Protocol-Version": version,
			"Mcp-Method": method, "Mcp-Name": name, "Mcp-Session-Id": session, "Origin": origin,
		} {
			if value != "" {
				req.Header.Set(header, value)
			}
		}
		begun := time.Now()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req)
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("%q took %v", body, time.Since(begun))
		}
		answer := w.Body.String()
		if !slices.Contains([]int{200, 202, 400, 403, 404, 413, 415}, w.Code) {
			t.Fatalf("%q was answered with status %d: %s", body, w.Code, answer)
		}
		if len(answer) > 100<<10+7*len(body) {
			t.Fatalf("%d bytes were answered with %d", len(body), len(answer))
		}
		var messages []string
		switch kind := w.Header().Get("Content-Type"); {
		case w.Code == http.StatusAccepted && answer == "":
		case kind == "application/json":
			messages = append(messages, answer)
		case kind == "text/event-stream":
			for line := range strings.Lines(answer) {
				if data, ok := strings.CutPrefix(line, "data: "); ok {
					messages = append(messages, data)
				}
			}
		}
		for _, text := range messages {
			var m struct {
				Version string `json:"jsonrpc"`
			}
			if err := json.Unmarshal([]byte(text), &m); err != nil || m.Version != "2.0" {
				t.Fatalf("%q was answered with %q: %v", body, text, err)
			}
		}
	})
}
