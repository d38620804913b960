package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in    string
		chars int
		want  string
	}{
		{"", 0, ""},
		{"", 5, ""},
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"日本語日本語", 6, "日本語日本語"},
		{"日本語日本語", 3, "日本…"},
		{"\xff\xfe\xfd", 2, "\xff…"},
		{"ab", 1, "…"},
		{"ab", 0, ""},
		{"ab", -1, ""},
	} {
		if got := Cut(tc.in, tc.chars); got != tc.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tc.in, tc.chars, got, tc.want)
		}
	}
}

func TestCutMiddle(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in    string
		chars int
		want  string
	}{
		{"", 0, ""},
		{"日本語", 3, "日本語"},
		{"日本語日本語日本", 5, "日本 … 3 characters omitted … 語日本"},
		{"ab", 0, " … 2 characters omitted … "},
		{"ab", -1, " … 2 characters omitted … "},
		{"ab", 1, " … 1 characters omitted … b"},
	} {
		if got := CutMiddle(tc.in, tc.chars); got != tc.want {
			t.Errorf("CutMiddle(%q, %d) = %q, want %q", tc.in, tc.chars, got, tc.want)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                       `""`,
		"a\"b\n\u202e":           `"a\"b\n\u202e"`,
		strings.Repeat("é", 80):  `"` + strings.Repeat("é", 80) + `"`,
		strings.Repeat("é", 81):  `"` + strings.Repeat("é", 79) + `…"`,
		strings.Repeat("\t", 90): `"` + strings.Repeat(`\t`, 79) + `…"`,
	} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func FuzzEnds(f *testing.F) {
	f.Add("日本語\xff\xe2\x80 text", 2, 3)
	f.Add("\xf0\x9f\x92", 1, 1)
	f.Fuzz(func(t *testing.T, in string, head, tail int) {
		head, tail = head%50, tail%50
		runes := []rune(in) // one for each byte that is not UTF-8
		wantHead, wantTail := max(head, 0), max(tail, 0)
		first, last, omitted := Ends(in, head, tail)
		if len(runes) <= wantHead+wantTail {
			if first != in || last != "" || omitted != 0 {
				t.Errorf("Ends(%q, %d, %d) = %q, %q, %d, want all of it", in, head, tail, first, last, omitted)
			}
		} else {
			gotFirst, gotLast := []rune(first), []rune(last)
			if len(gotFirst) != wantHead || len(gotLast) != wantTail || omitted != len(runes)-wantHead-wantTail ||
				!strings.HasPrefix(in, first) || !strings.HasSuffix(in, last) {
				t.Errorf("Ends(%q, %d, %d) = %q, %q, %d", in, head, tail, first, last, omitted)
			}
		}
		if cut := Cut(in, head); utf8.RuneCountInString(cut) > wantHead || utf8.ValidString(in) != utf8.ValidString(cut) && utf8.ValidString(in) {
			t.Errorf("Cut(%q, %d) = %q", in, head, cut)
		}
	})
}

func TestWidth(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		"":              0,
		"abc":           3,
		"日本語":           6,
		"e\u0301tude":   5,
		"👩‍👩‍👧":         2,
		"👍🏽":            2,
		"🇯🇵":            2,
		"가각":            4,
		"é\u200d日":      3,
		"한":             2,
		"␛[31m":         5,
		"می\u200cخواهم": 7,
	} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in      string
		columns int
		want    string
	}{
		{"short", 10, "short"},
		{"exact", 5, "exact"},
		{"too long", 5, "too …"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"e\u0301tude", 5, "e\u0301tude"},
		{"e\u0301tudes", 5, "e\u0301tud…"},
		{"anything", 1, "…"},
		{"anything", 0, ""},
		{"anything", -3, ""},
		{"", 0, ""},
		{"\u0330", 0, ""},
	}
	for _, tt := range tests {
		got := Truncate(tt.in, tt.columns)
		if got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.in, tt.columns, got, tt.want)
		}
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("日本語 👩‍👩‍👧 text", 7)
	f.Add("\u0330", 0)
	f.Fuzz(func(t *testing.T, in string, columns int) {
		columns %= 100
		shown := Cell(in)
		got := Truncate(shown, columns)
		if w := Width(got); w > max(columns, 0) {
			t.Errorf("Truncate(%q, %d) = %q is %d columns wide", shown, columns, got, w)
		}
		if columns > 0 && Width(shown) <= columns && got != shown {
			t.Errorf("Truncate(%q, %d) = %q, though all of it fits", shown, columns, got)
		}
		if head, cut := strings.CutSuffix(got, "…"); got != shown && columns > 0 && (!cut || !strings.HasPrefix(shown, head)) {
			t.Errorf("Truncate(%q, %d) = %q is no beginning of it", shown, columns, got)
		}
	})
}

func ExampleCutMiddle() {
	fmt.Println(CutMiddle("starting, working, working, failed: no such file", 24))
	// Output: starting, wo … 24 characters omitted … no such file
}
