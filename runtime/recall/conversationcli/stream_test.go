package conversationcli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

// TestLongHits checks that no match is lost of a line with very many, in every form.
func TestLongHits(t *testing.T) {
	unit := "needle é\t\"日\x01\r "
	const matches = 70_000
	text := []byte(strings.Repeat(unit, matches))
	of := &conversations.Hit{Conversation: &conversations.Matched{}, Scope: transcript.ScopeUser, Turn: 1}
	pattern := excerpt.Literal("needle", false)
	for _, f := range []output{{}, {colour: true}, {json: true}, {json: true, pretty: true}} {
		write := func(to io.Writer) {
			r := f
			r.terminal, r.to = f.pretty, bufio.NewWriter(to)
			g := grepping{commands: &commands{out: &r}, output: "hits", SearchQuery: conversations.SearchQuery{Pattern: pattern}}
			for _, text := range [][]byte{text, []byte("needle")} {
				g.writeLine(of, excerpt.Line{Number: 1, IsMatch: true}, text)
			}
			if err := r.close(); err != nil {
				t.Fatal(err)
			}
		}
		var got bytes.Buffer
		write(&got)
		if !f.json {
			if n := strings.Count(got.String(), "needle"); n != matches+1 {
				t.Errorf("%+v: %d matches in the output", f.colour, n)
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
