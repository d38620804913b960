package conversations_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// memoryStore is a store of another kind: what is said in its conversations, each
// a turn of its own.
type memoryStore struct {
	place         string
	conversations map[transcript.ID][]string
	err           error // of List
}

func (m *memoryStore) Name() string { return "memory" }

func (m *memoryStore) Place() string { return "memory" + m.place }

func (m *memoryStore) ParseID(text string) (transcript.ID, error) {
	if !strings.HasPrefix(text, "memory-") {
		return "", &store.BadIDError{Text: text, Reason: "expected memory-…"}
	}
	return transcript.ID(text), nil
}

func (m *memoryStore) Version(context.Context) (string, error) { return "", nil }

func (m *memoryStore) List(_ context.Context, scope store.Scope) (*store.Listing, error) {
	l := &store.Listing{}
	for id, texts := range m.conversations {
		if scope.Has(id, false) {
			c := store.Conversation{Record: memoryRecord(texts)}
			c.ID, c.Title = id, "Of another kind"
			l.Conversations = append(l.Conversations, c)
		}
	}
	slices.SortFunc(l.Conversations, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	return l, m.err
}

type memoryRecord []string

func (m memoryRecord) Version(context.Context) (string, error) { return strings.Join(m, "\n"), nil }

func (m memoryRecord) Read(_ context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	for n, text := range m {
		if yield != nil && !yield(&transcript.Event{Index: n, Turn: n + 1, Kind: transcript.KindUser, Text: []byte(text)}) {
			break
		}
	}
	return store.Totals{Turns: len(m), Events: len(m)}, nil
}

// Of a conversation that two stores have, as a home and a copy of it, the first counts.
func TestSameConversationTwice(t *testing.T) {
	t.Parallel()
	home := &memoryStore{conversations: map[transcript.ID][]string{"memory-a": {"needle", "new"}}}
	backup := &memoryStore{conversations: map[transcript.ID][]string{"memory-a": {"needle"}, "memory-b": {"needle"}}}
	l := conversations.New(conversations.Options{}, home, backup)
	listing, err := l.List(t.Context(), conversations.ListQuery{Sort: conversations.ByID, Ascending: true})
	if err != nil || listing.Total != 2 || listing.Conversations[0].Events != 2 {
		t.Errorf("%+v, %v", listing, err)
	}
	found, err := l.Search(t.Context(), conversations.SearchQuery{Pattern: literal(t, "needle", false)})
	if err != nil || found.Total != 2 || found.Searched != 2 {
		t.Errorf("%+v, %v", found, err)
	}
}

// A library of stores of several kinds answers as one.
func TestSeveralStores(t *testing.T) {
	t.Parallel()
	a := &memoryStore{conversations: map[transcript.ID][]string{"memory-a": {"a needle", "x"}, "memory-b": {"x"}}}
	b := &memoryStore{place: "2", conversations: map[transcript.ID][]string{"memory-c": {"x", "y", "needle"}}}
	broken := &memoryStore{place: "3", err: errors.New("cannot be opened")}
	l := conversations.New(conversations.Options{}, a, broken, b)

	listing, err := l.List(t.Context(), conversations.ListQuery{Sort: conversations.ByID, Ascending: true})
	if err != nil || listing.Total != 3 || listing.Conversations[0].ID != "memory-a" || listing.Conversations[2].Events != 3 {
		t.Errorf("%+v, %v", listing, err)
	}
	if p := listing.Problems; len(p) != 1 || p[0].ID != "" || p[0].Kind != store.Unreadable {
		t.Errorf("problems %+v", p)
	}
	var lines []string
	found, err := l.Search(t.Context(), conversations.SearchQuery{Pattern: literal(t, "NEEDLE", true)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range found.Hits {
		content, err := found.Read(&found.Hits[i])
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(found.Hits[i].Conversation.ID)+" "+string(content))
	}
	slices.Sort(lines)
	if found.Total != 2 || !slices.Equal(lines, []string{"memory-a a needle", "memory-c needle"}) {
		t.Errorf("%q, %+v, %v", lines, found, err)
	}
	r, _, err := l.Read(t.Context(), conversations.ReadQuery{ID: "memory-c", Turns: func(of int) (int, int) { return of, of }})
	if err != nil || r.Turns != 3 || r.FirstTurn != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	var notFound *conversations.NotFoundError
	if _, _, err := l.Read(t.Context(), conversations.ReadQuery{ID: "memory-z"}); !errors.As(err, &notFound) || len(notFound.Unread) != 1 {
		t.Errorf("%v", err)
	}
	var unavailable *conversations.UnavailableError
	if _, err := conversations.New(conversations.Options{}, broken).List(t.Context(), conversations.ListQuery{}); !errors.As(err, &unavailable) {
		t.Errorf("%v", err)
	}
}
