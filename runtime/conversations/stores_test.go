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
	err           error // of Open
}

func (m *memoryStore) Name() string { return "memory" }

func (m *memoryStore) Place() string { return "memory" + m.place }

func (m *memoryStore) ParseID(text string) (transcript.ID, error) {
	if !strings.HasPrefix(text, "memory-") {
		return "", &store.BadIDError{Text: text, Reason: "expected memory-…"}
	}
	return transcript.ID(text), nil
}

func (m *memoryStore) Open(context.Context) (store.Session, []store.Problem, error) {
	return m, nil, m.err
}

func (m *memoryStore) Close() {}

func (m *memoryStore) List(ctx context.Context, set store.Set) (list []store.Conversation, _ []store.Problem, _ error) {
	if set&store.Live == 0 {
		return nil, nil, nil
	}
	for id := range m.conversations {
		c, _ := m.Find(ctx, id)
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	return list, nil, nil
}

func (m *memoryStore) Find(_ context.Context, id transcript.ID) (store.Conversation, error) {
	texts, ok := m.conversations[id]
	if !ok {
		return store.Conversation{}, &store.NotFoundError{IDs: []transcript.ID{id}}
	}
	c := store.Conversation{Record: memoryRecord(texts)}
	c.ID, c.Title = id, "Of another kind"
	return c, nil
}

type memoryRecord []string

func (m memoryRecord) Events(context.Context) (store.Events, error) {
	return &memoryEvents{texts: m}, nil
}

func (m memoryRecord) Version(context.Context) (string, error) { return strings.Join(m, "\n"), nil }

type memoryEvents struct {
	texts []string
	n     int
	event transcript.Event
}

func (m *memoryEvents) Next(context.Context) bool {
	if m.n == len(m.texts) {
		return false
	}
	m.event = transcript.Event{Index: m.n, Turn: m.n + 1, Kind: transcript.KindUser, Text: []byte(m.texts[m.n])}
	m.n++
	return true
}
func (m *memoryEvents) Event() *transcript.Event { return &m.event }
func (m *memoryEvents) Err() error               { return nil }
func (m *memoryEvents) Totals() store.Totals     { return store.Totals{Turns: m.n, Events: m.n} }
func (m *memoryEvents) Restart()                 { m.n = 0 }
func (m *memoryEvents) Close()                   {}

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
	if p := listing.Aside.Problems; len(p) != 1 || p[0].ID != "" || p[0].Kind != conversations.Unreadable {
		t.Errorf("problems %+v", p)
	}
	var lines []string
	found, err := l.Search(t.Context(), conversations.SearchQuery{Pattern: literal(t, "NEEDLE", true)})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for i := range found.Hits {
		content, err := found.Read(&found.Hits[i])
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(found.Hits[i].Conversation.ID)+" "+string(content.Text))
	}
	slices.Sort(lines)
	if found.Total != 2 || !slices.Equal(lines, []string{"memory-a a needle", "memory-c needle"}) {
		t.Errorf("%q, %+v, %v", lines, found, err)
	}
	r, err := l.Read(t.Context(), conversations.ReadQuery{ID: "memory-c", Turns: conversations.Turns{First: conversations.Bound{Kind: conversations.CountBack, N: 1}}})
	if err != nil || r.Turns != 3 || r.FirstTurn != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	var notFound *conversations.NotFoundError
	if _, err := l.Read(t.Context(), conversations.ReadQuery{ID: "memory-z"}); !errors.As(err, &notFound) || len(notFound.Unread) != 1 {
		t.Errorf("%v", err)
	}
	var unavailable *conversations.UnavailableError
	if _, err := conversations.New(conversations.Options{}, broken).List(t.Context(), conversations.ListQuery{}); !errors.As(err, &unavailable) {
		t.Errorf("%v", err)
	}
}
