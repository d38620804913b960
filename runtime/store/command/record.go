package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jpevents"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is a conversation that the program has listed. It implements [store.Record].
type record struct {
	store   *Store
	id      transcript.ID
	listed  listRecord
	version string // of all that was listed
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

func (r *record) print(ctx context.Context) (output, error) {
	out, err := r.store.run(ctx, "print", "--no-metadata", "--", string(r.id))
	if err != nil {
		err = fmt.Errorf("reading the events of %s: %w", r.id, err)
	}
	return out, err
}

// Version implements [store.Record]. Where the program does not list what changes with the events,
// it prints these.
func (r *record) Version(ctx context.Context) (string, error) {
	if r.listed.Events != nil || !r.listed.LastEventAt.IsZero() {
		return r.version, nil
	}
	out, err := r.print(ctx)
	return r.version + digest(out.stdout), err
}

// errDamaged is in words of our own: a model is told why events end.
var errDamaged = errors.New("the conversation command line reports an error of its events")

// Read implements [store.Record]. Who owns the conversation counts also what is not printed.
func (r *record) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	out, err := r.print(ctx)
	if err != nil {
		return store.Totals{}, err
	}
	records, err := out.records()
	t := history.Recorder{Yield: yield}
	if err == nil {
		_, _ = jpevents.Scan(records, func(e *jpevents.Event) bool { // which are JSON
			err = tell(&t, &out, e)
			return err == nil && !t.Stopped
		})
	}
	if t.Stopped {
		return t.End(r.id, nil)
	}
	if err == nil && r.listed.Error != "" {
		err = &store.DamageError{Err: errDamaged}
	}
	totals, err := t.End(r.id, err)
	if n := r.listed.Events; err == nil && n != nil {
		totals.Events, totals.LastAt = int(max(*n, 0)), r.listed.LastEventAt
	}
	return totals, err
}

// tell tells an event as "print" prints it: as it is on disk, decoded, with its turn.
func tell(t *history.Recorder, out *output, e *jpevents.Event) error {
	x := e.Printed()
	switch turn, err := strconv.Atoi(string(e.InTurn)); {
	case len(jsontext.String(e.Type)) == 0:
		return out.wrong("record %d has no type", e.Index+1)
	case x.Kind.Global():
		t.Totals.Skipped++
		return nil
	case err != nil || turn < max(t.Totals.Turns, 1):
		return out.wrong("record %d: its turn, %s, is not that of the record before it, or one behind that", e.Index+1, text.Quote(string(e.InTurn)))
	default:
		x.Turn, t.Totals.Turns = turn, turn
	}
	if string(e.Content) == "null" {
		x.Arguments = nil
	}
	if jsontext.String(e.Encoding) == transcript.Base64.String() {
		x.Encoding = transcript.Base64
	}
	t.AddNumbered(x)
	return nil
}
