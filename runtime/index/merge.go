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

// merge merges groups of segments of similar size until no group has mergeAt segments. It also rewrites, without removed
// messages, each segment that has mostly removed parts, and after Purge each that has one.
func (w *Writer) merge(ctx context.Context) error {
	owners := conversationsByPart(maps.Values(w.conversations))
	for {
		group := w.nextGroup(owners)
		if len(group) == 0 {
			return nil
		}
		err := w.index.guard(func() error {
			for _, s := range group {
				if err := w.copyMessages(ctx, s, owners); err != nil {
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

// nextGroup returns the segments to merge next, or one segment to rewrite; nil if there are none. owners are the
// conversations by their parts; a part without a conversation is removed.
func (w *Writer) nextGroup(owners map[uint32]*Conversation) []*segment {
	classes := map[int][]*segment{} // segments by their class of size
	limits := w.builder.limits
	for _, s := range w.segments {
		gone := 0
		for _, part := range s.owners {
			if owners[part] == nil {
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

// copyMessages adds the messages of a segment that are not removed to the builder, part by part.
func (w *Writer) copyMessages(ctx context.Context, s *segment, owners map[uint32]*Conversation) error {
	t := s.texts()
	byPart := map[uint32][]uint32{} // the messages by their parts
	for n := range s.messages {
		part := s.owners[t.rows.owner(n)]
		byPart[part] = append(byPart[part], n)
	}
	for _, part := range s.owners {
		if owners[part] == nil {
			continue // the messages are removed
		}
		for _, n := range byPart[part] {
			m := Message{t.rows.number(n), t.rows.kind(n), t.rows.time(n), t.read(n), t.extra(n)}
			if err := w.addMessage(ctx, part, owners[part], &m); err != nil {
				return err
			}
		}
		delete(byPart, part) // a merged segment can name a part twice
	}
	return nil
}
