package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// script is the log of a session, of which one conversation is read. It implements
// [history.Script].
type script struct {
	info *info
	file *os.File
	size int64
	// copied is the last event that the session has in common with the one that it was forked
	// from.
	copied int64
}

// script returns what reads the events of the conversation.
func (i *info) script(f *os.File, opened fs.FileInfo) history.Script {
	return &script{info: i, file: f, size: opened.Size()}
}

// Tell implements [history.Script].
func (s *script) Tell(ctx context.Context, t *history.Talk) error {
	return jsonl.Each(ctx, s.file, 0, s.size, func(data []byte, offset, _ int64) bool {
		if data == nil {
			t.Totals.Skipped++
			t.Totals.TooLarge++
			return true
		}
		s.tell(t, data, offset == 0)
		return !t.Stopped
	})
}

// tell tells what a line says of the conversation.
func (s *script) tell(t *history.Talk, data []byte, isFirst bool) {
	if !isFirst && (!tells(data) || !bytes.Contains(data, []byte(s.info.ID))) {
		return
	}
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		t.Totals.Skipped++
		return
	}
	if isFirst && l.Origin != nil {
		s.copied = l.Origin.Seq
	}
	for i := range l.Events {
		from := &l.Events[i]
		if from.Conversation != s.info.ID {
			continue
		}
		var told []transcript.Event
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
		for _, x := range told {
			x.Time, x.Turn = from.At.UTC(), max(t.Totals.Turns, 1)
			x.Copied = from.Seq <= s.copied // a step is forked whole or not at all
			t.Tell(x)
		}
	}
}

// event returns what an item is in a conversation, and false for what only models read.
func (i *item) event(kind string) (x transcript.Event, ok bool) {
	switch kind {
	case "user_message":
		x = transcript.Event{Kind: transcript.KindUser, Text: i.said()}
	case "agent_message":
		x = transcript.Event{Kind: transcript.KindAssistant, Text: i.said()}
	case "tool_call":
		x = transcript.Event{Kind: transcript.KindToolCall, CallID: i.CallID, Name: i.Tool}
		if arguments := []byte(i.Arguments); json.Valid(arguments) {
			x.Arguments = arguments
		} else {
			x.Text = arguments
		}
	case "tool_output":
		x = transcript.Event{Kind: transcript.KindToolResult, CallID: i.CallID, Name: i.Tool, Text: []byte(i.Content), Failed: i.Failed}
	default:
		return x, false
	}
	return x, i.Origin != "host"
}

// said returns the texts of a message, and of images their addresses.
func (i *item) said() []byte {
	var text string
	if json.Unmarshal(i.Text, &text) == nil {
		return []byte(text)
	}
	var parts []part
	_ = json.Unmarshal(i.Text, &parts) // what is neither has no text
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
