package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	generated "github.com/convtools/convtools/generated/conv"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/session/engine"
	"github.com/convtools/convtools/runtime/toolset"
)

// scenario is models that follow a plan by conversation: what they call one after the other, by the name that they were
// offered, before they say what the last output was.
type scenario struct {
	plans   map[string][]model.Item // by the first message
	offered map[string][]string     // the names of what was offered, by the first message
}

func (s *scenario) Sample(_ context.Context, r model.Request, _ func(string)) (model.Response, error) {
	first, outputs := r.Items[0].Text(), 0
	var names []string
	flat := map[string]bool{}
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
		if flat[model.Flat(tool.Name)] {
			return model.Response{}, fmt.Errorf("two tools are called %s", model.Flat(tool.Name))
		}
		flat[model.Flat(tool.Name)] = true
	}
	s.offered[first] = names
	last := ""
	for _, item := range r.Items {
		if item.Kind == model.ToolOutput {
			outputs++
			last = item.Output
		}
	}
	if plan := s.plans[first]; outputs < len(plan) {
		call := plan[outputs]
		call.Kind, call.CallID, call.Wire = model.ToolCall, fmt.Sprint("k", outputs), call.Name
		return model.Response{Items: []model.Item{call}}, nil
	}
	return model.Response{Items: []model.Item{model.Text(model.AgentMessage, last)}}, nil
}

func plan(nameThenArguments ...string) []model.Item {
	var calls []model.Item
	for i := 0; i < len(nameThenArguments); i += 2 {
		calls = append(calls, model.Item{Name: nameThenArguments[i], Arguments: nameThenArguments[i+1]})
	}
	return calls
}

