package archive_test

import (
	"testing"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
	"github.com/convtools/convtools/runtime/store/archive"
)

// A message is found by a text where that is in the title, in the message or in the name
// of the tool that it calls.
func TestSearch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := create(t, dir)
	other := sample("c2")
	other.Title = "Winds"
	for i := range other.Messages {
		other.Messages[i].Name, other.Messages[i].Text = "", []byte("nothing")
	}
	for _, c := range []*archive.Conversation{sample("c1"), other} {
		if _, err := w.Put(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, dir)
	for query, want := range map[string]int{"Thon": 1, "print": 1, "tides": 7, "winds": 7, "天": 1, "keelhaul": 0, "nothing": 7, "e": 7} {
		m, err := conversations.New(conversations.Options{}, s).Search(t.Context(), conversations.SearchQuery{
			Filter: conversations.Filter{Sources: []string{archive.Name}}, Pattern: excerpt.Literal(query, true), Order: conversations.Newest, Limit: 20,
		})
		if err != nil || m.Total != want {
			t.Errorf("%q: %d messages, want %d, %v", query, m.Total, want, err)
		}
	}
}
