package jp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/convtools/convtools/runtime/transcript"
)

// Append adds events to a conversation, live or archived, as one change. They are
// JSON objects in the form in which JP stores them, and are checked for what JP
// needs to load them.
func (wr *Writer) Append(ctx context.Context, id transcript.ID, events ...json.RawMessage) error {
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

// layEvents returns events as they stand between the brackets of a file. The error is a [*BadEventError].
func layEvents(events []json.RawMessage) ([]byte, error) {
	var all []byte
	for i, e := range events {
		laid, err := checkEvent(e)
		if err != nil {
			return nil, &BadEventError{Index: i, Err: err}
		}
		if i > 0 {
			all = append(all, ',')
		}
		all = append(append(all, "\n  "...), laid...)
	}
	return all, nil
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

// BadEventError is the error for an event that JP could not load.
type BadEventError struct {
	Index int // among those that were to be added
	Err   error
}

func (e *BadEventError) Error() string { return fmt.Sprintf("event %d: %v", e.Index, e.Err) }

// Unwrap returns the cause.
func (e *BadEventError) Unwrap() error { return e.Err }

// kindOfField is what a recorded field has to be.
type kindOfField string

const (
	textField   kindOfField = "a string"
	boolField   kindOfField = "true or false"
	countField  kindOfField = "a number of a turn"
	objectField kindOfField = "an object"
	anyField    kindOfField = "a value"
)

// neededFields are those without which JP loads nothing of a conversation, by the
// type of an event. Of a type it does not know it needs none.
func neededFields(eventType string) map[string]kindOfField {
	switch eventType {
	case "chat_request":
		return map[string]kindOfField{"content": textField}
	case "tool_call_request":
		return map[string]kindOfField{"id": textField, "name": textField}
	case "tool_call_response":
		return map[string]kindOfField{"id": textField, "content": textField, "is_error": boolField}
	case "inquiry_request":
		return map[string]kindOfField{"id": textField, "source": objectField, "question": objectField}
	case "inquiry_response":
		return map[string]kindOfField{"id": textField, "answer": anyField}
	case "config_delta":
		return map[string]kindOfField{"delta": objectField}
	case "compaction":
		return map[string]kindOfField{"from_turn": countField, "to_turn": countField}
	}
	return nil
}

// checkEvent reports what is wrong with an event, and returns it as JP lays it out.
func checkEvent(event json.RawMessage) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(event, &fields); err != nil {
		return nil, err
	}
	if fields == nil {
		return nil, errNotObject
	}
	var eventType string
	if !isField(fields["type"], textField) || json.Unmarshal(fields["type"], &eventType) != nil {
		return nil, errors.New("its type has to be a string")
	}
	var at timestamp
	if json.Unmarshal(fields["timestamp"], &at) != nil || at.err != nil || at.IsZero() {
		return nil, errors.New("its timestamp has to be YYYY-MM-DD HH:MM:SS.f in UTC")
	}
	for name, kind := range neededFields(eventType) {
		if !isField(fields[name], kind) {
			return nil, fmt.Errorf("its %s has to be %s", name, kind)
		}
	}
	said := 0
	for _, name := range []string{"message", "reasoning", "data"} {
		if value, ok := fields[name]; ok && eventType == "chat_response" {
			if said++; name != "data" && !isField(value, textField) {
				return nil, fmt.Errorf("its %s has to be a string", name)
			}
		}
	}
	switch {
	case eventType == "chat_response" && said != 1:
		return nil, errors.New("it has to have one of message, reasoning and data")
	case eventType == "turn_start" && len(fields) != 2:
		return nil, errors.New("a turn_start has nothing but a type and a timestamp")
	}
	var laid bytes.Buffer
	if err := json.Indent(&laid, event, "  ", "  "); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(laid.Bytes()), nil
}

func isField(value json.RawMessage, kind kindOfField) bool {
	if len(value) == 0 {
		return false
	}
	switch kind {
	case textField:
		return value[0] == '"'
	case boolField:
		return value[0] == 't' || value[0] == 'f'
	case countField:
		var n uint64
		return json.Unmarshal(value, &n) == nil
	case objectField:
		return value[0] == '{'
	}
	return true
}
