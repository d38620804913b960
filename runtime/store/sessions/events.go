package sessions

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

// script is the log of a session, of which one conversation is read. It implements
// [recorded.Growing].
type script struct {
	info   *info
	file   *os.File
	opened fs.FileInfo
	offset int64
	// copied is the last event that the session has in common with the one that it was forked
	// from.
	copied int64
}

// script returns what reads the events of the conversation.
func (i *info) script(f *os.File, opened fs.FileInfo) recorded.Script {
	return &script{info: i, file: f, opened: opened}
}

// Tell implements [recorded.Script].
func (s *script) Tell(ctx context.Context, t *recorded.Teller) error {
	var stopped error
	err := jsonl.EachFrom(ctx, jsonl.NewLines(s.file, s.opened.Size()), s.offset, func(data []byte, offset, next int64) bool {
		if s.offset = next; data == nil {
			t.Totals.Skipped++
			t.Totals.TooLarge++
			return true
		}
		stopped = s.tell(t, data, offset == 0)
		return stopped == nil
	})
	return cmp.Or(stopped, err)
}

// tell tells what a line says of the conversation.
func (s *script) tell(t *recorded.Teller, data []byte, isFirst bool) error {
	if !isFirst && (!tells(data) || !bytes.Contains(data, []byte(s.info.ID))) {
		return nil
	}
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		t.Totals.Skipped++
		return nil
	}
	if isFirst && l.Origin != nil {
		s.copied = l.Origin.Seq
	}
	for i := range l.Events {
		from := &l.Events[i]
		if from.Conversation != s.info.ID {
			continue
		}
		var told []recorded.Event
		if x, ok := from.item.event(from.Type); ok {
			if x.Kind == transcript.KindUser {
				t.Totals.Turns++
			}
			told = append(told, x)
		}
		for j := range from.Outputs {
			x, _ := from.Outputs[j].event("tool_output")
			told = append(told, x)
		}
		for j := range told {
			told[j].At, told[j].Turn = from.At.UTC(), max(t.Totals.Turns, 1)
		}
		if err := t.TellAll(told, from.Seq <= s.copied); err != nil { // a step is forked whole or not at all
			return err
		}
	}
	return nil
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
		return recorded.Event{Kind: transcript.KindToolResult, CallID: quoted(i.CallID), Name: quoted(i.Tool), Pieces: plain([]byte(i.Content)), Failed: i.Failed || i.Success != nil && !*i.Success}, true
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
	var text string
	if json.Unmarshal(i.Text, &text) == nil {
		return []byte(text)
	}
	parts := i.Parts
	if parts == nil {
		_ = json.Unmarshal(i.Text, &parts) // what is neither has no text
	}
	var texts []string
	for _, p := range parts {
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

// Grown implements [recorded.Growing].
func (s *script) Grown() *recorded.Grown {
	return &recorded.Grown{File: s.file, Opened: s.opened, Read: &s.offset, State: &s.copied}
}

// Goes implements [recorded.Growing]. Nothing that is recorded is ever taken back.
func (s *script) Goes(context.Context) (bool, error) { return true, nil }
