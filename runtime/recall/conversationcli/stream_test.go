package conversationcli

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

// TestIndenter compares the layout in parts with json.Indent.
func TestIndenter(t *testing.T) {
	t.Parallel()
	for _, compact := range []string{`{}`, `[]`, `"a\"{,:\\"`, `1`, `{"a":[],"b":{},"c":[1,[2,{"d":"é,:[]{}"}]],"e":null}`, `[[[]],{"":{}}]`} {
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(compact), "  ", "  "); err != nil {
			t.Fatal(err)
		}
		for size := 1; size <= len(compact); size++ {
			l := indenter{depth: 1}
			var got []byte
			for from := 0; from < len(compact); from += size {
				got = append(got, l.lay([]byte(compact[from:min(from+size, len(compact))]))...)
			}
			if diff := cmp.Diff(want.String(), string(got)); diff != "" {
				t.Errorf("%s in parts of %d (-want +got):\n%s", compact, size, diff)
			}
		}
	}
}

// TestLongHits writes a line with very many matches in every form: the memory it
// takes must not grow with the line, and nothing may be lost.
func TestLongHits(t *testing.T) {
	unit := "needle é\t\"日\x01\r "
	const matches = 70_000
	text := []byte(strings.Repeat(unit, matches))
	conv := &transcript.Conversation{}
	spans := func(text []byte) iter.Seq[conversations.Span] {
		return func(yield func(conversations.Span) bool) {
			for at := 0; ; {
				i := bytes.Index(text[at:], []byte("needle"))
				if i < 0 || !yield(conversations.Span{Start: at + i, End: at + i + len("needle")}) {
					return
				}
				at += i + len("needle")
			}
		}
	}
	for _, f := range []format{{}, {colour: true}, {json: true}, {json: true, pretty: true}} {
		c := &commands{host: &toolset.Host{Terminal: f.pretty}}
		write := func(to io.Writer) {
			out := newOutput(to)
			w := c.newHitWriter(out, f, grepOptions{output: "hits"})
			w.id = "jp-c1"
			for _, text := range [][]byte{text, []byte("needle")} {
				if err := w.hit(&conversations.Line{Conversation: conv, Scope: transcript.ScopeUser, Turn: 1, Number: 1, Text: text, IsMatch: true, Spans: spans(text)}); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.close(nil); err != nil {
				t.Fatal(err)
			}
			if n := cap(w.buf) + cap(w.rec.buf); n > 16*maxPart {
				t.Errorf("%+v: buffers of %d bytes", f, n)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		write(io.Discard)
		runtime.ReadMemStats(&after)
		// On a terminal the escaped copy of each part is garbage.
		if grown := after.TotalAlloc - before.TotalAlloc; !f.pretty && grown > 2<<20 {
			t.Errorf("%+v: %d bytes allocated for a line of %d", f, grown, len(text))
		}
		var got bytes.Buffer
		write(&got)
		if !f.json {
			if n := strings.Count(got.String(), "needle"); n != matches+1 {
				t.Errorf("%+v: %d matches in the output", f, n)
			}
			continue
		}
		var hits []struct {
			Text       string
			Submatches []struct {
				Match      string
				Start, End int
			}
		}
		if err := json.Unmarshal(got.Bytes(), &hits); err != nil {
			t.Fatal(err)
		}
		if len(hits) != 2 || hits[0].Text != string(text) || len(hits[0].Submatches) != matches || hits[1].Text != "needle" {
			t.Fatalf("%+v: %d hits, the first with %d matches", f, len(hits), len(hits[0].Submatches))
		}
		for i, s := range hits[0].Submatches {
			if s.Match != "needle" || s.Start != i*len(unit) || s.End != s.Start+len("needle") {
				t.Fatalf("%+v: match %d is %+v", f, i, s)
			}
		}
	}
}
