package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Script is what is recorded of a conversation.
type Script interface {
	// Tell adds the events to a talk, until that is stopped. The error is a [*store.DamageError]
	// where they end early.
	Tell(ctx context.Context, t *Talk) error
}

// Growing is a [Script] in a file of lines that is appended to. Its exported fields, as JSON, are
// what else is known behind the lines that were read. Where what follows these changes what they
// say, Tell returns [store.ErrChanged] before any event.
type Growing interface {
	Script
	// Lines returns how far the file has been read; nil where it is read as a whole each time.
	Lines() *Lines
}

// Lines is the opened file of a [Growing] script.
type Lines struct {
	File   *os.File
	Opened fs.FileInfo // what it was before anything of it was read
	Read   int64       // how many bytes of it have been read: whole lines
}

// Each calls do for the lines that have not been read, as [jsonl.Each] does.
func (l *Lines) Each(ctx context.Context, do func(line []byte, offset, next int64) bool) error {
	return jsonl.Each(ctx, l.File, l.Read, l.Opened.Size(), func(line []byte, offset, next int64) bool {
		l.Read = next
		return do(line, offset, next)
	})
}

// unchanged reports whether a file is what it was before it was read. Else what was read need
// not be what it has.
func (l *Lines) unchanged() bool {
	info, err := l.File.Stat()
	return err == nil && info.Size() == l.Opened.Size() && info.ModTime().Equal(l.Opened.ModTime())
}

// mark is what is known behind what has been read of a file, and that it was read.
type mark struct {
	Read   int64
	Sum    uint32
	Totals store.Totals
	Asked  map[string]bool
	Script json.RawMessage
}

// Read reads a script from its beginning, or from a mark, as [store.Record] has it.
func Read(ctx context.Context, id transcript.ID, script Script, at *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	t := Talk{Yield: yield}
	var from mark
	growing, canGrow := script.(Growing)
	if at != nil && len(*at) > 0 {
		if !canGrow || !from.resume(ctx, growing, *at) {
			return store.Totals{}, store.ErrChanged
		}
		t.Totals, t.Asked = from.Totals, from.Asked
	}
	err := script.Tell(ctx, &t)
	if err == store.ErrChanged {
		return store.Totals{}, err
	}
	if at != nil && !t.Stopped {
		if *at = nil; canGrow && err == nil {
			*at = from.next(ctx, growing, &t)
		}
	}
	return t.End(id, err)
}

// next returns what is needed to go on after all events; nil where that is not possible.
func (m mark) next(ctx context.Context, script Growing, t *Talk) []byte {
	l := script.Lines()
	if l == nil {
		return nil
	}
	state, failed := json.Marshal(script)
	sum, err := jsonl.Sum(ctx, l.File, m.Sum, m.Read, l.Read)
	if err != nil || failed != nil || !l.unchanged() {
		return nil
	}
	data, _ := json.Marshal(mark{l.Read, sum, t.Totals, t.Asked, state})
	return data
}

// resume has a script go on after the events of a mark, and reports whether it can.
func (m *mark) resume(ctx context.Context, script Growing, data []byte) bool {
	l := script.Lines()
	if l == nil || json.Unmarshal(data, m) != nil || json.Unmarshal(m.Script, script) != nil {
		return false
	}
	l.Read = m.Read
	sum, err := jsonl.Sum(ctx, l.File, 0, 0, m.Read)
	return err == nil && sum == m.Sum
}

// Talk hands over the events of a conversation in their order. It numbers them and their turns,
// pairs questions of the assistant with their answers, and notes what a list shows.
type Talk struct {
	Yield   func(*transcript.Event) bool // nil counts events alone
	Agent   bool                         // of a sub-agent: its requests are said by an assistant
	Inquiry string                       // the tool with which the assistant asks the user

	// Totals describes the events up to here. Who reads records counts those that are left out.
	Totals  store.Totals
	Asked   map[string]bool // ids of questions without an answer
	Copied  bool            // what is added another conversation has too
	Stopped bool            // no more events are wanted

	Request string    // how the first one begins, as [store.Conversation.Request] has it
	Last    time.Time // of the last event that has one
	Told    bool      // there was an event that can be read

	event transcript.Event
}

