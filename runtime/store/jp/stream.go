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

// maxBaseConfigSize bounds base_config.json, which holds all of JP's configuration.
const maxBaseConfigSize = 16 << 20

// stream is the events of a conversation and the configuration that it was begun with, from
// the copy that counts.
type stream struct {
	store  int
	events []byte
	base   []byte // nil for none
}

// stream reads the stream of a conversation. Events that are damaged are an error: JP would
// throw away what has them.
func (c *writing) stream(p place) (s stream, err error) {
	if s.events, s.store, err = c.readFirst(&p, c.byStream(&p), eventsFile, c.w.maxEvents); err != nil {
		return s, &ConversationError{p.number.id(), fmt.Errorf("its events cannot be read: %w", err)}
	}
	s.base, err = c.read(s.store, path.Join(p.dirs[s.store], baseConfigFile), maxBaseConfigSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, c.failed(s.store, err)
	}
	totals, err := jpevents.Scan(s.events, func(*jpevents.Event) bool { return true })
	switch {
	case err != nil:
		return s, &ConversationError{p.number.id(), fmt.Errorf("%s is damaged: %w", eventsFile, err)}
	case totals.Uncounted != nil:
		return s, &ConversationError{p.number.id(), fmt.Errorf("%s cannot be used by JP: %w", eventsFile, totals.Uncounted)}
	}
	return s, nil
}

// files are the files of a stream.
func (s *stream) files() []newFile {
	if s.base == nil {
		return []newFile{{eventsFile, s.events}}
	}
	return []newFile{{baseConfigFile, s.base}, {eventsFile, s.events}}
}

// Append adds events at the end of a conversation, live or archived, as one change.
func (wr *Writer) Append(ctx context.Context, id transcript.ID, added ...NewEvent) error {
	text, err := layEvents(added)
	if err != nil {
		return err
	}
	return wr.change(ctx, id, func(c *writing, copies []found) error {
		p := c.place(copies)
		s, err := c.stream(p)
		if err != nil || len(added) == 0 {
			return err
		}
		s.events = appended(s.events, text)
		if int64(len(s.events)) > c.w.maxEvents {
			return &ConversationError{id, tooLarge(eventsFile, c.w.maxEvents)}
		}
		list := copyOf(s.store, p.dirs[s.store], []newFile{{eventsFile, s.events}}) // of the copy that counts first
		if other := numStores - 1 - s.store; p.dirs[other] != "" {
			all := s.files()
			slices.Reverse(all)
			list = append(list, copyOf(other, p.dirs[other], all)...)
		}
		return c.replace(list...)
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
	isKept := func(e *jpevents.Event) bool {
		switch {
		case e.Kind == transcript.KindCompaction:
			return !t.None && e.CompactedTurns() <= untouched
		case e.Kind.Global():
			return !t.None || e.Kind == transcript.KindConfigDelta
		}
		return kept[e.Turn-1]
	}
	var all []byte
	_, _ = jpevents.Scan(data, func(e *jpevents.Event) bool {
		if isKept(e) {
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
	var kept []bool
	left := 0
	_, _ = jpevents.Scan(data, func(e *jpevents.Event) bool {
		if e.Turn > len(kept) {
			began := e.Time()
			in := !t.None && !began.Before(t.From) && (t.Until.IsZero() || began.Before(t.Until))
			if kept = append(kept, in); in {
				left++
			}
		}
		return true
	})
	if t.First == nil && t.Last == nil {
		return kept
	}
	first, last, n := 0, 0, 0
	if t.First != nil {
		first = *t.First
	}
	if t.Last != nil {
		last = *t.Last
	}
	for turn, in := range kept {
		if in {
			kept[turn] = n < first || n >= left-last
			n++
		}
	}
	return kept
}
