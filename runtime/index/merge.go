package index

import (
	"cmp"
	"context"
	"maps"
	"math/bits"
	"slices"
)

// mergeAt is the number of segments of similar size that are merged.
const mergeAt = 4

// merge merges segments of similar size, at least mergeAt at a time, as long as there are so many. It also rewrites a
// segment without its removed messages, if most of its parts are removed, or after Purge if any part is.
func (w *Writer) merge(ctx context.Context) error {
	conversations := conversationsByPart(maps.Values(w.conversations))
	for {
		group := w.nextGroup(conversations)
		if len(group) == 0 {
			return nil
		}
		err := w.index.guard(func() error {
			for _, s := range group {
				if err := w.copyMessages(ctx, s, conversations); err != nil {
					return err
				}
			}
			return cmp.Or(w.writeSegment(ctx), w.wait())
		})
		if err != nil {
			w.writing.Wait()
			w.failed = err // messages of the builder may be lost
			return err
		}
		w.segments = slices.DeleteFunc(w.segments, func(s *segment) bool { return slices.Contains(group, s) })
	}
}

// nextGroup returns the segments to merge next, or one segment to rewrite; nil if there are none. conversations has the
// conversation of each part; a part without a conversation is removed.
func (w *Writer) nextGroup(conversations map[uint32]*Conversation) []*segment {
	classes := map[int][]*segment{} // segments by their class of size
	limits := w.builder.limits
	for _, s := range w.segments {
		gone := 0
		for _, part := range s.owners { // the parts of conversations that the segment has messages of
			if conversations[part] == nil {
				gone++
			}
		}
		switch {
		case 2*gone > len(s.owners) || w.purge && gone > 0:
			return []*segment{s}
		case s.Text <= int64(limits.segment)/2 && int(s.messages) <= limits.messages/2:
			// Sizes of a class differ at most by the factor four; the smallest are one class.
			class := bits.Len64(uint64(max(s.Text, int64(limits.segment)/256))) / 2 //nolint:gosec // a size
			classes[class] = append(classes[class], s)
		}
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if group := classes[class]; len(group) >= mergeAt {
			return group
		}
	}
	return nil
}

// copyMessages copies the messages of a segment to the builder, part by part, without removed ones. conversations has
// the conversation of each part; the messages of a part without a conversation are removed.
func (w *Writer) copyMessages(ctx context.Context, s *segment, conversations map[uint32]*Conversation) error {
	t := s.texts()
	byPart := map[uint32][]uint32{} // the numbers of the messages in the segment, by their parts
	for n := range s.messages {
		part := s.owners[t.rows.owner(n)] // a message has the index of its part in s.owners
		byPart[part] = append(byPart[part], n)
	}
	for _, part := range s.owners {
		if conversations[part] == nil {
			continue // the messages are removed
		}
		for _, n := range byPart[part] {
			m := Message{t.rows.number(n), t.rows.kind(n), t.rows.time(n), t.read(n), t.extra(n)}
			if err := w.addMessage(ctx, part, conversations[part], &m); err != nil {
				return err
			}
		}
		delete(byPart, part) // a merged segment can name a part twice
	}
	return nil
}
