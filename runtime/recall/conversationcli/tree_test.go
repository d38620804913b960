package conversationcli

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// forest returns the conversations of "id<parent" words.
func forest(words string) []conversations.Listed {
	var all []conversations.Listed
	for _, word := range strings.Fields(words) {
		id, parent, _ := strings.Cut(word, "<")
		all = append(all, conversations.Listed{Conversation: transcript.Conversation{
			ID: transcript.ID(id), Parent: transcript.ID(parent),
		}})
	}
	return all
}

// drawn returns a tree as words, with dots for the depth.
func drawn(places []place) string {
	var words []string
	for _, p := range places {
		words = append(words, strings.Repeat(".", p.depth)+string(p.ID))
	}
	return strings.Join(words, " ")
}

// grown returns the places of conversations in a tree.
func grown(all []conversations.Listed) []place {
	return (&listing{tree: true}).places(all)
}

func TestGrowTree(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, forest, want string }{
		{"none", "", ""},
		{"siblings keep their order", "d<a c b<a a e<b", "c a .d .b ..e"},
		{"missing parent", "a<x b<a", "a .b"},
		{"own parent", "a<a b<a", "a .b"},
		{"circle", "x<c a<c b<a c<b y", "y x a .b ..c"},
	} {
		if got := drawn(grown(forest(test.forest))); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestGrowTreeProperties checks with random parents that each conversation has one place, below
// its parent or at the top.
func TestGrowTreeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		var words []string
		for i := range n {
			words = append(words, fmt.Sprintf("c%d<c%d", i, rapid.IntRange(0, n).Draw(t, "parent")))
		}
		places := grown(forest(strings.Join(words, " ")))
		seen := map[transcript.ID]bool{}
		way := []transcript.ID{}
		for _, p := range places {
			seen[p.ID] = true
			if p.depth > len(way) {
				t.Fatalf("%s hangs in the air in %s", p.ID, drawn(places))
			}
			way = append(way[:p.depth], p.ID)
			if p.depth > 0 && way[p.depth-1] != p.Parent {
				t.Fatalf("%s is below %s in %s", p.ID, way[p.depth-1], drawn(places))
			}
		}
		if len(places) != n || len(seen) != n {
			t.Fatalf("%d places of %d conversations in %s", len(places), len(seen), drawn(places))
		}
	})
}

// TestDeepTree draws a chain of 100,000 conversations.
func TestDeepTree(t *testing.T) {
	t.Parallel()
	var all []conversations.Listed
	for i := range 100_000 {
		all = append(all, conversations.Listed{Conversation: transcript.Conversation{
			ID: transcript.ID(fmt.Sprint(i)), Parent: transcript.ID(fmt.Sprint(i - 1)),
		}})
	}
	places := grown(all)
	if last := places[len(places)-1]; len(places) != len(all) || last.depth != len(all)-1 || last.lead != "… └── " {
		t.Errorf("%d places, the last one at %d, drawn as %q", len(places), last.depth, last.lead)
	}
}
