package conversations_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
)

// TestSizesAreIndexed: a list with sizes has what reading tells, and brings the indexes up to date
// for it, so that the next one looks it up. A list without sizes makes no index.
func TestSizesAreIndexed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	getenv := requests(t, dir, "Retry uploads", "Cache the index")
	var progress []string
	list := func(indexes *conversations.Indexes, q conversations.ListQuery) ([]conversations.Listed, int) {
		t.Helper()
		l, err := conversations.Open(conversations.Options{
			Dir: dir, Getenv: getenv, Indexes: indexes,
			Progress: func(s store.Store, done, all int) {
				progress = append(progress, fmt.Sprint(s.Name(), " ", done, "/", all))
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		listing, err := l.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		indexed := 0
		for _, r := range l.IndexReports() {
			indexed += r.Conversations
		}
		return listing.Conversations, indexed
	}
	sizes := conversations.ListQuery{Sizes: true}
	want, _ := list(nil, sizes)
	if len(want) != 2 || want[1].Size == nil || *want[1].Size != (conversations.Size{Turns: 1, Requests: 1, Numbered: 1, Chars: len("Retry uploads")}) {
		t.Fatalf("%+v", want)
	}
	indexes := conversations.NewIndexes(t.TempDir())
	if _, indexed := list(indexes, conversations.ListQuery{}); indexed != 0 {
		t.Errorf("without sizes: %d conversations indexed", indexed)
	}
	for range 2 {
		got, indexed := list(indexes, sizes)
		if diff := cmp.Diff(want, got); diff != "" || indexed != len(want) {
			t.Errorf("%d conversations indexed (-want +got):\n%s", indexed, diff)
		}
	}
	if diff := cmp.Diff([]string{"codex 0/2", "codex 1/2", "codex 2/2"}, progress); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}
