package recall

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/transcript"
)

func TestNewEvent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, said string
		kind       transcript.Kind
		want       string
	}{
		{"made visible", "\u202ea\r\nb", transcript.KindUser, "\\u{202E}a\nb"},
		{"JSON stays as it is", "\"\u202e\"", transcript.KindToolCall, "\"\u202e\""},
	} {
		e := newEvent(&conversations.Event{Event: transcript.Event{Kind: tc.kind, Text: []byte(tc.said)}})
		if e.text != tc.want || e.isCut {
			t.Errorf("%s: %q, want %q", tc.name, e.text, tc.want)
		}
	}
}

var inMark = regexp.MustCompile(`(?m)\n?^\[… (\d+) chars …\]$\n?`)

// TestShortened: what is shown of any text keeps to its limit, is its
// beginning and its end, and what is missing is counted.
func TestShortened(t *testing.T) {
	t.Parallel()
	pieces := []string{"word ", "\n", "潮", "\n\n", "longer-than-a-line-of-words-is ", "🌊"}
	for seed := range cases.Of(uint64(40)) {
		r := rand.New(rand.NewPCG(seed, 5))
		said := randomOf(r, pieces, 400)
		kind := []transcript.Kind{transcript.KindUser, transcript.KindToolResult}[r.IntN(2)]
		e := newEvent(&conversations.Event{Event: transcript.Event{Kind: kind, Text: []byte(said)}})
		for limit := 2000; limit >= maxMark; limit = limit*2/3 - 3 {
			shown := e.shortened(limit).text
			if n := utf8.RuneCountInString(shown); n > limit {
				t.Fatalf("seed %d: %d characters, limit %d", seed, n, limit)
			}
			checkKept(t, said, shown)
		}
		if t.Failed() {
			t.Fatal("seed", seed)
		}
	}
}

// checkKept checks that a text is said with marks in place of parts.
func checkKept(t *testing.T, said, shown string) {
	t.Helper()
	rest := []rune(said)
	marks := append(inMark.FindAllStringSubmatchIndex(shown, -1), []int{len(shown), len(shown), 0, 0})
	at := 0
	for _, m := range marks {
		part := []rune(shown[at:m[0]])
		if len(part) > len(rest) || !slices.Equal(rest[:len(part)], part) {
			t.Errorf("%q is not next in %q", string(part), said)
			return
		}
		n, _ := strconv.Atoi(shown[m[2]:m[3]])
		rest, at = rest[len(part)+n:], m[1]
	}
	if len(rest) > 0 {
		t.Errorf("%q is not counted: %q", string(rest), shown)
	}
}

func randomOf(r *rand.Rand, pieces []string, most int) string {
	var b strings.Builder
	for range 5 + r.IntN(most) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// TestOnly: of a text some parts are shown, and the rest is counted.
func TestOnly(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Nothing of any interest is in this sentence at all. ", 12) + "\n\n"
	for _, tc := range []struct {
		name, text, want string
		parts            []string
	}{
		{
			"one part", filler + "There are five retries.\n\n" + filler,
			"[… 626 chars …]\nThere are five retries.\n[… 628 chars …]",
			[]string{"There are five retries."},
		},
		{
			"short gaps are closed", "One. Two. Three is a little longer.\n" + filler + "Four.",
			"One. Two. Three is a little longer.\n[… 632 chars …]",
			[]string{"One.", "Three is a little longer."},
		},
	} {
		var spans []excerpt.Span
		for _, part := range tc.parts {
			at := strings.Index(tc.text, part)
			spans = append(spans, excerpt.Span{Start: at, End: at + len(part)})
		}
		if got := keepSpans(tc.text, spans); got != tc.want {
			t.Errorf("%s:\n%q, want\n%q", tc.name, got, tc.want)
		}
	}
}

// TestOnlyKeepsOrder: all that is asked for of any text is kept, in its
// order, and the rest is counted.
func TestOnlyKeepsOrder(t *testing.T) {
	t.Parallel()
	pieces := []string{"# Heading\n", "\n", "- an item\n", "code(retry)\n", "A retry is due. ", "潮 ", strings.Repeat("long ", 200), "**Bold**\n", "\n\n"}
	for seed := range cases.Of(uint64(40)) {
		r := rand.New(rand.NewPCG(seed, 3))
		said := randomOf(r, pieces, 120)
		var starts []int
		for i := range said {
			starts = append(starts, i)
		}
		var spans []excerpt.Span
		for at := 0; len(spans) < 4 && at < len(starts)-1; {
			first := at + r.IntN(len(starts)-at-1)
			at = min(first+1+r.IntN(300), len(starts)-1)
			if span := (excerpt.Span{Start: starts[first], End: starts[at]}); strings.TrimSpace(said[span.Start:span.End]) != "" {
				spans = append(spans, span)
			}
		}
		got := keepSpans(said, spans)
		checkKept(t, said, got)
		for _, s := range spans {
			part := strings.Trim(said[s.Start:s.End], "\n") // line breaks go beside marks
			if !strings.Contains(got, part) {
				t.Errorf("%q is missing in %q", part, got)
			}
		}
		if t.Failed() {
			t.Fatal("seed", seed)
		}
	}
}

// TestShrunk: an answer keeps to its size, and is without events only where
// those that are needed less are left out too.
func TestShrunk(t *testing.T) {
	t.Parallel()
	kinds := []transcript.Kind{transcript.KindToolResult, transcript.KindAssistant, transcript.KindUser}
	for seed := range cases.Of(uint64(8)) {
		r := rand.New(rand.NewPCG(seed, 11))
		var events []event
		all := [outcome + 1]int{}
		for n := range 1 + r.IntN([]int{4, 40, 300}[r.IntN(3)]) {
			words := strings.Repeat("line of text\n", r.IntN(100))
			e := newEvent(&conversations.Event{Event: transcript.Event{Turn: 1, Kind: kinds[r.IntN(3)], Text: []byte(words)}, Number: n + 1})
			events = append(events, e)
			all[e.rank()]++
		}
		reading := &reading{turns: []int{1}, asked: events}
		shown := reading.shrunk()
		if !reading.fits(reading.turns, events, shown) {
			t.Errorf("seed %d: %d events do not fit", seed, len(shown))
		}
		left := [outcome + 1]int{}
		for i := range shown {
			left[shown[i].rank()]++
		}
		for rank := said; rank <= outcome; rank++ {
			if left[rank] < all[rank] && left[rank-1] > 0 {
				t.Errorf("seed %d: some of rank %d are left out, and %d of rank %d are shown", seed, rank, left[rank-1], rank-1)
			}
		}
	}
}

func TestMarkAnswers(t *testing.T) {
	t.Parallel()
	kinds := []transcript.Kind{
		transcript.KindUser, transcript.KindAssistant, transcript.KindToolCall, transcript.KindToolResult,
		transcript.KindStructured, transcript.KindToolResult, transcript.KindUser, transcript.KindUser, transcript.KindReasoning, transcript.KindAssistant,
	}
	var events []event
	for i, kind := range kinds {
		events = append(events, newEvent(&conversations.Event{Event: transcript.Event{Turn: 1 + i/9, Kind: kind}, Number: i}))
	}
	markAnswers(events)
	var got []int
	for _, e := range events {
		if e.isAnswer {
			got = append(got, e.shown.Event)
		}
	}
	if want := []int{4, 9}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}
