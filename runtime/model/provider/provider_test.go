package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/modeltest"
	"github.com/convtools/convtools/runtime/model/provider"
)

func apis() []provider.API {
	return []provider.API{provider.Responses, provider.Chat, provider.Messages}
}

// clock never waits. Silence ends when the test says so.
type clock struct {
	mu     sync.Mutex
	waits  []time.Duration
	timers map[int]timer
	n      int
}

type timer struct {
	d time.Duration
	f func()
}

func (c *clock) Now() time.Time  { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }
func (c *clock) Random() float64 { return 0.5 }

func (c *clock) Wait(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, d)
	return ctx.Err()
}

func (c *clock) After(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timers == nil {
		c.timers = map[int]timer{}
	}
	c.n++
	n := c.n
	c.timers[n] = timer{d, f}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waits := c.timers[n]
		delete(c.timers, n)
		return waits
	}
}

// pass has everything happen that waits for a duration.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	var due []func()
	for n, t := range c.timers {
		if t.d == d {
			due = append(due, t.f)
			delete(c.timers, n)
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

const silence = 7 * time.Minute

// lab is a strict provider and a model of it.
type lab struct {
	server *modeltest.Server
	url    string
	clock  *clock
}

func newLab(t *testing.T, answer func(modeltest.Exchange) modeltest.Answer) *lab {
	t.Helper()
	l := &lab{server: &modeltest.Server{Answer: answer}, clock: &clock{}}
	l.server.Hung = func() { l.clock.pass(silence) }
	var err error
	if l.url, err = l.server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.server.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *lab) options(api provider.API) provider.Options {
	return provider.Options{
		Name: "test", API: api, BaseURL: l.url, Model: "some-model", Silence: silence, Clock: l.clock,
		Key: func(context.Context, bool) (string, error) { return modeltest.Key, nil },
	}
}

func (l *lab) model(api provider.API) *provider.Model { return provider.New(l.options(api)) }

func (l *lab) legal(t *testing.T) {
	t.Helper()
	for _, refused := range l.server.Refused() {
		t.Errorf("the provider refused a request: %s", refused)
	}
}

func tools(names ...string) []model.Tool {
	var tools []model.Tool
	for _, name := range names {
		tools = append(tools, model.Tool{Name: name, Description: "Does it.", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)})
	}
	return tools
}

func user(text string) model.Item { return model.Text(model.UserMessage, text) }

func output(id, text string) model.Item {
	return model.Item{Kind: model.ToolOutput, CallID: id, Output: text}
}

func ignoreRaw() cmp.Option { return cmpopts.IgnoreFields(model.Item{}, "Raw") }

// A conversation of two requests, with everything in it that there is.
func TestConversation(t *testing.T) {
	t.Parallel()
	wire := map[provider.API][2]string{
		provider.Responses: {"conv.create", "conv.list"},
		provider.Chat:      {"conv_create", "conv_list"},
		provider.Messages:  {"conv_create", "conv_list"},
	}
	for _, api := range apis() {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			first := modeltest.Answer{
				Thinking: "Two things to do.", Pieces: []string{"I ask ", "<both> & wait."},
				Calls: []modeltest.Call{
					{ID: "call_a", Name: "conv.create", Args: `{"user_instruction":"größer"}`},
					{ID: "call_b", Name: "conv.list", Args: `{}`},
					{ID: "call_c", Name: "fetch", Args: `{"a":"x"}`},
				},
				Usage: modeltest.Usage{Input: 100, Cached: 40, Output: 30, Reasoning: 12},
			}
			l := newLab(t, modeltest.Sequence(first, modeltest.Answer{Pieces: []string{"Done."}, Usage: modeltest.Usage{Input: 150, Output: 2}}))
			m := l.model(api)
			instructions := "Be brief."
			request := model.Request{
				Instructions: &instructions, Tools: tools("conv.create", "conv.list", "fetch"), CacheKey: "c1", MaxOutputTokens: 1000,
				Items: []model.Item{{Kind: model.UserMessage, Parts: []model.Part{
					{Text: "Look at this & that"}, {ImageURL: "data:image/png;base64,AAAA"}, {ImageURL: "https://example.com/a.png"},
				}}},
			}
			var pieces []string
			got, err := m.Sample(t.Context(), request, func(text string) { pieces = append(pieces, text) })
			if err != nil {
				t.Fatal(err)
			}
			want := model.Response{
				Items: []model.Item{
					{Kind: model.Reasoning},
					model.Text(model.AgentMessage, "I ask <both> & wait."),
					{Kind: model.ToolCall, CallID: "call_a", Name: "conv.create", Wire: wire[api][0], Arguments: `{"user_instruction":"größer"}`},
					{Kind: model.ToolCall, CallID: "call_b", Name: "conv.list", Wire: wire[api][1], Arguments: `{}`},
					{Kind: model.ToolCall, CallID: "call_c", Name: "fetch", Wire: "fetch", Arguments: `{"a":"x"}`},
				},
				Usage: model.Usage{InputTokens: 100, CachedTokens: 40, OutputTokens: 30, ReasoningTokens: 12},
			}
			if diff := cmp.Diff(want, got, ignoreRaw()); diff != "" {
				t.Errorf("the first response (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"I ask ", "<both> & wait."}, pieces); diff != "" {
				t.Errorf("pieces (-want +got):\n%s", diff)
			}
			request.Items = append(request.Items, got.Items...)
			request.Items = append(request.Items, output("call_a", `{"ok":true}`), output("call_b", ""),
				model.Item{Kind: model.ToolOutput, CallID: "call_c", Failed: true})
			got, err = m.Sample(t.Context(), request, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Items[0].Text() != "Done." {
				t.Errorf("the second response is %q", got.Items[0].Text())
			}
			l.legal(t)
			second := l.server.Exchanges()[1]
			seen := slices.DeleteFunc(second.Items, func(i modeltest.Item) bool { return i.Kind == "reasoning" || i.Kind == "thinking" })
			if api != provider.Chat && len(seen) == len(second.Items) {
				t.Error("the reasoning was not replayed")
			}
			said := ""
			var outputs []string
			for _, item := range seen {
				switch item.Kind {
				case "user":
					said += item.Text
				case "output":
					outputs = append(outputs, item.ID+"="+item.Text)
				case "call":
					said += "<" + item.ID + " " + item.Name + " " + item.Args + ">"
				default:
					said += "|" + item.Kind + "|" + item.Text
				}
			}
			if want := fmt.Sprintf(`Look at this & that[image][image]|assistant|I ask <both> & wait.<call_a %s {"user_instruction":"größer"}><call_b %s {}><call_c fetch {"a":"x"}>`, wire[api][0], wire[api][1]); said != want {
				t.Errorf("the provider sees\n%s, want\n%s", said, want)
			}
			empty := "call_c="
			if api == provider.Messages {
				empty += "(no output)"
			}
			if diff := cmp.Diff([]string{`call_a={"ok":true}`, "call_b=", empty}, outputs); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			if second.Instructions != instructions || second.Model != "some-model" {
				t.Errorf("instructions %q, model %q", second.Instructions, second.Model)
			}
		})
	}
}

// A model may call a tool by any of its names, and by one that there is not.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			var calls []modeltest.Call
			for i, name := range []string{"conv.create", "conv_create", "create", "a.b.c", ""} {
				calls = append(calls, modeltest.Call{ID: fmt.Sprint("c", i), Name: name, Args: "{}", Verbatim: true})
			}
			l := newLab(t, modeltest.Sequence(modeltest.Answer{Calls: calls}, modeltest.Answer{Pieces: []string{"ok"}}))
			m := l.model(api)
			request := model.Request{Items: []model.Item{user("go")}, Tools: tools("conv.create", "a.b.c")}
			got, err := m.Sample(t.Context(), request, nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			request.Items = append(request.Items, got.Items...)
			for i, item := range got.Items {
				names = append(names, item.Name)
				request.Items = append(request.Items, output(fmt.Sprint("c", i), "x"))
			}
			if diff := cmp.Diff([]string{"conv.create", "conv.create", "create", "a.b.c", ""}, names); diff != "" {
				t.Errorf("canonical names (-want +got):\n%s", diff)
			}
			if _, err := m.Sample(t.Context(), request, nil); err != nil {
				t.Error(err)
			}
			l.legal(t)
		})
	}
	l := newLab(t, nil)
	_, err := l.model(provider.Chat).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}, Tools: tools("conv.create", "conv_create")}, nil)
	if taken := (*model.NameError)(nil); !errors.As(err, &taken) || taken.Name != "conv_create" || taken.Other != "conv.create" {
		t.Errorf("two tools with one name: %v", err)
	}
	_, err = l.model(provider.Messages).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}, Tools: tools("web_search"), WebSearch: true}, nil)
	if taken := (*model.NameError)(nil); !errors.As(err, &taken) || taken.Name != "web_search" {
		t.Errorf("a tool with the name of the provider's own: %v", err)
	}
}

