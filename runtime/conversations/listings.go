package conversations

import (
	"context"
	"slices"
	"sync"

	"github.com/convtools/convtools/runtime/store"
)

// listings is what stores have listed, and the sessions that did.
type listings struct {
	mu     sync.Mutex
	opened map[store.Store]session
	done   map[listedSet]listing
}

// session is an opened store.
type session struct {
	store.Session
	unread []Problem
}

// open opens a store, or has it opened already.
func (l *listings) open(ctx context.Context, s store.Store) (store.Session, []Problem, error) {
	if l == nil {
		return s.Open(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if o, ok := l.opened[s]; ok {
		return o.Session, slices.Clone(o.unread), nil
	}
	opened, unread, err := s.Open(ctx)
	if err != nil {
		return nil, unread, err
	}
	if l.opened == nil {
		l.opened = map[store.Store]session{}
	}
	l.opened[s] = session{opened, unread}
	return opened, slices.Clone(unread), nil
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

// close closes the sessions.
func (l *listings) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.opened {
		o.Close()
	}
	l.opened, l.done = nil, nil
}

// listedSet is a set of conversations of a store.
type listedSet struct {
	store store.Store
	set   store.Set
}

// listing is what a store has listed. Nobody changes it.
type listing struct {
	found    []store.Conversation
	problems []Problem
}

// list lists a set of a store, which s is opened of, or has it listed already. What it
// returns is the caller's.
func (l *listings) list(ctx context.Context, of store.Store, s store.Session, set store.Set) ([]store.Conversation, []Problem, error) {
	if l == nil {
		return s.List(ctx, set)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	key := listedSet{of, set}
	done, ok := l.done[key]
	if !ok {
		var err error
		if done.found, done.problems, err = s.List(ctx, set); err != nil {
			return done.found, done.problems, err
		}
		if l.done == nil {
			l.done = map[listedSet]listing{}
		}
		l.done[key] = done
	}
	return slices.Clone(done.found), slices.Clone(done.problems), nil
}
