package recall

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// spanOf is where a part of a text is in it.
func spanOf(s, part string) excerpt.Span {
	at := strings.Index(s, part)
	return excerpt.Span{Start: at, End: at + len(part)}
}

// TestOnly: of a text some parts are shown, and headings of the text left out, first those above
// the parts.
func TestOnly(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Nothing of any interest is in this sentence at all. ", 12) + "\n\n"
	for _, tc := range []struct {
		name, text, want string
		parts            []string
	}{
		{
			"headings", "# Tides\n\n" + filler + "## Retries\n\nThere are five retries.\n\n## Logs\n\n" + filler,
			"# Tides\n[… 628 chars …]\n## Retries\n\nThere are five retries.\n\n## Logs\n[… 628 chars …]",
			[]string{"There are five retries."},
		},
		{
			"a heading in code is none", filler + "```\n# code\n" + filler + "```\nThe end.",
			"[… 1267 chars …]\nThe end.",
			[]string{"The end."},
		},
		{
			"short gaps are closed", "One. Two. Three is a little longer.\n" + filler + "Four.",
			"One. Two. Three is a little longer.\n[… 632 chars …]",
			[]string{"One.", "Three is a little longer."},
		},
		{
			"the heading above before the first ones", strings.Repeat("## "+strings.Repeat("x", 90)+"\n\nText that is left out.\n\n", 6) + "## Near\n\n" + filler + "Here it is.\n\n" + filler,
			"## Near",
			[]string{"Here it is."},
		},
	} {
		var spans []excerpt.Span
		for _, part := range tc.parts {
			spans = append(spans, spanOf(tc.text, part))
		}
		got := only(tc.text, spans)
		shown := got.String()
		if tc.name == "the heading above before the first ones" {
			if !strings.Contains(shown, tc.want) || !strings.Contains(shown, "xxx") || strings.Count(shown, "## ") > 5 {
				t.Errorf("%s: %q", tc.name, shown)
			}
			continue
		}
		if shown != tc.want {
			t.Errorf("%s:\n%q, want\n%q", tc.name, shown, tc.want)
		}
	}
}

// TestOnlyKeepsOrder: the kept parts of any text are in it in that order, all that is asked for is
// kept, and the rest is counted.
func TestOnlyKeepsOrder(t *testing.T) {
	t.Parallel()
	pieces := []string{"# Heading\n", "\n", "- an item\n", "```\n", "code(retry)\n", "A retry is due. ", "| a | b |\n", "潮 ", strings.Repeat("long ", 200), "**Bold**\n", "plain text\n", "\n\n"}
	cut := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		var text strings.Builder
		for range 5 + r.IntN(120) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		var spans []excerpt.Span
		for at := 0; len(spans) < 4 && at < text.Len(); {
			start := at + r.IntN(text.Len()-at)
			end := min(start+1+r.IntN(300), text.Len())
			for !utf8.RuneStart(text.String()[start]) {
				start--
			}
			for end < text.Len() && !utf8.RuneStart(text.String()[end]) {
				end++
			}
			spans = append(spans, excerpt.Span{Start: start, End: end})
			at = end
		}
		got := only(text.String(), spans)
		rest, missing, at := text.String(), 0, 0
		kept := make([]bool, text.Len())
		for i, part := range got.parts {
			skipped := 0
			if i > 0 {
				missing += got.gaps[i-1]
				skipped = len(string([]rune(rest)[:got.gaps[i-1]]))
			}
			if !strings.HasPrefix(rest[skipped:], part) {
				t.Fatalf("seed %d: %q is not there", seed, part)
			}
			for j := range part {
				kept[at+skipped+j] = true
			}
			at += skipped + len(part)
			rest = rest[skipped+len(part):]
		}
		if rest != "" || missing+got.kept() != utf8.RuneCountInString(text.String()) {
			t.Errorf("seed %d: %d missing, %d kept, and %q is left", seed, missing, got.kept(), rest)
		}
		for _, s := range spans {
			for j, c := range text.String()[s.Start:s.End] {
				if c != '\n' && !kept[s.Start+j] { // line breaks go beside marks
					t.Fatalf("seed %d: %d of %v is left out", seed, j, s)
				}
			}
		}
		if missing > 0 {
			cut++
		}
	}
	if cut < 100 {
		t.Errorf("only %d texts were cut", cut)
	}
}