// A server without namespaces is asked once with them, and from then on without.
func TestWithoutNamespaces(t *testing.T) {
	t.Parallel()
	l := newLab(t, modeltest.Sequence(
		modeltest.Answer{Calls: []modeltest.Call{{ID: "c1", Name: "conv.create", Args: "{}"}}},
		modeltest.Answer{Pieces: []string{"ok"}},
	))
	l.server.NoNamespaces = true
	m := l.model(provider.Responses)
	request := model.Request{Items: []model.Item{user("go")}, Tools: tools("conv.create")}
	got, err := m.Sample(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Items) != 1 || got.Items[0].Name != "conv.create" || got.Items[0].Wire != "conv_create" {
		t.Errorf("the call is %+v", got.Items)
	}
	request.Items = append(append(request.Items, got.Items...), output("c1", "x"))
	if _, err = m.Sample(t.Context(), request, nil); err != nil {
		t.Fatal(err)
	}
	if n := len(l.server.Refused()); n != 1 {
		t.Errorf("%d requests were refused, want 1: %q", n, l.server.Refused())
	}

	// What a server refuses for another reason it refuses without namespaces too, and the next request has them again.
	l = newLab(t, func(modeltest.Exchange) modeltest.Answer {
		return modeltest.Answer{Status: 400, Type: "invalid_request_error", Message: "no"}
	})
	m = l.model(provider.Responses)
	for range 2 {
		if _, err = m.Sample(t.Context(), request, nil); err == nil {
			t.Error("a refused request has an answer")
		}
	}
	var named []string
	for _, e := range l.server.Exchanges() {
		named = append(named, e.Tools...)
	}
	if diff := cmp.Diff([]string{"conv.create", "conv_create", "conv.create", "conv_create"}, named); diff != "" {
		t.Errorf("tools of the requests (-want +got):\n%s", diff)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	type want struct {
		code     model.Code
		attempts int
		streamed bool
	}
	for name, test := range map[string]struct {
		fault modeltest.Fault
		text  bool // the first half has text
		want  want
	}{
		"connection closed":        {modeltest.Unanswered, false, want{model.CodeUnreachable, 5, false}},
		"cut before any text":      {modeltest.Cut, false, want{model.CodeCut, 5, false}},
		"cut in the text":          {modeltest.Cut, true, want{model.CodeCut, 1, true}},
		"ended before any text":    {modeltest.Ended, false, want{model.CodeCut, 5, false}},
		"ended in the text":        {modeltest.Ended, true, want{model.CodeCut, 1, true}},
		"silent at once":           {modeltest.HangsAtOnce, false, want{model.CodeStalled, 5, false}},
		"silent in the text":       {modeltest.Hangs, true, want{model.CodeStalled, 1, true}},
		"without end":              {modeltest.Endless, true, want{model.CodeTooLarge, 1, true}},
		"a line without end":       {modeltest.LongLine, false, want{model.CodeTooLarge, 1, false}},
		"no JSON":                  {modeltest.BadJSON, true, want{model.CodeInvalidResponse, 1, true}},
		"no stream":                {modeltest.NoStream, false, want{model.CodeCut, 5, false}},
		"a call twice":             {modeltest.Twice, false, want{model.CodeInvalidResponse, 1, false}},
		"an error before any text": {modeltest.FailedInside, false, want{model.CodeRateLimited, 5, false}},
		"an error in the text":     {modeltest.FailedInside, true, want{model.CodeRateLimited, 1, true}},
	} {
		for _, api := range apis() {
			t.Run(name+"/"+string(api), func(t *testing.T) {
				t.Parallel()
				answer := modeltest.Answer{Fault: test.fault, Type: "rate_limit_error", Message: "slow down"}
				if api != provider.Messages {
					answer.Type = "rate_limit_exceeded"
				}
				for i := range 20 {
					if test.text {
						answer.Pieces = append(answer.Pieces, "piece ")
					} else {
						answer.Calls = append(answer.Calls, modeltest.Call{ID: fmt.Sprint("c", i), Name: "a", Args: "{}"})
					}
				}
				l := newLab(t, modeltest.Sequence(answer))
				m := l.model(api)
				m.Bound(1<<20, 128<<10, 2000)
				streamed, begun := "", make(chan struct{})
				if test.text {
					l.server.Hung = func() {
						<-begun
						l.clock.pass(silence)
					}
				}
				got, err := m.Sample(t.Context(), model.Request{Items: []model.Item{user("go")}, Tools: tools("a")}, func(text string) {
					if streamed == "" {
						close(begun)
					}
					streamed += text
				})
				failure := (*model.Error)(nil)
				if !errors.As(err, &failure) {
					t.Fatalf("got %+v, %v", got, err)
				}
				if got := (want{failure.Code, failure.Attempts, failure.Streamed}); got != test.want {
					t.Errorf("got %+v (%v), want %+v", got, err, test.want)
				}
				if failure.Streamed != (streamed != "") || len(got.Items) != 0 {
					t.Errorf("streamed %q, items %v", streamed, got.Items)
				}
				// A server that fails once is asked again, unless text had been passed on.
				if test.want.attempts > 1 {
					l := newLab(t, modeltest.Sequence(answer, modeltest.Answer{Pieces: []string{"well"}}))
					got, err := l.model(api).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}, Tools: tools("a")}, nil)
					if err != nil || len(got.Items) != 1 || got.Items[0].Text() != "well" {
						t.Errorf("the second attempt: %+v, %v", got, err)
					}
				}
			})
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	retryAfter := func(value string) map[string]string { return map[string]string{"Retry-After": value} }
	for name, test := range map[string]struct {
		status int
		kind   string
		header map[string]string
		code   model.Code
		waits  []time.Duration // between the attempts
	}{
		"400":                {400, "invalid_request_error", nil, model.CodeInvalidRequest, nil},
		"401":                {401, "invalid_api_key", nil, model.CodeUnauthorized, nil},
		"403":                {403, "permission_error", nil, model.CodeUnauthorized, nil},
		"404":                {404, "model_not_found", nil, model.CodeUnknownModel, nil},
		"413":                {413, "request_too_large", nil, model.CodeInvalidRequest, nil},
		"a redirect":         {307, "", map[string]string{"Location": "/v1/elsewhere"}, model.CodeInvalidResponse, nil},
		"408":                {408, "timeout_error", nil, model.CodeServer, backoff()},
		"429":                {429, "rate_limit_exceeded", nil, model.CodeRateLimited, backoff()},
		"429 without credit": {429, "insufficient_quota", nil, model.CodeRateLimited, nil},
		"500":                {500, "server_error", nil, model.CodeServer, backoff()},
		"502":                {502, "", nil, model.CodeServer, backoff()},
		"503":                {503, "", nil, model.CodeOverloaded, backoff()},
		"529":                {529, "overloaded_error", nil, model.CodeOverloaded, backoff()},
		"seconds":            {429, "", retryAfter("3"), model.CodeRateLimited, []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second, 3 * time.Second}},
		"a date":             {503, "", retryAfter("Tue, 01 Jan 2030 00:00:10 GMT"), model.CodeOverloaded, []time.Duration{10 * time.Second, 10 * time.Second, 10 * time.Second, 10 * time.Second}},
		"milliseconds":       {429, "", map[string]string{"Retry-After-Ms": "20"}, model.CodeRateLimited, backoff()},
		"too long":           {429, "", retryAfter("3600"), model.CodeRateLimited, nil},
		"not a number":       {429, "", retryAfter("NaN"), model.CodeRateLimited, backoff()},
		"a past date":        {429, "", retryAfter("Tue, 01 Jan 2019 00:00:10 GMT"), model.CodeRateLimited, backoff()},
		"not to be repeated": {500, "", map[string]string{"x-should-retry": "false"}, model.CodeServer, nil},
	} {
		for _, api := range apis() {
			t.Run(name+"/"+string(api), func(t *testing.T) {
				t.Parallel()
				l := newLab(t, modeltest.Sequence(modeltest.Answer{Status: test.status, Type: test.kind, Message: "because\x1b[31m\nof this", Header: test.header}))
				_, err := l.model(api).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, nil)
				failure := (*model.Error)(nil)
				if !errors.As(err, &failure) {
					t.Fatal(err)
				}
				if failure.Code != test.code || failure.Status != test.status {
					t.Errorf("got %s with status %d, want %s", failure.Code, failure.Status, test.code)
				}
				if diff := cmp.Diff(test.waits, l.clock.waits); diff != "" {
					t.Errorf("waits (-want +got):\n%s", diff)
				}
				if want := "because␛[31m of this"; !strings.Contains(failure.Message, want) {
					t.Errorf("the message %q has no %q", failure.Message, want)
				}
				if failure.RequestID != "req_test" {
					t.Errorf("the id of the request is %q", failure.RequestID)
				}
			})
		}
	}
}

