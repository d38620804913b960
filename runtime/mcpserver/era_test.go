package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A request with a protocol version in _meta is of the stateless era, or it is
// told what works there.
func TestVersionInMeta(t *testing.T) {
	t.Parallel()
	const key = "io.modelcontextprotocol/protocolVersion"
	type failure struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data"`
	}
	const wrongType = `"io.modelcontextprotocol/protocolVersion" in _meta has to be a string.`
	unsupported := func(version string) failure {
		return failure{
			-32022,
			fmt.Sprintf("Unsupported protocol version in _meta: %q. 2026-07-28 can be asked for there; older ones begin with initialize.", version),
			map[string]any{"supported": []any{"2026-07-28"}, "requested": version},
		}
	}
	long := strings.Repeat("9", 10000)
	for _, tc := range []struct {
		name, method, version string
		want                  failure
	}{
		{"unknown", "tools/list", `"1900-01-01"`, unsupported("1900-01-01")},
		{"empty", "tools/list", `""`, unsupported("")},
		{"of the other era", "tools/list", `"2025-11-25"`, unsupported("2025-11-25")},
		{"newer", "server/discover", `"2099-01-01"`, unsupported("2099-01-01")},
		{"long", "tools/list", `"` + long + `"`, unsupported(long[:255] + "…")},
		{"a number", "tools/list", `5`, failure{-32602, wrongType, nil}},
		{"null", "server/discover", `null`, failure{-32602, wrongType, nil}},
		{"an object", "tools/list", `{}`, failure{-32602, wrongType, nil}},
		{"ping", "ping", `"2026-07-28"`, failure{-32601, `method not found: "ping"`, nil}},
		{"initialize", "initialize", `"2026-07-28"`, failure{-32601, `method not found: "initialize"`, nil}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, newTools().config())
			s.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"_meta":{%q:%s,"io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", tc.method, key, tc.version))
			var got struct{ Error failure }
			if line := <-s.lines; json.Unmarshal([]byte(line), &got) != nil {
				t.Fatalf("answer %s", line)
			}
			if diff := cmp.Diff(tc.want, got.Error); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			s.end()
		})
	}
}

func TestDiscoverWithoutVersion(t *testing.T) {
	t.Parallel()
	s := start(t, newTools().config())
	s.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}` + "\n")
	if m := s.receive(); m.Error == nil || m.Error.Code != -32601 || m.Error.Message != `method not found: "server/discover"` {
		t.Errorf("answer %+v, error %+v", m, m.Error)
	}
	s.end()
}

// Who asks initialize for a version to come gets the era with sessions, and
// results as they are there.
func TestInitializeWithNewerVersion(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2026-07-28", "2099-01-01"} {
		s := start(t, newTools().config())
		s.send(strings.Replace(initialize, "2025-11-25", version, 1))
		if line := <-s.lines; !strings.Contains(line, `"protocolVersion":"2025-11-25"`) {
			t.Errorf("%s: %s", version, line)
		}
		s.send(callLine(1, "echo", `{}`))
		if line := <-s.lines; !strings.Contains(line, `"text":`) || strings.Contains(line, "resultType") {
			t.Errorf("%s: %s", version, line)
		}
		s.end()
	}
}

func TestVersionWithEscapes(t *testing.T) {
	t.Parallel()
	s := start(t, newTools().config())
	s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",` + strings.Replace(modern, "2026-", `2026\u002d`, 1) + `}}` + "\n")
	if m := s.receive(); m.Error != nil || m.ID != 1.0 {
		t.Errorf("answer %+v, error %+v", m, m.Error)
	}
	s.end()
}

// A key may have escapes, too. Whoever reads it as another one takes the request for
// one of the era with sessions, in which initialize is then refused.
func TestVersionKeyWithEscapes(t *testing.T) {
	t.Parallel()
	for _, key := range []string{`io.modelcontextprotocol\/protocolVersion`, `io.modelcontextprotocol/protocol\u0056ersion`} {
		for _, meta := range []string{`_meta`, `\u005fmeta`} {
			s := start(t, newTools().config())
			params := strings.NewReplacer("io.modelcontextprotocol/protocolVersion", key, "_meta", meta).Replace(modern)
			s.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo",` + params + `}}` + "\n")
			if m := s.receive(); m.Error != nil || m.ID != 1.0 {
				t.Errorf("%s in %s: answer %+v, error %+v", key, meta, m, m.Error)
			}
			s.send(initialize)
			if m := s.receive(); m.Error != nil || m.ID != "init" {
				t.Errorf("%s in %s: initialize is answered with %+v, error %+v", key, meta, m, m.Error)
			}
			s.end()
		}
	}
}

// Nobody waits for the answer to a notification.
func TestUnreadableNotification(t *testing.T) {
	t.Parallel()
	s := begin(t, newTools().config())
	s.send(`{"jsonrpc":"2.0","method":"notifications/x","params":[1]}` + "\n")
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":"x"}` + "\n")
	s.end()
}

func TestNesting(t *testing.T) {
	t.Parallel()
	// With the message, its params and its arguments.
	call := func(deep int) string {
		return callLine(1, "echo", `{"\"[":`+strings.Repeat("[", deep-3)+strings.Repeat("]", deep-3)+`}`)
	}
	s := begin(t, newTools().config())
	s.send(call(1000))
	if m := s.receive(); m.ID != 1.0 || !strings.HasPrefix(m.text(), "<echo>") {
		t.Errorf("1000 levels: %+v, error %+v", m, m.Error)
	}
	for deep, want := range map[int]struct {
		id   any
		code int
	}{1500: {1.0, -32602}, 9000: {1.0, -32602}, 100000: {nil, -32700}} {
		s.send(call(deep))
		if m := s.receive(); m.ID != want.id || m.Error == nil || m.Error.Code != want.code {
			t.Errorf("%d levels: %.300v, error %+v", deep, m, m.Error)
		}
	}
	s.end()
}

// What a client sends comes back only as far as it helps.
func TestEchoIsShort(t *testing.T) {
	t.Parallel()
	for _, uri := range []string{"file:///" + strings.Repeat("a", 100000), "conversation://" + strings.Repeat("a", 100000)} {
		s := begin(t, newTools().config())
		s.send(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + uri + `"}}` + "\n")
		var got struct {
			Error struct {
				Data struct{ URI string }
			}
		}
		if line := <-s.lines; json.Unmarshal([]byte(line), &got) != nil || got.Error.Data.URI != uri[:255]+"…" {
			t.Errorf("answer %.1000s", line)
		}
		s.end()
	}
}
