package jp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/jpevents"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// stream is the events and the base configuration of a conversation, from the newer copy.
type stream struct {
	from   place
	events []byte
	base   []byte // nil if there is none
}

// stream reads the stream of a conversation. If events are damaged, or cannot be used by JP, it returns an error: JP moves
// such a conversation to the trash.
func (tx *transaction) stream(copies []place) (s stream, err error) {
	const maxBaseConfigSize = 16 << 20 // it has the whole configuration of JP
	id := copies[0].number.id()
	if s.events, s.from, err = tx.readFirst(tx.byStream(copies), EventsFile, tx.w.maxEvents); err != nil {
		return s, about(id, fmt.Errorf("its events cannot be read: %w", err))
	}
	s.base, err = tx.read(s.from.store, path.Join(s.from.dir, BaseConfigFile), maxBaseConfigSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, tx.failed(s.from.store, err)
	}
	totals, err := jpevents.Scan(s.events, func(*jpevents.Event) bool { return true })
	switch {
	case err != nil:
		return s, about(id, fmt.Errorf("%s is damaged: %w", EventsFile, err))
	case totals.Uncounted != nil:
		return s, about(id, fmt.Errorf("%s cannot be used by JP: %w", EventsFile, totals.Uncounted))
	}
	return s, nil
}

// files returns the files of the stream in the order in which they are to be written into a copy of the conversation.
// Readers take the stream of the copy that was written last, so the new events must be there before anything else.
func (s *stream) files() []file {
	all := []file{{EventsFile, s.events}}
	if s.base != nil {
		all = append(all, file{BaseConfigFile, s.base})
	}
	return all
}

// Append adds events at the end of a conversation, live or archived, as one change.
func (wr *Writer) Append(ctx context.Context, id transcript.ID, added ...NewEvent) error {
	text, err := layEvents(added)
	if err != nil {
		return err
	}
	return wr.change(ctx, id, func(tx *transaction, copies []place) error {
		s, err := tx.stream(copies)
		if err != nil || len(added) == 0 {
			return err
		}
		s.events = appended(s.events, text)
		if int64(len(s.events)) > tx.w.maxEvents {
			return about(id, tooLarge(EventsFile, tx.w.maxEvents))
		}
		tx.write(tx.byStream(copies), s.files()...)
		return nil
	})
}

// appended returns a JSON array with more elements.
func appended(array, elements []byte) []byte {
	const space = " \t\r\n"
	body := bytes.TrimRight(bytes.TrimSuffix(bytes.TrimRight(array, space), []byte("]")), space)
	comma := ","
	if body[len(body)-1] == '[' {
		comma = ""
	}
	return slices.Concat(body, []byte(comma), elements, []byte("\n]\n"))
}

// NewEvent is an event to add to a conversation.
type NewEvent struct {
	At           time.Time
	Kind         transcript.Kind // turn start, user, assistant, tool call or tool result
	Text         string
	Name, CallID string          // of a tool call; a result has the CallID of its call
	Arguments    json.RawMessage // of a tool call, an object
	Failed       bool            // of a tool result
	// Metadata is recorded with the event, and JP shows it to nobody. A turn start has none.
	Metadata map[string]any
}

// layEvents returns events as elements of events.json.
func layEvents(events []NewEvent) ([]byte, error) {
	var all [][]byte
	for i, e := range events {
		fields, err := e.fields()
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
		all = append(all, append([]byte("\n  "), marshalIndent(fields, "  ")...))
	}
	return bytes.Join(all, []byte(",")), nil
}

