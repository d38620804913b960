package index

import (
	"context"
	"maps"
	"math/bits"
	"slices"
)

// mergeAt is the number of segments of similar size that are merged.
const mergeAt = 4

// merge merges segments of similar size, and rewrites segments if most of their conversations are removed.
func (w *Writer) merge(ctx context.Context) error {
	owners := ofParts(maps.Values(w.conversations))
	for {
		group := w.group(owners)
		if len(group) == 0 {
			return nil
		}
		err := w.index.guard(func() error {
			for _, s := range group {
				if err := w.copy(ctx, s, owners); err != nil {
					return err
				}
			}
			return w.write(ctx)
		})
		if w.failed = err; err != nil {
			return err
		}
		w.segments = slices.DeleteFunc(w.segments, func(s *segment) bool { return slices.Contains(group, s) })
	}
}

// group returns the segments to merge next.
func (w *Writer) group(owners map[uint32]*Conversation) []*segment {
	classes := map[int][]*segment{}
	most := w.builder.limits
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
		case s.Text <= int64(most.segment)/2 && int(s.messages) <= most.messages/2:
			class := bits.Len64(uint64(max(s.Text, int64(most.segment)/256))) / 2 //nolint:gosec // a size
			classes[class] = append(classes[class], s)
		}
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if all := classes[class]; len(all) >= mergeAt {
			return all
		}
	}
	return nil
}

// copy adds the messages of a segment that are not removed to the builder.
func (w *Writer) copy(ctx context.Context, s *segment, owners map[uint32]*Conversation) error {
	t := s.texts()
	of := map[uint32][]uint32{} // messages by part
	for n := range s.messages {
		part := s.owners[t.owner(n)]
		of[part] = append(of[part], n)
	}
	for _, part := range s.owners {
		if owners[part] == nil {
			continue
		}
		for _, n := range of[part] {
			m := Message{t.rows.number(n), t.rows.kind(n), t.rows.time(n), t.read(n), t.extra(n)}
			if err := w.add(ctx, part, owners[part], &m); err != nil {
				return err
			}
		}
		delete(of, part) // a merged segment can name a part twice
	}
	return nil
}
