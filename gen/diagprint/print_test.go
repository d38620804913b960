package diagprint

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/diag"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// sources has the files of the golden diagnostics.
var sources = map[string]string{
	"list.toml": "name = \"conversation_list\"\r\n" +
		"[parameters.limit]\r\n" +
		"requird = true\r\n" +
		"\tdefault\t= 500\t# too big\r\n" +
		"summary = \"日本語の説明\" # wide\r\n" +
		"label = \"cafe\u0301 naïve\" # combining\r\n" +
		"flags = \"👩‍👩‍👧 👍🏽 🇯🇵 ok\" # emoji\r\n" +
		"description = \"\"\"\r\nFirst line.\r\n  Second line.\r\n  \"\"\"\r\n" +
		"pair = {\r\n  a = 1 }\r\n" +
		"long = \"" + strings.Repeat("0123456789", 30) + "\"\r\n" +
		"last = 1",
	"hostile.toml": "\uFEFFname = \"\x1b[31m\u202eevil\u200b\x00\x9b\xff\" # \u009b2J\rgone\n",
	"empty.toml":   "",
}

// source returns the text of a file of the golden diagnostics, or nil if there is none.
func source(file string) []byte {
	if text, ok := sources[file]; ok {
		return []byte(text)
	}
	return nil
}

func span(line, col, endLine, endCol int) diag.Span {
	return diag.Span{Line: line, Col: col, EndLine: endLine, EndCol: endCol}
}

// golden has the diagnostics for each golden file.
var golden = map[string]diag.List{
	"basics": {
		{File: "list.toml", Span: span(3, 1, 3, 8), Rule: "SP003", Message: `unknown key "requird"`, Hint: `did you mean "required"?`},
		{File: "list.toml", Span: span(2, 2, 2, 18), Rule: "SP010", Severity: diag.Warning, Message: "parameter has no type"},
		{File: "list.toml", Rule: "SP001", Severity: diag.Note, Message: "about the whole file", Hint: "first line\nsecond line\n"},
		{Message: "no spec matches specs/**/*.toml"},
	},
	"alignment": {
		{File: "list.toml", Span: span(4, 12, 4, 15), Message: "after tabs"},
		{File: "list.toml", Span: span(4, 9, 4, 12), Message: "over a tab"},
		{File: "list.toml", Span: span(5, 12, 5, 15), Message: "the wide 日本語"},
		{File: "list.toml", Span: span(5, 18, 5, 19), Message: "the quote after them"},
		{File: "list.toml", Span: span(6, 13, 6, 15), Message: "e with its accent"},
		{File: "list.toml", Span: span(6, 14, 6, 14), Message: "at the accent"},
		{File: "list.toml", Span: span(6, 16, 6, 21), Message: "after a combining mark"},
		{File: "list.toml", Span: span(7, 10, 7, 15), Message: "a family"},
		{File: "list.toml", Span: span(7, 16, 7, 18), Message: "a thumb"},
		{File: "list.toml", Span: span(7, 19, 7, 21), Message: "a flag"},
		{File: "list.toml", Span: span(7, 22, 7, 24), Message: "after emoji"},
	},
	"extent": {
		{File: "list.toml", Span: span(8, 15, 11, 6), Message: "several lines"},
		{File: "list.toml", Span: span(12, 8, 13, 10), Message: "two lines"},
		{File: "list.toml", Span: span(12, 8, 13, 1), Message: "with the line ending"},
		{File: "list.toml", Span: span(15, 9, 15, 9), Message: "at the end"},
		{File: "list.toml", Span: span(15, 5, 15, 99), Message: "beyond the line"},
		{File: "list.toml", Span: span(15, 8, 99, 1), Message: "beyond the file"},
		{File: "list.toml", Span: span(99, 1, 99, 2), Message: "not in the file"},
		{File: "list.toml", Span: span(3, 9, 2, 1), Message: "ends before it starts"},
		{File: "list.toml", Span: span(14, 8, 14, 310), Message: "a long line"},
		{File: "list.toml", Span: span(14, 200, 14, 210), Message: "inside a long line"},
		{File: "list.toml", Span: span(14, 309, 14, 310), Message: "the end of a long line"},
		{File: "empty.toml", Span: span(1, 1, 1, 1), Message: "nothing to show"},
		{File: "missing.toml", Span: span(1, 1, 1, 1), Message: "no source"},
	},
	"hostile": {
		{File: "hostile.toml", Span: span(1, 8, 1, 24), Rule: "SP\x1b", Message: "bad \x1b[2J\nhostile.toml:9:9: error: forged", Hint: "a\r\nb\x07\u202e\rc"},
		{File: "hostile.toml", Span: span(1, 14, 1, 15), Message: "an override"},
		{File: "x,y:z%\n.toml", Span: span(1, 1, 1, 2), Rule: "a:b,c%d", Message: "100% wrong\r\n::warning::forged"},
	},
}

