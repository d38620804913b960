package conversations_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// What a database had before it became too large to be copied is still found, with a problem that
// tells of when it is; what is hidden or archived stays so.
func TestTooLargeToCopy(t *testing.T) {
	t.Parallel()
	s := &messageStore{}
	for i, id := range []transcript.ID{"memory-1", "memory-2", "memory-3"} {
		c := store.Conversation{LastAt: time.Unix(int64(i), 0).UTC()}
		c.ID, c.Title, c.Hidden, c.Archived = id, "Title", i == 1, i == 2
		s.chats = append(s.chats, chat{Conversation: c, events: []said{{kind: transcript.KindUser, text: "the tide", at: c.LastAt}}})
	}
	when := time.Date(2026, 3, 17, 10, 0, 0, 0, time.UTC)
	l := conversations.New(conversations.Options{Indexes: conversations.NewIndexes(t.TempDir()), Now: func() time.Time { return when }}, s)
	found := func() (ids []transcript.ID, problems []conversations.Problem) {
		t.Helper()
		for _, f := range []conversations.Filter{{}, {Hidden: true}, {IDs: []string{"memory-2"}}} {
			r, err := l.Search(t.Context(), conversations.SearchQuery{Filter: f})
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Hits {
				ids = append(ids, r.Hits[i].Conversation.ID)
			}
			problems = r.Problems
		}
		ranking, err := l.Search(t.Context(), conversations.SearchQuery{Order: conversations.Relevance, Question: "tide", Limit: 9, MaxText: 99, MaxWide: 99})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range ranking.Conversations {
			ids = append(ids, c.ID)
		}
		listing, err := l.List(t.Context(), conversations.ListQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range listing.Conversations {
			ids = append(ids, c.ID)
		}
		return ids, problems
	}
	before, _ := found()
	s.large = true
	when = when.Add(time.Hour)
	after, problems := found()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if len(problems) != 1 || !strings.Contains(problems[0].Err.Error(), "what it had at 2026-03-17 10:00:00 UTC is searched") {
		t.Errorf("problems are %v", problems)
	}
}
