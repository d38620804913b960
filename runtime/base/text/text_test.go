package text

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, visible, line, cell string }{
		{"plain", "plain text", "plain text", "plain text", "plain text"},
		{"empty", "", "", "", ""},
		{"line feed and tab", "a\n\tb", "a\n\tb", "a \tb", "a  b"},
		{"CRLF", "a\r\nb", "a\nb", "a b", "a b"},
		{"lone CR", "good\rbad\r", "good␍bad␍", "good␍bad␍", "good␍bad␍"},
		{"CR and CRLF", "a\r\r\nb", "a␍\nb", "a␍ b", "a␍ b"},
		{"colour", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m", "␛[31mred␛[0m", "␛[31mred␛[0m"},
		{"C0 and DEL", "\x00\a\b\x1f\x7f", "␀␇␈␟␡", "␀␇␈␟␡", "␀␇␈␟␡"},
		{"C1", "\u0080\u0085\u009b31m", "\ufffd\ufffd\ufffd31m", "\ufffd\ufffd\ufffd31m", "\ufffd\ufffd\ufffd31m"},
		{"not UTF-8", "a\x9bb\xff\xed\xa0\x80\xe2\x80", "a\ufffdb" + strings.Repeat("\ufffd", 6), "a\ufffdb" + strings.Repeat("\ufffd", 6), "a\ufffdb" + strings.Repeat("\ufffd", 6)},
		{"U+FFFD itself", "a\ufffdb", "a\ufffdb", "a\ufffdb", "a\ufffdb"},
		{"noncharacters", "\ufffe\uffff\ufdd0\ufdef\U0001fffe\U0010ffff", strings.Repeat("\ufffd", 6), strings.Repeat("\ufffd", 6), strings.Repeat("\ufffd", 6)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range []struct {
				name string
				of   func(string) string
				want string
			}{{"Visible", Visible, tc.visible}, {"Line", Line, tc.line}, {"Cell", Cell, tc.cell}} {
				if got := f.of(tc.in); got != f.want {
					t.Errorf("%s(%q) = %q, want %q", f.name, tc.in, got, f.want)
				}
			}
		})
	}
}

// Every escaped character has a row here. The table of the code is compared with the Unicode character database
// below, and this table with both.
func TestHiddenCharacters(t *testing.T) {
	t.Parallel()
	for _, r := range []rune{
		0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180e, 0x180f,
		0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e,
		0x2060, 0x2061, 0x2064, 0x2065, 0x2066, 0x2067, 0x2068, 0x2069, 0x206a, 0x206f, 0x3164,
		0xfe00, 0xfe0d, 0xfe0e, 0xfe0f, 0xfeff, 0xffa0, 0xfff0, 0xfff9, 0xfffb,
		0x1bca0, 0x1d173, 0xe0000, 0xe0001, 0xe0041, 0xe007f, 0xe0100, 0xe01ef, 0xe0fff,
	} {
		in := "a" + string(r) + "b"
		escape := fmt.Sprintf(`a\u{%X}b`, r)
		for name, got := range map[string]string{"Visible": Visible(in), "Line": Line(in), "Cell": Cell(in)} {
			if got != escape {
				t.Errorf("%s(%q) = %q, want %q", name, in, got, escape)
			}
		}
		if got, want := Source(in, ""), fmt.Sprintf("a<U+%04X>b", r); got != want {
			t.Errorf("Source(%q) = %q, want %q", in, got, want)
		}
		quoted := `"` + in + `"`
		var back string
		if got := JSON(quoted); strings.ContainsRune(string(got), r) || json.Unmarshal(got, &back) != nil || back != in {
			t.Errorf("AppendJSON(%q) = %q, which is %q", quoted, got, back)
		}
	}
}

func TestJoinersStayWhereTheyMeanSomething(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ☎\ufe0e ©\ufe0f ↔\ufe0f 〰\ufe0f 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈", ""},
		{"می\u200cخواهم क्\u200dष", ""},
		{"a\ufe0f \ufe0e\ufe00\ufe0d", `a\u{FE0F} \u{FE0E}\u{FE00}\u{FE0D}`},
		{"❤\ufe0f\ufe0e\ufe0f", "❤\ufe0f" + `\u{FE0E}\u{FE0F}`},
		{"a\u200db \u200c", `a\u{200D}b \u{200C}`},
		{"é\u200d\u200c\u200d", "é\u200d" + `\u{200C}\u{200D}`},
		{"\u200b\u200d\ufe0f", `\u{200B}\u{200D}\u{FE0F}`},
		{"\u200d", `\u{200D}`},
	} {
		want := tc.want
		if want == "" {
			want = tc.in
		}
		if got := Visible(tc.in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", tc.in, got, want)
		}
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, keep, want string }{
		{"日本語 é\u3000a", "", "日本語 é\u3000a"},
		{"a\tb\nc\r\nd", "", "a<U+0009>b<U+000A>c<U+000D><U+000A>d"},
		{"a\tb\nc\r\nd", "\n\r", "a<U+0009>b\nc\r\nd"},
		{"\x1b[2J\x9b\u009b\xff", "", "<U+001B>[2J<0x9B><U+009B><0xFF>"},
		{"a\u00a0b\u2003c\ue000\U000f0000", "", "a<U+00A0>b<U+2003>c<U+E000><U+F0000>"},
		{"❤\ufe0f\u200d🔥a\u200d", "", "❤\ufe0f\u200d🔥a<U+200D>"},
	} {
		if got := Source(tc.in, tc.keep); got != tc.want {
			t.Errorf("Source(%q, %q) = %q, want %q", tc.in, tc.keep, got, tc.want)
		}
	}
}

func TestAppendJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"{\n\t\"a\": 1,\r\n\"b\": [true]}", "{\n\t\"a\": 1, \n\"b\": [true]}"},
		{"\"\u202e\u200b\u2028\U000e0041\u009b\x7f\"", `"\u202e\u200b\u2028\udb40\udc41\u009b\u007f"`},
		{`"日本 👩‍💻 ❤️"`, `"日本 👩‍💻 ❤️"`},
		{"\"\xff\"", "\"\ufffd\""},
	} {
		if got := string(JSON(tc.in)); got != tc.want {
			t.Errorf("AppendJSON(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

// The table has the characters that the Unicode character database of this Go has, and code points reserved for the
// same purpose.
func TestHiddenIsWhatUnicodeHides(t *testing.T) {
	t.Parallel()
	reserved := func(r rune) bool {
		return r == 0x2065 || 0xfff0 <= r && r <= 0xfff8 || 0xe0000 <= r && r <= 0xe0fff
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r == '\n' || r == '\t' || 0xd800 <= r && r <= 0xdfff {
			continue
		}
		// Prepended marks and the signs that arrange hieroglyphs have a shape.
		format := unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) && !(0x13430 <= r && r <= 0x1345f)
		want := unicode.IsControl(r) || format || reserved(r) ||
			unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Bidi_Control,
				unicode.Noncharacter_Code_Point, unicode.Zl, unicode.Zp)
		if got := IsHidden(r); got != want {
			t.Errorf("IsHidden(%U) = %t, want %t", r, got, want)
		}
	}
}

func TestNothingHiddenCostsNothing(t *testing.T) {
	for _, clean := range []string{
		strings.Repeat("plain text, with tabs\tand\nnewlines. ", 50),
		strings.Repeat("日本語 é 👩‍💻 ", 50),
	} {
		if n := testing.AllocsPerRun(100, func() { Visible(clean) }); n != 0 {
			t.Errorf("Visible: %v allocations for %.20q", n, clean)
		}
	}
}

// hostile are the first texts for the properties.
var hostile = []string{
	"", "\r\r\n", "\r", "a\r\nb\rc\r", "\x00\x1b[31m\x7f\x9b", "\u0085\u009f\ufffe\uffff", "\xff\xed\xa0\x80\xe2\x80",
	"\u202eabc\u2066", "\U000e0041\U000e007f", "👩\u200d👩\u200d👧\ufe0f", "a\u200d\u200b\ufe0f\U000e0100", "❤\ufe0f\u200d🔥\u200d\u200c",
	"1\ufe0f\u20e3#\ufe0f", "\u2060\ufe0f", "\u2028\u2029\ufeff\u200e\u200f\u061c", "\"\\u202e\u202e\"", "\t\n\t",
}

func FuzzForms(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		visible := Visible(in)
		if want := naive(in); visible != want {
			t.Fatalf("Visible(%q) = %q, want %q", in, visible, want)
		}
		if got, want := Line(in), strings.ReplaceAll(visible, "\n", " "); got != want {
			t.Errorf("Line(%q) = %q, want %q", in, got, want)
		}
		if got, want := Cell(in), strings.NewReplacer("\n", " ", "\t", " ").Replace(visible); got != want {
			t.Errorf("Cell(%q) = %q, want %q", in, got, want)
		}
		for name, form := range map[string]func(string) string{
			"Visible": Visible, "Line": Line, "Cell": Cell,
			"Source": func(s string) string { return Source(s, "") },
		} {
			shown := form(in)
			if again := form(shown); again != shown {
				t.Errorf("%s(%q) = %q, and of that %q", name, in, shown, again)
			}
			checkShown(t, name, in, shown)
		}
		quoted, err := json.Marshal([]string{in})
		if err != nil {
			t.Fatal(err)
		}
		shown := string(JSON(quoted))
		var back []string
		if err := json.Unmarshal([]byte(shown), &back); err != nil || !slices.Equal(back, []string{strings.ToValidUTF8(in, "\ufffd")}) && utf8.ValidString(in) {
			t.Errorf("AppendJSON(%q) = %q, which is %q: %v", quoted, shown, back, err)
		}
		if again := string(JSON(shown)); again != shown {
			t.Errorf("AppendJSON(%q) = %q, and of that %q", quoted, shown, again)
		}
		checkShown(t, "AppendJSON", in, shown)
	})
}

