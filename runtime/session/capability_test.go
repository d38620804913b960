package session

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var catalogue = map[string][]string{"git": {"log", "blame"}, "web": {"get"}}

// What a conversation with a view and the tools of everything gives to one that it creates.
func TestNarrow(t *testing.T) {
	t.Parallel()
	const yes, no = true, false
	for _, test := range []struct {
		name      string
		view      []string
		internal  InternalTools
		allowlist []string
		overrides InternalTools
		want      Capabilities
		refused   Code
		field     string
	}{
		{name: "an absent list inherits", view: []string{"git"}, want: Capabilities{MCP: []string{"git"}}},
		{name: "an empty list is none", view: []string{"git"}, allowlist: []string{}, want: Capabilities{}},
		{name: "a tool of a server", view: []string{"git"}, allowlist: []string{"git/log"}, want: Capabilities{MCP: []string{"git/log"}}},
		{name: "a server of which the caller has a tool", view: []string{"git/log"}, allowlist: []string{"git"}, want: Capabilities{MCP: []string{"git/log"}}},
		{name: "what the caller does not have", view: []string{"git/log"}, allowlist: []string{"web", "git/blame"}, want: Capabilities{}},
		{name: "sorted, once", view: []string{"git", "web"}, allowlist: []string{"web", "git", "web"}, want: Capabilities{MCP: []string{"git", "web"}}},
		{name: "an unknown server", view: []string{"git"}, allowlist: []string{"git", "other"}, refused: CodeInvalidArguments, field: "mcp_allowlist"},
		{name: "an unknown tool", view: []string{"git"}, allowlist: []string{"git/push"}, refused: CodeInvalidArguments, field: "mcp_allowlist"},
		{name: "no name", view: []string{"git"}, allowlist: []string{""}, refused: CodeInvalidArguments, field: "mcp_allowlist"},
		{name: "each field on its own", internal: InternalTools{PlanTool: true, ConvTools: true}, overrides: InternalTools{PlanTool: no, PatchTool: no}, want: Capabilities{Internal: InternalTools{ConvTools: true}}},
		{name: "what the caller has can be kept", internal: InternalTools{PlanTool: true}, overrides: InternalTools{PlanTool: yes}, want: Capabilities{Internal: InternalTools{PlanTool: true}}},
		{name: "what it lacks cannot be given", internal: InternalTools{PlanTool: true}, overrides: InternalTools{SearchTool: yes}, refused: CodeUnavailable, field: "internal_tools.web_search_request"},
		{name: "nor the conv tools", internal: InternalTools{}, overrides: InternalTools{ConvTools: yes}, refused: CodeUnavailable, field: "internal_tools.include_conv_tools"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			caller := Capabilities{MCP: test.view, Internal: test.internal}
			got, refusal := caller.narrow(Config{Catalogue: catalogue}, test.allowlist, test.overrides)
			if test.refused != "" {
				if refusal == nil || refusal.Code != test.refused || refusal.Field != test.field {
					t.Errorf("refusal %+v, want %s of %s", refusal, test.refused, test.field)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); diff != "" || refusal != nil {
				t.Errorf("refusal %v, capabilities (-want +got):\n%s", refusal, diff)
			}
		})
	}
}

// A narrowed view allows a tool when both the caller's view and the list do, over all tools there are.
func TestNarrowIsIntersection(t *testing.T) {
	t.Parallel()
	names := rapid.SliceOf(rapid.SampledFrom([]string{"git", "git/log", "git/blame", "web", "web/get"}))
	rapid.Check(t, func(t *rapid.T) {
		view, list := names.Draw(t, "view"), names.Draw(t, "allowlist")
		caller := Capabilities{MCP: view}
		got, refusal := caller.narrow(Config{Catalogue: catalogue}, append([]string{}, list...), InternalTools{})
		if refusal != nil {
			t.Fatal(refusal)
		}
		for server, tools := range catalogue {
			for _, tool := range tools {
				listed := slices.Contains(list, server) || slices.Contains(list, server+"/"+tool)
				if want := caller.Allows(server, tool) && listed; got.Allows(server, tool) != want {
					t.Fatalf("%s/%s: %v, want %v", server, tool, !want, want)
				}
			}
		}
		if !caller.covers(got) {
			t.Fatalf("%v is not within %v", got.MCP, view)
		}
	})
}

// A new conversation has the context of its caller, with what the call overrides. An empty base is
// one.
func TestInherit(t *testing.T) {
	t.Parallel()
	root := Context{Title: "root", Base: pointer("base"), Settings: "model", Capabilities: Capabilities{MCP: []string{"git", "web"}, Internal: everything().Internal}}
	h := asked(t, Config{Catalogue: catalogue}, root)
	h.respond(
		Create{ConversationID: id(1), UserInstruction: pointer("x")},
		Create{ConversationID: id(2), UserInstruction: pointer("x"), Base: pointer(""), Title: "two", MCPAllowlist: []string{"git/log"}, Internal: InternalTools{PlanTool: false}},
	)
	first := root
	first.Title = ""
	second := first
	second.Title, second.Base, second.MCP = "two", pointer(""), []string{"git/log"}
	second.Internal = InternalTools{PatchTool: true, SearchTool: true, ShellTool: true, ConvTools: true}
	for i, want := range []Context{root, first, second} {
		if diff := cmp.Diff(want, h.state.Conversation(id(i)).Context); diff != "" {
			t.Errorf("%d (-want +got):\n%s", i, diff)
		}
	}
}

// A conversation without the conv tools is refused each of them, and goes on.
func TestLeaf(t *testing.T) {
	t.Parallel()
	h := asked(t, Config{}, everything())
	h.respond(Create{ConversationID: id(1), UserInstruction: pointer("x"), Internal: InternalTools{ConvTools: false}})
	h.respond(Create{ConversationID: id(2), UserInstruction: pointer("x")}, Send{ConversationID: id(0), Text: pointer("x")}, List{}, History{ConversationID: id(0)}, Destroy{ConversationID: id(1)})
	h.respond()
	want := dedent(`
		1 gets k3 unavailable
		1 gets k4 unavailable
		1 gets k5 unavailable
		1 gets k1 unavailable
		1 gets k2 unavailable
		1 says: end`)
	got := trace(h.log)
	if i := slices.Index(got, want[0]); i < 0 || !slices.Equal(got[i:i+len(want)], want) {
		t.Errorf("trace %q", got)
	}
}

// What a conversation lacks it cannot give, and the refusal interrupts nothing.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	h := asked(t, Config{}, Context{Capabilities: Capabilities{Internal: InternalTools{ConvTools: true}}})
	h.respond(Create{ConversationID: id(1), UserInstruction: pointer("x"), Internal: InternalTools{SearchTool: true}})
	want := `{"ok":false,"code":"unavailable","reason":"the calling conversation does not have this tool, so it cannot give it","field":"internal_tools.web_search_request"}`
	if got, success := h.output(0); got != want || success || h.state.Conversation(id(1)) != nil {
		t.Errorf("%v %s", success, got)
	}
	if c := h.state.Work().Conversation.ID; c != id(0) {
		t.Errorf("%s runs", label(c))
	}
}
