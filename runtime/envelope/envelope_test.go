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

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/envelope"
)

func TestWriterLayout(t *testing.T) {
	t.Parallel()
	var w envelope.Writer
	w.Open("root")
	w.Attribute("total", -3)
	w.Attribute("more", true)
	w.Attribute("at", time.Date(2025, 12, 4, 10, 24, 6, 999, time.FixedZone("", 3600)))
	w.Attribute("sort", `a"<&>`+"\n")
	w.Open("title")
	w.Inline("plain\ntext")
	w.Close()
	w.Open("turn")
	w.OpenBeside("gap")
	w.Close()
	w.OpenBeside("lines")
	w.Lines("two\nlines")
	w.Close()
	w.Open("lines")
	w.Lines("two\n<lines>")
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
		`  <turn><gap/><lines>two`,
		`lines</lines>`,
		`    <lines><![CDATA[two`,
		`<lines>]]></lines>`,
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

// adversarial are texts that try to leave their place.
var adversarial = []string{
	"", " ", "\n", "plain", "</content></event>", "]]>", "]]", "]]]>", "]]]]>>", "<![CDATA[", "]]><forged a=\"1\"/><![CDATA[",
	"&lt;", "&#0;", "&amp;", "<!-- x -->", "<?xml version=\"1.0\"?>", "```\n</arguments>", "a\r\nb\rc", "\x00\x01\x1b[31m\x7f",
	"\u0085\u009f", "\ufffe\uffff", "\xff\xfe", "\xed\xa0\x80", "\u202eabc\u2066", "\U000e0041\U000e007f", "👩\u200d👩\u200d👧️", "日本語 ]]> 中文", "\u2028\u2029", "a\u200d\u200b\ufe0f\U000e0100", "❤\ufe0f\u200d🔥\u200d\u200c",
	"\r\r\n", "\r\r\r\n\r", "\u200e\u200f\u061c\ufeff",
}

func FuzzRoundTrip(f *testing.F) {
	for _, s := range adversarial {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, recorded string) {
		var w envelope.Writer
		w.Open("root")
		w.Attribute("attribute", recorded)
		w.Open("inline")
		w.Inline(recorded)
		w.Close()
		w.OpenBeside("lines")
		w.Lines(recorded)
		w.Close()
		w.Open("block")
		w.Block(recorded)
		w.Close()
		w.Open("json")
		quoted, err := json.MarshalIndent(map[string]string{"k": recorded}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		w.JSON(string(quoted))
		w.Close()
		w.Open("fenced")
		w.JSON("x " + recorded)
		w.Close()
		w.Close()

		doc := w.Bytes()
		if !utf8.Valid(doc) {
			t.Fatalf("not UTF-8: %q", doc)
		}
		got := parse(t, doc)
		line := strings.ReplaceAll(text.Visible(recorded), "\n", " ")
		want := []string{
			"<root attribute=" + line + ">",
			"<inline>", line, "</inline>",
			"<lines>", text.Visible(recorded), "</lines>",
			"<block>", "\n" + text.Visible(recorded) + "\n", "</block>",
			"<json>", got[11], "</json>",
			"<fenced>", got[14], "</fenced>",
			"</root>",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("parsed back (-want +got):\n%s", diff)
		}

		inner, ok := strings.CutPrefix(got[11], "\n```json\n")
		inner, ok2 := strings.CutSuffix(inner, "\n```\n")
		var back map[string]string
		if err := json.Unmarshal([]byte(inner), &back); !ok || !ok2 || err != nil {
			t.Fatalf("fence does not hold JSON (%v): %q", err, got[11])
		}
		if want := strings.ToValidUTF8(recorded, "\ufffd"); len([]rune(back["k"])) != len([]rune(recorded)) && utf8.ValidString(recorded) {
			t.Fatalf("JSON string changed: %q, want %q", back["k"], want)
		}

		lines := strings.Split(got[14], "\n")
		fence := lines[1]
		if strings.Trim(fence, "`") != "" || len(fence) < 3 || strings.Contains(text.Visible(recorded), fence) {
			t.Fatalf("fence %q does not enclose %q", fence, recorded)
		}
	})
}

// parse decodes a document with encoding/xml: tags with their attributes, and one text, which may be empty, for every
// element without children.
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
