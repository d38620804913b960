package jp

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

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

func (t Cut) all() bool { return t == (Cut{}) }

// cutStream has the file of events hold the turns of a cut alone. files are those
// of a stream, opened.
func (c *writing) cutStream(ctx context.Context, p place, files []newFile, events *file, cut Cut) error {
	r, err := newReader(&record{s: c.session, place: p}, events)
	if err != nil {
		return err
	}
	turns, err := keptTurns(ctx, r, cut)
	if err != nil {
		return err
	}
	if !slices.Contains(turns, false) && !cut.None {
		return nil
	}
	i := slices.IndexFunc(files, func(f newFile) bool { return f.name == eventsFile })
	files[i].write = func(w io.Writer) error {
		r.Restart()
		return writeTurns(ctx, w, r, turns, cut.None)
	}
	return nil
}

// keptTurns reports of each turn whether it is kept.
func keptTurns(ctx context.Context, r *reader, cut Cut) ([]bool, error) {
	var kept []bool
	left := 0
	for r.Next(ctx) {
		e := r.scanner.Event()
		if e.Turn <= len(kept) {
			continue
		}
		began := e.Time()
		in := !cut.None && !began.Before(cut.From) && (cut.Until.IsZero() || began.Before(cut.Until))
		if kept = append(kept, in); in {
			left++
		}
	}
	if cut.First == nil && cut.Last == nil {
		return kept, r.Err()
	}
	first, last := 0, 0
	if cut.First != nil {
		first = *cut.First
	}
	if cut.Last != nil {
		last = *cut.Last
	}
	n := 0
	for turn, in := range kept {
		if in {
			kept[turn] = n < first || n >= left-last
			n++
		}
	}
	return kept, r.Err()
}

// writeTurns writes the events of the turns that are kept, byte for byte, and what
// stands outside of turns: as in JP, all but compactions of what is not as it was.
func writeTurns(ctx context.Context, w io.Writer, r *reader, kept []bool, onlyConfig bool) error {
	untouched := slices.Index(kept, false) // turns
	between := "[\n  "
	for r.Next(ctx) {
		e := r.scanner.Event()
		switch {
		case e.Kind == transcript.KindCompaction:
			if onlyConfig || untouched >= 0 && e.CompactedTurns() > untouched {
				continue
			}
		case e.Kind.Global():
			if onlyConfig && e.Kind != transcript.KindConfigDelta {
				continue
			}
		case !kept[e.Turn-1]:
			continue
		}
		if _, err := io.WriteString(w, between); err != nil {
			return err
		}
		if _, err := w.Write(e.Raw()); err != nil {
			return err
		}
		between = ",\n  "
	}
	if err := r.Err(); err != nil {
		return err
	}
	end := "\n]\n"
	if between == "[\n  " {
		end = "[]\n"
	}
	_, err := io.WriteString(w, end)
	return err
}
