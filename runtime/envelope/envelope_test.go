package envelope_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/envelope"
)

func TestWriterLayout(t *testing.T) {
	t.Parallel()
	var w envelope.Writer
	w.Open("root")
	w.Integer("total", -3)
	w.Boolean("more", true)
	w.Time("at", time.Date(2025, 12, 4, 10, 24, 6, 999, time.FixedZone("", 3600)))
	w.Text("sort", `a"<&>`+"\n")
	w.Open("title")
	w.Inline("plain\ntext")
	w.Close()
	w.Open("turn")
	w.Open("gap")
	w.Close()
	w.Open("content")
	w.Block("two\nlines")
	w.Close()
	w.Open("arguments")
	w.JSON("{\n  \"a\": \"]]>\"\n}")
	w.Close()
	w.Open("arguments")
	w.JSON("not json ```")
	w.Close()
	w.Close()
	w.Close()
	want := strings.Join([]string{
		`<root total="-3" more="true" at="2025-12-04T09:24:06Z" sort="a&quot;&lt;&amp;&gt; ">`,
		`  <title>plain text</title>`,
		`  <turn>`,
		`    <gap/>`,
		`    <content><![CDATA[`,
		`two`,
		`lines`,
		`]]></content>`,
		`    <arguments><![CDATA[`,
		"```json",
		`{`,
		`  "a": "]]\u003e"`,
		`}`,
		"```",
		`]]></arguments>`,
		`    <arguments><![CDATA[`,
		"````",
		"not json ```",
		"````",
		`]]></arguments>`,
		`  </turn>`,
		`</root>`,
	}, "\n")
	if diff := cmp.Diff(want, string(w.Bytes())); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// adversarial are texts that try to get out of the place they are put in.
var adversarial = []string{
	"", " ", "\n", "plain", "</content></event>", "]]>", "]]", "]]]>", "]]]]>>", "<![CDATA[", "]]><forged a=\"1\"/><![CDATA[",
	"&lt;", "&#0;", "&amp;", "<!-- x -->", "<?xml version=\"1.0\"?>", "```\n</arguments>", "a\r\nb\rc", "\x00\x01\x1b[31m\x7f",
	"\u0085\u009f", "\ufffe\uffff", "\xff\xfe", "\xed\xa0\x80", "\u202eabc\u2066", "\U000e0041\U000e007f", "👩\u200d👩\u200d👧️", "日本語 ]]> 中文", "\u2028\u2029", "a\u200d\u200b\ufe0f\U000e0100", "❤\ufe0f\u200d🔥\u200d\u200c",
	"\r\r\n", "\r\r\r\n\r", "\u200e\u200f\u061c\ufeff",
}

func TestSanitize(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"tab\tand\nnewline", "tab\tand\nnewline"},
		{"a\r\nb\rc", "a\nb␍c"},
		{"\x00\x1b[0m\x7f", "␀␛[0m␡"},
		{"\u0085x\u009f", "\ufffdx\ufffd"},
		{"\ufffe\uffff", "\ufffd\ufffd"},
		{"a\xffb", "a\ufffdb"},
		{"\u202edcba\u202c \u2066x\u2069", `\u{202E}dcba\u{202C} \u{2066}x\u{2069}`},
		{"\U000e0041", `\u{E0041}`},
		{"👩\u200d👧\ufe0f", "👩\u200d👧\ufe0f"},
		{"a\U000e0100b\U000e01ef", `a\u{E0100}b\u{E01EF}`},
		{"\ufeffa\ufeff\u200b\u00ad\u180e", `\u{FEFF}a\u{FEFF}\u{200B}\u{AD}\u{180E}`},
		{"\u3164\u115f\u1160\uffa0", `\u{3164}\u{115F}\u{1160}\u{FFA0}`},
		{"\u2060\u2061\u2062\u2063\u2064\u2065", `\u{2060}\u{2061}\u{2062}\u{2063}\u{2064}\u{2065}`},
		{"\u034f\u17b4\u180b\u180f\u206a\u206f\ufff0\ufff9\ufffb", `\u{34F}\u{17B4}\u{180B}\u{180F}\u{206A}\u{206F}\u{FFF0}\u{FFF9}\u{FFFB}`},
		{"\U0001d173\U0001bca0\U000e0fff", `\u{1D173}\u{1BCA0}\u{E0FFF}`},
		// Emoji are written with joiners and with the selectors for text and for pictures.
		{"❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ☎\ufe0e ©\ufe0f ↔\ufe0f 〰\ufe0f 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈", "❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ☎\ufe0e ©\ufe0f ↔\ufe0f 〰\ufe0f 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈"},
		{"می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"},
		// Elsewhere, and in a row, they would carry a text that nobody sees.
		{"a\ufe0f \ufe0e\ufe00\ufe0d", `a\u{FE0F} \u{FE0E}\u{FE00}\u{FE0D}`},
		{"❤\ufe0f\ufe0e\ufe0f", "❤\ufe0f" + `\u{FE0E}\u{FE0F}`},
		{"a\u200db \u200c", `a\u{200D}b \u{200C}`},
		{"é\u200d\u200c\u200d", "é\u200d" + `\u{200C}\u{200D}`},
		{"\u200b\u200d\ufe0f", `\u{200B}\u{200D}\u{FE0F}`},
		{"\u200ea\u200f\u061c\u2028b\u2029", `\u{200E}a\u{200F}\u{61C}\u{2028}b\u{2029}`},
		{"\r\r\n", "␍\n"},
	} {
		if got := envelope.Sanitize(tc.in); got != tc.want {
			t.Errorf("Sanitize(%q) = %q, want %q", tc.in, got, tc.want)
		}
		if again := envelope.Sanitize(tc.want); again != tc.want {
			t.Errorf("Sanitize(%q) = %q: not idempotent", tc.want, again)
		}
	}
}

