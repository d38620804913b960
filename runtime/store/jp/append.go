package jp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/transcript"
)

// Append adds events to a conversation, live or archived, as one change. A turn goes before those that began later, and all
// are under the model that the conversation was begun with, whatever model JP was told to use meanwhile.
func (wr *Writer) Append(ctx context.Context, id transcript.ID, events ...NewEvent) error {
	if _, err := layEvents(events); err != nil {
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
	at, err := c.gap(ctx, p, from, events[0])
	if err != nil {
		return err
	}
	if events, err = c.underOwnModel(p, from, at, events); err != nil {
		return err
	}
	added, err := layEvents(events)
	if err != nil {
		return err
	}
	order := []int{from, numStores - 1 - from} // that which counts first
	var list []*replacement
	for _, i := range order {
		dir := p.dirs[i]
		if dir == "" {
			continue
		}
		list = append(list, &replacement{store: i, dir: dir, name: eventsFile, replacedBy: func(w io.Writer) error {
			if at.before >= 0 {
				return c.copyInserted(ctx, w, p, from, at.before, added)
			}
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

// gap is the place of new events in a stream.
type gap struct {
	before int    // how many events are before it; -1 is all
	model  string // that the last change of the configuration before it names; empty for none
}

// gap returns the place of new events, given the first of them.
func (c *writing) gap(ctx context.Context, p place, from int, first NewEvent) (gap, error) {
	r, err := c.reader(p, from)
	if err != nil {
		return gap{}, err
	}
	at, model := gap{before: -1}, ""
	var later *gap // before the changes of the configuration that belong to a later turn
	for n := 0; r.Next(ctx); n++ {
		e := r.scanner.Event()
		isLater := e.Time().After(first.At)
		if e.Kind == transcript.KindConfigDelta {
			if isLater && later == nil {
				later = &gap{n, model}
			}
			model = cmp.Or(modelIn(e.Raw()), model)
			continue
		}
		switch {
		case e.Kind == transcript.KindCompaction: // it counts turns from the beginning
			at = gap{before: -1}
		case e.Kind == transcript.KindTurnStart && first.Kind == transcript.KindTurnStart && isLater && at.before < 0:
			if at = (gap{n, model}); later != nil {
				at = *later
			}
		}
		later = nil
	}
	if at.before < 0 {
		at.model = model
	}
	return at, r.Err()
}

// reader returns what reads the events of a store.
func (c *writing) reader(p place, from int) (*reader, error) {
	f, err := openRegular(c.roots[from], c.dirs[from], path.Join(p.dirs[from], eventsFile))
	if err != nil {
		return nil, c.failed(from, err)
	}
	defer f.Close()
	return newReader(&record{s: c.session, place: p}, f)
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
func (c *writing) underOwnModel(p place, from int, at gap, events []NewEvent) ([]NewEvent, error) {
	if at.model == "" {
		return events, nil
	}
	data, err := readSmallFile(c.roots[from], c.dirs[from], path.Join(p.dirs[from], baseConfigFile), maxBaseConfigSize)
	if err != nil {
		return events, nil // there need not be one
	}
	var base map[string]any
	if json.Unmarshal(data, &base) != nil {
		return events, nil // JP does not use it either
	}
	own := modelID(base)
	if own == "" || own == at.model {
		return events, nil
	}
	change := func(model string, at time.Time) []NewEvent {
		return []NewEvent{{At: at, Kind: transcript.KindConfigDelta, delta: nested(model, "assistant", "model", "id")}}
	}
	return slices.Concat(change(own, events[0].At), events, change(at.model, events[len(events)-1].At)), nil
}

// maxBaseConfigSize bounds base_config.json, which holds all of JP's configuration.
const maxBaseConfigSize = 16 << 20

// copyInserted writes events with others added after a number of them.
func (c *writing) copyInserted(ctx context.Context, w io.Writer, p place, from, before int, added []byte) error {
	r, err := c.reader(p, from)
	if err != nil {
		return err
	}
	if size := int64(len(r.data) + len(added)); size > c.w.maxEvents {
		return tooLarge(eventsFile, size, c.w.maxEvents)
	}
	between := "["
	write := func(event []byte) {
		if err == nil {
			_, err = fmt.Fprintf(w, "%s%s", between, event)
		}
		between = ","
	}
	for n := 0; err == nil && r.Next(ctx); n++ {
		if n == before {
			write(added)
		}
		write(slices.Concat([]byte("\n  "), r.scanner.Event().Raw()))
	}
	if err == nil {
		err = r.Err()
	}
	if err == nil {
		_, err = io.WriteString(w, "\n]\n")
	}
	return err
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
