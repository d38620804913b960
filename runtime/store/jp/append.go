package jp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path"
	"slices"

	"github.com/convtools/convtools/runtime/transcript"
)

// Append adds events to a conversation, live or archived, as one change.
func (wr *Writer) Append(ctx context.Context, id transcript.ID, events ...NewEvent) error {
	added, err := layEvents(events)
	if err != nil {
		return err
	}
	c, err := wr.begin(ctx, id)
	if err != nil {
		return err
	}
	defer c.end()
	p, err := c.find(ctx, id)
	if err != nil || len(events) == 0 {
		return err
	}
	from, names, err := c.stream(ctx, &p)
	if err != nil {
		return err
	}
	source := path.Join(p.dirs[from], eventsFile)
	order := []int{from, numStores - 1 - from} // that which counts first
	var list []*replacement
	for _, i := range order {
		dir := p.dirs[i]
		if dir == "" {
			continue
		}
		list = append(list, &replacement{store: i, dir: dir, name: eventsFile, replacedBy: func(w io.Writer) error {
			return c.copyAppended(w, from, source, added)
		}})
		if i != from && slices.Contains(names, baseConfigFile) {
			list = append(list, &replacement{store: i, dir: dir, name: baseConfigFile, replacedBy: c.copyOf(from, p.dirs[from], baseConfigFile).write})
		}
	}
	if err := c.stage(list); err != nil {
		return err
	}
	if err := c.commit(list); err != nil {
		return err
	}
	return c.settle()
}

// copyAppended writes events with others behind them.
func (c *writing) copyAppended(w io.Writer, from int, name string, added []byte) error {
	f, err := openRegular(c.roots[from], c.dirs[from], name)
	if err != nil {
		return err
	}
	defer f.Close()
	// The file is whole: it ends with a bracket, and white space.
	const tailSize = 4 << 10
	tail := make([]byte, min(f.size, tailSize))
	if _, err := f.ReadAt(tail, f.size-int64(len(tail))); err != nil && err != io.EOF {
		return err
	}
	end := bytes.LastIndexByte(tail, ']')
	if end < 0 {
		return errors.New(eventsFile + " ends with too much white space")
	}
	last := bytes.TrimRight(tail[:end], " \t\r\n")
	if len(last) == 0 {
		return errors.New(eventsFile + " ends with too much white space")
	}
	keep := f.size - int64(len(tail)) + int64(len(last))
	if f.size+int64(len(added)) > c.w.maxEvents {
		return tooLarge(eventsFile, f.size+int64(len(added)), c.w.maxEvents)
	}
	if _, err := io.Copy(w, io.NewSectionReader(f, 0, keep)); err != nil {
		return err
	}
	if last[len(last)-1] != '[' {
		added = append([]byte{','}, added...)
	}
	_, err = w.Write(append(slices.Clip(added), "\n]\n"...))
	return err
}
