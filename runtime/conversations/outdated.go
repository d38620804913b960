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

// outdatedError is the error for a database that is too large to copy, and answered from its index instead.
type outdatedError struct {
	*store.CopyTooLargeError
	indexed time.Time
}

func (e *outdatedError) Error() string {
	return fmt.Sprintf("%v; what it had at %s UTC is searched", e.CopyTooLargeError, e.indexed.Format(time.DateTime))
}

// ForModel returns the text for a model.
func (e *outdatedError) ForModel() string { return e.Error() }

// outdatedRecord is a conversation that is in an index and cannot be read.
type outdatedRecord struct {
	facts
	err error
}

// Version implements [store.Record]. It returns an error, so that the index keeps what it has.
func (r *outdatedRecord) Version(context.Context) (string, error) { return "", r.err }

// Read implements [store.Record]. It counts the events and returns none.
func (r *outdatedRecord) Read(_ context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	if yield != nil {
		return store.Totals{}, r.err
	}
	return store.Totals{Turns: r.Size.Turns, Events: r.Events, LastAt: r.LastAt}, nil
}

// indexed returns the conversations of a scope that only the index of a store has, if one of the problems of listing
// it is a database that is too large to copy. It adds the time of the index to that problem.
func (q *query) indexed(s *source, scope store.Scope, listed []store.Conversation, problems []Problem) (list []store.Conversation) {
	var large *store.CopyTooLargeError
	at := slices.IndexFunc(problems, func(p Problem) bool { return errors.As(p.Err, &large) })
	note, ok := s.open()
	if at < 0 || !ok {
		return nil
	}
	err := &outdatedError{large, time.Unix(note.Listed, 0).UTC()}
	for _, c := range s.view.Conversations {
		f := readFacts(c)
		isListed := slices.ContainsFunc(listed, func(l store.Conversation) bool { return l.ID == f.ID })
		isHere := !q.isPart(s.Name()) || q.project.Has(f.Dir)
		if !isHere || isListed || !f.Read || !scope.Has(f.ID, f.Archived) {
			continue
		}
		problem := Problem{Source: s.Name(), ID: f.ID, Err: err} // shown for a conversation that is named by its id
		list = append(list, store.Conversation{
			Conversation: f.Conversation, LastAt: f.LastAt, Order: c.Order, Record: &outdatedRecord{f, err}, Problems: []Problem{problem},
		})
	}
	if len(list) > 0 {
		problems[at].Err = err
	}
	slices.SortFunc(list, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	return list
}
