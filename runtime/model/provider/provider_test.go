package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/modeltest"
	"github.com/convtools/convtools/runtime/model/provider"
)

func apis() []string {
	return []string{provider.Responses, provider.Chat, provider.Messages}
}

// lab is a provider, which may fail, and a model of it.
type lab struct {
	server modeltest.Server
	fault  fault
	url    string
	waits  []time.Duration // between attempts
}

func newLab(t *testing.T, answer func(modeltest.Exchange) modeltest.Answer) *lab {
	t.Helper()
	l := &lab{server: modeltest.Server{Answer: answer}}
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	l.url = server.URL + "/v1"
	return l
}

func (l *lab) config(api string) config.Model {
	return config.Model{API: api, BaseURL: l.url, Model: "some-model", WebSearch: true}
}

func rightKey(context.Context, bool) (string, error) { return modeltest.Key, nil }

func (l *lab) model(api string) *provider.Model { return l.open(l.config(api), rightKey) }

// open returns a model that does not wait between attempts.
func (l *lab) open(c config.Model, key provider.Key) *provider.Model {
	m := provider.New("test", c, key)
	m.After(func(d time.Duration) <-chan time.Time {
		l.waits = append(l.waits, d)
		return time.After(0)
	})
	return m
}

// fault is how a server fails in the middle of a response.
type fault int

const (
	none        fault = iota
	unanswered        // the connection is closed before anything was sent
	cut               // the connection breaks after the first half
	ended             // the response ends after the first half, as if it were whole
	hangs             // nothing comes after the first half
	hangsAtOnce       // nothing comes at all
	endless           // the first half is sent again and again
	longLine          // a line never ends
	badJSON           // an event in the middle is no JSON
	noStream          // a page of HTML, with status 200
	failing           // an error event after the first half
)

