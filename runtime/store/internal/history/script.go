package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Script is what is recorded of a conversation.
type Script interface {
	// Tell adds the events to a talk, until that is stopped. The error is a [*store.DamageError]
	// where they end early.
	Tell(ctx context.Context, t *Talk) error
}

// Read hands over the events of a script.
func Read(ctx context.Context, id transcript.ID, script Script, yield func(*transcript.Event) bool) (store.Totals, error) {
	t := Talk{Yield: yield}
	return t.End(id, script.Tell(ctx, &t))
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
