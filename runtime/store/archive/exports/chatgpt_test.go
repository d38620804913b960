package exports_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive/exports"
	"github.com/convtools/convtools/runtime/store/internal/storetest"
)

// read imports one conversation and returns what is said in it.
func read(t *testing.T, c object) string {
	t.Helper()
	h := newHome(t)
	report, err := h.add(write(t, filepath.Join(t.TempDir(), "one.json"), c.String()), exports.Options{})
	if err != nil || report.New != 1 {
		t.Fatal(summary(report, err))
	}
	one := storetest.Only(t, h.store())
	storetest.CheckReading(t, one)
	return storetest.Said(t, one)
}

// of is a conversation with some nodes.
func of(current any, nodes ...object) object {
	mapping := object{}
	for _, n := range nodes {
		mapping[n["id"].(string)] = n
	}
	return object{"conversation_id": "c", "title": "t", "mapping": mapping, "current_node": current}
}

func text(id, parent, role, text string, children ...string) object {
	_, n := said(id, parent, role, text, children...)
	return n
}

func TestTrees(t *testing.T) {
	t.Parallel()
	at := func(n object, time any) object {
		n["message"].(object)["create_time"] = time
		return n
	}
	root := object{"id": "root", "message": nil, "parent": nil, "children": []string{"a"}}
	for name, c := range map[string]struct {
		conversation object
		want         string
	}{
		"a line": {
			of("c", root, text("a", "root", "user", "one", "b"), text("b", "a", "assistant", "two", "c"), text("c", "b", "user", "three")),
			"1 user: one\n1 assistant: two\n2 user: three\n",
		},
		"the active path last": {
			of("c", text("a", "", "user", "one", "b", "c", "d"), text("b", "a", "assistant", "first"), text("c", "a", "assistant", "second"), text("d", "a", "assistant", "third")),
			"1 user: one\n1 assistant: first\n1 assistant: third\n1 assistant: second\n",
		},
		"branches are whole": {
			of("e", text("a", "", "user", "one", "b", "d"), text("b", "a", "assistant", "old", "c"), text("c", "b", "user", "older"), text("d", "a", "assistant", "new", "e"), text("e", "d", "user", "newer")),
			"1 user: one\n1 assistant: old\n2 user: older\n1 assistant: new\n3 user: newer\n",
		},
		"no current node: the newest leaf": {
			of(nil, text("a", "", "user", "one", "b", "c"), at(text("b", "a", "assistant", "newest"), 1800000000), at(text("c", "a", "assistant", "older"), 1600000000)),
			"1 user: one\n1 assistant: older\n1 assistant: newest\n",
		},
		"a current node that is gone": {
			of("gone", text("a", "", "user", "one", "b", "c"), at(text("b", "a", "assistant", "newest"), 1800000000), at(text("c", "a", "assistant", "older"), 1600000000)),
			"1 user: one\n1 assistant: older\n1 assistant: newest\n",
		},
		"the current node is not a leaf": {
			of("a", text("a", "", "user", "one", "b"), text("b", "a", "assistant", "two")),
			"1 user: one\n1 assistant: two\n",
		},
		"links to children missing": {
			of("c", text("a", "", "user", "one"), text("b", "a", "assistant", "two"), text("c", "b", "user", "three")),
			"1 user: one\n1 assistant: two\n2 user: three\n",
		},
		"links to parents missing": {
			of("c", text("c", "", "user", "three"), text("b", "", "assistant", "two", "c"), text("a", "", "user", "one", "b")),
			"1 user: one\n1 assistant: two\n2 user: three\n",
		},
		"a parent that is gone": {
			of("b", text("a", "lost", "user", "one"), text("b", "gone", "user", "two")),
			"1 user: one\n2 user: two\n",
		},
		"a circle": {
			of("b", text("a", "b", "user", "one", "b"), text("b", "a", "assistant", "two", "a")),
			"1 user: one\n1 assistant: two\n",
		},
		"its own parent": {
			of("a", text("a", "a", "user", "one", "a")),
			"1 user: one\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, c.conversation)
			// Turns are counted through branches; here only the order matters.
			if strip(got) != strip(c.want) {
				t.Error(cmp.Diff(c.want, got))
			}
		})
	}
}

// strip removes the numbers of turns.
func strip(said string) string {
	lines := strings.Split(said, "\n")
	for i, line := range lines {
		_, lines[i], _ = strings.Cut(line, " ")
	}
	return strings.Join(lines, "\n")
}