// ServeHTTP sends what the provider answers, with the fault.
func (l *lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	record := httptest.NewRecorder()
	l.server.ServeHTTP(record, r)
	events := strings.SplitAfter(record.Body.String(), "\n\n")
	half := strings.Join(events[:len(events)/2], "")
	maps.Copy(w.Header(), record.Header())
	if l.fault == none || record.Code != http.StatusOK {
		w.WriteHeader(record.Code)
		_, _ = w.Write(record.Body.Bytes())
		return
	}
	again := ""
	switch l.fault {
	case unanswered:
		panic(http.ErrAbortHandler)
	case hangsAtOnce:
		half = ""
	case noStream:
		half = "<html><body>Welcome</body></html>"
	case badJSON:
		half += "event: message\ndata: {\"type\": \n\n"
	case failing:
		half += `data: {"type":"error","error":{"type":"rate_limit_error","message":"slow down, ` + modeltest.Key + `"}}` + "\n\n"
	case endless:
		again = events[len(events)/3]
	case longLine:
		again = "data: " + strings.Repeat("x", 64<<10)
	}
	_, _ = io.WriteString(w, half)
	_ = http.NewResponseController(w).Flush()
	switch l.fault {
	case cut:
		panic(http.ErrAbortHandler)
	case hangs, hangsAtOnce:
		<-r.Context().Done()
	}
	for again != "" {
		if _, err := io.WriteString(w, again); err != nil {
			return
		}
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

func TestRefusals(t *testing.T) {
	t.Parallel()
	retryAfter := func(value string) map[string]string { return map[string]string{"Retry-After": value} }
	for name, test := range map[string]struct {
		status int
		kind   string
		header map[string]string
		code   model.Code
		waits  []time.Duration // the least between the attempts
	}{
		"400":                {400, "invalid_request_error", nil, model.CodeInvalidRequest, nil},
		"401":                {401, "invalid_api_key", nil, model.CodeUnauthorized, nil},
		"403":                {403, "permission_error", nil, model.CodeUnauthorized, nil},
		"404":                {404, "model_not_found", nil, model.CodeUnknownModel, nil},
		"413":                {413, "request_too_large", nil, model.CodeInvalidRequest, nil},
		"a redirect":         {307, "", map[string]string{"Location": "/v1/elsewhere"}, model.CodeInvalidResponse, nil},
		"408":                {408, "timeout_error", nil, model.CodeServer, backoff},
		"429":                {429, "rate_limit_exceeded", nil, model.CodeRateLimited, backoff},
		"429 without credit": {429, "insufficient_quota", nil, model.CodeRateLimited, nil},
		"500":                {500, "server_error", nil, model.CodeServer, backoff},
		"502":                {502, "", nil, model.CodeServer, backoff},
		"503":                {503, "", nil, model.CodeOverloaded, backoff},
		"529":                {529, "overloaded_error", nil, model.CodeOverloaded, backoff},
		"seconds":            {429, "", retryAfter("3"), model.CodeRateLimited, slices.Repeat([]time.Duration{3 * time.Second}, 4)},
		"milliseconds":       {429, "", map[string]string{"Retry-After-Ms": "20"}, model.CodeRateLimited, backoff},
		"too long":           {429, "", retryAfter("3600"), model.CodeRateLimited, nil},
		"not a number":       {429, "", retryAfter("NaN"), model.CodeRateLimited, backoff},
		"a date":             {429, "", retryAfter("Tue, 01 Jan 2019 00:00:10 GMT"), model.CodeRateLimited, backoff},
	} {
		for _, api := range apis() {
			t.Run(name+"/"+api, func(t *testing.T) {
				t.Parallel()
				l := newLab(t, modeltest.Sequence(modeltest.Answer{Status: test.status, Type: test.kind, Message: "because\x1b[31m\nof this", Header: test.header}))
				_, err := l.model(api).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, func(string) {})
				failure := (*model.Error)(nil)
				if !errors.As(err, &failure) {
					t.Fatal(err)
				}
				if failure.Code != test.code || failure.Status != test.status {
					t.Errorf("got %s with status %d, want %s", failure.Code, failure.Status, test.code)
				}
				if len(l.waits) != len(test.waits) {
					t.Errorf("waits %v, want %v", l.waits, test.waits)
				}
				for i, wait := range l.waits {
					if least := test.waits[i]; wait < least || wait > 2*least {
						t.Errorf("waits %v, want %v", l.waits, test.waits)
					}
				}
				if want := "because␛[31m of this"; !strings.Contains(failure.Message, want) {
					t.Errorf("the message %q has no %q", failure.Message, want)
				}
			})
		}
	}
}

// backoff is the least that the package waits between attempts.
var backoff = []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second}

func TestFaults(t *testing.T) {
	t.Parallel()
	type want struct {
		code     model.Code
		attempts int
		streamed bool
	}
	for name, test := range map[string]struct {
		fault fault
		text  bool // the first half has text
		want  want
	}{
		"connection closed":        {unanswered, false, want{model.CodeUnreachable, 5, false}},
		"cut before any text":      {cut, false, want{model.CodeCut, 5, false}},
		"cut in the text":          {cut, true, want{model.CodeCut, 1, true}},
		"ended before any text":    {ended, false, want{model.CodeCut, 5, false}},
		"ended in the text":        {ended, true, want{model.CodeCut, 1, true}},
		"silent at once":           {hangsAtOnce, false, want{model.CodeStalled, 5, false}},
		"silent in the text":       {hangs, true, want{model.CodeStalled, 1, true}},
		"without end":              {endless, true, want{model.CodeTooLarge, 1, true}},
		"a line without end":       {longLine, false, want{model.CodeTooLarge, 1, false}},
		"no JSON":                  {badJSON, true, want{model.CodeInvalidResponse, 1, true}},
		"no stream":                {noStream, false, want{model.CodeCut, 5, false}},
		"an error before any text": {failing, false, want{model.CodeRateLimited, 5, false}},
		"an error in the text":     {failing, true, want{model.CodeRateLimited, 1, true}},
	} {
		for _, api := range apis() {
			t.Run(name+"/"+api, func(t *testing.T) {
				t.Parallel()
				var answer modeltest.Answer
				for i := range 20 {
					if test.text {
						answer.Pieces = append(answer.Pieces, "piece ")
					} else {
						answer.Calls = append(answer.Calls, modeltest.Call{ID: fmt.Sprint("c", i), Name: "a", Args: "{}"})
					}
				}
				l := newLab(t, modeltest.Sequence(answer))
				l.fault = test.fault
				c := l.config(api)
				if test.want.code == model.CodeStalled {
					c.Timeout = 200 * time.Millisecond
				}
				m := l.open(c, rightKey)
				m.Bound(1 << 20)
				streamed := ""
				got, err := m.Sample(t.Context(), model.Request{Items: []model.Item{user("go")}, Tools: tools("a")}, func(text string) { streamed += text })
				failure := (*model.Error)(nil)
				if !errors.As(err, &failure) {
					t.Fatalf("got %+v, %v", got, err)
				}
				if got := (want{failure.Code, failure.Attempts, streamed != ""}); got != test.want {
					t.Errorf("got %+v (%v), want %+v", got, err, test.want)
				}
				if len(got.Items) != 0 {
					t.Errorf("items %v", got.Items)
				}
				shown(t, err)
			})
		}
	}
}

