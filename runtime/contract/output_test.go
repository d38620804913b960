package contract_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
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
	fields := []contract.OutputField{{Name: "hash", Type: "string"}, {Name: "at", Type: "time"}, {Name: "lines", Type: "integer"}, {Name: "merged", Type: "boolean"}, {Name: "text", Type: "string"}}
	log := contract.Output{Form: contract.OutputDelimited, Fields: fields, Separator: "\x1f", End: "\x00"}
	table := contract.Output{Form: contract.OutputDelimited, Fields: fields[:1], Separator: "\t", End: "\n"}
	status := contract.Output{Form: contract.OutputRegexp, Fields: []contract.OutputField{{Name: "lines", Type: "integer"}, {Name: "text", Type: "string"}}, Pattern: `^\s*(?P<lines>[0-9]*) (?P<text>.*)$`}
	whole := contract.Output{Form: contract.OutputText, Fields: fields[4:]}
	lines := contract.Output{Form: contract.OutputJSONLines}
	nested := contract.Output{Form: contract.OutputJSON, Path: []string{"data", "items"}}
	at := time.Date(2026, 11, 22, 9, 30, 0, 0, time.UTC)
	for _, tc := range []struct {
		name   string
		output contract.Output
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
		{"a line of another form", status, "12 a\nerror\n", nil, "line 2 does not match the pattern"},
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
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var got []commit
			err := contract.DecodeOutput("log", "git", tc.output, []byte(tc.stdout), &got)
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
	var texts []string
	plain := contract.Output{Form: contract.OutputDelimited, End: "\n"}
	if err := contract.DecodeOutput("ls", "git", plain, []byte("a b\n\"c\"\n"), &texts); err != nil || !cmp.Equal(texts, []string{"a b", `"c"`}) {
		t.Errorf("texts %q, %v", texts, err)
	}
}

// FuzzDecodeOutput looks for text that makes records of a number other than its own.
func FuzzDecodeOutput(f *testing.F) {
	f.Add([]byte("a\x1fb\x00c\x1fd\x00"))
	f.Add([]byte("\xff\x00\"\\\x1f"))
	f.Fuzz(func(t *testing.T, stdout []byte) {
		output := contract.Output{
			Form: contract.OutputDelimited, Separator: "\x1f", End: "\x00",
			Fields: []contract.OutputField{{Name: "a", Type: "string"}, {Name: "b", Type: "string"}},
		}
		var records []struct{ A, B json.RawMessage }
		err := contract.DecodeOutput("t", "c", output, stdout, &records)
		ends := strings.Count(strings.TrimSuffix(string(stdout), "\x00"), "\x00") + 1
		if len(stdout) == 0 {
			ends = 0
		}
		if err == nil && len(records) != ends {
			t.Errorf("%q: %d records, want %d", stdout, len(records), ends)
		}
	})
}
