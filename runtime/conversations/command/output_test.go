package command

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestWindow(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("é", 50) + "match" + strings.Repeat("z", 50)
	for _, tc := range []struct {
		at   int
		want string
	}{
		{100, "…ééééématch…"},
		{0, "éééééééééé…"},
		{len(line), "…zzzzzzzzzz"},
	} {
		if got := window(line, tc.at, 10); got != tc.want {
			t.Errorf("window at %d: %s, want %s", tc.at, got, tc.want)
		}
	}
}

func TestSaid(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ stderr, want string }{
		{"", ""},
		{"\n \n", ""},
		{"\x1b[31merror\x1b[0m \u202e\x00\n", "␛[31merror␛[0m \\u{202E}␀"},
		{"\xff\xfe", "\ufffd\ufffd"},
	} {
		if got := said([]byte(tc.stderr)); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.stderr, got, tc.want)
		}
	}
	if got := said([]byte(strings.Repeat("x", 1_000_000))); len(got) > 2200 || !strings.Contains(got, "998000 characters omitted") {
		t.Errorf("%d bytes of %.60q", len(got), got)
	}
}

// FuzzRecords looks for output that makes reading it panic, and for half a
// value that passes.
func FuzzRecords(f *testing.F) {
	for _, s := range []string{
		`[]`, `[{}]`, `[{"summary":{"total":1}}]`, `{"format":1,"data":[{"id":"a"}],"x":{}}`, `{"data":[]`, `{"data":null}`, `{}`, `[`, `[{},`, `[1]]`, `[] []`, `{"data":[{}]} x`, `null`, "\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := 0
		var summary searchSummary
		err := records([]byte(s), &summary, func(json.RawMessage) error { n++; return nil })
		if err != nil {
			_ = mismatch(err, []byte(s))
			return
		}
		// What passes is whole: cut short anywhere before its last bracket, it fails.
		whole := strings.TrimRight(s, " \t\r\n")
		if err := records([]byte(whole[:len(whole)-1]), &summary, func(json.RawMessage) error { return nil }); err == nil {
			t.Errorf("%q passes without its end", whole)
		}
		if err := records([]byte(whole+"]"), &summary, func(json.RawMessage) error { return nil }); err == nil {
			t.Errorf("%q passes with more behind it", whole)
		}
	})
}