func TestGolden(t *testing.T) {
	t.Parallel()
	printers := map[string]func(io.Writer, diag.List) error{
		".txt":    func(w io.Writer, list diag.List) error { return Text(w, list, source) },
		".json":   JSON,
		".github": GitHub,
		".sarif":  func(w io.Writer, list diag.List) error { return SARIF(w, "convgen", list) },
	}
	for name, list := range golden {
		for ext, print := range printers {
			t.Run(name+ext, func(t *testing.T) {
				t.Parallel()
				var got bytes.Buffer
				if err := print(&got, list); err != nil {
					t.Fatal(err)
				}
				file := filepath.Join("testdata", name+ext)
				if *update {
					if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
				if diff := cmp.Diff(string(want), got.String()); diff != "" {
					t.Errorf("%s differs (-want +got); rewrite it with -update:\n%s", file, diff)
				}
			})
		}
	}
}

func TestEmptyList(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		print func(io.Writer, diag.List) error
		want  string
	}{
		{"text", func(w io.Writer, list diag.List) error { return Text(w, list, nil) }, ""},
		{"json", JSON, "[]\n"},
		{"github", GitHub, ""},
	} {
		var got strings.Builder
		if err := test.print(&got, nil); err != nil || got.String() != test.want {
			t.Errorf("%s of an empty list: %q, %v, want %q", test.name, got.String(), err, test.want)
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestWriterErrors(t *testing.T) {
	t.Parallel()
	broken := failingWriter{errors.New("pipe is closed")}
	list := golden["basics"]
	for name, err := range map[string]error{
		"text":   Text(broken, list, source),
		"json":   JSON(broken, list),
		"github": GitHub(broken, list),
		"sarif":  SARIF(broken, "convgen", list),
	} {
		if !errors.Is(err, broken.err) {
			t.Errorf("%s returned %v, want the writer's error", name, err)
		}
	}
}

func TestTextReadsEachSourceOnce(t *testing.T) {
	t.Parallel()
	reads := map[string]int{}
	list := diag.List{
		{File: "b.toml", Span: span(1, 1, 1, 2), Message: "1"},
		{File: "a.toml", Span: span(1, 1, 1, 2), Message: "2"},
		{File: "b.toml", Span: span(2, 1, 2, 2), Message: "3"},
	}
	if err := Text(io.Discard, list, func(file string) []byte { reads[file]++; return nil }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"a.toml": 1, "b.toml": 1}, reads); diff != "" {
		t.Errorf("reads differ (-want +got):\n%s", diff)
	}
}

func FuzzPrinters(f *testing.F) {
	for _, text := range sources {
		f.Add(text, "a.toml", "R1", "message", "hint", 1, 9, 1, 12)
	}
	f.Add("a = 1\n", "x\x1b,:%", "::\n", "\r\n\x9b\u202e", "\u2028\x00", -1, 0, 3, 1<<40)
	f.Add("\u0301\u0301\t\t\u200d日", "", "", "", "", 1, 1, 0, 0)
	f.Add("", "0", "", "", "", 0, 0, 0, 0)
	f.Add("\u0605\U00013430\u2065\U000e0fff", "", "", "", "", 1, 1, 1, 9)
	f.Add("\xe6\x97\n\r\r\n", "f", "", "m", "\n\n", 2, 3, 3, 0)
	f.Fuzz(func(t *testing.T, text, file, rule, message, hint string, line, col, endLine, endCol int) {
		d := diag.Diagnostic{File: file, Span: diag.Span{Line: line, Col: col, EndLine: endLine, EndCol: endCol}, Rule: rule, Message: message, Hint: hint}
		list := diag.List{d, {File: file, Message: text}}

		var out strings.Builder
		if err := Text(&out, list, func(string) []byte { return []byte(text) }); err != nil {
			t.Fatal(err)
		}
		checkSafe(t, out.String())
		checkCarets(t, out.String())

		out.Reset()
		if err := GitHub(&out, list); err != nil {
			t.Fatal(err)
		}
		checkSafe(t, out.String())
		if got := strings.Count(out.String(), "\n"); got != len(list.Sorted()) {
			t.Errorf("%d diagnostics became %d commands: %q", len(list.Sorted()), got, out.String())
		}

		out.Reset()
		if err := JSON(&out, list); err != nil {
			t.Fatal(err)
		}
		checkSafe(t, out.String())
		var records []map[string]any
		if err := json.Unmarshal([]byte(out.String()), &records); err != nil {
			t.Fatalf("JSON is not valid: %v\n%s", err, out.String())
		}
		for i, d := range list.Sorted() {
			if got, want := records[i]["message"], strings.ToValidUTF8(d.Message, "\uFFFD"); got != want && utf8.ValidString(d.Message) {
				t.Errorf("message %q came back as %q", want, got)
			}
		}

		src := diag.NewSource([]byte(text))
		if span := src.Span(line, col); span.Line < 1 || span.Col < 1 || span.EndLine > strings.Count(text, "\n")+1 {
			t.Errorf("Span(%d, %d) of %q is %v", line, col, text, span)
		}
	})
}

// checkSafe checks that printed output has no control or format characters except line feeds, the two joiners, and
// visible ones: marks before Arabic numbers, and signs that arrange hieroglyphs.
func checkSafe(t *testing.T, out string) {
	t.Helper()
	if !utf8.ValidString(out) {
		t.Errorf("output is not UTF-8: %q", out)
	}
	for _, r := range out {
		if unicode.Is(unicode.Prepended_Concatenation_Mark, r) || 0x13430 <= r && r <= 0x1345f {
			continue
		}
		if r != '\n' && r != '\u200c' && r != '\u200d' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			t.Fatalf("output has %U: %q", r, out)
		}
	}
}

// checkCarets checks that excerpts are not too long.
func checkCarets(t *testing.T, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		if _, text, ok := strings.Cut(line, " | "); ok && strings.Trim(text, " ^\n") == "" && len(text) > excerptChars*len("<U+10FFFF>")+8 {
			t.Errorf("a row of carets is %d wide", len(text))
		}
	}
}

// Text prints the first diagnostics and the number of the others.
func TestTextOfMany(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{200: "a:200:1: error: problem [R]\n", 201: "a:200:1: error: problem [R]\n\n… and 1 more\n", 5000: "a:200:1: error: problem [R]\n\n… and 4800 more\n"} {
		var list diag.List
		for i := range n {
			list = append(list, diag.Diagnostic{File: "a", Span: span(i+1, 1, i+1, 2), Rule: "R", Message: "problem"})
		}
		var out strings.Builder
		if err := Text(&out, list, nil); err != nil || !strings.HasSuffix(out.String(), want) || strings.Count(out.String(), "problem") != 200 {
			t.Errorf("%d diagnostics: %v, and it ends with %q", n, err, out.String()[max(0, out.Len()-100):])
		}
	}
}