func TestMessages(t *testing.T) {
	t.Parallel()
	with := func(role string, content any, changes ...any) object {
		n := node("n", "", role, content)
		for i := 0; i < len(changes); i += 2 {
			n["message"].(object)[changes[i].(string)] = changes[i+1]
		}
		return n
	}
	for name, c := range map[string]struct {
		node object
		want string
	}{
		"text":                    {with("user", object{"content_type": "text", "parts": []any{"a", "b"}}), "1 user: a b\n"},
		"a lone surrogate":        {with("user", object{"content_type": "text", "parts": []any{"x\ufffdy"}}), "1 user: x\ufffdy\n"},
		"null":                    {with("user", object{"content_type": "text", "parts": []any{"a\x00b"}}), "1 user: a\x00b\n"},
		"pictures":                {with("user", object{"content_type": "multimodal_text", "parts": []any{object{"content_type": "image_asset_pointer", "width": 640, "height": 480}, "what?"}}), "1 user: [image 640x480] what?\n"},
		"code":                    {with("assistant", object{"content_type": "code", "language": "python", "text": "print(1)"}, "recipient", "python"), "1 tool_call python: print(1)\n"},
		"code for people":         {with("assistant", object{"content_type": "code", "language": "python", "text": "print(1)"}), "1 assistant: print(1)\n"},
		"what it printed":         {with("tool", object{"content_type": "execution_output", "text": "1"}, "author", object{"role": "tool", "name": "python"}), "1 tool_result python: 1\n"},
		"thoughts":                {with("assistant", object{"content_type": "thoughts", "thoughts": []any{object{"summary": "S", "content": "C", "chunks": []any{"C"}, "finished": true}}}), "1 reasoning: C S\n"},
		"a recap":                 {with("assistant", object{"content_type": "reasoning_recap", "content": "Thought for 9s"}), "1 reasoning: Thought for 9s\n"},
		"a quotation":             {with("tool", object{"content_type": "tether_quote", "url": "https://x", "domain": "x", "text": "T", "title": "U"}), "1 tool_result: x T U https://x\n"},
		"a page":                  {with("tool", object{"content_type": "tether_browsing_display", "result": "R", "summary": "S", "assets": nil}), "1 tool_result: R S\n"},
		"an error":                {with("system", object{"content_type": "system_error", "name": "N", "text": "T"}), "1 system: N T\n"},
		"instructions":            {with("user", object{"content_type": "user_editable_context", "user_profile": "P", "user_instructions": "I"}), "1 system: I P\n"},
		"hidden":                  {with("user", object{"content_type": "text", "parts": []any{"h"}}, "metadata", object{"is_visually_hidden_from_conversation": true}), "1 system: h\n"},
		"an unknown content type": {with("assistant", object{"content_type": "hologram", "depth": 3, "scenes": []any{object{"caption": "C"}}}), "1 assistant: C\n"},
		"an unknown role":         {with("critic", object{"content_type": "text", "parts": []any{"x"}}), "1 system critic: x\n"},
		"no role":                 {with("", object{"content_type": "text", "parts": []any{"x"}}), "1 system unknown: x\n"},
		"content that is a text":  {with("user", "plain"), "1 user: plain\n"},
		"files": {
			with("user", object{"content_type": "text", "parts": []any{"see"}}, "metadata", object{"attachments": []any{object{"id": "f", "name": "tide.csv", "size": 3}, object{"id": "g"}, 7}}),
			"1 user: see [file tide.csv]\n",
		},
		"a file alone": {with("user", object{"content_type": "text", "parts": []any{""}}, "metadata", object{"attachments": []any{object{"name": "tide.csv"}}}), "1 user: [file tide.csv]\n"},
		"references": {
			with("assistant", object{"content_type": "text", "parts": []any{
				"High \ue200cite\ue202turn0search1\ue201. Low \ue200cite\ue202turn0search1\ue201 \ue200cite\ue202turn1view0\ue201\n\ue200navlist\ue202News\ue201 \ue200cite\ue202turn9view9\ue201; \ue200open \ue201\ue200",
			}}, "metadata", object{"content_references": []any{
				object{"matched_text": "\ue200cite\ue202turn0search1\ue201", "alt": "([tides](https://example.org))"},
				object{"matched_text": "\ue200cite\ue202turn1view0\ue201", "alt": nil},
				object{"matched_text": " ", "alt": "a footnote"},
				"none",
			}}),
			"1 assistant: High ([tides](https://example.org)). Low \ue200navlist\ue202News\ue201; \ue200open \ue201\ue200\n",
		},
		"no status, no time": {with("user", object{"content_type": "text", "parts": []any{"x"}}, "create_time", nil, "metadata", nil), "1 user: x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := read(t, of("n", c.node)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	c := conversation("2f6c0d3a-1111-4222-8333-444455556666", "hello").with("id", "another").with("title", nil).with("is_archived", true)
	if report, err := h.add(write(t, filepath.Join(t.TempDir(), "x.json"), c.String()), exports.Options{}); err != nil {
		t.Fatal(summary(report, err))
	}
	if live, _ := storetest.List(t, h.store(), store.Live); len(live) != 0 {
		t.Errorf("%+v", live)
	}
	got := storetest.Only(t, h.store())
	if got.ID != "archive-chatgpt-2f6c0d3a-1111-4222-8333-444455556666" || got.NativeID != "2f6c0d3a-1111-4222-8333-444455556666" || got.Title != "" || !got.Archived ||
		got.CreatedAt.Unix() != 1700000000 || got.LastActivatedAt.UnixMilli() != 1700000100500 || got.LastAt.Unix() != 1700000001 || got.Order != 1 {
		t.Errorf("%+v", got)
	}
	again, err := storetest.Find(t, h.store(), got.ID)
	if err != nil || again.NativeID != got.NativeID {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestOtherKinds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ export, want string }{
		"Claude.ai": {
			`[{"uuid":"u1","name":"Tides","created_at":"2026-01-01T10:00:00.5Z","updated_at":"2026-01-02T10:00:00Z","account":{"uuid":"a"},"chat_messages":[
			{"uuid":"m1","text":"old form","sender":"human","created_at":"2026-01-01T10:00:00Z","content":[],"attachments":[{"file_name":"a.txt","extracted_content":"inside"}],"files":[{"file_name":"b.png"}]},
			{"uuid":"m2","text":"ignored","sender":"assistant","created_at":"2026-01-01T10:01:00Z","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Answer"},{"type":"tool_use","name":"web_search","input":{"query":"tide"}},{"type":"tool_result","name":"web_search","content":[{"type":"text","text":"found"}]}]}]},
			{"uuid":"u2","name":"","chat_messages":[{"uuid":"m","text":"","sender":"human","content":[]}]}]`,
			"archive-claude-u1 \"Tides\"\n1 user: old form [file a.txt] inside [file b.png]\n1 reasoning: hm\n1 assistant: Answer\n1 tool_call web_search: { \"query\": \"tide\" }\n1 tool_result web_search: found\n",
		},
		"a branch of Claude.ai": {
			`[{"uuid":"u1","name":"n","current_leaf_message_uuid":"b","chat_messages":[{"uuid":"a","text":"one","sender":"human","parent_message_uuid":"00000000"},
			{"uuid":"b","text":"active","sender":"assistant","parent_message_uuid":"a"},{"uuid":"c","text":"left","sender":"assistant","parent_message_uuid":"a"}]}]`,
			"archive-claude-u1 \"n\"\n1 user: one\n1 assistant: left\n1 assistant: active\n",
		},
		"Letta": {
			`{"agents":[{"id":"agent-0","name":"Aide","messages":[
			{"id":"message-0","role":"system","content":[{"type":"text","text":"be kind"}],"created_at":"2026-01-01T00:00:00+00:00"},
			{"id":"message-1","role":"user","content":[{"type":"text","text":"{\"type\": \"user_message\", \"message\": \"hi\", \"time\": \"now\"}"}]},
			{"id":"message-2","role":"assistant","content":[{"type":"text","text":"I should greet"}],"tool_calls":[{"id":"c1","function":{"name":"send_message","arguments":"{\"message\": \"Hello!\"}"}},{"id":"c2","function":{"name":"archival_memory_search","arguments":"{\"query\": \"tide\"}"}}]},
			{"id":"message-3","role":"tool","name":"archival_memory_search","tool_call_id":"c2","content":[{"type":"text","text":"none"}]},
			{"id":"message-4","role":"user","content":[{"type":"text","text":"{\"type\": \"heartbeat\", \"message\": \"go on\"}"}]}]}],"blocks":[],"tools":[]}`,
			"archive-letta-agent-0 \"Aide\"\n1 system: be kind\n1 user: hi\n1 reasoning: I should greet\n1 assistant: Hello!\n1 tool_call archival_memory_search: {\"query\": \"tide\"}\n1 tool_result archival_memory_search: none\n1 system: go on\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			if report, err := h.add(write(t, filepath.Join(t.TempDir(), "x.json"), c.export), exports.Options{}); err != nil || report.New != 1 {
				t.Fatal(summary(report, err))
			}
			if diff := cmp.Diff(c.want, h.all()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
