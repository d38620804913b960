package jp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestObject(t *testing.T) {
	t.Parallel()
	pretty := "{\n  \"title\": \"A\",\n  \"mystery\": [1.50,  \"\\u00e9\"]\n}"
	tests := []struct {
		name, data string
		edit       func(*object)
		want       string
	}{
		{"nothing", pretty, func(*object) {}, pretty},
		{"a value", pretty, func(o *object) { o.setText("title", "B \"\n") }, "{\n  \"title\": \"B \\\"\\n\",\n  \"mystery\": [1.50,  \"\\u00e9\"]\n}"},
		{"the same value escaped", "{\"a\":\"\\u0041\"}", func(o *object) { o.setText("a", "A") }, "{\n  \"a\": \"\\u0041\"\n}"},
		{"the first", pretty, func(o *object) { o.set("title", nil) }, "{\n  \"mystery\": [1.50,  \"\\u00e9\"]\n}"},
		{"the last", pretty, func(o *object) { o.set("mystery", nil) }, "{\n  \"title\": \"A\"\n}"},
		{"one more", pretty, func(o *object) { o.set("hidden", []byte("true")) }, "{\n  \"title\": \"A\",\n  \"mystery\": [1.50,  \"\\u00e9\"],\n  \"hidden\": true\n}"},
		{"a first", " {}\n", func(o *object) { o.set("b", []byte("2")) }, "{\n  \"b\": 2\n}"},
		{"all gone", `{ "a" : 1 , "a": 2 }`, func(o *object) { o.set("a", nil) }, `{}`},
		{"twice", `{"a":1 , "a":2}`, func(o *object) { o.set("\u0061", []byte("3")) }, "{\n  \"a\": 1,\n  \"a\": 3\n}"},
	}
	for _, test := range tests {
		o, err := parseObject([]byte(test.data))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		test.edit(&o)
		if got := string(o.bytes("\n")); got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
	}
	for _, data := range []string{"", "null", "[]", "{", `{"a"}`, `{"a":1,}`, `{"a":1}{}`, `{"a":1} x`, `{a:1}`, `"{}"`} {
		if o, err := parseObject([]byte(data)); err == nil {
			t.Errorf("%q was taken for %v", data, o)
		}
	}
}

// TestObjectProperties compares with maps: what was asked for is changed, and all
// other members keep their bytes.
func TestObjectProperties(t *testing.T) {
	t.Parallel()
	space := rapid.SampledFrom([]string{"", " ", "\n  ", "\t", "\r\n"})
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "title", `q"`, "ü", ""}), rapid.ID[string]).Draw(t, "keys")
		values := map[string]string{}
		data := space.Draw(t, "start") + "{"
		for i, key := range keys {
			if i > 0 {
				data += ","
			}
			value := rapid.SampledFrom([]string{"1", "1.50", `"x\u0041"`, "[ 1, {} ]", `{ "a":"}" }`, "null", `"\\"`}).Draw(t, "value")
			values[key] = value
			name, _ := json.Marshal(key)
			data += space.Draw(t, "before") + string(name) + space.Draw(t, "s") + ":" + space.Draw(t, "s") + value + space.Draw(t, "after")
		}
		if len(keys) == 0 {
			data += space.Draw(t, "inside")
		}
		data += "}" + space.Draw(t, "end")
		o, err := parseObject([]byte(data))
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		for range rapid.IntRange(0, 4).Draw(t, "edits") {
			key := rapid.SampledFrom([]string{"a", "title", "new"}).Draw(t, "key")
			if rapid.Bool().Draw(t, "remove") {
				o.set(key, nil)
				delete(values, key)
			} else {
				o.set(key, []byte("true"))
				values[key] = "true"
			}
		}
		got := map[string]json.RawMessage{}
		if err := json.Unmarshal(o.bytes("\n"), &got); err != nil {
			t.Fatalf("%q: %v", o.bytes("\n"), err)
		}
		as := map[string]string{}
		for key, value := range got {
			as[key] = string(value)
		}
		if diff := cmp.Diff(values, as); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", o.bytes("\n"), diff)
		}
	})
}

// FuzzObject has objects that anybody wrote: one that is taken stays an object with a member
// more.
func FuzzObject(f *testing.F) {
	for _, data := range []string{"{}", `{"a":1}`, oddMetadata, " {\"\\u0061\" : [ ] , \"a\":{}}\r\n", `{"a":1,}`, "null", "{\"\xff\":1}", "{}\f"} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := parseObject(data)
		if err != nil || !json.Valid(data) {
			return
		}
		o.set("new key", []byte(`"x"`))
		var got map[string]any
		if err := json.Unmarshal(o.bytes("\n"), &got); err != nil || got["new key"] != "x" {
			t.Fatalf("%q became %q: %v", data, o.bytes("\n"), err)
		}
		o.set("new key", nil)
		if text := o.bytes("\n"); !json.Valid(text) {
			t.Fatalf("%q became %q", data, text)
		}
	})
}
