package store

import (
	"context"
	"errors"

	"github.com/convtools/convtools/runtime/transcript"
)

// What is in this file is for stores that do not implement [Store] and [Record] by themselves
// yet.

// Session is a store opened for one query.
type Session interface {
	List(ctx context.Context, set Set) ([]Conversation, []Problem, error)
	// Find returns one conversation, live or archived. The error is a [*NotFoundError] where
	// there is none.
	Find(ctx context.Context, id transcript.ID) (Conversation, error)
	Close()
}

// ListSession makes a listing of a session, which it closes.
func ListSession(ctx context.Context, scope Scope, s Session, problems []Problem, err error) (*Listing, error) {
	if err != nil {
		return nil, err
	}
	l := &Listing{Problems: problems, Release: s.Close}
	if len(scope.IDs) == 0 {
		var more []Problem
		l.Conversations, more, err = s.List(ctx, scope.Set)
		l.Problems = append(l.Problems, more...)
	}
	for _, id := range scope.IDs {
		c, e := s.Find(ctx, id)
		var missing *NotFoundError
		switch {
		case e == nil:
			l.Conversations = append(l.Conversations, c)
		case !errors.As(e, &missing):
			err = e
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return l, nil
}

// Events reads the events of a conversation, one after the other.
type Events interface {
	Next(ctx context.Context) bool
	Event() *transcript.Event
	Err() error
	Totals() Totals
	Restart()
	Close()
}

// Resumable is [Events] that may go on after what was read another time.
type Resumable interface {
	Mark(ctx context.Context) []byte
	Resume(ctx context.Context, mark []byte) bool
}

// ReadEvents implements [Record.Read] with events.
func ReadEvents(ctx context.Context, events Events, err error, mark *[]byte, yield func(*transcript.Event) bool) (Totals, error) {
	if err != nil {
		return Totals{}, err
	}
	defer events.Close()
	resumable, ok := events.(Resumable)
	if mark != nil && len(*mark) > 0 && (!ok || !resumable.Resume(ctx, *mark)) {
		return Totals{}, ErrChanged
	}
	for events.Next(ctx) {
		if yield != nil && !yield(events.Event()) {
			return events.Totals(), nil
		}
	}
	if mark != nil {
		if *mark = nil; ok && events.Err() == nil {
			*mark = resumable.Mark(ctx)
		}
	}
	return events.Totals(), events.Err()
}
