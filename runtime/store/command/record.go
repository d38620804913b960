package command

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jpevents"
	"github.com/convtools/convtools/runtime/transcript"
)

// record implements [store.Record] for a listed conversation.
type record struct {
	store   *Store
	id      transcript.ID
	listed  listRecord
	version string // of the element of the list
}

// digest returns a text that changes with data.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%x", sum[:16])
}

// print returns the output of the program for the events of the conversation.
func (r *record) print(ctx context.Context) (output, error) {
	out, err := r.store.run(ctx, "print", "--no-metadata", "--", string(r.id))
	if err != nil {
		err = fmt.Errorf("reading the events of %s: %w", r.id, err)
	}
	return out, err
}

// Version implements [store.Record]. It is the version of the conversation's element in the list. If the element has no
// number of events and no time of the last event, Version appends a digest of the events, which the program prints.
func (r *record) Version(ctx context.Context) (string, error) {
	if r.listed.Events != nil || !r.listed.LastEventAt.IsZero() {
		return r.version, nil
	}
	out, err := r.print(ctx)
	return r.version + digest(out.stdout), err
}

// Read implements [store.Record]. If it reads all events, the totals have the number of events and the last time from
// the list, in which the program also counts events that it does not print.
func (r *record) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	out, err := r.print(ctx)
	if err != nil {
		return store.Totals{}, err
	}
	events := history.Recorder{Yield: yield}
	records, err := out.records()
	if err == nil {
		_, _ = jpevents.Scan(records, func(e *jpevents.Event) bool { // records has checked the JSON
			err = addPrinted(&events, &out, e)
			return err == nil && !events.Stopped
		})
	}
	if err == nil && r.listed.Error != "" {
		// Models see this error: it has none of the words of the program.
		err = &store.DamageError{Err: errors.New("the conversation command line reports an error of its events")}
	}
	isWhole := err == nil && !events.Stopped
	totals, err := events.End(r.id, err)
	if listed := r.listed.Events; listed != nil && isWhole {
		totals.Events, totals.LastAt = int(max(*listed, 0)), r.listed.LastEventAt
	}
	return totals, err
}

// addPrinted adds an event that the program printed to a recorder, with its turn. An event of a kind without turns only
// counts as skipped. The error says that an event has no type, or that its turn is no number or too small.
func addPrinted(events *history.Recorder, out *output, e *jpevents.Event) error {
	x := e.Printed()
	turn, err := strconv.Atoi(string(e.InTurn))
	switch isInOrder := err == nil && turn >= max(events.Totals.Turns, 1); { // Turns is the last turn so far; 0 if there is none
	case e.Type == "":
		return out.formError("record %d has no type", e.Index+1)
	case x.Kind.Global(): // it belongs to no turn
		events.Totals.Skipped++
		return nil
	case !isInOrder:
		return out.formError("record %d: its turn, %s, is not that of the record before it, or one behind that", e.Index+1, text.Quote(string(e.InTurn)))
	}
	x.Turn, events.Totals.Turns = turn, turn
	if string(e.Content) == "null" { // it has no text
		x.Arguments = nil
	}
	if e.Encoding == transcript.Base64.String() {
		x.Encoding = transcript.Base64
	}
	events.AddNumbered(x)
	return nil
}
