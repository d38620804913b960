package conversations

import (
	"context"
	"maps"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// refreshed is what became of indexes that were brought up to date.
type refreshed struct {
	unread map[transcript.ID]*Problem // what could not be read just now
	closed map[store.Store]bool       // what could not be opened, or listed
}

// refreshFor brings the indexes of the stores that a filter lets through up to date. Where they
// cannot be written, they are in memory, for as long as the library is used. A store that cannot be
// opened is left to who opens it next.
func (l *Library) refreshFor(ctx context.Context, f *Filter, listed *listings, aside *Aside) (refreshed, error) {
	done := refreshed{unread: map[transcript.ID]*Problem{}, closed: map[store.Store]bool{}}
	var asked []store.Store
	for _, s := range l.stores {
		if f.asks(s.Name()) {
			asked = append(asked, s)
		}
	}
	reports, err := l.refreshIndexes(ctx, asked, refresh{wait: true, listed: listed, progress: l.progress})
	if err != nil {
		return done, err
	}
	for i, r := range reports {
		if r.isClosed {
			done.closed[asked[i]] = true
			continue
		}
		if r.Err != nil {
			l.indexes.inMemory(asked[i], r.used)
			again, err := l.refreshIndexes(ctx, asked[i:i+1], refresh{wait: true, listed: listed, progress: l.progress})
			if err != nil {
				return done, err
			}
			r = again[0]
		}
		if r.Err != nil {
			aside.Problems = append(aside.Problems, Problem{Source: r.Store, Path: r.Place, Err: r.Err})
		}
		maps.Copy(done.unread, r.unread)
	}
	if err := l.forget(); err != nil { // which is no reason not to answer
		aside.Problems = append(aside.Problems, Problem{Path: l.indexes.dir, Err: err})
	}
	return done, ctx.Err()
}
