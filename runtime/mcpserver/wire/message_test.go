package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	sdkjson "github.com/segmentio/encoding/json"
)

func TestLeadingID(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":"bbb`: `5`,
		`{"id":"five","params":{"a`:                               `"five"`,
		`{"jsonrpc":"2.0","params":{"id":7},"id":8,"x":"`:         `8`,
		`{"jsonrpc":"2.0","params":{"id":7`:                       ``,
		`{"jsonrpc":"2.0","params":{"a":"\"id\":7, `:              ``,
		`{"id":1.5,"params":`:                                     `1.5`,
		`{"id":null,"id":5`:                                       ``,
		`{"id":5`:                                                 `5`,
		`{"id":`:                                                  ``,
		`[{"id":5},`:                                              ``,
		`xxxx`:                                                    ``,
		``:                                                        ``,
	} {
		if got := string(leadingID([]byte(in))); got != want {
			t.Errorf("leadingID(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzDecodeMessage demands that the SDK reads what is passed on the same way,
// and that what is refused can be answered.
func FuzzDecodeMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`[]`, `{"id":1e3,"jsonrpc":"2.0","method":"\u0070ing","params":null}`, `{"ID":1,"id":2,"id":3}`, `{"jsonrpc":"2.0","method":"x","params":[1]}`, `{"id":{"`, "\xff",
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol\/protocolVersion":"2026-07-28"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7},"\u005fmeta":null}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		req, refused := Decode(text)
		if refused != nil {
			if req != nil {
				t.Fatal("a refused message is passed on")
			}
			answer := refused.Encode()
			if !json.Valid(answer) || bytes.ContainsAny(answer, "\n\r") || refused.Code == 0 || refused.Message == "" {
				t.Fatalf("answer %q", answer)
			}
			return
		}
		msg, err := jsonrpc.DecodeMessage(text)
		if req == nil {
			if ignored, isRequest := msg.(*jsonrpc.Request); err == nil && isRequest && ignored.IsCall() {
				t.Fatalf("the SDK takes %q for a request that is to be answered", text)
			}
			return
		}
		if err != nil {
			t.Fatalf("the SDK does not accept %q: %v", text, err)
		}
		want, ok := msg.(*jsonrpc.Request)
		if !ok {
			t.Fatalf("the SDK takes %q for a response", text)
		}
		if string(want.Params) == "null" {
			want.Params = nil
		}
		if n, err := strconv.ParseFloat(string(req.id), 64); err == nil && math.Abs(n) > maxInteger {
			want.ID = req.ID // which the SDK rounds
		}
		if req.ID != want.ID || req.Method != want.Method {
			t.Errorf("id %v and method %q, for the SDK %v and %q", req.ID.Raw(), req.Method, want.ID.Raw(), want.Method)
		}
		if diff := cmp.Diff(string(want.Params), string(req.Params)); diff != "" {
			t.Errorf("params (-SDK +got):\n%s", diff)
		}
		// The SDK reads _meta as that of a tool's call.
		var params mcp.CallToolParamsRaw
		if sdkjson.Unmarshal(req.Params, &params) != nil || !req.IsCall() {
			return
		}
		said, there := params.Meta[mcp.MetaKeyProtocolVersion]
		if there != req.HasVersion || there && said != req.Version {
			t.Errorf("version %q, %t, for the SDK %v", req.Version, req.HasVersion, said)
		}
	})
}
