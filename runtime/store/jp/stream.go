package jp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/jp/internal/events"
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
	var missing error
	for _, i := range c.byAge(&p, eventsFile, baseConfigFile) {
		s.store = i
		s.events, err = c.read(i, path.Join(p.dirs[i], eventsFile), c.w.maxEvents)
		if errors.Is(err, fs.ErrNotExist) {
			missing = cmp.Or(missing, err)
			continue
		}
		if err == nil {
			s.base, err = c.read(i, path.Join(p.dirs[i], baseConfigFile), maxBaseConfigSize)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s, c.failed(i, err)
		}
		return s, s.check(p.number.id())
	}
	return s, &ConversationError{p.number.id(), fmt.Errorf("it has no events: %w", reason(missing))}
}

// check reads events to the end.
func (s *stream) check(id transcript.ID) error {
	scanner := events.NewScanner(s.events)
	for scanner.Next() {
	}
	if err := scanner.Err(); err != nil {
		return &ConversationError{id, fmt.Errorf("%s is damaged: %w", eventsFile, err)}
	}
	if err := scanner.Totals().Uncounted; err != nil {
		return &ConversationError{id, fmt.Errorf("%s cannot be used by JP: %w", eventsFile, err)}
	}
	return nil
}

// files are the files of a stream.
func (s *stream) files() []newFile {
	if s.base == nil {
		return []newFile{{eventsFile, s.events}}
	}
	return []newFile{{baseConfigFile, s.base}, {eventsFile, s.events}}
}

// Append adds events to a conversation, live or archived, as one change. A turn goes before those that began later, and all
// are under the model that the conversation was begun with, whatever model JP was told to use meanwhile.
func (wr *Writer) Append(ctx context.Context, id transcript.ID, added ...NewEvent) error {
	if _, err := layEvents(added); err != nil {
		return err
	}
	return wr.change(ctx, id, func(c *writing, copies []found) error {
		p := c.place(copies)
		s, err := c.stream(p)
		if err != nil || len(added) == 0 {
			return err
		}
		data, err := s.with(added)
		if err != nil {
			return err
		}
		if size := int64(len(data)); size > c.w.maxEvents {
			return tooLarge(eventsFile, size, c.w.maxEvents)
		}
		list := []replacement{{s.store, p.dirs[s.store], eventsFile, data}} // of the copy that counts first
		if other := numStores - 1 - s.store; p.dirs[other] != "" {
			list = append(list, replacement{other, p.dirs[other], eventsFile, data})
			if s.base != nil {
				list = append(list, replacement{other, p.dirs[other], baseConfigFile, s.base})
			}
		}
		return c.replace(list...)
	})
}

// with returns the events with others where they belong.
func (s *stream) with(added []NewEvent) ([]byte, error) {
	first := bytes.IndexByte(s.events, '[') + 1
	at, last := s.gap(first, added[0])
	text, err := layEvents(s.underOwnModel(at.model, added))
	if err != nil {
		return nil, err
	}
	var before, after []byte
	if at.offset > first {
		before = []byte(",")
	} else if at.offset < last {
		after = []byte(",")
	}
	rest := s.events[at.offset:]
	if at.offset == last {
		rest = []byte("\n]\n")
	}
	return slices.Concat(s.events[:at.offset], before, text, after, rest), nil
}

// gap is the place of new events in a stream: after an event, or the bracket.
type gap struct {
	offset int
	model  string // that the last change of the configuration before it names; empty for none
}

// gap returns the place of new events, given the first of them, and where the last event ends.
func (s *stream) gap(offset int, added NewEvent) (at gap, last int) {
	here := gap{offset: offset}
	var found *gap // before a later turn
	var later *gap // before the changes of the configuration that belong to one
	scanner := events.NewScanner(s.events)
	for scanner.Next() {
		e := scanner.Event()
		before := here
		here.offset = int(e.Offset) + len(e.Raw())
		isLater := e.Time().After(added.At)
		if e.Kind == transcript.KindConfigDelta {
			if isLater && later == nil {
				later = &before
			}
			here.model = cmp.Or(modelIn(e.Raw()), here.model)
			continue
		}
		switch {
		case e.Kind == transcript.KindCompaction: // it counts turns from the beginning
			found = nil
		case e.Kind == transcript.KindTurnStart && added.Kind == transcript.KindTurnStart && isLater && found == nil:
			found = cmp.Or(later, &before)
		}
		later = nil
	}
	return *cmp.Or(found, &here), here.offset
}

// modelIn returns the model that a change of the configuration names; empty for none.
func modelIn(raw []byte) string {
	var e struct {
		Delta map[string]any `json:"delta"`
	}
	if json.Unmarshal(raw, &e) != nil {
		return ""
	}
	return modelID(e.Delta)
}

// modelID returns the model of a configuration as JP spells it in one word; empty for none.
func modelID(config map[string]any) string {
	switch id := at(config, "assistant", "model", "id").(type) {
	case string:
		return id
	case map[string]any:
		provider, _ := id["provider"].(string)
		name, _ := id["name"].(string)
		return provider + "/" + name
	}
	return ""
}

// underOwnModel returns events as they are, or, where JP was told to use another model than that of the base configuration,
// between two changes of the configuration: to that model, and back to JP's.
func (s *stream) underOwnModel(model string, added []NewEvent) []NewEvent {
	var base map[string]any
	if model == "" || json.Unmarshal(s.base, &base) != nil { // there need not be one
		return added
	}
	own := modelID(base)
	if own == "" || own == model {
		return added
	}
	change := func(model string, at time.Time) []NewEvent {
		return []NewEvent{{At: at, Kind: transcript.KindConfigDelta, delta: nested(model, "assistant", "model", "id")}}
	}
	return slices.Concat(change(own, added[0].At), added, change(model, added[len(added)-1].At))
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
// turns: as in JP, all but compactions of what is not as it was.
func (t Cut) of(data []byte) []byte {
	kept := t.turns(data)
	untouched := slices.Index(kept, false) // turns
	if untouched < 0 && !t.None {
		return data
	}
	var all []byte
	scanner := events.NewScanner(data)
	for scanner.Next() {
		e := scanner.Event()
		switch {
		case e.Kind == transcript.KindCompaction:
			if t.None || e.CompactedTurns() > untouched {
				continue
			}
		case e.Kind.Global():
			if t.None && e.Kind != transcript.KindConfigDelta {
				continue
			}
		case !kept[e.Turn-1]:
			continue
		}
		all = append(append(all, ",\n  "...), e.Raw()...)
	}
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
	scanner := events.NewScanner(data)
	for scanner.Next() {
		e := scanner.Event()
		if e.Turn <= len(kept) {
			continue
		}
		began := e.Time()
		in := !t.None && !began.Before(t.From) && (t.Until.IsZero() || began.Before(t.Until))
		if kept = append(kept, in); in {
			left++
		}
	}
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