// Add adds an event as a program has recorded it, without numbers: of a prompt of the user, which
// may be a picture alone, of a call, of its result, which may be an answer to a question, or
// of what the assistant said or thought, if it has a text.
func (t *Talk) Add(e transcript.Event) {
	switch e.Kind {
	case transcript.KindUser:
		t.Totals.Turns++
		if t.Request == "" {
			t.Request = store.Request(Beginning(e.Text))
		}
		if t.Agent {
			e.Kind = transcript.KindAssistant
		}
	case transcript.KindAssistant, transcript.KindReasoning:
		if len(e.Text) == 0 {
			return
		}
	case transcript.KindToolCall:
		t.ask(&e)
	case transcript.KindToolResult:
		if t.Asked[e.CallID] {
			delete(t.Asked, e.CallID)
			e.Kind = transcript.KindInquiryResponse
		}
	}
	if e.Kind.Typed() {
		t.Totals.Turns = max(t.Totals.Turns, 1)
		e.Turn = t.Totals.Turns
	}
	t.Told = t.Told || e.Kind.Numbered()
	if !e.Time.IsZero() {
		t.Last = e.Time
	}
	e.Copied = t.Copied
	t.Tell(e)
}

// ask makes an inquiry of a call of the tool for that.
func (t *Talk) ask(e *transcript.Event) {
	const most = 1000 // questions that wait for an answer
	if e.Name != t.Inquiry {
		return
	}
	asked := questions(e.Arguments)
	if len(asked) == 0 {
		return
	}
	if t.Asked == nil || len(t.Asked) > most {
		t.Asked = map[string]bool{}
	}
	t.Asked[e.CallID] = true
	*e = transcript.Event{Kind: transcript.KindInquiry, Time: e.Time, CallID: e.CallID, Text: asked}
}

// Tell hands over an event that has a turn.
func (t *Talk) Tell(e transcript.Event) {
	if t.Stopped {
		return
	}
	e.Index = t.Totals.Events
	t.Totals.Events++
	t.Totals.LastAt = e.Time
	t.event = e
	t.Stopped = t.Yield != nil && !t.Yield(&t.event)
}

// End returns the totals, and why the events end, where that is an error.
func (t *Talk) End(id transcript.ID, err error) (store.Totals, error) {
	if err == nil || t.Stopped {
		return t.Totals, nil
	}
	var damage *store.DamageError
	if errors.As(err, &damage) {
		err = &store.DamageError{Event: t.Totals.Events, Err: damage.Err}
	} else {
		err = fmt.Errorf("reading the events of %s: %w", id, err)
	}
	t.Totals.Events, t.Totals.LastAt, t.Totals.Uncounted = 0, time.Time{}, err
	return t.Totals, err
}

// questions returns the text of an inquiry whose arguments have an array of questions: each with
// the answers that it offers.
func questions(arguments jsontext.Raw) []byte {
	var asked struct {
		Questions []struct {
			Question string `json:"question"`
			Options  []struct {
				Label string `json:"label"`
			} `json:"options"`
		} `json:"questions"`
	}
	jsontext.Decode(arguments, &asked)
	var lines []string
	for _, q := range asked.Questions {
		if q.Question != "" {
			lines = append(lines, q.Question)
		}
		for _, o := range q.Options {
			if o.Label != "" {
				lines = append(lines, "- "+o.Label)
			}
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// Join returns texts, each on lines of its own.
func Join(texts [][]byte) []byte {
	if len(texts) == 1 {
		return texts[0]
	}
	return bytes.Join(texts, []byte("\n"))
}

// Begins reports whether a text begins with one of some prefixes, white space aside.
func Begins(said []byte, prefixes ...string) bool {
	said = bytes.TrimLeft(said, " \t\r\n")
	for _, prefix := range prefixes {
		if bytes.HasPrefix(said, []byte(prefix)) {
			return true
		}
	}
	return false
}

// Title returns the first line that is not blank of a text, cut to a title.
func Title(said string) string {
	const most = 100
	first, _, _ := strings.Cut(strings.TrimSpace(Beginning([]byte(said))), "\n")
	return text.Cut(strings.TrimSpace(first), most)
}

// Beginning returns as much of a text as a title or a request is made of.
func Beginning(said []byte) string {
	const enough = 1 << 13
	return strings.ToValidUTF8(string(said[:min(len(said), enough)]), "")
}