// backoff is what the package waits between attempts where Random returns one half.
func backoff() []time.Duration {
	return []time.Duration{375 * time.Millisecond, 750 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second}
}

// A key is in no error, whatever a provider or a proxy repeats of a request.
func TestKeyIsNotShown(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		for name, answer := range map[string]modeltest.Answer{
			"in a message":          {Status: 400, Type: "x", Message: "you sent " + modeltest.Key},
			"at the limit":          {Status: 400, Type: "x", Message: strings.Repeat("x", 470) + modeltest.Key},
			"in a type":             {Status: 400, Type: modeltest.Key, Message: "x"},
			"in an id":              {Status: 400, Header: map[string]string{"x-request-id": modeltest.Key}},
			"in a stream":           {Pieces: []string{"a", "b", "c"}, Fault: modeltest.FailedInside, Type: modeltest.Key, Message: modeltest.Key},
			"in a broken response":  {Pieces: []string{"a", "b", "c"}, Fault: modeltest.Cut},
			"without any":           {Fault: modeltest.Unanswered},
			"in a redirect":         {Status: 302, Header: map[string]string{"Location": "/" + modeltest.Key}},
			"in ids of two calls":   {Calls: []modeltest.Call{{ID: modeltest.Key, Name: "a", Args: "{}"}, {ID: modeltest.Key, Name: "a", Args: "{}"}}},
			"in a name of no model": {Status: 404, Message: "no " + modeltest.Key},
		} {
			t.Run(name+"/"+string(api), func(t *testing.T) {
				t.Parallel()
				l := newLab(t, modeltest.Sequence(answer))
				_, err := l.model(api).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, nil)
				shown(t, err)
			})
		}
		t.Run("refused/"+string(api), func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil)
			o := l.options(api)
			const wrong = "sk-wrong-000000000000"
			asked := 0
			o.Key = func(_ context.Context, fresh bool) (string, error) {
				asked++
				if fresh != (asked > 1) {
					t.Errorf("fresh is %v for request %d", fresh, asked)
				}
				return wrong, nil
			}
			_, err := provider.New(o).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, nil)
			if err == nil || !strings.Contains(err.Error(), "[key]") {
				t.Errorf("got %v", err)
			}
			shown(t, err)
			if asked != 2 {
				t.Errorf("the key was asked for %d times, want 2", asked)
			}
		})
	}
}

