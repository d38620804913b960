package provider_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/model"
	"github.com/convtools/convtools/runtime/model/provider"
)

// eventsOf is the oracle: it has the whole stream at once.
func eventsOf(stream string) []string {
	var events []string
	var data []string
	for line := range strings.Lines(stream) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != nil {
				events = append(events, strings.Join(data, "\n"))
			}
			data = nil
		case field == "data":
			data = append(data, value)
		}
	}
	return events
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{
		"", "data: a\n\n", "event: x\ndata:a\ndata: b\r\n\r\n", ": ping\n\ndata\n\n", "data: a\r\rdata: b\r\n\n", "\ufeffdata: a\n\n",
		"data: a\n", "data: a", "id: 1\nretry: 5\ndata: : x\n\n", "event: a\n\ndata: b\n\n", "\n\n\r\r", "\n\ufeffdata: a\n\n", "data:  a\n\n", "\r\n\ufeffdata: a\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		want := eventsOf(stream)
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(stream), "bytes": iotest.OneByteReader(strings.NewReader(stream))} {
			if diff := cmp.Diff(want, provider.ReadEvents(r)); diff != "" {
				t.Errorf("%s: (-want +got):\n%s", name, diff)
			}
		}
	})
}

// FuzzDecode decodes any stream as any interface: it is a response or an error of this package, and of a response each
// call has an id of its own.
func FuzzDecode(f *testing.F) {
	for i, api := range apis() {
		files, err := filepath.Glob(filepath.Join("testdata", api, "*.txtar"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				f.Fatal(err)
			}
			for _, section := range archive.Files {
				if strings.HasPrefix(section.Name, "stream") {
					f.Add(byte(i), section.Data)
				}
			}
		}
	}
	for i := range byte(3) {
		f.Add(i, []byte("data: {}\n\ndata: [DONE]\n\n"))
		f.Add(i, []byte(`data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}},{"id":"b","index":0,"function":{}},{"index":-1}]}}]}`+"\n\ndata: [DONE]\n\n"))
		f.Add(i, []byte(`data: {"type":"content_block_delta","index":-1}`+"\n\n"))
	}
	f.Fuzz(func(t *testing.T, api byte, stream []byte) {
		got, err := provider.Decode(apis()[int(api)%3], bytes.NewReader(stream))
		if err != nil {
			if failure := (*model.Error)(nil); !errors.As(err, &failure) || failure.Code == "" || len(got.Items) > 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			return
		}
		ids := map[string]bool{}
		for _, item := range got.Items {
			if item.Kind == model.ToolCall && (item.CallID == "" || ids[item.CallID]) {
				t.Errorf("the id %q is not the only one of its kind", item.CallID)
			}
			ids[item.CallID] = true
		}
		for _, n := range []int64{got.Usage.InputTokens, got.Usage.OutputTokens} {
			if n < 0 {
				t.Errorf("the usage is negative: %+v", got.Usage)
			}
		}
	})
}

// What servers send that are compatible in their own way.
func TestCompatible(t *testing.T) {
	t.Parallel()
	call := func(id, name, arguments string) model.Item {
		return model.Item{Kind: model.ToolCall, CallID: id, Name: name, Wire: name, Arguments: arguments}
	}
	chunk := func(delta string) string { return `data: {"choices":[{"index":0,"delta":` + delta + "}]}\n\n" }
	const end = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"
	for name, test := range map[string]struct {
		api    string
		stream string
		want   []model.Item
	}{
		"one index for all calls": {provider.Chat, chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}`) +
			chunk(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"y","arguments":"{}"}}]}`) + end, []model.Item{call("a", "x", "{}"), call("b", "y", "{}")}},
		"no index": {
			provider.Chat, chunk(`{"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{"}},{"function":{"arguments":"}"}},{"id":"b","function":{"name":"y","arguments":"{}"}}]}`) + end,
			[]model.Item{call("a", "x", "{}"), call("b", "y", "{}")},
		},
		"no ids": {
			provider.Chat, chunk(`{"tool_calls":[{"index":0,"function":{"name":"x","arguments":"{}"}},{"index":1,"function":{"name":"y","arguments":"{}"}}]}`) + end,
			[]model.Item{call("call_without_id_0", "x", "{}"), call("call_without_id_1", "y", "{}")},
		},
		"one id for all calls": {
			provider.Responses, `data: {"type":"response.completed","response":{"output":[{"type":"function_call","call_id":"a","name":"x","arguments":"{}"},{"type":"function_call","call_id":"a","name":"y","arguments":"{}"}]}}` + "\n\n",
			[]model.Item{call("a", "x", "{}"), call("call_without_id_1", "y", "{}")},
		},
		"the name with every piece": {provider.Chat, chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{"}}]}`) +
			chunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"}"}}]}`) + end, []model.Item{call("a", "x", "{}")}},
		"no end but that of the stream": {provider.Chat, chunk(`{"content":"hi"}`) + end, []model.Item{model.Text(model.AgentMessage, "hi")}},
		"no reason":                     {provider.Chat, chunk(`{"content":"hi"}`) + "data: [DONE]\n\n", []model.Item{model.Text(model.AgentMessage, "hi")}},
		"null for nothing":              {provider.Chat, chunk(`{"content":null,"tool_calls":null,"reasoning":null}`) + chunk(`{"content":"hi"}`) + end, []model.Item{model.Text(model.AgentMessage, "hi")}},
		"pings":                         {provider.Chat, ": ping\n\n: ping\n\n" + chunk(`{"content":"hi"}`) + ": ping\n\n" + end, []model.Item{model.Text(model.AgentMessage, "hi")}},
		"items at the end alone": {
			provider.Responses, `data: {"type":"response.completed","response":{"output":[{"type":"message","content":[{"type":"output_text","text":"a"},{"type":"refusal","refusal":"b"}]},{"type":"reasoning","id":"rs"},{"type":"function_call","name":"x","arguments":"{}"}]}}` + "\n\n",
			[]model.Item{model.Text(model.AgentMessage, "ab"), call("call_without_id_1", "x", "{}")},
		},
		"input at the beginning of a call": {
			provider.Messages, `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"x","input":{"b":1}}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
			[]model.Item{call("a", "x", `{"b":1}`)},
		},
		"blank texts": {
			provider.Messages, `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":" "}}` + "\n\n" + `data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}` + "\n\n" +
				`data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":"b"}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n",
			[]model.Item{model.Text(model.AgentMessage, "ab")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := provider.Decode(test.api, strings.NewReader(test.stream))
			if diff := cmp.Diff(test.want, got.Items, ignoreRaw()); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// The environment decides on proxies, as it does for other programs. It is read once in a process.
func TestProxy(t *testing.T) {
	t.Parallel()
	const child = "CONVTOOLS_TEST_PROXY"
	if os.Getenv(child) != "" {
		m := provider.New("m", config.Model{API: provider.Chat, BaseURL: "http://models.example/v1", Model: "m"}, nil)
		if _, err := m.Sample(t.Context(), model.Request{Items: []model.Item{user("go")}}, func(string) {}); err != nil {
			t.Error(err)
		}
		return
	}
	asked := ""
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	defer proxy.Close()
	run := exec.Command(os.Args[0], "-test.run=^TestProxy$")
	run.Env = append(os.Environ(), child+"=1", "HTTP_PROXY="+proxy.URL, "NO_PROXY=", "no_proxy=")
	if out, err := run.CombinedOutput(); err != nil || asked != "http://models.example/v1/chat/completions" {
		t.Errorf("the proxy was asked for %q: %v\n%s", asked, err, out)
	}
}
