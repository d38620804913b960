package mcpserver_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDiscoverWithoutVersion(t *testing.T) {
	t.Parallel()
	s := start(t, newTools().config())
	s.send(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}` + "\n")
	if m := s.receive(); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("answer %+v, error %+v", m, m.Error)
	}
	s.end()
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
