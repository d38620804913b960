package conversations_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// counted is a store that counts how often it is listed.
type counted struct {
	store.Store
	lists *atomic.Int64
}

func (c counted) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	c.lists.Add(1)
	return c.Store.List(ctx, scope)
}

// Each set of a store is listed once, and every query has the answer that it has of a
// library that lists anew.
func TestOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := jptest.New(dir, "tests")
	w.Conversation("17600000000", "a").Title("Retry").User("retry").Set("hidden", true)
	w.Conversation("17610000000", "b").Title("Cache").User("a retry")
	w.Conversation("17620000000", "c").User("no retry").File(jptest.MetadataFile, []byte("{"))
	w.Conversation("17630000000", "d").Archived(now()).User("old retry")
	if err := w.Write(); err != nil {
		t.Fatal(err)
	}
	workspace, err := jp.Open(jp.Options{Dir: dir, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	answers := func(once bool) (answers []any, lists int64) {
		var n atomic.Int64
		l := conversations.New(conversations.Options{Now: now, Once: once}, counted{workspace, &n})
		for range 2 {
			for _, f := range []conversations.Filter{{}, {Archived: true}, {Hidden: true}, {Exclude: []string{"jp-c17610000000"}}, {}} {
				found := search(t, l, &conversations.SearchQuery{Filter: f, Pattern: literal(t, "retry", false)})
				listed, err := l.List(t.Context(), conversations.ListQuery{Filter: f})
				if err != nil {
					t.Fatal(err)
				}
				answers = append(answers, found, listed)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return answers, n.Load()
	}
	want, _ := answers(false)
	got, lists := answers(true)
	if lists != 3 {
		t.Errorf("there are three sets, live, archived and both, and %d lists", lists)
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b error) bool { return a.Error() == b.Error() })); diff != "" {
		t.Errorf("(-anew +once):\n%s", diff)
	}
}
