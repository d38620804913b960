package conversations

import (
	"context"
	"slices"
	"sync"

	"github.com/convtools/convtools/runtime/store"
)

// listings is what stores have listed, for one query or for several of one call.
type listings struct {
	mu     sync.Mutex
	done   map[listedSet]*store.Listing
	listed []*store.Listing // all
}

// listedSet is a set of conversations of a store.
type listedSet struct {
	store store.Store
	set   store.Set
}

// listing returns what stores have listed for this query, so that each is listed once, and a
// function that ends its use.
func (l *Library) listing() (listed *listings, done func()) {
	if l.listed != nil {
		return l.listed, func() {}
	}
	listed = &listings{}
	return listed, listed.close
}

// close closes the listings.
func (l *listings) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.listed {
		one.Close()
	}
	l.listed, l.done = nil, nil
}

// list has a store list a scope, unless it has listed it. What it returns is the caller's.
func (l *listings) list(ctx context.Context, s store.Store, scope store.Scope) ([]store.Conversation, []Problem, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := listedSet{s, scope.Set}
	done := l.done[key]
	if done == nil || len(scope.IDs) > 0 {
		var err error
		if done, err = s.List(ctx, scope); err != nil {
			return nil, nil, err
		}
		l.listed = append(l.listed, done)
	}
	if l.done == nil {
		l.done = map[listedSet]*store.Listing{}
	}
	if len(scope.IDs) == 0 {
		l.done[key] = done
	}
	return slices.Clone(done.Conversations), slices.Clone(done.Problems), nil
}
