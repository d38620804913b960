package conversations

import (
	"context"

	"github.com/convtools/convtools/runtime/index"
	"github.com/convtools/convtools/runtime/store"
)

// refreshFor brings the indexes of the stores that a filter lets through up to date. Where they
// cannot be written, they are in memory, for as long as the library is used.
func (l *Library) refreshFor(ctx context.Context, f *Filter, anew bool, aside *Aside) error {
	if l.indexes == nil {
		l.indexes = &Indexes{open: map[string]*index.Index{}}
	}
	var asked []store.Store
	for _, s := range l.stores {
		if f.asks(s.Name()) {
			asked = append(asked, s)
		}
	}
	reports, err := l.refreshIndexes(ctx, asked, refresh{wait: true, anew: anew})
	if err != nil {
		return err
	}
	for i, r := range reports {
		if r.Err != nil {
			l.indexes.inMemory(asked[i])
			again, err := l.refreshIndexes(ctx, asked[i:i+1], refresh{wait: true})
			if err != nil {
				return err
			}
			r = again[0]
		}
		if r.Err != nil {
			aside.Problems = append(aside.Problems, Problem{Source: r.Store, Path: r.Place, Err: r.Err})
		}
	}
	return nil
}
