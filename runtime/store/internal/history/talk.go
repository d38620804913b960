package history

import (
	"bytes"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Talk makes events of what a program has recorded, in its order: it numbers turns, pairs
// questions of the assistant with their answers, and notes what a list shows.
type Talk struct {
	Agent   bool   `json:"-"` // of a sub-agent: its requests are said by an assistant
	Inquiry string `json:"-"` // the tool with which the assistant asks the user

	Turn    int
	Asked   map[string]bool // ids of questions without an answer
	Skipped int             `json:"-"` // records that are damaged, or of no known type

	Request string    `json:"-"` // how the first one begins, as [store.Conversation.Request] has it
	Last    time.Time `json:"-"` // of the last event that has one
	Told    bool      `json:"-"` // there was an event that can be read

	events []transcript.Event
}

// Take returns the events that were made since the last call.
func (t *Talk) Take() []transcript.Event {
	taken := t.events
	t.events = t.events[:0]
	return taken
}

func (t *Talk) add(e transcript.Event) {
	if e.Kind.Typed() {
		t.Turn = max(t.Turn, 1)
		e.Turn = t.Turn
	}
	t.Told = t.Told || e.Kind.Numbered()
	if !e.Time.IsZero() {
		t.Last = e.Time
	}
	t.events = append(t.events, e)
}

// Prompt adds what a person said, or the task that the assistant gave a sub-agent. It may be a
// picture alone.
func (t *Talk) Prompt(at time.Time, said []byte) {
	t.Turn++
	kind := transcript.KindUser
	if t.Agent {
		kind = transcript.KindAssistant
	}
	if t.Request == "" {
		t.Request = store.Request(Beginning(said))
	}
	t.add(transcript.Event{Kind: kind, Time: at, Text: said})
}

// Say adds a text of the assistant, if there is one.
func (t *Talk) Say(kind transcript.Kind, at time.Time, said []byte) {
	if len(said) > 0 {
		t.add(transcript.Event{Kind: kind, Time: at, Text: said})
	}
}

// Call adds a call of a tool, with arguments in JSON or else as a text.
func (t *Talk) Call(at time.Time, name, id string, arguments jsontext.Raw, said []byte) {
	const most = 1000 // questions that wait for an answer
	if name == t.Inquiry {
		if asked := questions(arguments); len(asked) > 0 {
			if t.Asked == nil || len(t.Asked) > most {
				t.Asked = map[string]bool{}
			}
			t.Asked[id] = true
			t.add(transcript.Event{Kind: transcript.KindInquiry, Time: at, CallID: id, Text: asked})
			return
		}
	}
	t.add(transcript.Event{Kind: transcript.KindToolCall, Time: at, Name: name, CallID: id, Arguments: arguments, Text: said})
}

// Result adds what a tool returned, or what the user answered.
func (t *Talk) Result(at time.Time, id string, failed bool, said []byte) {
	kind := transcript.KindToolResult
	if t.Asked[id] {
		delete(t.Asked, id)
		kind = transcript.KindInquiryResponse
	}
	t.add(transcript.Event{Kind: kind, Time: at, CallID: id, Failed: failed, Text: said})
}

// Compact adds that all turns up to here were compacted.
func (t *Talk) Compact(at time.Time) {
	t.add(transcript.Event{Kind: transcript.KindCompaction, Time: at})
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
