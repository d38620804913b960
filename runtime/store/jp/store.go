package jp

import (
	"context"
	"errors"

	"github.com/convtools/convtools/runtime/store"
)

// List implements [store.Store].
func (w *Workspace) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	s, unopened, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	l := &store.Listing{Remarks: w.Remarks(ctx), Release: s.Close}
	if len(scope.IDs) == 0 {
		l.Conversations, l.Problems, err = s.List(ctx, scope.Set)
	}
	l.Problems = append(unopened[:len(unopened):len(unopened)], l.Problems...)
	for _, id := range scope.IDs {
		c, findErr := s.Find(ctx, id)
		var missing *store.NotFoundError
		switch {
		case findErr == nil:
			l.Conversations = append(l.Conversations, c)
		case !errors.As(findErr, &missing):
			err = findErr
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return l, nil
}

// Version implements [store.Store].
func (w *Workspace) Version(context.Context) (string, error) { return "", nil }
