package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/generated"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/mcpserver"
)

// connect connects the SDK's client. It speaks the stateless era where the
// server does.
func connect(t *testing.T, cfg mcpserver.Config) *mcp.ClientSession {
	t.Helper()
	s := serve(t, cfg, mcpserver.HTTPOptions{})
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
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
	cfg := newTools().config()
	cfg.Tools = fixed(generated.Tools())
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
	for i, tool := range got.Tools {
		if n := utf8.RuneCountInString(tool.Description); n > 2048 {
			t.Errorf("%s: the description has %d characters; clients cut it at 2048", tool.Name, n)
		}
		// Rules between parameters are written out there, and checked here.
		if i < len(want) {
			full, _ := want[i]["description"].(string)
			if strings.HasPrefix(full, tool.Description) {
				want[i]["description"] = tool.Description
			}
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
	for _, text := range []string{unknown, known} {
		if n := utf8.RuneCountInString(text); n > 2048 {
			t.Errorf("the instructions have %d characters; clients cut them at 2048", n)
		}
	}
	const notKnown = "Which conversation you are in is not known here"
	if !strings.Contains(unknown, notKnown) || strings.Contains(known, notKnown) {
		t.Errorf("instructions without a conversation:\n%s\n\nwith one:\n%s", unknown, known)
	}
}

// conversationTools answers conversation_read for one conversation: the call
// fits that is as short as fits says.
func conversationTools(calls *[]string, fits string) func(context.Context, contract.Call) (string, error) {
	return func(_ context.Context, call contract.Call) (string, error) {
		*calls = append(*calls, string(call.Arguments))
		switch {
		case call.Tool != "conversation_read":
			return "", errors.New("not conversation_read")
		case !strings.Contains(string(call.Arguments), `"jp-c17000000001"`):
			return "", contract.Fixable("Conversation jp-c9 not found.")
		case !strings.Contains(string(call.Arguments), fits):
			return "", contract.Fixable("Conversation jp-c17000000001 is 90 turns, about 2M characters; the limit is 40000.")
		default:
			return "<conversation_read/>", nil
		}
	}
}

func TestReadResource(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, fits, last string }{
		{"whole", ``, `{"id":"jp-c17000000001","include_current":true}`},
		{"what was said", `"chat"`, `{"id":"jp-c17000000001","include":["chat"],"include_current":true}`},
		{"the last turns", `"last":4`, `{"id":"jp-c17000000001","last":4,"include":["chat"],"include_current":true}`},
		{"the last turn", `"last":1,`, `{"id":"jp-c17000000001","last":1,"include":["chat"],"include_current":true}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var calls []string
			cfg := newTools().config()
			cfg.Call = conversationTools(&calls, tc.fits)
			result, err := connect(t, cfg).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "conversation://jp-c17000000001"})
			if err != nil {
				t.Fatal(err)
			}
			want := []*mcp.ResourceContents{{URI: "conversation://jp-c17000000001", MIMEType: "text/xml", Text: "<conversation_read/>"}}
			if diff := cmp.Diff(want, result.Contents); diff != "" {
				t.Errorf("contents (-want +got):\n%s", diff)
			}
			if got := calls[len(calls)-1]; got != tc.last {
				t.Errorf("the last call is %s, want %s", got, tc.last)
			}
			if result.CacheScope != "private" || result.TTLMs != 0 {
				t.Errorf("scope %q, %d ms", result.CacheScope, result.TTLMs)
			}
		})
	}
}

func TestReadMissingResource(t *testing.T) {
	t.Parallel()
	var calls []string
	cfg := newTools().config()
	cfg.Call = conversationTools(&calls, "")
	_, err := connect(t, cfg).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "conversation://jp-c9"})
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || wire.Message != "Resource not found. Conversation jp-c9 not found." {
		t.Errorf("error %v", err)
	}
	if len(calls) != 1 {
		t.Errorf("%d calls for a conversation that is not there", len(calls))
	}
}

func TestCompletionWithoutWorkspace(t *testing.T) {
	t.Parallel()
	cfg := newTools().config()
	cfg.CLI = noTitles{}
	_, err := connect(t, cfg).Complete(t.Context(), &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: "conversation://{id}"},
		Argument: mcp.CompleteParamsArgument{Name: "id", Value: "x"},
	})
	var wire *jsonrpc.Error
	if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInternalError || !strings.Contains(wire.Message, "Could not locate workspace: no .jp directory in project or above it") {
		t.Errorf("error %v", err)
	}
}

// Only a conversation that is not there is not found.
func TestReadResourceFails(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  error
		code int64
		want string
	}{
		{contract.Fixable(`Invalid conversation id "zzz": expected digits.`), jsonrpc.CodeInvalidParams, `Resource not found. Invalid conversation id "zzz": expected digits.`},
		{contract.Fixable("The conversation command line gave up with exit code 1 and said: Conversation jp-c1 not found."), jsonrpc.CodeInvalidParams, "Resource not found. The conversation command line gave up with exit code 1 and said: Conversation jp-c1 not found."},
		{contract.Fixable("Could not locate workspace: no .jp directory in project."), jsonrpc.CodeInternalError, "Could not locate workspace: no .jp directory in project."},
		{contract.Fixable("The conversation command line gave up with exit code 1 and said: Backend not found."), jsonrpc.CodeInternalError, "The conversation command line gave up with exit code 1 and said: Backend not found."},
		{errors.New("running /opt/my tools/jp: permission denied"), jsonrpc.CodeInternalError, "running jp: permission denied"},
	} {
		cfg := newTools().config()
		cfg.Call = func(context.Context, contract.Call) (string, error) { return "", tc.err }
		_, err := connect(t, cfg).ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "conversation://jp-c1"})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != tc.code || wire.Message != tc.want {
			t.Errorf("%v: error %v", tc.err, err)
		}
	}
}