// play runs a session with two MCP servers and a tool of this program until the root has answered, and returns what was
// offered, and the outputs of the root's calls.
func play(t *testing.T, s *scenario) (offered map[string][]string, outputs []string) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := func(name string) config.Table[config.Server] {
		return config.Table[config.Server]{Name: name, Value: config.Server{Command: path, Args: []string{"-test.run=^$"}, Env: map[string]string{"CONV_TEST_SERVER": name}}}
	}
	var warnings []string
	servers := newServers([]config.Table[config.Server]{server("files"), server("web"), {Name: "gone", Value: config.Server{Command: "no-such-program-of-conv"}}},
		mcp.Implementation{Name: "test"}, "", func(w string) { warnings = append(warnings, w) })
	t.Cleanup(servers.Close)
	registry, err := toolset.NewRegistry(toolset.Family{
		Name: "own",
		Declared: func() []contract.Tool {
			return []contract.Tool{{Name: "own_tool", InputSchema: `{"type":"object"}`}, {Name: "own_panic", InputSchema: `{"type":"object"}`}}
		},
		Call: func(_ context.Context, call contract.Call) (string, error) {
			if call.Tool == "own_panic" {
				panic("defect")
			}
			return fmt.Sprintf("own %s %s in %s", call.Arguments, call.Context.ConversationID, call.Context.Dir), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	tools := &Project{servers: servers, registry: registry}
	catalogue := tools.catalogue(t.Context())
	if diff := cmp.Diff(map[string][]string{"files": {"read", "write"}, "web": {"read", "write"}}, catalogue); diff != "" {
		t.Errorf("catalogue (-want +got):\n%s", diff)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "the MCP server gone cannot be used") {
		t.Errorf("warnings %q", warnings)
	}
	s.offered = map[string][]string{}
	root := "aa000000-0000-4000-8000-000000000000"
	e, err := engine.Start(t.TempDir(), session.Start{
		Session: "s", Root: root, Config: session.Config{Catalogue: catalogue},
		Context: session.Context{
			Settings:     Settings{Root: "/w", Dir: "/w/d"}.String(),
			Capabilities: session.Capabilities{MCP: []string{"files", "gone", "web"}, Internal: session.InternalTools{session.ConvTools: true}},
		},
	}, engine.Options{
		Model: func(context.Context, *session.Conversation) (model.Model, error) { return s, nil },
		Tools: &Session{Project: tools, id: root},
		Now:   time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	turn, err := e.Submit(t.Context(), session.Submit{Conversation: root, Input: []session.Part{{Text: "root"}}})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := turn.Wait(t.Context()); err != nil || result.Status != session.StatusCompleted {
		t.Fatalf("%+v, %v", result, err)
	}
	for _, item := range e.State().Root().Items() {
		if item.Kind == session.ToolOutput {
			outputs = append(outputs, item.Output)
		}
	}
	return s.offered, outputs
}

// What conversations are offered and may call, in a fixed order; a child never more than its parent.
func TestTools(t *testing.T) {
	t.Parallel()
	offered, outputs := play(t, &scenario{plans: map[string][]model.Item{
		"root": plan(
			"own_tool", `{"a":1}`,
			"mcp__files__read", `{"b":2}`,
			"mcp__files__nothing", `{}`,
			"own_panic", `{}`,
			"conv.create", `{"user_instruction":"leaf","mcp_allowlist":["files/read"],"internal_tools":{"include_conv_tools":false}}`,
			"conv.create", `{"user_instruction":"child","mcp_allowlist":["files"]}`,
			"conv.create", `{"user_instruction":"x","mcp_allowlist":["mail"]}`,
			"conv.create", `{"user_instruction":"x","internal_tools":{"include_plan_tool":true}}`,
			"conv.create", `{"user_instruction":"x","internal_tools":{"use_streamable_shell_tool":true}}`,
		),
		"leaf":       plan("mcp__files__write", `{}`, "conv.list", `{}`, "mcp__web__read", `{}`),
		"child":      plan("conv.create", `{"user_instruction":"grandchild","mcp_allowlist":["files","web"]}`),
		"grandchild": plan("mcp__web__read", `{}`),
	}})
	five := []string{"conv.create", "conv.send", "conv.list", "conv.history", "conv.destroy"}
	own := []string{"own_panic", "own_tool"}
	files := []string{"mcp__files__read", "mcp__files__write"}
	want := map[string][]string{
		"root":       slices.Concat(five, own, files, []string{"mcp__web__read", "mcp__web__write"}),
		"leaf":       slices.Concat(own, files[:1]),
		"child":      slices.Concat(five, own, files),
		"grandchild": slices.Concat(five, own, files),
	}
	if diff := cmp.Diff(want, offered); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	for i, want := range []string{
		`own {"a":1} convtools-aa000000-0000-4000-8000-000000000000 in /w/d`,
		`files read{"b":2}`,
		`"code":"unavailable","reason":"this conversation has no tool \"mcp__files__nothing\""`,
		"own_panic failed: it is a fault of this program",
		`this conversation has no tool \\\"mcp__web__read\\\"`, // what the leaf was told, as its answer
		`this conversation has no tool`,
		`"code":"invalid_arguments","reason":"there is no MCP server or tool \"mail\" here","field":"mcp_allowlist"`,
		`"code":"unavailable","reason":"the calling conversation does not have this tool, so it cannot give it","field":"internal_tools.include_plan_tool"`,
		`"field":"internal_tools.use_streamable_shell_tool"`,
	} {
		if i >= len(outputs) || !strings.Contains(outputs[i], want) {
			t.Errorf("output %d is %q, want %s", i, outputs[min(i, len(outputs)-1)], want)
		}
	}
}

// What models within a session are offered has no wait_ms, and all else that the specs have.
func TestOfferedSchemas(t *testing.T) {
	t.Parallel()
	registry, err := toolset.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	c := &session.Conversation{Context: session.Context{Capabilities: session.Capabilities{Internal: session.InternalTools{session.ConvTools: true}}}}
	for _, tool := range (&Project{servers: newServers(nil, mcp.Implementation{}, "", nil), registry: registry}).Offered(t.Context(), c) {
		var within, outside map[string]any
		if err := json.Unmarshal(tool.Parameters, &within); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		for _, declared := range []contract.Tool{generated.CreateTool(), generated.SendTool(), generated.ListTool(), generated.HistoryTool(), generated.DestroyTool()} {
			if declared.Name != tool.Name {
				continue
			}
			if err := json.Unmarshal([]byte(declared.InputSchema), &outside); err != nil {
				t.Fatal(err)
			}
			delete(outside["properties"].(map[string]any), "wait_ms")
			if diff := cmp.Diff(outside, within); diff != "" {
				t.Errorf("%s (-outside +within):\n%s", tool.Name, diff)
			}
		}
		if outside == nil {
			t.Errorf("%s is not declared", tool.Name)
		}
	}
}
