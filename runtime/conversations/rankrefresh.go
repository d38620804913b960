package conversations

import (
	"context"
	"errors"

	"github.com/convtools/convtools/runtime/store"
)

// ErrNoIndex is the error where there is no place for what is read of conversations.
var ErrNoIndex = errors.New("there is no cache directory")

// refreshFor brings the indexes of the stores that a filter lets through up to date.
func (l *Library) refreshFor(ctx context.Context, f *Filter, aside *Aside) error {
	if l.indexes == nil {
		return ErrNoIndex
	}
	var asked []store.Store
	for _, s := range l.stores {
		if f.asks(s.Name()) {
			asked = append(asked, s)
		}
	}
	reports, err := l.refreshIndexes(ctx, asked, nil)
	if err != nil {
		return err
	}
	for _, r := range reports {
		if r.Err != nil {
			aside.Problems = append(aside.Problems, Problem{Source: r.Store, Path: r.Place, Err: r.Err})
		}
	}
	return nil
}
