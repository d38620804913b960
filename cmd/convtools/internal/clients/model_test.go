package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// grepTool is a tool as an agent may offer it.
func grepTool(name, namespace string) offer {
	o := offer{Name: name, Namespace: namespace, Description: "Search", Parameters: []byte(`{"type":"object"}`)}
	if namespace != "" {
		o.NamespaceText = "Conversations"
	}
	return o
}

func TestModel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		protocol protocol
		request  string
		want     exchange
		reply    reply
		contains []string // of the stream, in this order
	}{
		{
			"responses, a call", responses(),
			`{"tools": [
				{"type": "function", "name": "shell", "description": "Run", "parameters": {}},
				{"type": "namespace", "name": "mcp__x", "description": "Conversations", "tools": [
					{"type": "function", "name": "grep", "description": "Search", "parameters": {"type":"object"}}]},
				{"type": "web_search"}],
			  "input": [{"type": "message", "role": "user", "content": "hello"}]}`,
			exchange{Tools: []offer{{Name: "shell", Description: "Run", Parameters: []byte(`{}`)}, grepTool("grep", "mcp__x")}},
			reply{tool: grepTool("grep", "mcp__x"), callID: "call_1", arguments: `{"pattern":"a"}`},
			[]string{
				"event: response.created\n", "event: response.output_item.done\n",
				`"arguments":"{\"pattern\":\"a\"}","call_id":"call_1"`, `"name":"grep","namespace":"mcp__x"`, `"type":"function_call"`,
				"event: response.completed\n", "\n\n",
			},
		},
		{
			"responses, the end", responses(),
			`{"input": [
				{"type": "function_call_output", "call_id": "call_1", "output": "one"},
				{"type": "function_call_output", "call_id": "call_2", "output": [{"type": "input_text", "text": "two"}]}]}`,
			exchange{Results: []result{{"call_1", "one"}, {"call_2", "two"}}},
			reply{text: "Done."},
			[]string{`"text":"Done."`, `"type":"message"`, "event: response.completed\n"},
		},
		{
			"chat completions, a call", chatCompletions(),
			`{"tools": [{"type": "function", "function": {"name": "x_grep", "description": "Search", "parameters": {"type":"object"}}}],
			  "messages": [{"role": "system", "content": "You are"}, {"role": "user", "content": [{"type": "text", "text": "hello"}]}]}`,
			exchange{System: "You are", Tools: []offer{grepTool("x_grep", "")}},
			reply{tool: grepTool("x_grep", ""), callID: "call_1", arguments: `{}`},
			[]string{`"function":{"arguments":"{}","name":"x_grep"}`, `"id":"call_1"`, `"finish_reason":"tool_calls"`, "data: [DONE]\n\n"},
		},
		{
			"chat completions, the end", chatCompletions(),
			`{"messages": [{"role": "assistant", "content": null}, {"role": "tool", "tool_call_id": "call_1", "content": "one"}]}`,
			exchange{Results: []result{{"call_1", "one"}}},
			reply{text: "Done."},
			[]string{`"content":"Done."`, `"finish_reason":"stop"`, "data: [DONE]\n\n"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := &model{protocol: test.protocol, script: func(context.Context, exchange) (reply, error) { return test.reply, nil }}
			status, stream := post(t, m, "/v1"+test.protocol.path, test.request)
			if status != http.StatusOK {
				t.Fatalf("status is %d, want 200; %v", status, m.err())
			}
			if diff := cmp.Diff([]exchange{test.want}, m.exchanges); diff != "" {
				t.Errorf("the model was shown (-want +got):\n%s", diff)
			}
			rest := stream
			for _, part := range test.contains {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("%q is missing, or too early, in\n%s", part, stream)
				}
				rest = after
			}
		})
	}
}

func TestModelRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, path, body, want string }{
		{"another path", "/v1/models", `{}`, "asks for POST /v1/models"},
		{"no JSON", "/v1/responses", `{"input":`, "understanding a request"},
		{"a script at its end", "/v1/responses", `{}`, "nothing to say"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := &model{protocol: responses(), script: func(context.Context, exchange) (reply, error) {
				return reply{}, errors.New("nothing to say")
			}}
			if status, _ := post(t, m, test.path, test.body); status != http.StatusBadRequest {
				t.Errorf("status is %d, want 400", status)
			}
			if err := m.err(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want one with %q", err, test.want)
			}
		})
	}
}

func post(t *testing.T, m *model, path, body string) (status int, answer string) {
	t.Helper()
	recorder := httptest.NewRecorder()
	m.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader([]byte(body))))
	text, err := io.ReadAll(recorder.Body)
	if err != nil {
		t.Fatal(err)
	}
	return recorder.Code, string(text)
}
