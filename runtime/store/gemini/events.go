package gemini

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
)

// script is the file of a session, or of a sub-agent. It implements [recorded.Script].
type script struct {
	lines   jsonl.Reader
	decoder decoder
}

func (e *entry) script(f *os.File, info fs.FileInfo) recorded.Script {
	return &script{newReader(e.file, f, info.Size()), decoder{agent: e.agent != ""}}
}

// Tell implements [recorded.Script].
func (s *script) Tell(ctx context.Context, t *recorded.Teller) error {
	p, err := readPlan(ctx, s.lines)
	if err != nil {
		return err
	}
	t.Totals.Skipped, t.Totals.TooLarge = p.skipped, p.large
	d := &s.decoder
	var told []recorded.Event
	for i := range p.items {
		at := &p.items[i]
		if at.dropped || at.noise {
			continue
		}
		line, _, err := s.lines.At(ctx, at.offset)
		if err == io.EOF || errors.Is(err, jsonl.ErrTooLong) || err == nil && at.end > len(line) {
			err = recorded.Rewritten()
		}
		if err != nil {
			return err
		}
		r, _ := parse(line[at.start:at.end])
		if told = told[:0]; at.compaction {
			told = append(told, d.compaction(r.stamp))
		} else {
			told = d.events(told, &r)
		}
		t.Totals.Turns, t.Totals.Skipped = d.turn, p.skipped+d.unknown
		if err := t.TellAll(told, false); err != nil {
			return err
		}
	}
	return nil
}
