package terminal_test

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/recall/conversationcli/internal/terminal"
)

func TestAppendText(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, text, line string }{
		{"plain", "plain text", "plain text", "plain text"},
		{"line feed and tab", "a\n\tb", "a\n\tb", "a  b"},
		{"CRLF", "a\r\nb", "a\nb", "a b"},
		{"lone CR", "good\rbad", "good␍bad", "good␍bad"},
		{"colour", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m", "␛[31mred␛[0m"},
		{"window title", "\x1b]0;title\a", "␛]0;title␇", "␛]0;title␇"},
		{"NUL, backspace, DEL", "\x00\b\x7f", "␀␈␡", "␀␈␡"},
		{"one-byte CSI", "\u009b31m", "\ufffd31m", "\ufffd31m"},
		{"raw C1 byte", "a\x9bb", "a\ufffdb", "a\ufffdb"},
		{"right-to-left override", "a\u202eb", `a\u{202E}b`, `a\u{202E}b`},
		{"isolate", "\u2066x\u2069", `\u{2066}x\u{2069}`, `\u{2066}x\u{2069}`},
		{"tag characters", "x\U000e0041", `x\u{E0041}`, `x\u{E0041}`},
		{"line separator", "a\u2028b", `a\u{2028}b`, `a\u{2028}b`},
		{"noncharacter", "a\ufffeb", "a\ufffdb", "a\ufffdb"},
		{"emoji with joiner", "👩‍💻", "👩‍💻", "👩‍💻"},
		{"CJK", "日本語", "日本語", "日本語"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := string(terminal.AppendText(nil, []byte(tt.in))); got != tt.text {
				t.Errorf("AppendText(%q) = %q, want %q", tt.in, got, tt.text)
			}
			if got := terminal.Line(tt.in); got != tt.line {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.line)
			}
		})
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
	}
	for _, tt := range tests {
		got := terminal.Truncate(tt.in, tt.columns)
		if got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.in, tt.columns, got, tt.want)
		}
		if w := terminal.Width(got); w > max(tt.columns, 0) {
			t.Errorf("Truncate(%q, %d) is %d columns wide", tt.in, tt.columns, w)
		}
	}
}

func FuzzAppend(f *testing.F) {
	f.Add([]byte("\x1b[2J\x9b\u202e\xff\r\n\t"), 7)
	f.Fuzz(func(t *testing.T, in []byte, columns int) {
		text := terminal.AppendText(nil, in)
		line := terminal.AppendLine(nil, in)
		for _, out := range [][]byte{text, line} {
			if !utf8.Valid(out) {
				t.Errorf("%q became %q, which is not UTF-8", in, out)
			}
			for _, r := range string(out) {
				if unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t' {
					t.Errorf("%q became %q, which holds the control %U", in, out, r)
				}
				if unicode.Is(unicode.Bidi_Control, r) {
					t.Errorf("%q became %q, which holds %U", in, out, r)
				}
			}
		}
		for _, c := range line {
			if c < ' ' {
				t.Errorf("the line %q holds a control", line)
			}
		}
		columns %= 100
		if w := terminal.Width(terminal.Truncate(string(line), columns)); w > max(columns, 0) {
			t.Errorf("Truncate(%q, %d) is %d columns wide", line, columns, w)
		}
	})
}
