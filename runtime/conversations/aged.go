package conversations

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// A database that is too large to copy is answered from its index, if there is one. Messages that were recorded since
// are missing; the problem of the store has the time of the index.

// agedRecord is a conversation that is in an index and cannot be read.
type agedRecord struct {
	facts
	reason error
}

// Version implements [store.Record]. It returns an error, so that the index keeps what it has.
func (a *agedRecord) Version(context.Context) (string, error) { return "", a.reason }

// Read implements [store.Record]. It counts the events and returns none.
func (a *agedRecord) Read(_ context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	if yield != nil {
		return store.Totals{}, a.reason
	}
	return store.Totals{Turns: a.Size.Turns, Events: a.Events, LastAt: a.LastAt}, nil
}

// aged returns the conversations of a scope that the index of a store has besides the found ones, if one of the
// problems is a database that is too large to copy. It adds the time of the index to that problem.
func (a *asking) aged(s *source, scope store.Scope, found []store.Conversation, problems []Problem) (more []store.Conversation) {
	var large *store.CopyTooLargeError
	at := slices.IndexFunc(problems, func(p Problem) bool { return errors.As(p.Err, &large) })
	if at < 0 {
		return nil
	}
	note, _ := s.open()
	if s.view == nil {
		return nil
	}
	there := map[transcript.ID]bool{}
	for i := range found {
		there[found[i].ID] = true
	}
	text := large.Error() + "; what it had at " + time.Unix(note.Whole, 0).UTC().Format(time.DateTime) + " UTC is searched"
	reason := &toldError{errors.New(text), text}
	for _, c := range s.view.Conversations {
		f := readFacts(c)
		isHere := !a.isPart(s.Name()) || a.project.Has(f.Dir)
		if isHere && f.Read && !there[f.ID] && scope.Has(f.ID, f.Archived) {
			one := store.Conversation{Conversation: f.Conversation, LastAt: f.LastAt, Order: c.Order, Record: &agedRecord{f, reason}}
			one.Problems = []Problem{{Source: s.Name(), ID: f.ID, Err: reason}} // shown for a conversation that is named by its id
			more = append(more, one)
		}
	}
	if len(more) == 0 {
		return nil
	}
	problems[at].Err = reason
	slices.SortFunc(more, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	return more
}
