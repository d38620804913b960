package jp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// keepAfter is when edits are looked at again. JP locks a conversation some milliseconds after it has read it.
const keepAfter = 100 * time.Millisecond

// Keep waits a moment, reads conversations again that were edited, and makes each edit once more that is gone: JP reads a
// conversation before it locks it, and writes all of its metadata as it has read it.
func (wr *Writer) Keep(ctx context.Context, edits ...Edited) error {
	edits = slices.DeleteFunc(slices.Clone(edits), func(e Edited) bool { return !e.Changed })
	if len(edits) == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(keepAfter):
	}
	opened, _, err := wr.w.Open(ctx)
	if err != nil {
		return err
	}
	defer opened.Close()
	var errs []error
	for _, e := range edits {
		now, err := opened.Find(ctx, e.After.ID)
		if err == nil && unusable(now.Problems) == nil && e.isUndone(now.Conversation) {
			_, err = wr.Edit(ctx, e.After.ID, func(now transcript.Conversation) Change {
				if e.isUndone(now) {
					return e.change
				}
				return Change{}
			})
		}
		var missing *store.NotFoundError
		if err != nil && !errors.As(err, &missing) { // what was removed meanwhile has no metadata to keep
			errs = append(errs, &ConversationError{e.After.ID, fmt.Errorf("the change may have been undone by a process that had read it before: %w", err)})
		}
	}
	return errors.Join(errs...)
}

// isUndone reports whether something that an edit changed is as it was before.
func (e *Edited) isUndone(now transcript.Conversation) bool {
	was, is := e.Before, e.After
	for _, labels := range []map[string]string{was.Labels, is.Labels} {
		for key := range labels {
			if undone(labelOf(was, key), labelOf(is, key), labelOf(now, key)) {
				return true
			}
		}
	}
	return undone(was.Title, is.Title, now.Title) || undone(was.Hidden, is.Hidden, now.Hidden) ||
		undone(was.PinnedAt.UnixNano(), is.PinnedAt.UnixNano(), now.PinnedAt.UnixNano()) ||
		undone(was.ExpiresAt.UnixNano(), is.ExpiresAt.UnixNano(), now.ExpiresAt.UnixNano())
}

func undone[T comparable](was, is, now T) bool { return is != was && now == was }

// labelOf returns what a conversation has as a label, and "none" where it has none.
func labelOf(c transcript.Conversation, key string) string {
	value, there := c.Labels[key]
	if !there {
		return "none"
	}
	return "=" + value
}
