package recall

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSubject(t *testing.T) {
	t.Parallel()
	for about, want := range map[string]string{
		"Why were the caps dropped?": "[cap dropp]",
		"retry retries":              "[retr]",
		"why and how":                "[why and how]",
		"sizes, sized":               "[size sized]",
		"Größen":                     "[größen]",
	} {
		if got := fmt.Sprint(newSubject(&about)); got != want {
			t.Errorf("%q: %s, want %s", about, got, want)
		}
	}
	if got := newSubject(nil); got != nil {
		t.Errorf("%v without about", got)
	}
}

func TestOn(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Nothing of any interest stands in this sentence at all. ", 12) + "\n\n"
	for _, tc := range []struct{ name, text, about, want string }{
		{
			"a paragraph with its heading", "# Tides\n\n" + filler + "## Retries\n\nThere are five retries.\n\n## Logs\n\n" + filler, "five retries",
			"[… 683 chars …]\n## Retries\n\nThere are five retries.\n[… 685 chars …]",
		},
		{
			"words that few passages hold", strings.Repeat("The retry of the feed.\n\n", 40) + "The retry has a cap.\n\n" + strings.Repeat("The retry of the feed.\n\n", 40), "retry cap",
			"The retry has a cap.",
		},
		{"in a long line", strings.Repeat("word ", 300) + "needle " + strings.Repeat("word ", 300), "needle", "needle"},
		{"words of the heading", filler + "## Retries\n\nFive of them.\n\n" + filler, "retries", "Five of them."},
		{"in what was cut", filler + "A needle.\n\n" + filler, "NEEDLE", "A needle."},
	} {
		b := whole(tc.text)
		shorter, found := b.on(newSubject(&tc.about), 300)
		if got := shorter.String(); !found || !strings.Contains(got, tc.want) || utf8.RuneCountInString(got) > 800 {
			t.Errorf("%s: %v, %q", tc.name, found, got)
		}
	}
	for _, about := range []string{"walrus", "?"} {
		b := whole(filler)
		if got, found := b.on(newSubject(&about), 300); found || got.String() != filler {
			t.Errorf("about=%q: %q", about, got.String())
		}
	}
}

// TestOnKeepsOrder: what is kept of any text stands in it in that order, what is left out
// is counted, and a word of the subject that the text holds is kept.
func TestOnKeepsOrder(t *testing.T) {
	t.Parallel()
	pieces := []string{"# Heading\n", "\n", "- an item\n", "```\n", "code(retry)\n", "A retry is due. ", "| a | b |\n", "潮 ", strings.Repeat("long ", 200), "**Bold**\n", "plain text\n", "\n\n"}
	about := "retry of the code"
	subject, cut := newSubject(&about), 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		var text strings.Builder
		for range 5 + r.IntN(120) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		b, limit := whole(text.String()), 100+r.IntN(1500)
		got, found := b.on(subject, limit)
		if found != (subject.in(text.String()) != 0) {
			t.Fatalf("seed %d: found=%v", seed, found)
		}
		rest, missing := text.String(), 0
		for i, part := range got.parts {
			at := 0
			if i > 0 {
				missing += got.gaps[i-1]
				at = len(string([]rune(rest)[:got.gaps[i-1]]))
			}
			if !strings.HasPrefix(rest[at:], part) {
				t.Fatalf("seed %d: %q is not what stands there", seed, part)
			}
			rest = rest[at+len(part):]
		}
		if rest != "" || missing+got.kept() != utf8.RuneCountInString(text.String()) {
			t.Errorf("seed %d: %d missing, %d kept, and %q is left", seed, missing, got.kept(), rest)
		}
		if found && subject.in(got.String()) == 0 {
			t.Errorf("seed %d: no word of the subject is in %q", seed, got.String())
		}
		if n := got.kept(); found && n > limit+2*passageBlock {
			t.Errorf("seed %d: %d characters are kept, of %d wanted", seed, n, limit)
		}
		if missing > 0 {
			cut++
		}
	}
	if cut < 100 {
		t.Errorf("only %d texts were cut", cut)
	}
}