// fields returns the members of the event as JP records it. If an event lacks one of them, JP loads no event of the
// conversation.
func (e NewEvent) fields() (map[string]any, error) {
	if e.At.IsZero() {
		return nil, errors.New("it has no time")
	}
	fields := map[string]any{"timestamp": formatTimestamp(e.At)}
	switch e.Kind {
	case transcript.KindTurnStart:
		fields["type"] = "turn_start"
		return fields, nil
	case transcript.KindUser:
		fields["type"], fields["content"] = "chat_request", e.Text
	case transcript.KindAssistant:
		fields["type"], fields["message"] = "chat_response", e.Text
	case transcript.KindToolCall:
		arguments := e.Arguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		if !jsontext.Decode(arguments, new(struct{})) || !json.Valid(arguments) {
			return nil, errors.New("the arguments of a call are no object")
		}
		fields["type"], fields["id"], fields["name"], fields["arguments"] = "tool_call_request", e.CallID, e.Name, encoded(arguments)
	case transcript.KindToolResult:
		fields["type"], fields["id"], fields["content"], fields["is_error"] = "tool_call_response", e.CallID, encoded(e.Text), e.Failed
	default:
		return nil, fmt.Errorf("an event of the kind %d cannot be added", e.Kind)
	}
	if len(e.Metadata) > 0 {
		fields["metadata"] = encoded(e.Metadata)
	}
	return fields, nil
}

// encoded returns a value as JSON with its strings, but not its keys, in base64.
func encoded(value any) json.RawMessage {
	w := jsontext.Writer{Text: func(dst, raw []byte) []byte { return base64.StdEncoding.AppendEncode(dst, jsontext.Unescape(raw)) }}
	return w.Append(nil, marshalIndent(value, ""))
}

// Cut chooses the turns of a fork; the zero value chooses all of them. Turns are copied whole, so that a tool call never
// loses its result.
type Cut struct {
	From, Until time.Time // if not zero, only turns that began at From or later, and before Until
	// First and Last choose so many of these turns from the beginning and from the end. If only one is nil, it is 0.
	First, Last *int
	None        bool // no turns, and only the configuration of what is outside of turns
}

// chosenEvents returns events.json with the events of the chosen turns, byte for byte, and the events outside of turns. As
// in JP, it leaves out compactions of turns that are not chosen. The events in data must not be damaged.
func (t Cut) chosenEvents(data []byte) []byte {
	chosen := t.turns(data)
	firstOut := slices.Index(chosen, false) // the first turn that is not chosen
	if firstOut < 0 && !t.None {
		return data
	}
	var all []byte
	_, _ = jpevents.Scan(data, func(e *jpevents.Event) bool {
		var isChosen bool
		switch {
		case e.Kind == transcript.KindCompaction:
			isChosen = !t.None && e.CompactedTurns() <= firstOut // the turns before firstOut are all chosen
		case e.Kind.Global():
			isChosen = !t.None || e.Kind == transcript.KindConfigDelta // None keeps only the configuration
		default:
			isChosen = chosen[e.Turn-1]
		}
		if isChosen {
			all = append(append(all, ",\n  "...), e.Raw...)
		}
		return true
	})
	if all == nil {
		return []byte("[]\n")
	}
	all[0] = '[' // in place of the first comma
	return append(all, "\n]\n"...)
}

// turns reports for each turn of the events in data whether it is chosen. Of the turns that begin between From and Until, it
// chooses the first t.First and the last t.Last turns, or all of them if both numbers are nil. With t.None it chooses none.
func (t Cut) turns(data []byte) (chosen []bool) {
	var within []int // indexes of the turns between From and Until
	_, _ = jpevents.Scan(data, func(e *jpevents.Event) bool {
		if e.Turn > len(chosen) { // the first event of a turn
			at := e.Time()
			isWithin := !at.Before(t.From) && (t.Until.IsZero() || at.Before(t.Until))
			if isWithin && !t.None {
				within = append(within, len(chosen))
			}
			chosen = append(chosen, false)
		}
		return true
	})
	first, last := len(within), 0
	if t.First != nil || t.Last != nil {
		first, last = *cmp.Or(t.First, new(int)), *cmp.Or(t.Last, new(int)) // nil is 0
	}
	for n, turn := range within {
		chosen[turn] = n < first || n >= len(within)-last
	}
	return chosen
}
