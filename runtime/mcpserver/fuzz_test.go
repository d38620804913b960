package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/mcpserver"
)

// FuzzSession sends anything, and after it a ping. The ping has to be answered,
// and every line that is written has to be a message.
func FuzzSession(f *testing.F) {
	for _, seed := range []string{
		initialize + initialized + callLine(1, "echo", `{"a":1}`),
		callLine(1, "fail", `{}`) + "\xff\n[]\n",
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modern + `}}`,
		initialize + callLine(1, "crash", `{}`) + callLine(1, "echo", `7`),
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},` + modern + `}}`,
		initialize + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"init"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"resume"},"argument":{"name":"id","value":"r"},` + modern + `}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		cfg := newTools().config()
		cfg.DrainTime = 10 * time.Second // an answer takes far less
		if bytes.Contains(in, []byte("wait")) {
			return // it would
		}
		const end = `"the end of the input"`
		in = append(in, "\n"+`{"jsonrpc":"2.0","id":`+end+`,"method":"ping"}`...)
		var out bytes.Buffer
		begun := time.Now()
		if err := mcpserver.New(cfg).ServeStdio(t.Context(), bytes.NewReader(in), &out); err != nil {
			t.Fatalf("the session ended with %v", err)
		}
		if time.Since(begun) > cfg.DrainTime/2 {
			t.Fatalf("a request in %q was never answered", in)
		}
		answered := false
		for line := range bytes.Lines(out.Bytes()) {
			var m struct {
				Version string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
			}
			if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" || !bytes.HasSuffix(line, []byte("\n")) {
				t.Fatalf("the server wrote %q: %v", line, err)
			}
			answered = answered || string(m.ID) == end
		}
		if !answered {
			t.Fatalf("the ping after %q was not answered: %s", in, &out)
		}
	})
}
