package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/provider"
)

var update = flag.Bool("update", false, "write the requests and responses in testdata anew")

// An exchange is what goes to and fro: a file testdata/API/NAME.txtar has the streams that the server sends, in the
// sections "stream 1", "stream 2", …, which people write from the documentation of the interface; a section "refusal N"
// has a status and a body instead. Behind each is what the package makes of it, "response N", and before each what it
// has sent, "request N", where the exchange has something to show there: a file without requests is about the stream
// alone.
//
// The history of an exchange is the one of the same name in histories, for all interfaces; others have a question.

// history is what is asked: inputs[n] is added to the history before request n+1.
type history struct {
	config  func(*config.Model)
	noKey   bool
	request model.Request
	inputs  [][]model.Item
}

func histories() map[string]history {
	brief := "Be brief."
	empty := ""
	withTools := model.Request{Instructions: &brief, Tools: tools("conv.create", "conv.list", "fetch"), CacheKey: "c1"}
	return map[string]history{
		"first-turn":      {request: withTools, inputs: [][]model.Item{{user("Which is <older> & why?")}}},
		"no-instructions": {inputs: [][]model.Item{{user("Go.")}}},
		"empty-instructions": {
			request: model.Request{Instructions: &empty}, inputs: [][]model.Item{{user("Go.")}},
		},
		// Two calls in one response, with reasoning; then an answer, and a question more.
		"tools": {request: withTools, inputs: [][]model.Item{
			{user("Compare the two.")},
			{output("call_1", `{"conversation_id":"5f0c","last_assistant_message":"The first."}`), {Kind: model.ToolOutput, CallID: "call_2", Output: "no such page", Failed: true}},
			{user("Sure?")},
		}},
		"images": {inputs: [][]model.Item{{{Kind: model.UserMessage, Parts: []model.Part{
			{Text: "What is this?"}, {ImageURL: "data:image/png;base64,iVBORw0KGgo="}, {ImageURL: "https://example.com/a.jpg"},
		}}}}},
		"refusal":    {inputs: [][]model.Item{{user("Tell me how.")}, {user("Then something else.")}}},
		"web-search": {request: model.Request{WebSearch: true}, inputs: [][]model.Item{{user("Any news?")}, {user("Thanks.")}}},
		"pause":      {request: model.Request{WebSearch: true}, inputs: [][]model.Item{{user("Any news?")}}},
		"max-tokens": {
			config:  func(c *config.Model) { c.MaxOutputTokens = 100 },
			request: model.Request{MaxOutputTokens: 10, Tools: tools("fetch")}, inputs: [][]model.Item{{user("Go.")}, {output("call_1", "the arguments are no JSON")}},
		},
		"settings": {
			config: func(c *config.Model) {
				c.MaxOutputTokens = 100
				c.Request = map[string]any{"temperature": 0.5, "max_tokens": 7} // replaces the package's own
			},
			noKey:  true,
			inputs: [][]model.Item{{user("Go.")}},
		},
		// Another model has written the beginning, and what it says is its own form of that is not sent.
		"other-model": {request: model.Request{Tools: tools("conv.create")}, inputs: [][]model.Item{{
			user("Begin."),
			{Kind: model.Reasoning, Raw: `{"from":"responses other","item":{"type":"reasoning","encrypted_content":"x"}}`},
			{Kind: model.AgentMessage, Parts: []model.Part{{Text: "I ask."}}, Raw: `{"from":"messages other","item":{"blocks":[]}}`},
			{Kind: model.ToolCall, CallID: "an id. that none takes", Name: "conv.create", Wire: "conv_create", Arguments: `{"user_instruction":"größer"}`},
			{Kind: model.ToolCall, CallID: "call_9", Name: "no tool!", Wire: "no tool!", Arguments: "[1]"},
			output("an id. that none takes", "done"), output("call_9", ""),
			model.Text(model.AgentMessage, ""),
			user("Go on."),
		}}},
		// What is asked next after a response that had reasoning, and one that is kept by the server alone.
		"reasoning":        {inputs: [][]model.Item{{user("Think.")}, {user("And?")}}},
		"reasoning-hidden": {inputs: [][]model.Item{{user("Think.")}, {output("call_1", "x")}}, request: model.Request{Tools: tools("fetch")}},
		"reasoning-open":   {inputs: [][]model.Item{{user("Think.")}, {output("call_1", "x")}, {user("And?")}}, request: model.Request{Tools: tools("fetch")}},
	}
}

