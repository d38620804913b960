package convcli

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/workspace"
)

// TestEachFindsWhatTheRegularExpressionFinds compares the search in portions with
// one for all matches at once.
func TestEachFindsWhatTheRegularExpressionFinds(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{`a`, `\ba`, `\Ba`, `a\b`, `^a`, `a$`, `a*`, `(?:a|ab)`, `(?m)^.`, `.`, `b|`, `\b`, `é+`, `[^a]`, `\Qa`, `a|^b`, `(?i)A\b|É`} {
		p, err := parsePattern(expr, true, false)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 8 {
			var text strings.Builder
			for range 3*maxLocations + rng.IntN(maxLocations) {
				text.WriteString([]string{"a", "a", "b", " ", "é", "\xff"}[rng.IntN(6)])
			}
			line := []byte(strings.Repeat("a ", maxLocations) + text.String())
			var want, got []span
			for _, loc := range p.regex.FindAllIndex(line, -1) {
				if loc[0] < loc[1] {
					want = append(want, span{loc[0], loc[1]})
				}
			}
			p.each(line, -1, func(s span) bool {
				got = append(got, s)
				return true
			})
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(span{})); diff != "" {
				t.Fatalf("%q (-want +got):\n%.500s", expr, diff)
			}
		}
	}
}

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
	const matches = 200_000
	text := []byte(strings.Repeat(unit, matches))
	conv := &workspace.Conversation{}
	for _, isRegex := range []bool{false, true} {
		p, err := parsePattern("needle", isRegex, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []format{{}, {colour: true}, {json: true}, {json: true, pretty: true}} {
			c := &cli{env: Env{IsTerminal: f.pretty}}
			write := func(to io.Writer) {
				out := newOutput(to)
				w := c.newHitWriter(out, f, grepOptions{output: "hits"}, query{pattern: p})
				w.conv, w.id = conv, "jp-c1"
				for _, text := range [][]byte{text, []byte("needle")} {
					if err := w.hit(&hit{scope: scopeUser, turn: 1, line: 1, text: text, match: true}); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.close(nil); err != nil {
					t.Fatal(err)
				}
				if n := cap(w.buf) + cap(w.rec.buf); n > 16*maxPart {
					t.Errorf("regex %t, %+v: buffers of %d bytes", isRegex, f, n)
				}
			}
			if !isRegex {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				write(io.Discard)
				runtime.ReadMemStats(&after)
				// On a terminal the escaped copy of each part is garbage.
				if grown := after.TotalAlloc - before.TotalAlloc; !f.pretty && grown > 2<<20 {
					t.Errorf("%+v: %d bytes allocated for a line of %d", f, grown, len(text))
				}
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
}
