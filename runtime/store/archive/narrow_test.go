package archive_test

import (
	"bytes"
	"testing"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
)

// A conversation is listed for a text where that is in its title, in a message or in the name
// of a tool that a message calls.
func TestListedForAText(t *testing.T) {
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
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	for query, want := range map[string]int{"Thon": 1, "print": 1, "tides": 7, "winds": 7, "天": 1, "keelhaul": 0, "nothing": 7, "e": 7} {
		m, err := conversations.New(conversations.Options{}, s).Messages(t.Context(), conversations.MessageQuery{
			Filter: conversations.Filter{Sources: []string{archive.Name}}, Text: query, Limit: 20,
		})
		if err != nil || m.Total != want {
			t.Errorf("%q: %d messages, want %d, %v", query, m.Total, want, err)
		}
	}
	session, _, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for word, want := range map[string]int{"thon": 1, "Winds": 1, "keelhaul": 0} {
		list, ok, err := session.(store.Narrower).ListHolding(t.Context(), store.Live, holds(word))
		if err != nil || !ok || len(list) != want {
			t.Errorf("%q: %d conversations, want %d, %v, %v", word, len(list), want, ok, err)
		}
	}
}

func holds(word string) func([]byte) bool {
	return func(part []byte) bool { return bytes.Contains(part, []byte(word)) }
}
