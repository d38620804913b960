package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

// events reads the events of a conversation. It implements [recorded.Growing].
type events struct {
	info   *info
	file   *os.File
	opened fs.FileInfo
	lines  *jsonl.Lines
	offset int64
	state
}

// state is what is known behind some lines.
type state struct {
	Copied  int64 // the last event that the session has in common with the one that it was forked from
	Turn    int
	Skipped int
	Large   int // lines, of those that were skipped, that are too long to be read
}

// script returns what reads the events of the conversation.
func (i *info) script(f *os.File, opened fs.FileInfo) recorded.Script {
	return &events{info: i, file: f, opened: opened, lines: jsonl.NewLines(f, opened.Size())}
}

// Read implements [recorded.Script].
func (e *events) Read(ctx context.Context, into *recorded.Stream) error {
	data, next, err := e.lines.At(ctx, e.offset)
	switch {
	case errors.Is(err, jsonl.ErrTooLong):
		e.Skipped++
		e.Large++
	case err != nil:
		return err
	default:
		e.take(data, into)
	}
	e.offset = next
	return nil
}

// take makes what a line says of the conversation the next events.
func (e *events) take(data []byte, into *recorded.Stream) {
	isFirst := e.offset == 0
	if !isFirst && (!tells(data) || !bytes.Contains(data, []byte(e.info.ID))) {
		return
	}
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		e.Skipped++
		return
	}
	if isFirst && l.Origin != nil {
		e.Copied = l.Origin.Seq
	}
	list, copied := into.Free(), false
	for i := range l.Events {
		from := &l.Events[i]
		if from.Conversation != e.info.ID {
			continue
		}
		copied = from.Seq <= e.Copied // a step is forked whole or not at all
		if x, ok := from.item.event(from.Type); ok {
			if x.Kind == transcript.KindUser {
				e.Turn++
			}
			list = append(list, x)
		}
		for j := range from.Outputs {
			x, _ := from.Outputs[j].event("tool_output")
			list = append(list, x)
		}
		for j := range list {
			if list[j].At.IsZero() {
				list[j].At, list[j].Turn = from.At.UTC(), max(e.Turn, 1)
			}
		}
	}
	into.Put(list, copied)
}

// event returns what an item is in a conversation, and false for what only models read.
func (i *item) event(kind string) (recorded.Event, bool) {
	if i.Origin == "host" {
		return recorded.Event{}, false
	}
	plain := func(text []byte) []recorded.Piece { return []recorded.Piece{{Raw: text, Plain: true}} }
	switch kind {
	case "user_message":
		return recorded.Event{Kind: transcript.KindUser, Pieces: plain(i.said())}, true
	case "agent_message":
		return recorded.Event{Kind: transcript.KindAssistant, Pieces: plain(i.said())}, true
	case "tool_call":
		x := recorded.Event{Kind: transcript.KindToolCall, CallID: quoted(i.CallID), Name: quoted(i.Tool)}
		if arguments := []byte(i.Arguments); json.Valid(arguments) {
			x.Arguments = arguments
		} else {
			x.Pieces = plain(arguments)
		}
		return x, true
	case "tool_output":
		return recorded.Event{Kind: transcript.KindToolResult, CallID: quoted(i.CallID), Name: quoted(i.Tool), Pieces: plain([]byte(i.Content)), Failed: !i.Success}, true
	}
	return recorded.Event{}, false
}

// quoted returns a text as it stands between quotes in JSON.
func quoted(text string) []byte {
	form := transcript.AppendQuoted(nil, []byte(text))
	return form[1 : len(form)-1]
}

// said returns the texts of a message, and of images their addresses.
func (i *item) said() []byte {
	if i.Text != nil {
		return []byte(*i.Text)
	}
	var texts []string
	for _, p := range i.Parts {
		switch kind, data, inline := strings.Cut(p.ImageURL, ";"); {
		case p.ImageURL == "":
			texts = append(texts, p.Text)
		case inline && strings.HasPrefix(kind, "data:"):
			texts = append(texts, fmt.Sprintf("[%s of %d bytes]", kind[len("data:"):], len(data)))
		default:
			texts = append(texts, "["+p.ImageURL+"]")
		}
	}
	return []byte(strings.Join(texts, "\n"))
}

// Totals implements [recorded.Script].
func (e *events) Totals() store.Totals {
	return store.Totals{Turns: e.Turn, Skipped: e.Skipped, TooLarge: e.Large}
}

// Grown implements [recorded.Growing].
func (e *events) Grown() *recorded.Grown {
	return &recorded.Grown{File: e.file, Opened: e.opened, Read: &e.offset, State: &e.state}
}

// Goes implements [recorded.Growing]. Nothing that is recorded is ever taken back.
func (e *events) Goes(context.Context) (bool, error) { return true, nil }
