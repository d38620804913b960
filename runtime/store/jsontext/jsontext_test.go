package jsontext_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/store/jsontext"
)

// Object, Members and Elements find what encoding/json does, and Writer rewrites it to
// the same value. What is not JSON ends them, and nothing else.
func FuzzObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { "a" : 1 , "b":[1,2,{"c":null}], "a":"\u00e9\n\ud83d\ude00" } `, `{"a":-1.5e+3,"b":true,"c":false}`,
		`[1,"x",[],{}]`, `{"a"`, `{"a":}`, `{"a":1,}`, `{"a":1}x`, `[1,]`, `"a"`, ``, `{"a":01}`, `{"\u0061":1}`, strings.Repeat(`{"a":`, 300),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		keys := 0
		ok := jsontext.Decode(data, new(struct{}))
		for m := range jsontext.Members(bytes.TrimLeft(data, " \t\r\n")) {
			keys++
			if bytes.IndexByte(data, '\\') < 0 && !json.Valid(m.Value) && json.Valid(data) {
				t.Errorf("%q is a member of %q", m.Value, data)
			}
			if value := jsontext.Get(data, string(m.Key)); value == nil {
				t.Errorf("Get does not find %q in %q", m.Key, data)
			}
		}
		var object map[string]any
		if json.Unmarshal(data, &object) == nil && object != nil {
			depth, deepest := 0, 0
			for _, c := range data {
				switch c {
				case '{', '[':
					depth++
					deepest = max(deepest, depth)
				case '}', ']':
					depth--
				}
			}
			if !ok && deepest < jsontext.MaxDepth {
				t.Fatalf("%q is no object", data)
			}
			if keys < len(object) && ok {
				t.Errorf("%q has %d members", data, keys)
			}
		}
		if !ok {
			return
		}
		n := 0
		trimmed := bytes.TrimSpace(data)
		for range jsontext.Members(trimmed) {
			n++
		}
		if n != keys {
			t.Errorf("Members finds %d in %q, Object %d", n, data, keys)
		}
		for _, indent := range []bool{false, true} {
			w := jsontext.Writer{Indent: indent}
			got := w.Append(nil, trimmed)
			var again map[string]any
			if json.Valid(data) && utf8.Valid(data) {
				if err := json.Unmarshal(got, &again); err != nil || len(again) != len(object) {
					t.Errorf("%q became %q: %v", data, got, err)
				}
			}
		}
	})
}

func TestElements(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`: "", `[1]`: "1", ` [1]`: "", `[1, "a" ,[2],{"b":3}]`: `1|"a"|[2]|{"b":3}`, `[1,2`: "1|2", `[1,,2]`: "1", `{"a":1}`: "", ``: "", `[`: "", `[1 2]`: "1",
	} {
		var got []string
		for e := range jsontext.Elements([]byte(text)) {
			got = append(got, string(e))
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestKeyIs(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bool{`type`: true, `\u0074ype`: true, `t\u0079pe`: true, `typ`: false, `type\n`: false, `\type`: false, strings.Repeat(`\u0074`, 1000): false} {
		if got := jsontext.KeyIs([]byte(key), "type"); got != want {
			t.Errorf("%q: %t", key, got)
		}
	}
}
