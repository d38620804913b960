package excerpt_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/index/terms"
)

func best(text string, weights excerpt.Weights, most, wide int) (narrow, wider string) {
	p, w := excerpt.BestPassage(terms.NewReader(terms.English), []byte(text), weights, most, wide)
	return text[p.Start:p.End], text[w.Start:w.End]
}

func TestBest(t *testing.T) {
	t.Parallel()
	weights := excerpt.Weights{"storm": 2, "warn": 3, "tide": 1}
	for _, tc := range []struct{ name, text, want, wide string }{
		{"a short text is whole", "No word. At all.", "No word. At all.", "No word. At all."},
		{
			"the sentence with the words", "The quay is long and has berths. A storm warning came at noon. Nothing else was said that day here.",
			"A storm warning came at noon.", "A storm warning came at noon. Nothing else was said that day here.",
		},
		{
			"the rarer word", "The tide came in very high today. Nobody had said so before. We had a warning, I think.",
			"We had a warning, I think.", "Nobody had said so before. We had a warning, I think.",
		},
		{
			"words that stand together", "A storm is not the same as a warning. Then the storm warning came, late.\nAnd so on, and so on, for very long.",
			"Then the storm warning came, late.", "Then the storm warning came, late.\nAnd so on, and so on, for very long.",
		},
		{"lines end sentences", "first line is here\nthe storm is in the second\nthe third is last here", "the storm is in the second", "first line is here\nthe storm is in the second\nthe third is last here"},
		{
			"no list without its items", "The quay is long. The storm came because:\n- of a warning\n- of rain\nNothing else was said that day.",
			"The storm came because:\n- of a warning", "The quay is long. The storm came because:\n- of a warning\n- of rain",
		},
		{
			"no end before a list", "We had a warning. The reasons for it are all these:\n" + strings.Repeat("- a very long reason ", 5),
			"We had a warning.", "We had a warning.",
		},
		{"no end of a sentence", strings.Repeat("word ", 20) + "storm " + strings.Repeat("word ", 20), "", ""},
	} {
		got, wide := best(tc.text, weights, 40, 75)
		if tc.want == "" {
			if !strings.Contains(got, "storm") || len(got) > 40 {
				t.Errorf("%s: %q", tc.name, got)
			}
			continue
		}
		if got != tc.want || wide != tc.wide {
			t.Errorf("%s: %q in %q, want %q in %q", tc.name, got, wide, tc.want, tc.wide)
		}
	}
}

// TestSeveral: passages of a text that is too long have nothing in common, are in its order, and
// are worth something beside the best one.
func TestSeveral(t *testing.T) {
	t.Parallel()
	weights := excerpt.Weights{"storm": 3, "warn": 3, "tide": 1}
	const filler = "The quay is long and has many berths. "
	text := "The tide was high. " + filler + "A storm warning came at noon. " + filler + filler + "Another warning came late. " + filler + "A storm."
	for _, tc := range []struct {
		most, total int
		want        []string
	}{
		{40, 30, []string{"A storm warning came at noon."}},
		{40, 60, []string{"A storm warning came at noon.", "Another warning came late."}},
		{40, 200, []string{"A storm warning came at noon.", "Another warning came late.", "A storm."}}, // the tide is worth too little
	} {
		var got []string
		for _, p := range excerpt.Several(terms.NewReader(terms.English), []byte(text), weights, tc.most, tc.total) {
			got = append(got, text[p.Start:p.End])
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%d of %d: %q, want %q", tc.most, tc.total, got, tc.want)
		}
	}
	if got := excerpt.Several(terms.NewReader(terms.English), []byte(filler), weights, 40, 100); len(got) > 0 {
		t.Errorf("%v of a text without a term", got)
	}
}

// TestBounds: a passage is a valid part of the text, keeps to its size, and has a word where the
// text has one.
func TestBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"storm", "warning", "quay", "a", "。", ". ", "!\n", "\n", " ", "  ", "記憶", "é", strings.Repeat("x", 70), "\xff"}), 0, 60).Draw(t, "words"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		most := rapid.IntRange(20, 200).Draw(t, "most")
		wide := most + rapid.IntRange(0, 200).Draw(t, "more")
		p, w := excerpt.BestPassage(terms.NewReader(terms.English), []byte(text), excerpt.Weights{"storm": 1, "warn": 2}, most, wide)
		for _, p := range []excerpt.Passage{p, w} {
			if p.Start < 0 || p.End < p.Start || p.End > len(text) {
				t.Fatalf("%+v of %d bytes", p, len(text))
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[p.Start:p.End]) {
				t.Fatalf("%q is parted in a character", text[p.Start:p.End])
			}
		}
		if p.End-p.Start > most || w.End-w.Start > wide || w.Start > p.Start || w.End < p.End {
			t.Fatalf("%+v in %+v, of %d and %d bytes", p, w, most, wide)
		}
		size, last := 0, 0
		for _, p := range excerpt.Several(terms.NewReader(terms.English), []byte(text), excerpt.Weights{"storm": 1, "warn": 2}, most, wide) {
			if p.Start < last || p.End < p.Start || p.End-p.Start > most || p.End > len(text) {
				t.Fatalf("%+v behind %d, of %d bytes", p, last, most)
			}
			size, last = size+p.End-p.Start, p.End
		}
		if size > wide {
			t.Fatalf("%d bytes in all, of %d", size, wide)
		}
		has := false
		terms.NewReader(terms.English).Each([]byte(text), func(term []byte, _ int) {
			has = has || string(term) == "storm" || string(term) == "warn"
		})
		long := slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }), func(word string) bool { return len(word) > 20 })
		if p.Value > 0 != has && !long { // a passage may begin in a word that is longer than it
			t.Fatalf("%+v of %q", p, text)
		}
	})
}
