package jp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/jpevents"
	"github.com/convtools/convtools/runtime/transcript"
)

// stream is the events of a conversation and the configuration that it was begun with, from
// the copy that counts.
type stream struct {
	from   place
	events []byte
	base   []byte // nil for none
}

// stream reads the stream of a conversation. Events that are damaged are an error: JP would
// throw away what has them.
func (c *writing) stream(copies []place) (s stream, err error) {
	const maxBaseConfigSize = 16 << 20 // it holds all of JP's configuration
	id := copies[0].number.id()
	if s.events, s.from, err = c.readFirst(c.byStream(copies), EventsFile, c.w.maxEvents); err != nil {
		return s, about(id, fmt.Errorf("its events cannot be read: %w", err))
	}
	s.base, err = c.read(s.from.store, path.Join(s.from.dir, BaseConfigFile), maxBaseConfigSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, c.failed(s.from.store, err)
	}
	totals, err := jpevents.Scan(s.events, func(*jpevents.Event) bool { return true })
	switch {
	case err != nil:
		return s, about(id, fmt.Errorf("%s is damaged: %w", EventsFile, err))
	case totals.Uncounted != nil:
		return s, about(id, fmt.Errorf("%s cannot be used by JP: %w", EventsFile, totals.Uncounted))
	}
	return s, nil
}

// files returns the files of a stream. Where a copy is overwritten with them, its events are the
// newer ones as soon as the stream of that copy is.
func (s *stream) files() []file {
	all := []file{{name: EventsFile, data: s.events}}
	if s.base != nil {
		all = append(all, file{name: BaseConfigFile, data: s.base})
	}
	return all
}

// Append adds events at the end of a conversation, live or archived, as one change.
func (wr *Writer) Append(ctx context.Context, id transcript.ID, added ...NewEvent) error {
	text, err := layEvents(added)
	if err != nil {
		return err
	}
	return wr.change(ctx, id, func(c *writing, copies []place) error {
		s, err := c.stream(copies)
		if err != nil || len(added) == 0 {
			return err
		}
		s.events = appended(s.events, text)
		if int64(len(s.events)) > c.w.maxEvents {
			return about(id, tooLarge(EventsFile, c.w.maxEvents))
		}
		list := in(s.from, s.files()) // of the copy that counts first
		for _, p := range copies {
			if p != s.from {
				list = append(list, in(p, s.files())...)
			}
		}
		return c.write(list...)
	})
}

// appended returns an array with more elements.
func appended(array, elements []byte) []byte {
	const space = " \t\r\n"
	body := bytes.TrimRight(bytes.TrimSuffix(bytes.TrimRight(array, space), []byte("]")), space)
	comma := ","
	if body[len(body)-1] == '[' {
		comma = ""
	}
	return slices.Concat(body, []byte(comma), elements, []byte("\n]\n"))
}

// Cut is the turns that a fork has of its source; the zero value stands for all of
// them. Turns are cut as a whole, so that no tool call loses its result.
type Cut struct {
	// From and Until, where they are not zero, leave the turns that began at From or
	// later, and before Until.
	From, Until time.Time
	// First and Last leave so many turns of those, from the beginning and from the end:
	// where both are there, those of either. Nil is no bound.
	First, Last *int
	// None leaves no turn at all, and of what stands outside of turns only the
	// configuration.
	None bool
}

// of returns the events of the turns that are kept, byte for byte, and what stands outside of
// turns: as in JP, all but compactions of what is not as it was. The events are whole.
func (t Cut) of(data []byte) []byte {
	kept := t.turns(data)
	untouched := slices.Index(kept, false) // turns
	if untouched < 0 && !t.None {
		return data
	}
	var all []byte
	_, _ = jpevents.Scan(data, func(e *jpevents.Event) bool {
		isKept := false
		switch {
		case e.Kind == transcript.KindCompaction:
			isKept = !t.None && e.CompactedTurns() <= untouched
		case e.Kind.Global():
			isKept = !t.None || e.Kind == transcript.KindConfigDelta
		default:
			isKept = kept[e.Turn-1]
		}
		if isKept {
			all = append(append(all, ",\n  "...), e.Raw...)
		}
		return true
	})
	if all == nil {
		return []byte("[]\n")
	}
	all[0] = '['
	return append(all, "\n]\n"...)
}

// turns reports of each turn whether it is kept.
func (t Cut) turns(data []byte) []bool {
	var began []time.Time
	_, _ = jpevents.Scan(data, func(e *jpevents.Event) bool {
		if e.Turn > len(began) {
			began = append(began, e.Time())
		}
		return true
	})
	var in []int // turns
	for turn, at := range began {
		if !t.None && !at.Before(t.From) && (t.Until.IsZero() || at.Before(t.Until)) {
			in = append(in, turn)
		}
	}
	first, last := len(in), 0
	if t.First != nil || t.Last != nil {
		first, last = orZero(t.First), orZero(t.Last)
	}
	kept := make([]bool, len(began))
	for n, turn := range in {
		kept[turn] = n < first || n >= len(in)-last
	}
	return kept
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}
