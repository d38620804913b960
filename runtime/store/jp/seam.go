package jp

import (
	"context"

	"github.com/convtools/convtools/runtime/store"
)

// List implements [store.Store].
func (s *Workspace) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	opened, problems, err := s.Open(ctx)
	l, err := store.ListSession(ctx, scope, opened, problems, err)
	if err != nil {
		return nil, err
	}
	l.Remarks = s.Remarks(ctx)
	return l, nil
}

// Version implements [store.Store].
func (s *Workspace) Version(context.Context) (string, error) { return "", nil }