func TestExchanges(t *testing.T) {
	t.Parallel()
	known := histories()
	used := map[string]bool{}
	for _, api := range apis() {
		files, err := filepath.Glob(filepath.Join("testdata", api, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%d files: %v", len(files), err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".txtar")
			h, ok := known[name]
			used[name] = true
			if !ok {
				h = history{inputs: [][]model.Item{{user("Go.")}}, request: model.Request{Tools: tools("fetch", "conv.list")}}
			}
			t.Run(api+"/"+name, func(t *testing.T) {
				t.Parallel()
				exchange(t, api, file, h, ok)
			})
		}
	}
	for name := range known {
		if !used[name] {
			t.Errorf("no exchange has the history %s", name)
		}
	}
}

// exchange plays a file, and compares what it has with what comes about.
func exchange(t *testing.T, api string, file string, h history, requests bool) {
	archive, err := txtar.ParseFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var given []txtar.File // what the server sends
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "stream") || strings.HasPrefix(f.Name, "refusal") {
			given = append(given, f)
		}
	}
	played := &txtar.Archive{Comment: archive.Comment}
	add := func(name string, data []byte) {
		played.Files = append(played.Files, txtar.File{Name: name, Data: data})
	}
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		answer := given[min(asked, len(given))-1] // another attempt fails as the one before
		if asked <= len(given) {
			if requests {
				add(fmt.Sprint("request ", asked), written(t, r))
			}
			add(answer.Name, answer.Data)
		}
		if strings.HasPrefix(answer.Name, "stream") {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = w.Write(answer.Data)
			return
		}
		status, body, _ := bytes.Cut(answer.Data, []byte("\n"))
		code := 0
		if _, err := fmt.Sscan(string(status), &code); err != nil {
			t.Errorf("%s: %v", answer.Name, err)
		}
		w.WriteHeader(code)
		_, _ = w.Write(body)
	}))
	defer server.Close()
	c := config.Model{API: api, BaseURL: server.URL + "/v1", Model: "some-model", WebSearch: true}
	if h.config != nil {
		h.config(&c)
	}
	key := func(context.Context, bool) (string, error) { return "KEY", nil }
	if h.noKey {
		key = nil
	}
	m := provider.New("test", c, key)
	m.After(func(time.Duration) <-chan time.Time { return time.After(0) })
	request := h.request
	for _, input := range h.inputs {
		request.Items = append(request.Items, input...)
		var pieces []string
		got, err := m.Sample(t.Context(), request, func(piece string) { pieces = append(pieces, piece) })
		add(fmt.Sprint("response ", min(asked, len(given))), shownResponse(pieces, got, err))
		request.Items = append(request.Items, got.Items...)
	}
	if asked < len(given) {
		t.Errorf("%d requests for %d answers", asked, len(given))
	}
	if *update {
		if err := os.WriteFile(file, txtar.Format(played), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(played))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// written returns a request as it was sent, without the headers that are none of the package's.
func written(t *testing.T, r *http.Request) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if name != "Content-Length" && name != "Accept-Encoding" {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(r.Header[name], ", "))
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	b.WriteByte('\n')
	if err := json.Indent(&b, body, "", "  "); err != nil {
		t.Errorf("%v: %s", err, body)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// shownResponse returns a line for each thing that a response has.
func shownResponse(pieces []string, r model.Response, err error) []byte {
	var b bytes.Buffer
	if len(pieces) > 0 {
		fmt.Fprintf(&b, "pieces %q\n", pieces)
	}
	for _, i := range r.Items {
		switch i.Kind {
		case model.AgentMessage:
			fmt.Fprintf(&b, "message %q\n", i.Text())
		case model.ToolCall:
			fmt.Fprintf(&b, "call %q of %q as %q with %s\n", i.CallID, i.Name, i.Wire, i.Arguments)
		default:
			fmt.Fprintf(&b, "kept %s\n", i.Raw)
		}
	}
	if u := r.Usage; u != (model.Usage{}) {
		fmt.Fprintf(&b, "usage %d in, %d out\n", u.InputTokens, u.OutputTokens)
	}
	var failure *model.Error
	if errors.As(err, &failure) {
		fmt.Fprintf(&b, "error %s, temporary %v, after %d attempts: %s\n", failure.Code, failure.Temporary, failure.Attempts, failure.Message)
	} else if err != nil {
		fmt.Fprintf(&b, "error %v\n", err)
	}
	return b.Bytes()
}
