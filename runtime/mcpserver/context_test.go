package mcpserver_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/mcpserver"
)

// What a client says about where a call comes from is never left aside in
// silence: where it makes no sense, a note of the call says so.
func TestContextNotUnderstood(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]struct {
		id    string
		notes int
	}{
		``:                           {"jp-c1", 0},
		`"computer.jp/context":null`: {"jp-c1", 0},
		`"computer.jp/context":{}`:   {"jp-c1", 0},
		`"computer.jp/context":{"conversation_id":null}`:    {"jp-c1", 0},
		`"computer.jp/context":{"conversation_id":"jp-c2"}`: {"jp-c2", 0},
		`"computer.jp/context":{"conversation_id":"5f3c"}`:  {"5f3c", 0}, // for the tools to judge
		`"computer.jp/context":{"conversation_id":17}`:      {"jp-c1", 1},
		`"computer.jp/context":"jp-c2"`:                     {"jp-c1", 1},
		`"computer.jp/context":["jp-c2"]`:                   {"jp-c1", 1},
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			var got contract.Call
			family := newTools().family()
			family.Call = func(_ context.Context, call contract.Call) (string, error) {
				got = call
				return "", nil
			}
			cfg := newTools().configWith(family)
			cfg.Context = contract.Context{ConversationID: "jp-c1"}
			server := mcpserver.New(cfg)
			input := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n" +
				`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{` + said + `}}}` + "\n"
			if err := server.ServeStdio(t.Context(), strings.NewReader(input), io.Discard); err != nil {
				t.Fatal(err)
			}
			if got.Tool != "echo" || got.Context.ConversationID != want.id || len(got.Notes) != want.notes {
				t.Errorf("called %s from %q with the notes %q, want %q and %d notes", got.Tool, got.Context.ConversationID, got.Notes, want.id, want.notes)
			}
		})
	}
}

// What else a client says is handed on as it is, with the name it gives itself, in
// either era; what is known of the process stays.
func TestCaller(t *testing.T) {
	t.Parallel()
	const meta = `"claudecode/toolUseId":"toolu_1","x-codex-turn-metadata":{"thread_id":"t"}`
	const modern = `,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}`
	call := func(meta string) string {
		return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{` + meta + `}}}` + "\n"
	}
	for name, input := range map[string]string{
		"legacy": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}` + "\n" + call(meta),
		"modern": call(meta + modern),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got caller.Caller
			family := newTools().family()
			family.Call = func(_ context.Context, call contract.Call) (string, error) {
				got = call.Context.Caller
				return "", nil
			}
			cfg := newTools().configWith(family)
			cfg.Context.Caller = caller.Caller{Process: caller.Server, ParentPID: 7}
			if err := mcpserver.New(cfg).ServeStdio(t.Context(), strings.NewReader(input), io.Discard); err != nil {
				t.Fatal(err)
			}
			turn, _ := got.Meta["x-codex-turn-metadata"].(map[string]any)
			if got.Client != "c" || got.Meta["claudecode/toolUseId"] != "toolu_1" || turn["thread_id"] != "t" || got.Process != caller.Server || got.ParentPID != 7 {
				t.Errorf("%+v", got)
			}
		})
	}
}
