package markdown

import (
	"strings"
	"testing"
)

func TestInline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"plain conversation_read, 1 to 2", "plain conversation_read, 1 to 2"},
		{"use `a_b*` here", "use `a_b*` here"},
		{"a | b", "a &#124; b"},
		{"`a|b`", "<code>a&#124;b</code>"},
		{"one ` tick", "one \\` tick"},
		{"``` fence", "\\`\\`\\` fence"},
		{"<b>&amp; ]", `&lt;b&gt;&amp;amp; \]`},
		{"[a](b) **c** _d_ ~~e~~ \\n $x$", `\[a\](b) \*\*c\*\* \_d\_ \~\~e\~\~ \\n \$x\$`},
		{"two\r\nlines", "two lines"},
		{"# heading", `\# heading`},
		{"  - item", `\- item`},
		{"12. item", `12\. item`},
		{"12 items", "12 items"},
		{"=== rule", `\=== rule`},
		{"\x1b[31m\u202e\u2028", `U+001B\[31mU+202EU+2028`},
		{"日本語 😀\u00a0x", "日本語 😀\u00a0x"},
		{"", ""},
	} {
		if got := Inline(c.in); got != c.want {
			t.Errorf("Inline(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"limit", "`limit`"},
		{`"a*b"`, "`\"a*b\"`"},
		{"a|b", "<code>a&#124;b</code>"},
		{"`", "<code>&#96;</code>"},
		{" ", "<code> </code>"},
		{"", "<code></code>"},
		{"</code>|", "<code>&#60;&#47;code&#62;&#124;</code>"},
	} {
		if got := Code(c.in); got != c.want {
			t.Errorf("Code(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestParagraph(t *testing.T) {
	t.Parallel()
	got := Paragraph("intro:\n- one\n  - # two\n    code\n1. three\n---")
	want := "intro:\n- one\n- \\# two\ncode\n1\\. three\n\\---"
	if got != want {
		t.Errorf("Paragraph = %q, want %q", got, want)
	}
}

func TestFence(t *testing.T) {
	t.Parallel()
	if got, want := Fence("sh", "a\n````\n\x1b\n"), "`````sh\na\n````\nU+001B\n`````\n"; got != want {
		t.Errorf("Fence = %q, want %q", got, want)
	}
}

// A cell stays one cell, inline text stays one line, and neither contains a tag from the input.
func FuzzInline(f *testing.F) {
	for _, s := range []string{"a|b", "`|`", "\\|", "<script>", "`<b>`", "- x\n# y", "`` ` ``", "\\", "a\rb", "\\`a>`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, out := range []string{Inline(s), Code(s)} {
			if strings.ContainsAny(out, "\n\r|\x00\x1b") {
				t.Errorf("%q became %q", s, out)
			}
			bare := outsideCode(strings.NewReplacer("<code>", "", "</code>", "").Replace(out))
			if strings.ContainsAny(bare, "<>") {
				t.Errorf("%q became %q, with a bare < or >", s, out)
			}
		}
	})
}

// outsideCode returns s without code spans as CommonMark defines them: from an unescaped run of backticks to the next
// run of the same length.
func outsideCode(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\': // the next character is text
			i++
		case s[i] == '`':
			run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
			end := i + run
			for end < len(s) {
				skip := strings.IndexByte(s[end:], '`')
				if skip < 0 {
					end = len(s)
					break
				}
				end += skip
				otherRun := len(s[end:]) - len(strings.TrimLeft(s[end:], "`"))
				end += otherRun
				if otherRun == run { // it closes the span
					i = end - 1
					break
				}
			}
			if i < end-1 { // no run closes it, so it is text
				i += run - 1
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
