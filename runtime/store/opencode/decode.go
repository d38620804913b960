package opencode

import (
	"cmp"
	"slices"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// revert is what the user has undone.
type revert struct {
	Message string `json:"messageID"` // the first undone message; empty for none
	Part    string `json:"partID"`    // the first undone part of that message; empty for all
}

// times are in milliseconds since 1970; 0 for none.
type times struct {
	Created  int64 `json:"created"`
	Updated  int64 `json:"updated"`
	Archived int64 `json:"archived"`
	Start    int64 `json:"start"`
	End      int64 `json:"end"`
}

// message is a recorded message.
type message struct {
	id      string
	created int64

	Role    string       `json:"role"`
	Parent  string       `json:"parentID"` // the message of the user that it answers
	Summary bool         `json:"summary"`  // it is the summary of a compaction
	Error   jsontext.Raw `json:"error"`
	Time    times        `json:"time"`

	isCompaction bool // of the user: it asks for a compaction, which did not fail
	place        int  // in the order of reading
}

// newMessage decodes the JSON of a message, which can be cut.
func newMessage(id string, created int64, data []byte) message {
	m := message{id: id, created: created}
	jsontext.Decode(data, &m)
	m.created = cmp.Or(m.created, m.Time.Created)
	return m
}

func (m *message) failed() bool { return m.Error != nil && string(m.Error) != "null" }

// part is a part of a message. Its texts can be parts of the JSON that was read.
type part struct {
	id        string
	damaged   bool   // it is not a JSON object
	Type      string `json:"type"`
	Text      []byte `json:"text"`
	Tool      string `json:"tool"`
	CallID    string `json:"callID"`
	State     state  `json:"state"`
	Time      times  `json:"time"`
	Synthetic bool   `json:"synthetic"` // the program added it
	Ignored   bool   `json:"ignored"`
}

// state is the state of a call.
type state struct {
	Status   string       `json:"status"`
	Input    jsontext.Raw `json:"input"`
	Output   []byte       `json:"output"`
	Error    []byte       `json:"error"`
	Time     times        `json:"time"`
	Metadata struct {
		Exit    int64      `json:"exit"`
		Answers [][][]byte `json:"answers"` // to each question
	} `json:"metadata"`
}

// partList is the parts of a message, in their order.
type partList struct {
	all      []part
	size     int // bytes, without files
	tooLarge int // parts that are left out
}

// add adds a part to the list. A part that is too large is only counted: one with nil data, which the source did not
// read, or one for which the list has no room. Of a file, such as a picture, add keeps no data.
func (l *partList) add(id string, _ int64, data []byte) {
	p := part{id: id}
	p.damaged = !jsontext.Decode(data, &p)
	switch {
	case p.Type == "file":
		l.all = append(l.all, part{id: id, Type: p.Type})
	case data == nil || l.size+len(data) > maxData:
		l.tooLarge++
	default:
		l.size += len(data)
		l.all = append(l.all, p)
	}
}

// record adds the events of a message to a recorder. The texts and the files in a message of the user are one prompt.
func record(to *history.Recorder, m *message, parts []part) {
	isUser := m.Role == "user"
	if !isUser && m.Role != "assistant" {
		to.Totals.Skipped++
		return
	}
	var prompt [][]byte // nil stands for a file
	for i := range parts {
		switch p := &parts[i]; {
		case p.damaged || !p.isKnown():
			to.Totals.Skipped++
		case p.Type == "file" && isUser:
			prompt = append(prompt, nil)
		case p.Synthetic || p.Ignored: // neither the user nor the assistant said it
		case isUser && p.Type == "text":
			prompt = append(prompt, p.Text)
		case isUser && p.Type == "compaction" && m.isCompaction:
			to.Add(transcript.Event{Kind: transcript.KindCompaction, Time: history.Moment(m.created)})
		case !isUser:
			recordAnswer(to, m, p)
		}
	}
	to.AddPrompt(history.Moment(m.created), prompt) // adds nothing without a prompt, as in an answer
}

// isKnown reports whether versions up to 1.18 write parts of this type.
func (p *part) isKnown() bool {
	switch p.Type {
	case "text", "reasoning", "tool", "file", "compaction", "step-start", "step-finish", "patch", "agent", "subtask", "snapshot", "retry":
		return true
	}
	return false
}

// recordAnswer adds the events of a part of an answer to a recorder.
func recordAnswer(to *history.Recorder, m *message, p *part) {
	s := &p.State
	switch at := history.Moment(cmp.Or(p.Time.Start, m.created)); p.Type {
	case "text":
		to.AddText(transcript.KindAssistant, at, p.Text)
	case "reasoning":
		to.AddText(transcript.KindReasoning, at, p.Text)
	case "tool":
		to.Add(transcript.Event{Kind: transcript.KindToolCall, Time: history.Moment(cmp.Or(s.Time.Start, m.created)), Name: p.Tool, CallID: p.CallID, Arguments: s.Input})
		if s.Status == "completed" || s.Status == "error" {
			to.Add(s.result(m, p.CallID))
		}
	}
}

// result returns the event of the result of a call. Its text is the answers of the user, if there are any, or else the
// error, or else the output. A shell command that failed has no error, but an exit code.
func (s *state) result(m *message, callID string) transcript.Event {
	e := transcript.Event{Kind: transcript.KindToolResult, Time: history.Moment(cmp.Or(s.Time.End, s.Time.Start, m.created)), CallID: callID, Text: s.Output}
	e.Failed = s.Status == "error" || s.Metadata.Exit != 0
	if e.Failed && s.Error != nil {
		e.Text = s.Error
	}
	if answers := slices.Concat(s.Metadata.Answers...); len(answers) > 0 {
		e.Text = history.Join(answers)
	}
	return e
}
