package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/mcpserver"
	"github.com/convtools/convtools/runtime/toolset"
)

// connect connects the SDK's client. It speaks the stateless era where the
// server does.
func connect(t *testing.T, cfg mcpserver.Config) *mcp.ClientSession {
	t.Helper()
	return connectAs(t, cfg, "test")
}

func connectAs(t *testing.T, cfg mcpserver.Config, name string) *mcp.ClientSession {
	t.Helper()
	s := serve(t, cfg, mcpserver.HTTPOptions{})
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.URL + mcpserver.Path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// The list of tools is what the generator wrote down for reviewers.
func TestToolsAreTheGeneratedOnes(t *testing.T) {
	t.Parallel()
	family := newTools().family()
	family.Declared = generated.Tools
	cfg := newTools().configWith(family)
	got, err := connect(t, cfg).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.CacheScope != "private" || got.NextCursor != "" {
		t.Errorf("scope %q, next page %q", got.CacheScope, got.NextCursor)
	}
	snapshot, err := os.ReadFile("../../generated/mcp/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []map[string]any
	if err := json.Unmarshal(snapshot, &want); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got.Tools)
	if err != nil {
		t.Fatal(err)
	}
	var shown []map[string]any
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	for _, tool := range got.Tools {
		if n := utf8.RuneCountInString(tool.Description); n > 2048 {
			t.Errorf("%s: the description has %d characters; clients cut it at 2048", tool.Name, n)
		}
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("tools (-generated +served):\n%s", diff)
	}
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	cfg := newTools().config()
	unknown := connect(t, cfg).InitializeResult().Instructions
	cfg.Context.ConversationID = "jp-c17000000001"
	known := connect(t, cfg).InitializeResult().Instructions
	const notKnown = "Which conversation you are in is not known here"
	if !strings.Contains(unknown, notKnown) || strings.Contains(known, notKnown) {
		t.Errorf("instructions without a conversation:\n%s\n\nwith one:\n%s", unknown, known)
	}
}

// What a family reads is answered with the address that was asked for, and read as
// the conversation that the client says.
func TestReadResource(t *testing.T) {
	t.Parallel()
	const uri = "conversation://jp-c1"
	result, err := connect(t, newTools().config()).ReadResource(t.Context(), &mcp.ReadResourceParams{
		URI: uri, Meta: mcp.Meta{"computer.jp/context": map[string]any{"conversation_id": "jp-c9"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []*mcp.ResourceContents{{URI: uri, MIMEType: "text/xml", Text: `<conversation_read from="jp-c9"/>`}}
	if diff := cmp.Diff(want, result.Contents); diff != "" {
		t.Errorf("contents (-want +got):\n%s", diff)
	}
	if result.CacheScope != "private" || result.TTLMs != 0 {
		t.Errorf("scope %q, %d ms", result.CacheScope, result.TTLMs)
	}
}

// Only an address that leads nowhere is not found, and what the system says about a
// failure is not for clients.
func TestReadResourceFails(t *testing.T) {
	t.Parallel()
	client := connect(t, newTools().config())
	for uri, want := range map[string]jsonrpc.Error{
		"conversation://jp-c9":        {Code: jsonrpc.CodeInvalidParams, Message: `Resource not found. Conversation "jp-c9" not found.`, Data: json.RawMessage(`{"uri":"conversation://jp-c9"}`)},
		"conversation://jp-workspace": {Code: jsonrpc.CodeInternalError, Message: "Could not locate workspace."},
		"conversation://jp-broken":    {Code: jsonrpc.CodeInternalError, Message: "The server failed to answer; its standard error says more."},
		"Conversation://jp-c1":        {Code: jsonrpc.CodeInvalidParams, Message: "Resource not found", Data: json.RawMessage(`{"uri":"Conversation://jp-c1"}`)},
		"conversation":                {Code: jsonrpc.CodeInvalidParams, Message: `Resource not found`, Data: json.RawMessage(`{"uri":"conversation"}`)},
		"/etc/passwd":                 {Code: jsonrpc.CodeInvalidParams, Message: "Resource not found", Data: json.RawMessage(`{"uri":"/etc/passwd"}`)},
		"file:///etc/passwd":          {Code: jsonrpc.CodeInvalidParams, Message: "Resource not found", Data: json.RawMessage(`{"uri":"file:///etc/passwd"}`)},
	} {
		_, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		var got *jsonrpc.Error
		if !errors.As(err, &got) {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", uri, diff)
		}
	}
}

// Pages together are the whole list, over all families, even where what ended one
// is gone.
func TestResourcePages(t *testing.T) {
	t.Parallel()
	w := newWorkspace("")
	for i := range 2500 {
		w.subjects = append(w.subjects, fmt.Sprintf("s%04d", i))
	}
	cfg := w.config()
	more := conversations()
	more.Name, more.Prompts, more.Resources = "more", nil, []toolset.Resources{{
		Template: "more:{id}",
		List: func(_ context.Context, cursor string, limit int) ([]toolset.Resource, string, error) {
			if cursor != "" || limit < 1 {
				return nil, "", fmt.Errorf("cursor %q, limit %d", cursor, limit)
			}
			return []toolset.Resource{{URI: "more:1", Name: "z"}}, "", nil
		},
	}}
	registry, err := toolset.NewRegistry(append(cfg.Tools.Families(), more)...)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Tools = registry
	client := connect(t, cfg)
	var got []string
	sizes := []int{}
	params := &mcp.ListResourcesParams{}
	for {
		page, err := client.ListResources(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if page.CacheScope != "private" || page.TTLMs != 0 {
			t.Errorf("the list may be kept for %d ms, %s", page.TTLMs, page.CacheScope)
		}
		sizes = append(sizes, len(page.Resources))
		for _, r := range page.Resources {
			got = append(got, strings.TrimPrefix(r.Name, "notes/"))
		}
		if page.NextCursor == "" {
			break
		}
		params.Cursor = page.NextCursor
		if len(sizes) == 1 {
			w.change(func() { w.subjects = slices.Delete(slices.Clone(w.subjects), 999, 1000) })
		}
	}
	if diff := cmp.Diff([]int{1000, 1000, 501}, sizes); diff != "" {
		t.Errorf("sizes of pages (-want +got):\n%s", diff)
	}
	if len(got) != 2501 || !slices.IsSorted(got) || got[999] != "s0999" || got[1000] != "s1000" {
		t.Errorf("%d subjects", len(got))
	}
	for _, cursor := range []string{"x", "!", "0", ":", "-1:", "0:zz", strings.Repeat("A", 10_000), "99999999999999999999:"} {
		_, err := client.ListResources(t.Context(), &mcp.ListResourcesParams{Cursor: cursor})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, "List from the beginning") {
			t.Errorf("cursor %.10q: %v", cursor, err)
		}
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 120 {
		many = append(many, fmt.Sprintf("many/%03d", i))
	}
	client := connect(t, newWorkspace("", append(many, "skill")...).config())
	for _, tc := range []struct {
		argument, topic, value string
		want                   []string
		total                  int
	}{
		{"topic", "", "", []string{"notes"}, 1},
		{"slug", "notes", "sk", []string{"skill"}, 1},
		{"slug", "", "sk", []string{}, 0},
		{"slug", "notes", "many/", many[:100], 120},
	} {
		params := &mcp.CompleteParams{
			Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: "kb://{topic}/{slug}"},
			Argument: mcp.CompleteParamsArgument{Name: tc.argument, Value: tc.value},
		}
		if tc.topic != "" {
			params.Context = &mcp.CompleteContext{Arguments: map[string]string{"topic": tc.topic}}
		}
		got, err := client.Complete(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		want := mcp.CompletionResultDetails{Values: tc.want, Total: tc.total, HasMore: tc.total > len(tc.want)}
		if diff := cmp.Diff(want, got.Completion); diff != "" {
			t.Errorf("%s %q of %q (-want +got):\n%s", tc.argument, tc.value, tc.topic, diff)
		}
	}
	_, err := client.Complete(t.Context(), &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: "kb://{topic}/{slug}"},
		Argument: mcp.CompleteParamsArgument{Name: "path"},
	})
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("an argument that is not there: %v", err)
	}
}

// Who calls a tool outside of a project is told what a person can do about it.
func TestNoProject(t *testing.T) {
	t.Parallel()
	family := newTools().family()
	family.Call = func(_ context.Context, call contract.Call) (string, error) {
		return "", &contract.Error{Message: "Could not locate workspace.", NoProject: call.Tool == "echo"}
	}
	cfg := newTools().configWith(family)
	cfg.NoProject = "Start elsewhere."
	client := connect(t, cfg)
	for tool, want := range map[string]string{"echo": "Could not locate workspace. Start elsewhere.", "fail": "Could not locate workspace."} {
		result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := result.Content[0].(*mcp.TextContent); !ok || text.Text != want || !result.IsError {
			t.Errorf("%s: %+v", tool, result.Content[0])
		}
	}
}

// Results of the stateless era say that they are complete; some clients refuse
// them otherwise.
func TestResourcesAreComplete(t *testing.T) {
	t.Parallel()
	s := start(t, newWorkspace("", "in/a/folder").config())
	for _, request := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{` + modern + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"kb://notes/in/a/folder",` + modern + `}}`,
	} {
		s.send(request + "\n")
		if line := <-s.lines; !strings.Contains(line, `"resultType":"complete"`) || !strings.Contains(line, `"uri":"kb://notes/in/a/folder"`) || !strings.Contains(line, `"cacheScope":"private"`) || !strings.Contains(line, `"ttlMs":0`) {
			t.Errorf("%s is answered with %s", request, line)
		}
	}
	s.end()
}
