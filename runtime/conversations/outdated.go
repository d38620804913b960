package conversations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// outdatedRecord is a conversation that an index has, and that cannot be read.
type outdatedRecord struct {
	facts
	err error
}

// Version implements [store.Record]. It returns an error, so that the index keeps the conversation as it has it.
func (r *outdatedRecord) Version(context.Context) (string, error) { return "", r.err }

// Read implements [store.Record]. Without yield it returns the totals in the index, with yield an error.
func (r *outdatedRecord) Read(_ context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	if yield != nil {
		return store.Totals{}, r.err
	}
	return store.Totals{Turns: r.Size.Turns, Events: r.Events, LastAt: r.LastAt}, nil
}

// fromIndex returns conversations in a scope that the index of a store has and listed does not have. It does so only if
// one of the problems of listing is a database that is too large to copy; otherwise it returns none. If it returns
// conversations, it changes the error of that problem, to say when they were indexed.
func (q *query) fromIndex(s *source, scope store.Scope, listed []store.Conversation, problems []Problem) (list []store.Conversation) {
	var large *store.CopyTooLargeError
	i := slices.IndexFunc(problems, func(p Problem) bool { return errors.As(p.Err, &large) })
	note, isIndexed := s.open()
	if i < 0 || !isIndexed {
		return nil
	}
	err := store.StateError(fmt.Sprintf("%v; what it had at %s UTC is searched", large, time.Unix(note.Listed, 0).UTC().Format(time.DateTime)))
	for _, c := range s.view.Conversations {
		f := readFacts(c)
		isListed := slices.ContainsFunc(listed, func(l store.Conversation) bool { return l.ID == f.ID })
		isHere := !q.isPart(s.Name()) || q.project.Has(f.Dir) // the library has the whole store, or only a project's part
		if isInScope := isHere && scope.Has(f.ID, f.Archived); !isInScope || isListed || !f.Read {
			continue
		}
		problem := Problem{Source: s.Name(), ID: f.ID, Err: err} // shown for a conversation that is named by its id
		list = append(list, store.Conversation{
			Conversation: f.Conversation, LastAt: f.LastAt, Order: c.Order, Record: &outdatedRecord{f, err}, Problems: []Problem{problem},
		})
	}
	if len(list) > 0 {
		problems[i].Err = err
	}
	slices.SortFunc(list, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	return list
}
