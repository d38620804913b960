package process_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/process"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		limit      int
		want       string
	}{
		{"clean text stays", "a\tb\nc é 日本 👩‍💻", 100, "a\tb\nc é 日本 👩‍💻"},
		{"escape sequences", "\x1b]0;title\a\x7f", 100, "␛]0;title␇␡"},
		{"line endings", "a\r\nb\rc\r", 100, "a\nb␍c␍"},
		{"C1 controls", "a\u009b31m", 100, "a\uFFFD31m"},
		{"direction", "a\u202Eb\u2066c\u2069", 100, `a\u{202E}b\u{2066}c\u{2069}`},
		{"tag characters", "a\U000E0041", 100, `a\u{E0041}`},
		{"invisible", "a\u200Bb\u200Ec\u200Fd\u061Ce\uFEFFf", 100, `a\u{200B}b\u{200E}c\u{200F}d\u{61C}e\u{FEFF}f`},
		{"separators", "a\u2028b\u2029c", 100, `a\u{2028}b\u{2029}c`},
		{"not UTF-8", "a\xff\xfeb", 100, "a\uFFFD\uFFFDb"},
		{"exactly the limit", "日本語", 3, "日本語"},
		{"over the limit", "日本語日本語日本", 5, "日本 … 3 characters omitted … 語日本"},
		{"limit zero", "ab", 0, " … 2 characters omitted … "},
		{"limit below zero", "ab", -1, " … 2 characters omitted … "},
		{"empty", "", 0, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := process.Printable([]byte(test.text), test.limit); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add([]byte("\x1b[31m\r\n\u202E\xff\U000E0001"), 4)
	f.Fuzz(func(t *testing.T, text []byte, limit int) {
		got := process.Printable(text, limit)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool {
			return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7F && r < 0xA0 || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
		}); i >= 0 {
			t.Fatalf("%q holds an unsafe character at %d", got, i)
		}
		if again := process.Printable([]byte(got), len(got)); again != got {
			t.Fatalf("not idempotent: %q became %q", got, again)
		}
	})
}
