package recall

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTextShrinks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name        string
		text        text
		to          []int
		want        string
		length, all int
	}{
		{"fits", newText("abcdefghij"), []int{10}, "abcdefghij", 10, 10},
		{"60 to 40", newText("abcdefghijklmnopqrstuvwxyz"), []int{10}, "abcdef\n[... 16 of 26 chars omitted ...]\nwxyz", 10, 26},
		{"to nothing", newText("abc"), []int{0}, "[... 3 of 3 chars omitted ...]", 0, 3},
		{"newlines stay", newText("\nabcdefgh\n"), []int{5}, "\nab\n[... 5 of 10 chars omitted ...]\nh\n", 5, 10},
		{"characters, not bytes", newText("潮汐表与時差潮汐表与"), []int{5}, "潮汐表\n[... 5 of 10 chars omitted ...]\n表与", 5, 10},
		{"twice", newText("abcdefghijklmnopqrstuvwxyz"), []int{20, 10}, "abcdef\n[... 16 of 26 chars omitted ...]\nwxyz", 10, 26},
		{"cut before", newCutText("abcdefwxyz", 26, 6), nil, "abcdef\n[... 16 of 26 chars omitted ...]\nwxyz", 10, 26},
		{"cut before, shrinks around the cut", newCutText("abcdefwxyz", 26, 6), []int{5}, "abc\n[... 21 of 26 chars omitted ...]\nyz", 5, 26},
		{"cut before, all at the head", newCutText("abcdefghij", 26, 10), []int{5}, "abcde\n[... 21 of 26 chars omitted ...]", 5, 26},
		{"cut before, all at the tail", newCutText("abcdefghij", 26, 0), []int{5}, "[... 21 of 26 chars omitted ...]\nfghij", 5, 26},
		{"cut before at a place that does not exist", newCutText("abc", 26, 99), nil, "abc\n[... 23 of 26 chars omitted ...]", 3, 26},
		{"cut before at a negative place", newCutText("abc", 26, -1), nil, "[... 23 of 26 chars omitted ...]\nabc", 3, 26},
		{"claims to be shorter than it is", newCutText("abcdef", 3, 1), nil, "abcdef", 6, 6},
		{"sanitizing makes it longer than it was", newCutText("\u202e\u202ex", 5, 2), nil, "\\u{202E}\\u{202E}\n[... 2 of 19 chars omitted ...]\nx", 17, 19},
		{"sanitizing makes it shorter", newCutText("a\r\nb", 6, 3), nil, "a\n\n[... 2 of 5 chars omitted ...]\nb", 3, 5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			text := tc.text
			for _, n := range tc.to {
				text.shrink(n)
			}
			if got := text.String(); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if text.length != tc.length || text.chars != tc.all {
				t.Errorf("%d of %d characters, want %d of %d", text.length, text.chars, tc.length, tc.all)
			}
		})
	}
}

func TestTextCutInside(t *testing.T) {
	t.Parallel()
	text := newJSON(`{"a":"bcdefgh"}`)
	text.inside = true
	text.shrink(5)
	if got, want := text.String(), "{\"a\n[... at least 10 chars omitted ...]\n\"}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "0", 812: "812", 999: "999", 1000: "1k", 1001: "2k", 31_000: "31k", 999_000: "999k", 999_001: "1.00M", 1_050_000: "1.05M", 1_050_001: "1.06M",
	} {
		if got := short(n); got != want {
			t.Errorf("short(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("é", 50) + "match" + strings.Repeat("z", 50)
	for _, tc := range []struct {
		at   int
		want string
	}{
		{100, "…ééééématch…"},
		{0, "éééééééééé…"},
		{-7, "éééééééééé…"},
		{1 << 40, "…zzzzzzzzzz"},
		{len(line), "…zzzzzzzzzz"},
	} {
		if got := window(line, tc.at, 10); got != tc.want {
			t.Errorf("window at %d: %s, want %s", tc.at, got, tc.want)
		}
	}
}

func TestSaying(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ stderr, want string }{
		{"", ""},
		{"\n \n", ""},
		{"error: turn 9 out of range (conversation has 2 turns)\nhint: turns are numbered 1 to 2; --last prints the last one\n", "Turn 9 out of range (conversation has 2 turns)."},
		{"warning: jp-c1: cut off\nerror: conversation jp-c2 not found in /x\nhint: nearest ids: jp-c1\n", "Conversation jp-c2 not found in this workspace. Nearest ids: jp-c1."},
		{"jp-c1 is gone", "jp-c1 is gone."},
		{"échec: disque plein!", "Échec: disque plein!"},
		{"/usr/bin/jp: not a program?\r\n", "jp: not a program?"},
		{"\x1b[31merror\x1b[0m \u202e\x00\n", "␛[31merror␛[0m \\u{202E}␀."},
		{"\xff\xfe", "\ufffd\ufffd."},
	} {
		if got := (source{}).saying([]byte(tc.stderr)); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.stderr, got, tc.want)
		}
	}
	const gone = "error: conversation jp-c2 not found in /work/nowhere\n"
	if got, want := (source{paths: true}).saying([]byte(gone)), "Conversation jp-c2 not found in /work/nowhere."; got != want {
		t.Errorf("with paths: %q, want %q", got, want)
	}
	long := strings.Repeat("x", 1_000_000)
	if got := (source{}).saying([]byte(long)); len(got) > 2200 || !strings.Contains(got, "998000 characters omitted") {
		t.Errorf("%d bytes of %.60q", len(got), got)
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := join(words, "or"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestIsIdentifier(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"jp-c17648402467": true, "a.b_c-D9": true, strings.Repeat("a", 128): true,
		"": false, strings.Repeat("a", 129): false, "a b": false, "a/b": false, `a"b`: false, "a\n": false, "é": false, "a:b": false,
	} {
		if got := isIdentifier(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
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
		var summary listSummary
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