func shown(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	for ; err != nil; err = errors.Unwrap(err) {
		for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
			if strings.Contains(text, "sk-") {
				t.Errorf("the key is in %q", text)
			}
		}
	}
}

func TestKeyThatExpired(t *testing.T) {
	t.Parallel()
	l := newLab(t, modeltest.Sequence(modeltest.Answer{Pieces: []string{"ok"}}))
	o := l.options(provider.Chat)
	o.Key = func(_ context.Context, fresh bool) (string, error) {
		if fresh {
			return modeltest.Key, nil
		}
		return "sk-old", nil
	}
	if _, err := provider.New(o).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, nil); err != nil {
		t.Error(err)
	}
}

// The body of a request, with what the configuration adds to it.
func TestRequest(t *testing.T) {
	t.Parallel()
	for api, want := range map[provider.API]string{
		provider.Responses: `{"include":["reasoning.encrypted_content"],"input":[{"content":[{"text":"go","type":"input_text"}],"role":"user","type":"message"}],"instructions":"","max_output_tokens":500,"model":"some-model","prompt_cache_key":"k","store":false,"stream":true,"temperature":0.5,"tools":[{"description":"The tools of conv.","name":"conv","tools":[{"description":"Does it.","name":"list","parameters":{"type":"object","properties":{"a":{"type":"string"}}},"strict":false,"type":"function"}],"type":"namespace"},{"type":"web_search"}]}`,
		provider.Chat:      `{"max_completion_tokens":500,"messages":[{"content":"","role":"system"},{"content":"go","role":"user"}],"model":"some-model","stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"tools":[{"function":{"description":"Does it.","name":"conv_list","parameters":{"type":"object","properties":{"a":{"type":"string"}}}},"type":"function"}]}`,
		provider.Messages:  `{"cache_control":{"type":"ephemeral"},"max_tokens":500,"messages":[{"content":[{"text":"go","type":"text"}],"role":"user"}],"model":"some-model","stream":true,"temperature":0.5,"tools":[{"description":"Does it.","input_schema":{"type":"object","properties":{"a":{"type":"string"}}},"name":"conv_list"},{"name":"web_search","type":"web_search_20250305"}]}`,
	} {
		l := newLab(t, modeltest.Sequence(modeltest.Answer{Pieces: []string{"ok"}}))
		o := l.options(api)
		o.Request = map[string]any{"temperature": 0.5}
		o.MaxOutputTokens = 500
		empty := ""
		_, err := provider.New(o).Sample(t.Context(), model.Request{
			Instructions: &empty, Items: []model.Item{user("go")}, Tools: tools("conv.list"), WebSearch: api != provider.Chat, MaxOutputTokens: 900, CacheKey: "k",
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(l.server.Exchanges()[0].Body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", api, diff)
		}
	}
}

// Anthropic's own tools pause a response, which is then asked for again.
func TestPaused(t *testing.T) {
	t.Parallel()
	l := newLab(t, modeltest.Sequence(
		modeltest.Answer{Pieces: []string{"I look."}, Paused: true, Usage: modeltest.Usage{Input: 10, Output: 1}},
		modeltest.Answer{Pieces: []string{"Found."}, Usage: modeltest.Usage{Input: 20, Output: 2}},
	))
	got, err := l.model(provider.Messages).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}, WebSearch: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Response{
		Items: []model.Item{model.Text(model.AgentMessage, "I look."), {Kind: model.Reasoning}, model.Text(model.AgentMessage, "Found.")},
		Usage: model.Usage{InputTokens: 30, OutputTokens: 3},
	}
	if diff := cmp.Diff(want, got, ignoreRaw()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	l.legal(t)
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		l := newLab(t, modeltest.Sequence(
			modeltest.Answer{Pieces: []string{"It is"}, Truncated: true, Calls: []modeltest.Call{{ID: "c", Name: "a", Args: `{"x":"`}}},
			modeltest.Answer{Pieces: []string{"ok"}},
		))
		m := l.model(api)
		request := model.Request{Items: []model.Item{user("go")}, Tools: tools("a")}
		got, err := m.Sample(t.Context(), request, nil)
		if err != nil || !got.Truncated || got.Items[1].Arguments != `{"x":"` {
			t.Fatalf("%s: %+v, %v", api, got, err)
		}
		request.Items = append(append(request.Items, got.Items...), output("c", "that is no JSON"))
		if _, err := m.Sample(t.Context(), request, nil); err != nil {
			t.Errorf("%s: %v", api, err)
		}
		last := l.server.Exchanges()[1].Items[2]
		if last.Args != `{"INVALID_JSON":"{\"x\":\""}` {
			t.Errorf("%s: the call is replayed with %s", api, last.Args)
		}
	}
}

func TestWithheld(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		l := newLab(t, modeltest.Sequence(modeltest.Answer{Pieces: []string{"It is"}, Withheld: true, Usage: modeltest.Usage{Input: 3, Output: 2}}))
		got, err := l.model(api).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, nil)
		failure := (*model.Error)(nil)
		if !errors.As(err, &failure) || failure.Code != model.CodeRefused || failure.Temporary {
			t.Errorf("%s: %v", api, err)
		}
		if api != provider.Chat && got.Usage.OutputTokens != 2 { // there it would come after
			t.Errorf("%s: usage %+v", api, got.Usage)
		}
	}
}

