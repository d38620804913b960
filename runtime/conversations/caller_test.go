package conversations_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// callerStore is a store that knows something of the caller.
type callerStore struct {
	memoryStore
	name   string
	caller store.Caller
}

func (c *callerStore) Name() string                                       { return c.name }
func (c *callerStore) Caller(context.Context, caller.Caller) store.Caller { return c.caller }

// What is known of the call counts before what is known of the process, and where
// two programs are as likely nothing is known.
func TestCaller(t *testing.T) {
	t.Parallel()
	knows := func(name string, by store.Evidence, ids ...transcript.ID) store.Store {
		return &callerStore{name: name, caller: store.Caller{Evidence: by, IDs: ids}}
	}
	none := &memoryStore{}
	for name, test := range map[string]struct {
		stores   []store.Store
		want     []transcript.ID
		recorded bool
	}{
		"nobody":                           {[]store.Store{none, knows("a", store.NoEvidence)}, nil, false},
		"one":                              {[]store.Store{none, knows("a", store.ByEnvironment, "x", "y"), knows("b", store.NoEvidence)}, []transcript.ID{"x", "y"}, true},
		"one that does not know which":     {[]store.Store{knows("a", store.ByEnvironment), knows("b", store.NoEvidence)}, nil, true},
		"the call before the process":      {[]store.Store{knows("a", store.ByEnvironment, "x"), knows("b", store.ByCall, "y")}, []transcript.ID{"y"}, true},
		"and the other way around":         {[]store.Store{knows("b", store.ByCall, "y"), knows("a", store.ByEnvironment, "x")}, []transcript.ID{"y"}, true},
		"also where it does not say which": {[]store.Store{knows("a", store.ByEnvironment, "x"), knows("b", store.ByCall)}, nil, true},
		"two of the same weight":           {[]store.Store{knows("a", store.ByEnvironment, "x"), knows("b", store.ByEnvironment, "y")}, nil, true},
		"two, of which one knows":          {[]store.Store{knows("a", store.ByEnvironment), knows("b", store.ByEnvironment, "y")}, nil, true},
		"two places of one program":        {[]store.Store{knows("a", store.ByCall), knows("a", store.ByCall, "x")}, []transcript.ID{"x"}, true},
		"and the other one":                {[]store.Store{knows("a", store.ByEnvironment, "x"), knows("a", store.ByEnvironment, "x")}, []transcript.ID{"x"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := conversations.New(conversations.Options{}, test.stores...).Caller(t.Context(), caller.Caller{})
			if !slices.Equal(got.IDs, test.want) || got.Recorded != test.recorded {
				t.Errorf("%+v, want %v %v", got, test.want, test.recorded)
			}
		})
	}
}

// kinStore has conversations with parents.
type kinStore struct {
	memoryStore
	parents map[transcript.ID]transcript.ID
}

func (k *kinStore) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	l, err := k.memoryStore.List(ctx, scope)
	for i := range l.Conversations {
		l.Conversations[i].Parent = k.parents[l.Conversations[i].ID]
	}
	return l, err
}

// Of random families, with parents that are gone and circles, a search leaves out the
// conversation that calls, all it comes from and all that come from it, and no other.
func TestKinIsLeftOut(t *testing.T) {
	t.Parallel()
	for seed := range uint64(80) {
		random := rand.New(rand.NewPCG(seed, 1))
		k := &kinStore{parents: map[transcript.ID]transcript.ID{}}
		k.conversations = map[transcript.ID][]string{}
		n := 1 + random.IntN(12)
		name := func(i int) transcript.ID { return transcript.ID(fmt.Sprintf("memory-%d", i)) }
		for i := range n {
			k.conversations[name(i)] = []string{"the word"}
			if random.IntN(3) > 0 {
				k.parents[name(i)] = name(random.IntN(n + 2)) // some are not there
			}
		}
		caller := name(random.IntN(n + 1))
		comesFrom := func(id, from transcript.ID) bool {
			for range n + 1 {
				id = k.parents[id]
				if id == from {
					return true
				}
			}
			return false
		}
		var want, got []transcript.ID
		for i := range n {
			if id := name(i); id != caller && !comesFrom(id, caller) && !comesFrom(caller, id) {
				want = append(want, id)
			}
		}
		var out []string
		q := conversations.SearchQuery{Pattern: literal(t, "word", false)}
		q.Exclude, q.Kin = []string{string(caller)}, true
		found, err := conversations.New(conversations.Options{}, k).Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range found.Hits {
			got = append(got, h.Conversation.ID)
		}
		slices.SortFunc(got, transcript.ID.Compare)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: parents %v, caller %s: %s", seed, k.parents, caller, diff)
		}
		for _, id := range found.Excluded {
			out = append(out, string(id))
		}
		if len(out)+len(got) != n {
			t.Fatalf("seed %d: %d found, left out %v, of %d", seed, len(got), out, n)
		}
		// Those that are named are searched all the same.
		q.IDs = nil
		for i := range n {
			if name(i) != caller {
				q.IDs = append(q.IDs, string(name(i)))
			}
		}
		if len(q.IDs) == 0 {
			continue
		}
		named, err := conversations.New(conversations.Options{}, k).Search(t.Context(), q)
		if err != nil || len(named.Hits) != len(q.IDs) {
			t.Fatalf("seed %d: %d of those that are named, %v", seed, len(named.Hits), err)
		}
	}
}