// A request ends with its context, and nothing of it goes on.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		for _, fault := range []fault{hangs, endless} {
			l := newLab(t, modeltest.Sequence(modeltest.Answer{Pieces: []string{"a", "b", "c", "d", "e", "f"}}))
			l.fault = fault
			cause := errors.New("the user has gone")
			ctx, cancel := context.WithCancelCause(t.Context())
			_, err := l.model(api).Sample(ctx, model.Request{Items: []model.Item{user("go")}}, func(string) { cancel(cause) })
			if !errors.Is(err, cause) {
				t.Errorf("%s: %v", api, err)
			}
			cancel(nil)
		}
	}
}

// A key is in no error, whatever a provider or a proxy repeats of a request.
func TestKeyIsNotShown(t *testing.T) {
	t.Parallel()
	for _, api := range apis() {
		for name, answer := range map[string]modeltest.Answer{
			"in a message":          {Status: 400, Type: "x", Message: "you sent " + modeltest.Key},
			"at the limit":          {Status: 400, Type: "x", Message: strings.Repeat("x", 470) + modeltest.Key},
			"in a redirect":         {Status: 302, Header: map[string]string{"Location": "/" + modeltest.Key}},
			"in a name of no model": {Status: 404, Message: "no " + modeltest.Key},
		} {
			t.Run(name+"/"+api, func(t *testing.T) {
				t.Parallel()
				l := newLab(t, modeltest.Sequence(answer))
				_, err := l.model(api).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, func(string) {})
				shown(t, err)
			})
		}
		t.Run("refused/"+api, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil)
			const wrong = "sk-wrong-000000000000"
			asked := 0
			key := func(_ context.Context, refused bool) (string, error) {
				asked++
				if refused != (asked > 1) {
					t.Errorf("refused is %v for request %d", refused, asked)
				}
				return wrong, nil
			}
			_, err := l.open(l.config(api), key).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, func(string) {})
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
	key := func(_ context.Context, refused bool) (string, error) {
		if refused {
			return modeltest.Key, nil
		}
		return "sk-old", nil
	}
	if _, err := l.open(l.config(provider.Chat), key).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, func(string) {}); err != nil {
		t.Error(err)
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
	if _, err := l.model(provider.Chat).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, func(string) {}); err == nil {
		t.Error("a redirect is no answer")
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	c := l.config(provider.Chat)
	c.BaseURL = "http://127.0.0.1:1"
	_, err := l.open(c, rightKey).Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, func(string) {})
	failure := (*model.Error)(nil)
	if !errors.As(err, &failure) || failure.Code != model.CodeUnreachable || failure.Attempts != 5 {
		t.Errorf("got %v", err)
	}
}