// A request ends with its context, and nothing of it goes on.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		for _, fault := range []modeltest.Fault{modeltest.HangsAtOnce, modeltest.Hangs, modeltest.Endless} {
			l := newLab(t, modeltest.Sequence(modeltest.Answer{Pieces: []string{"a", "b", "c"}, Fault: fault}))
			cause := errors.New("the user has gone")
			ctx, cancel := context.WithCancelCause(t.Context())
			l.server.Hung = func() { cancel(cause) }
			_, err := l.model(api).Sample(ctx, model.Request{Items: []model.Item{user("go")}}, func(text string) {
				if fault == modeltest.Endless && text == "again " {
					cancel(cause)
				}
			})
			if !errors.Is(err, cause) {
				t.Errorf("%s: %v", api, err)
			}
			if n := len(l.clock.timers); n > 0 {
				t.Errorf("%s: %d timers are left", api, n)
			}
			cancel(nil)
		}
	}
}

// A server cannot have the conversation sent elsewhere.
func TestRedirect(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the conversation was sent elsewhere")
	}))
	defer elsewhere.Close()
	l := newLab(t, modeltest.Sequence(modeltest.Answer{Status: 308, Header: map[string]string{"Location": elsewhere.URL + "/v1/chat/completions"}}))
	if _, err := l.model(provider.Chat).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, nil); err == nil {
		t.Error("a redirect is no answer")
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	o := l.options(provider.Chat)
	o.BaseURL = "http://127.0.0.1:1"
	_, err := provider.New(o).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, nil)
	failure := (*model.Error)(nil)
	if !errors.As(err, &failure) || failure.Code != model.CodeUnreachable || failure.Attempts != 5 {
		t.Errorf("got %v", err)
	}
}
