package gemini

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
)

// events reads the events of a conversation. It implements [recorded.Script].
type events struct {
	lines   jsonl.Reader
	plan    *plan // nil before the reading is planned
	next    int   // item of the plan
	decoder decoder
}

// script returns what reads the events of a session, or of a sub-agent.
func (e *entry) script(f *os.File, info fs.FileInfo) recorded.Script {
	return &events{lines: newReader(e.file, f, info.Size()), decoder: decoder{agent: e.agent != ""}}
}

// Read implements [recorded.Script].
func (e *events) Read(ctx context.Context, into *recorded.Stream) (err error) {
	if e.plan == nil {
		if e.plan, err = readPlan(ctx, e.lines); err != nil {
			return err
		}
	}
	if e.next == len(e.plan.items) {
		return io.EOF
	}
	at := &e.plan.items[e.next]
	if at.dropped || at.noise {
		e.next++
		return nil
	}
	line, _, err := e.lines.At(ctx, at.offset)
	if err == io.EOF || errors.Is(err, jsonl.ErrTooLong) || err == nil && at.end > len(line) {
		err = recorded.Rewritten()
	}
	if err != nil {
		return err
	}
	e.next++
	r, _ := parse(line[at.start:at.end])
	if at.compaction {
		into.Put(append(into.Free(), e.decoder.compaction(r.stamp)), false)
	} else {
		into.Put(e.decoder.events(into.Free(), &r), false)
	}
	return nil
}

// Totals implements [recorded.Script].
func (e *events) Totals() store.Totals {
	return store.Totals{Turns: e.decoder.turn, Skipped: e.plan.skipped + e.decoder.unknown, TooLarge: e.plan.large}
}