func TestSanitizeCleanTextCostsNothing(t *testing.T) {
	clean := strings.Repeat("plain text, with tabs\tand\nnewlines. ", 50)
	if n := testing.AllocsPerRun(100, func() { envelope.Sanitize(clean) }); n != 0 {
		t.Errorf("%v allocations for clean text", n)
	}
}

func FuzzRoundTrip(f *testing.F) {
	for _, s := range adversarial {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var w envelope.Writer
		w.Open("root")
		w.Text("attribute", text)
		w.Open("inline")
		w.Inline(text)
		w.Close()
		w.Open("block")
		w.Block(text)
		w.Close()
		w.Open("json")
		quoted, err := json.MarshalIndent(map[string]string{"k": text}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		w.JSON(string(quoted))
		w.Close()
		w.Open("fenced")
		w.Fenced(text)
		w.Close()
		w.Close()

		doc := w.Bytes()
		if !utf8.Valid(doc) {
			t.Fatalf("not UTF-8: %q", doc)
		}
		got := parse(t, doc)
		line := strings.ReplaceAll(envelope.Sanitize(text), "\n", " ")
		want := []string{
			"<root attribute=" + line + ">",
			"<inline>", line, "</inline>",
			"<block>", "\n" + envelope.Sanitize(text) + "\n", "</block>",
			"<json>", got[8], "</json>",
			"<fenced>", got[11], "</fenced>",
			"</root>",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("parsed back (-want +got):\n%s", diff)
		}

		inner, ok := strings.CutPrefix(got[8], "\n```json\n")
		inner, ok2 := strings.CutSuffix(inner, "\n```\n")
		var back map[string]string
		if err := json.Unmarshal([]byte(inner), &back); !ok || !ok2 || err != nil {
			t.Fatalf("fence does not hold JSON (%v): %q", err, got[8])
		}
		if want := strings.ToValidUTF8(text, "\ufffd"); len([]rune(back["k"])) != len([]rune(text)) && utf8.ValidString(text) {
			t.Fatalf("JSON string changed: %q, want %q", back["k"], want)
		}

		lines := strings.Split(got[11], "\n")
		fence := lines[1]
		if strings.Trim(fence, "`") != "" || len(fence) < 3 || strings.Contains(envelope.Sanitize(text), fence) {
			t.Fatalf("fence %q does not enclose %q", fence, text)
		}
	})
}

// parse reads a document with encoding/xml: tags with their attributes, and for
// every element without children exactly one text, which may be empty.
func parse(t *testing.T, doc []byte) []string {
	t.Helper()
	dec := xml.NewDecoder(bytes.NewReader(doc))
	var out []string
	leaf, text := false, ""
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%q", err, doc)
		}
		switch token := token.(type) {
		case xml.StartElement:
			tag := "<" + token.Name.Local
			for _, a := range token.Attr {
				tag += " " + a.Name.Local + "=" + a.Value
			}
			out = append(out, tag+">")
			leaf, text = true, ""
		case xml.CharData:
			text += string(token)
		case xml.EndElement:
			if leaf {
				out = append(out, text)
			}
			out = append(out, "</"+token.Name.Local+">")
			leaf = false
		default:
			t.Fatalf("unexpected %T in %q", token, doc)
		}
	}
}
