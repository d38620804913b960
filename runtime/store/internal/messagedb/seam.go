package messagedb

import (
	"context"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// List implements [store.Store].
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	opened, problems, err := s.Open(ctx)
	return store.ListSession(ctx, scope, opened, problems, err)
}

// Read implements [store.Record].
func (r *record) Read(ctx context.Context, mark *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	events, err := r.Events(ctx)
	return store.ReadEvents(ctx, events, err, mark, yield)
}
