package output_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/output"
)

type commit struct {
	Hash   string    `json:"hash"`
	At     time.Time `json:"at"`
	Lines  int       `json:"lines"`
	Merged bool      `json:"merged"`
	Text   string    `json:"text"`
}

func TestDecodeOutput(t *testing.T) {
	t.Parallel()
	fields := []output.Field{{Name: "hash", Type: "string"}, {Name: "at", Type: "time"}, {Name: "lines", Type: "integer"}, {Name: "merged", Type: "boolean"}, {Name: "text", Type: "string"}}
	log := output.Shape{Form: output.Delimited, Fields: fields, Separator: "\x1f", End: "\x00"}
	table := output.Shape{Form: output.Delimited, Fields: fields[:1], Separator: "\t", End: "\n"}
	status := output.Shape{Form: output.Regexp, Fields: []output.Field{{Name: "lines", Type: "integer"}, {Name: "text", Type: "string"}}, Pattern: `^\s*(?P<lines>[0-9]*) (?P<text>.*)$`}
	whole := output.Shape{Form: output.Text, Fields: fields[4:]}
	lines := output.Shape{Form: output.JSONLines}
	nested := output.Shape{Form: output.JSON, Path: []string{"data", "items"}}
	sparse := output.Shape{Form: output.JSON, Path: []string{"data", "items"}, MayBeAbsent: true}
	pages := output.Shape{Form: output.JSON, Path: []string{"[]", "items"}}
	object := output.Shape{Form: output.JSONObject, Path: []string{"1", "commit"}}
	skipping := output.Shape{Form: output.Delimited, Fields: fields[:1], Separator: "\t", End: "\n", Skip: "^(HASH|total [0-9]+|)$"}
	skippingLines := status
	skippingLines.Skip = "^#"
	at := time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)
	for _, tc := range []struct {
		name   string
		shape  output.Shape
		stdout string
		want   []commit
		fails  string
	}{
		{"separators nobody types", log, "a\x1f2026-11-22T09:30:00Z\x1f12\x1ftrue\x1fone\ntwo \"x\"\x00b\x1f\x1f\x1f\x1f", []commit{{"a", at, 12, true, "one\ntwo \"x\""}, {Hash: "b"}}, ""},
		{"an end behind the last record", log, "a\x1f\x1f\x1f\x1f\x00", []commit{{Hash: "a"}}, ""},
		{"the last field has the rest", log, "a\x1f\x1f\x1f\x1fb\x1fc", []commit{{Hash: "a", Text: "b\x1fc"}}, ""},
		{"nothing", log, "", []commit{}, ""},
		{"lines of Windows", table, "a\r\nb\r\n", []commit{{Hash: "a"}, {Hash: "b"}}, ""},
		{"an empty line is a record", table, "a\n\nb\n", []commit{{Hash: "a"}, {}, {Hash: "b"}}, ""},
		{"too few fields", log, "a\x1f\x1f\x1f\x1f\x00a\x1fb\x00", nil, "record 2 has 2 fields and not 5"},
		{"no integer", log, "a\x1f\x1fmany\x1f\x1f", nil, `record 1 has "many" for lines, which is no integer`},
		{"no boolean", log, "a\x1f\x1f\x1fperhaps\x1f", nil, `record 1 has "perhaps" for merged, which is neither true nor false`},
		{"no time", log, "a\x1fnow\x1f\x1f\x1f", nil, "now"},
		{"not UTF-8", table, "a\xff", []commit{{Hash: "a\ufffd"}}, ""},
		{"a pattern", status, "  12 a b\n c\n", []commit{{Lines: 12, Text: "a b"}, {Text: "c"}}, ""},
		{"a line of another form", status, "12 a\nerror\n", nil, `line 2 is "error", which does not match the pattern`},
		{"the whole text", whole, "one\ntwo\n", []commit{{Text: "one\ntwo\n"}}, ""},
		{"no text", whole, "", []commit{}, ""},
		{"lines of JSON", lines, "{\"hash\":\"a\"}\n\n{\"hash\":\"b\"}", []commit{{Hash: "a"}, {Hash: "b"}}, ""},
		{"a line that is no JSON", lines, "{\"hash\":\"a\"}\n{\"hash\":", nil, "line 2 is no JSON"},
		{"two values on a line", lines, `{} {}`, nil, "line 1 is no JSON"},
		{"within JSON", nested, `{"data":{"items":[{"hash":"a"}]}}`, []commit{{Hash: "a"}}, ""},
		{"not within JSON", nested, `{"data":{}}`, nil, "there is no data.items in it"},
		{"no array", nested, `{"data":{"items":{}}}`, nil, "it is no array"},
		{"half of JSON", nested, `{"data":`, nil, "the JSON text ends too early"},
		{"more than JSON", nested, `{"data":{"items":[]}} x`, nil, "there is more text after the JSON value, from byte 21"},
		{"no JSON", nested, " ", nil, "it printed nothing"},
		{"null in place of the array", nested, `{"data":{"items":null}}`, nil, "there is no data.items in it"},
		{"a text in place of an object", nested, `{"data":"items"}`, nil, "items is looked for in a value that is no object"},
		{"an array in place of an object", nested, `{"data":[{"items":[]}]}`, nil, "items is looked for in an array"},
		{"nothing where there may be nothing", sparse, " \n", []commit{}, ""},
		{"no member where there may be none", sparse, `{"data":{}}`, []commit{}, ""},
		{"null where there may be nothing", sparse, `{"data":null}`, []commit{}, ""},
		{"records where there may be none", sparse, `{"data":{"items":[{"hash":"a"}]}}`, []commit{{Hash: "a"}}, ""},
		{"half of JSON where there may be nothing", sparse, `{"data":`, nil, "the JSON text ends too early"},
		{"a text where there may be nothing", sparse, `{"data":{"items":"none"}}`, nil, "it is no array"},
		{"records of every page", pages, `[{"items":[{"hash":"a"}]},{"items":[]},{},{"items":[{"hash":"b"},{"hash":"c"}]}]`, []commit{{Hash: "a"}, {Hash: "b"}, {Hash: "c"}}, ""},
		{"one object", object, `[0, {"commit":{"hash":"a"}}]`, []commit{{Hash: "a"}}, ""},
		{"an object that is not there", object, `[0]`, nil, "there is no 1.commit in it"},
		{"an array in place of one object", object, `[0, {"commit":[]}]`, nil, "it is no object"},
		{"a heading and a sum", skipping, "HASH\na\n\nb\ntotal 2\n", []commit{{Hash: "a"}, {Hash: "b"}}, ""},
		{"nothing but what is skipped", skipping, "HASH\n", []commit{}, ""},
		{"lines that are skipped", skippingLines, "# a\n12 a\n#\n", []commit{{Lines: 12, Text: "a"}}, ""},
		{"a line behind skipped ones", skippingLines, "# a\n12 a\n#\nerror", nil, `line 4 is "error", which does not match the pattern`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got []commit
			err := output.Decode("log", "git", tc.shape, []byte(tc.stdout), &got)
			if tc.fails != "" {
				var failure *contract.Error
				if !errors.As(err, &failure) || !strings.Contains(err.Error(), tc.fails) || !strings.HasPrefix(err.Error(), `The command line "git" that log runs did not print the records it should: `) {
					t.Errorf("error %v, want %q", err, tc.fails)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	type issue struct {
		Number int      `json:"number"`
		Author string   `json:"author.name"`
		Labels []string `json:"labels[].name"`
		First  string   `json:"commits.0.hash"`
		Lines  *int     `json:"size.lines"`
	}
	issues := output.Shape{Form: output.JSON, Fields: []output.Field{
		{Name: "author.name", Path: []string{"author", "name"}},
		{Name: "labels[].name", Path: []string{"labels", "[]", "name"}},
		{Name: "commits.0.hash", Path: []string{"commits", "0", "hash"}},
		{Name: "size.lines", Path: []string{"size", "lines"}},
	}}
	seven := 7
	for _, tc := range []struct {
		stdout string
		want   []issue
		fails  string
	}{
		{`[]`, []issue{}, ""},
		{`[{"number":1,"author":{"name":"A"},"labels":[{"name":"x"},{},null,{"name":"y"}],"commits":[{"hash":"h"}],"size":{"lines":7}}]`, []issue{{1, "A", []string{"x", "y"}, "h", &seven}}, ""},
		{`[{"number":2,"author":null,"labels":[],"commits":[],"size":{"lines":null}}, {"number":3}]`, []issue{{Number: 2, Labels: []string{}}, {Number: 3}}, ""},
		{`[{"author.name":"forged","labels[].name":["forged"]}]`, []issue{{}}, ""},
		{`[{"author":"A"}]`, nil, "record 1: name is looked for in a value that is no object"},
		{`[{},{"commits":{"0":{"hash":1}}}]`, nil, `"commits.0.hash" is a JSON number where a string is expected`},
		{`[{"labels":{"name":"x"}}]`, nil, "record 1: items are looked for in a value that is no array"},
		{`[{},null]`, nil, "record 2 is null"},
		{`["a"]`, nil, "a record is a JSON string"},
	} {
		var got []issue
		err := output.Decode("issues", "gh", issues, []byte(tc.stdout), &got)
		if tc.fails != "" && (err == nil || !strings.Contains(err.Error(), tc.fails)) {
			t.Errorf("%s: error %v, want %q", tc.stdout, err, tc.fails)
		}
		if diff := cmp.Diff(tc.want, got); tc.fails == "" && (err != nil || diff != "") {
			t.Errorf("%s: %v (-want +got):\n%s", tc.stdout, err, diff)
		}
	}
	var texts []string
	plain := output.Shape{Form: output.Delimited, End: "\n"}
	if err := output.Decode("ls", "git", plain, []byte("a b\n\"c\"\n"), &texts); err != nil || !cmp.Equal(texts, []string{"a b", `"c"`}) {
		t.Errorf("texts %q, %v", texts, err)
	}
}

// FuzzPaths holds what paths lead to against what they lead to in decoded values.
func FuzzPaths(f *testing.F) {
	f.Add(`{"a":{"b":1}}`, "a.b")
	f.Add(`{"a":[{"b":"x"},{"b":["y",null]},{}]}`, "a.[].b")
	f.Add(`{"a":[[1],[2,3]]}`, "a.1.0")
	f.Add(`{"a":{"1":{}}}`, "a.1")
	f.Fuzz(func(t *testing.T, record, path string) {
		var want any
		if json.Unmarshal([]byte(record), &want) != nil || record[strings.IndexFunc(record, func(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) })] != '{' {
			return
		}
		steps := strings.Split(path, ".")
		want, ok := naive(want, steps)
		var got []map[string]any
		shape := output.Shape{Form: output.JSONObject, Fields: []output.Field{{Name: "\x00", Path: steps}}}
		err := output.Decode("t", "c", shape, []byte(record), &got)
		switch {
		case (err == nil) != ok:
			t.Errorf("%s of %s: error %v, want one: %v", path, record, err, !ok)
		case err == nil && !cmp.Equal(want, got[0]["\x00"]):
			t.Errorf("%s of %s is %v, want %v", path, record, got[0]["\x00"], want)
		}
	})
}

// naive follows a path in decoded JSON.
func naive(v any, path []string) (any, bool) {
	if v == nil || len(path) == 0 {
		return v, true
	}
	switch v := v.(type) {
	case map[string]any:
		if path[0] == "[]" {
			return nil, false
		}
		return naive(v[path[0]], path[1:])
	case []any:
		if path[0] != "[]" {
			i, err := strconv.Atoi(path[0])
			if err != nil || i < 0 || i >= len(v) {
				return nil, err == nil
			}
			return naive(v[i], path[1:])
		}
		all := []any{}
		for _, item := range v {
			one, ok := naive(item, path[1:])
			if !ok {
				return nil, false
			}
			if list, many := one.([]any); many {
				all = append(all, list...)
			} else if one != nil {
				all = append(all, one)
			}
		}
		return all, true
	}
	return nil, false
}

// FuzzDecodeOutput looks for text that makes records of a number other than its own.
func FuzzDecodeOutput(f *testing.F) {
	f.Add([]byte("a\x1fb\x00c\x1fd\x00"))
	f.Add([]byte("\xff\x00\"\\\x1f"))
	f.Fuzz(func(t *testing.T, stdout []byte) {
		shape := output.Shape{
			Form: output.Delimited, Separator: "\x1f", End: "\x00",
			Fields: []output.Field{{Name: "a", Type: "string"}, {Name: "b", Type: "string"}},
		}
		var records []struct{ A, B json.RawMessage }
		err := output.Decode("t", "c", shape, stdout, &records)
		ends := strings.Count(strings.TrimSuffix(string(stdout), "\x00"), "\x00") + 1
		if len(stdout) == 0 {
			ends = 0
		}
		if err == nil && len(records) != ends {
			t.Errorf("%q: %d records, want %d", stdout, len(records), ends)
		}
	})
}
