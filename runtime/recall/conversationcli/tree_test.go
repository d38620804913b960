package conversationcli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// forest makes a listing of "id<parent" words; one that ends with '!' is hidden.
func forest(words string) []conversations.Listed {
	var all []conversations.Listed
	for _, word := range strings.Fields(words) {
		name, hidden := strings.CutSuffix(word, "!")
		id, parent, _ := strings.Cut(name, "<")
		all = append(all, conversations.Listed{Conversation: transcript.Conversation{
			ID: transcript.ID(id), Parent: transcript.ID(parent), Hidden: hidden,
		}})
	}
	return all
}

// drawn is a tree as words: the depth in dots.
func drawn(places []treePlace) string {
	var words []string
	for _, p := range places {
		words = append(words, strings.Repeat(".", p.depth)+string(p.ID))
	}
	return strings.Join(words, " ")
}

// isHidden hides what is hidden, unless all is shown.
func isHidden(all bool) func(*conversations.Listed) bool {
	return func(l *conversations.Listed) bool { return l.Hidden && !all }
}

func TestGrowTree(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, forest  string
		hidden        bool
		offset, limit int
		want          string
		total, hides  int
	}{
		{name: "none", total: 0},
		{name: "siblings keep their order", forest: "d<a c b<a a e<b", want: "c a .d .b ..e", total: 2},
		{name: "missing parent", forest: "a<x b<a", want: "a .b", total: 1},
		{name: "own parent", forest: "a<a b<a", want: "a .b", total: 1},
		{name: "circle", forest: "x<c a<c b<a c<b y", want: "y x a .b ..c", total: 3},
		{name: "hidden children", forest: "a b<a! c<a! d e<d! f<d", want: "a d .f", total: 2, hides: 3},
		{name: "below hidden ones", forest: "a b<a! c<b! d<c", want: "a .d", total: 1, hides: 2},
		{name: "circle of hidden ones", forest: "a<b b<c! c<b!", want: "a", total: 1, hides: 2},
		{name: "with hidden ones", forest: "a b<a! c<b!", hidden: true, want: "a .b ..c", total: 1},
		{name: "a page", forest: "a b<a c d<c e", offset: 1, limit: 1, want: "c .d", total: 3},
		{name: "behind the end", forest: "a b<a", offset: 5, want: "", total: 1},
	}
	for _, test := range tests {
		places, total, hides := tree(forest(test.forest), isHidden(test.hidden), test.offset, test.limit)
		if got := drawn(places); got != test.want || total != test.total || hides != test.hides {
			t.Errorf("%s: %q of %d, %d hidden; want %q of %d, %d hidden", test.name, got, total, hides, test.want, test.total, test.hides)
		}
	}
}

// TestGrowTreeProperties has any parents at all: every conversation that may be
// shown is, once, and below its parent unless there is a circle.
func TestGrowTreeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		var words []string
		var want []string
		hidden := rapid.Bool().Draw(t, "with hidden")
		for i := range n {
			word := fmt.Sprintf("c%d<c%d", i, rapid.IntRange(0, n).Draw(t, "parent"))
			if rapid.IntRange(0, 3).Draw(t, "hidden") == 0 {
				word += "!"
			}
			words = append(words, word)
			if hidden || !strings.HasSuffix(word, "!") {
				want = append(want, fmt.Sprintf("c%d", i))
			}
		}
		places, _, _ := tree(forest(strings.Join(words, " ")), isHidden(hidden), 0, 0)
		seen := map[string]bool{}
		way := []transcript.ID{}
		for _, p := range places {
			c := p.Listed
			seen[string(c.ID)] = true
			if p.depth > len(way) {
				t.Fatalf("%s hangs in the air in %s", c.ID, drawn(places))
			}
			way = append(way[:p.depth], c.ID)
			if hidden && p.depth > 0 && way[p.depth-1] != c.Parent {
				t.Fatalf("%s is below %s in %s", c.ID, way[p.depth-1], drawn(places))
			}
		}
		for _, id := range want {
			if !seen[id] {
				t.Fatalf("%s is missing in %s", id, drawn(places))
			}
		}
		if len(places) != len(want) {
			t.Fatal(cmp.Diff(want, seen))
		}
	})
}

// TestDeepTree has a chain of 100,000 conversations, hidden ones among them.
func TestDeepTree(t *testing.T) {
	t.Parallel()
	var all []conversations.Listed
	for i := range 100_000 {
		all = append(all, conversations.Listed{Conversation: transcript.Conversation{
			ID: transcript.ID(fmt.Sprint(i)), Parent: transcript.ID(fmt.Sprint(i - 1)), Hidden: i%3 == 1,
		}})
	}
	places, _, _ := tree(all, isHidden(false), 0, 0)
	last := places[len(places)-1]
	if len(places) != 66_667 || last.depth != 66_666 || last.lead != "… └── " {
		t.Errorf("%d places, the last one at %d, drawn as %q", len(places), last.depth, last.lead)
	}
}