// checkShown checks that a result is UTF-8 without hidden characters, except joiners with a meaning.
func checkShown(t *testing.T, form, in, shown string) {
	t.Helper()
	if !utf8.ValidString(shown) {
		t.Errorf("%s(%q) = %q: not UTF-8", form, in, shown)
	}
	before := rune(-1)
	for i, r := range shown {
		if IsHidden(r) && !(isJoiner(r) && mayJoin(r, before)) {
			t.Errorf("%s(%q) = %q holds %U at %d", form, in, shown, r, i)
		}
		before = r
	}
}

// naive is [Visible] one character at a time.
func naive(in string) string {
	in = strings.ReplaceAll(in, "\r\n", "\n")
	var out []rune
	for _, r := range in {
		before := rune(-1)
		if len(out) > 0 {
			before = out[len(out)-1]
		}
		switch {
		case !IsHidden(r):
			out = append(out, r)
		case unicode.Is(unicode.Join_Control, r) && before > 0x7f && !unicode.Is(unicode.Join_Control, before):
			out = append(out, r)
		case (r == 0xfe0e || r == 0xfe0f) && mayBeEmoji(before):
			out = append(out, r)
		case r < ' ':
			out = append(out, '␀'+r)
		case r == 0x7f:
			out = append(out, '␡')
		case unicode.IsControl(r), unicode.Is(unicode.Noncharacter_Code_Point, r):
			out = append(out, '\ufffd')
		default:
			out = append(out, []rune(fmt.Sprintf(`\u{%X}`, r))...)
		}
	}
	return string(out)
}

func BenchmarkAppendVisible(b *testing.B) {
	for _, bc := range []struct{ name, text string }{
		{"ascii", strings.Repeat("func main() { fmt.Println(\"hello\") } // and more\n", 100)},
		{"mixed", strings.Repeat("func main() { fmt.Println(\"grüße, 世界\") }\n", 100)},
		{"cjk", strings.Repeat("会話の履歴を検索するためのツールです。", 100)},
		{"controls", strings.Repeat("\x1b[31mred\x1b[0m\r\n", 100)},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.SetBytes(int64(len(bc.text)))
			for b.Loop() {
				Visible(bc.text)
			}
		})
	}
}
