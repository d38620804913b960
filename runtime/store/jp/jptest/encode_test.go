package jptest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// naiveLeaves encodes the strings of a decoded value.
func naiveLeaves(v any) any {
	switch v := v.(type) {
	case string:
		return base64.StdEncoding.EncodeToString([]byte(v))
	case []any:
		for i := range v {
			v[i] = naiveLeaves(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = naiveLeaves(v[k])
		}
	}
	return v
}

func decodeNumbers(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("decoding %q: %v", data, err)
	}
	return v
}

// FuzzEncodeLeaves compares the rewriting of text with the rewriting of values.
func FuzzEncodeLeaves(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `"a"`, `null`, `{"a":"b"}`, `{"a\"":"b\\","c":["d",{"e":"\u00e9\ud83d\ude00"}]}`,
		`{"":"","a:":":"}`, `[1e400,-0.10,true,false]`, `{"a":"x","a":"y"}`, `"\ud800"`, `{"\\":"\\\""}`, " { \"a\" : \"b\" } ",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			t.Skip()
		}
		text, err := compact(json.RawMessage(data))
		if err != nil {
			t.Fatal(err)
		}
		got := encodeLeaves(text)
		if diff := cmp.Diff(naiveLeaves(decodeNumbers(t, text)), decodeNumbers(t, got)); diff != "" {
			t.Errorf("encodeLeaves(%q) = %q (-want +got):\n%s", text, got, diff)
		}
	})
}
