package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/modeltest"
	"github.com/convtools/convtools/runtime/model/provider"
)

// What is sent for any history that can come about is legal, also where models of all interfaces have taken turns in
// it, with ids, names and arguments that none of them would take from another one.
func TestHistoriesAreLegal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var next modeltest.Answer
		server := &modeltest.Server{Answer: func(modeltest.Exchange) modeltest.Answer { return next }}
		url := server.Start()
		defer server.Close()
		models := map[string]*provider.Model{}
		for _, api := range apis() {
			models[api] = provider.New("m", config.Model{API: api, BaseURL: url, Model: "m"}, rightKey)
		}
		text := rapid.OneOf(rapid.SampledFrom([]string{"", " ", "\n", "text", "größer <&>", "\x00\u202e"}), rapid.String())
		name := rapid.SampledFrom([]string{"conv.create", "conv_create", "conv.list", "fetch", "gone", "not a name", "a.b.c", ""})
		arguments := rapid.OneOf(rapid.SampledFrom([]string{"", "{}", `{"a":"x"}`, "null", "[1]", `{"a":`, " "}), rapid.String())
		id := rapid.SampledFrom([]string{"", "call_0", "call_1", "a.b", "ü", "an-id-that-is-longer-than-the-forty-characters-which-chat-allows"})
		parts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) model.Part {
			if rapid.IntRange(0, 4).Draw(t, "image") == 0 {
				return model.Part{ImageURL: rapid.SampledFrom([]string{"data:image/png;base64,AAAA", "https://example.com/a"}).Draw(t, "address")}
			}
			return model.Part{Text: text.Draw(t, "text")}
		}), 1, 3)
		answer := rapid.Custom(func(t *rapid.T) modeltest.Answer {
			var a modeltest.Answer
			if rapid.Bool().Draw(t, "thinks") {
				a.Thinking = "Hm."
			}
			if rapid.Bool().Draw(t, "says") {
				a.Pieces = rapid.SliceOfN(text, 1, 3).Draw(t, "pieces")
			}
			seen := map[string]bool{}
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				c := modeltest.Call{ID: id.Draw(t, "id"), Name: name.Draw(t, "name"), Args: arguments.Draw(t, "arguments")}
				if !seen[c.ID] {
					a.Calls = append(a.Calls, c)
				}
				seen[c.ID] = true
			}
			return a
		})
		instructions := text.Draw(t, "instructions")
		request := model.Request{Instructions: &instructions, MaxOutputTokens: rapid.Int64Range(0, 40).Draw(t, "limit"), Tools: tools("conv.create", "conv.list", "fetch", "a.b.c")}
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			for range rapid.IntRange(1, 2).Draw(t, "inputs") {
				request.Items = append(request.Items, model.Item{Kind: model.UserMessage, Parts: parts.Draw(t, "input")})
			}
			for range rapid.IntRange(1, 3).Draw(t, "samples") {
				next = answer.Draw(t, "answer")
				api := rapid.SampledFrom(apis()).Draw(t, "api")
				got, err := models[api].Sample(context.Background(), request, func(string) {})
				if err != nil {
					t.Fatalf("%s: %v", api, err)
				}
				exchanges := server.Exchanges()
				if problem := illegal(exchanges[len(exchanges)-1].Body); problem != "" {
					t.Fatalf("%s: %s", api, problem)
				}
				request.Items = append(request.Items, got.Items...)
				called := false
				for _, item := range got.Items {
					if item.Kind == model.ToolCall {
						called = true
						request.Items = append(request.Items, model.Item{Kind: model.ToolOutput, CallID: item.CallID, Output: text.Draw(t, "output"), Failed: rapid.Bool().Draw(t, "failed")})
					}
				}
				if !called {
					break
				}
			}
		}
	})
}

// A history is sent in the same bytes as far as it is the same: what providers cache.
func TestHistoriesGrow(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		n := 0
		l := newLab(t, func(modeltest.Exchange) modeltest.Answer {
			n++
			return modeltest.Answer{Thinking: "Hm.", Pieces: []string{"So."}, Calls: []modeltest.Call{{ID: "call_0", Name: "fetch", Args: "{}"}}}
		})
		m := l.model(api)
		request := model.Request{Items: []model.Item{user("go")}, Tools: tools("fetch")}
		for range 4 {
			got, err := m.Sample(t.Context(), request, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			request.Items = append(append(request.Items, got.Items...), output("call_0", fmt.Sprint("output ", n)))
		}
		var before []json.RawMessage
		for i, e := range l.server.Exchanges() {
			var body struct{ Input, Messages []json.RawMessage }
			if err := json.Unmarshal(e.Body, &body); err != nil {
				t.Fatal(err)
			}
			sent := append(body.Input, body.Messages...)
			for j, item := range before {
				if string(sent[j]) != string(item) {
					t.Errorf("%s: item %d of request %d is %s, and was %s", api, j, i, sent[j], item)
				}
			}
			before = sent
		}
	}
}

// illegal returns what of a request providers refuse: a call without an output, or the
// reverse, ids and names that they do not take, arguments that are no object.
func illegal(body []byte) string {
	var request struct {
		Input, Messages []struct {
			Role, Type, Name, Arguments, Output string
			ID                                  string `json:"call_id"`
			Answers                             string `json:"tool_call_id"`
			Content                             json.RawMessage
			Calls                               []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err.Error()
	}
	open, used, problem := map[string]bool{}, map[string]bool{}, ""
	call := func(id, name, arguments string) {
		var object map[string]any
		if !legalName.MatchString(id) || len(id) > 40 || used[id] || !legalName.MatchString(name) || json.Unmarshal([]byte(arguments), &object) != nil || object == nil {
			problem = fmt.Sprintf("the call %q of %q with %s", id, name, arguments)
		}
		open[id], used[id] = true, true
	}
	output := func(id string) {
		if !open[id] {
			problem = fmt.Sprintf("an output without a call: %q", id)
		}
		delete(open, id)
	}
	for _, m := range append(request.Input, request.Messages...) {
		var blocks []struct {
			Type, Text, ID, Name string
			Answers              string `json:"tool_use_id"`
			Input                json.RawMessage
		}
		_ = json.Unmarshal(m.Content, &blocks) // or a text
		for _, c := range m.Calls {
			call(c.ID, c.Function.Name, c.Function.Arguments)
		}
		switch {
		case m.Type == "function_call":
			call(m.ID, m.Name, m.Arguments)
		case m.Type == "function_call_output":
			output(m.ID)
		case m.Role == "tool":
			output(m.Answers)
		}
		for _, b := range blocks {
			switch {
			case b.Type == "tool_use":
				call(b.ID, b.Name, string(b.Input))
			case b.Type == "tool_result":
				output(b.Answers)
			case b.Type == "text" && strings.TrimSpace(b.Text) == "" && m.Type == "" && !bytes.Contains(body, []byte("stream_options")):
				problem = "an empty text"
			}
		}
		if m.Role == "user" && len(open) > 0 {
			problem = fmt.Sprintf("calls without an output: %v", open)
		}
	}
	return problem
}

var legalName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
