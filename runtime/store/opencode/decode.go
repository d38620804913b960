package opencode

import (
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// revert is what its user has undone.
type revert struct {
	Message string `json:"messageID"` // the first one that is undone; empty for none
	Part    string `json:"partID"`    // the first one of that message that is undone; empty for all of them
}

// times are in milliseconds since 1970; 0 is for none.
type times struct {
	Created  int64 `json:"created"`
	Archived int64 `json:"archived"`
	Start    int64 `json:"start"`
	End      int64 `json:"end"`
}

// timeOf returns the first time that is recorded.
func timeOf(all ...int64) time.Time {
	for _, ms := range all {
		if ms != 0 {
			return transcript.InRange(time.UnixMilli(ms).UTC())
		}
	}
	return time.Time{}
}

// message is what is recorded about a message.
type message struct {
	id      string
	created int64

	Role    string       `json:"role"`
	Parent  string       `json:"parentID"` // the message of the user that it answers
	Summary bool         `json:"summary"`  // of what is compacted
	Error   jsontext.Raw `json:"error"`
	Time    times        `json:"time"`

	// compacted is set for the user's message that asks for a compaction which did not
	// fail.
	compacted bool
	place     int // in the order in which messages are told
}

// decode reads the JSON of a message, which may be cut.
func (m *message) decode(raw []byte) {
	jsontext.Decode(raw, m)
	if m.created == 0 {
		m.created = m.Time.Created
	}
}

func (m *message) failed() bool { return m.Error != nil && string(m.Error) != "null" }

// part is a part of a message. What it holds may be parts of what was read.
type part struct {
	id        string
	damaged   bool   // it is no JSON object
	Type      string `json:"type"`
	Text      []byte `json:"text"`
	Tool      string `json:"tool"`
	CallID    string `json:"callID"`
	State     state  `json:"state"`
	Time      times  `json:"time"`
	Synthetic bool   `json:"synthetic"` // the program put it in
	Ignored   bool   `json:"ignored"`
}

// state is that of a call.
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

// maxPart is how many bytes are read of the parts of a message, beside files.
const maxPart = jsonl.MaxLine

// partsOf is the parts of a message.
type partsOf struct {
	all   []part // in their order
	total int    // bytes
	left  int    // parts that are too long
}

// add adds a part; a nil one is too long. Of a file, such as a picture, nothing is held.
func (p *partsOf) add(id string, raw []byte) {
	one := part{id: id}
	one.damaged = !jsontext.Decode(raw, &one)
	switch {
	case one.Type == "file":
		p.all = append(p.all, part{id: id, Type: one.Type})
	case raw == nil || p.total+len(raw) > maxPart:
		p.left++
	default:
		p.total += len(raw)
		p.all = append(p.all, one)
	}
}

// tell adds the events of a message. A prompt may be a picture alone.
func tell(t *history.Recorder, m *message, parts []part) {
	isUser := m.Role == "user"
	if !isUser && m.Role != "assistant" {
		t.Totals.Skipped++
		return
	}
	said := false
	var texts [][]byte
	for i := range parts {
		switch p := &parts[i]; {
		case p.damaged || !p.isKnown():
			t.Totals.Skipped++
		case p.Type == "file":
			said = true
		case p.Synthetic || p.Ignored:
		case isUser && p.Type == "text":
			said = true
			texts = append(texts, p.Text)
		case isUser && p.Type == "compaction" && m.compacted:
			t.Add(transcript.Event{Kind: transcript.KindCompaction, Time: timeOf(m.created)})
		case !isUser:
			answer(t, m, p)
		}
	}
	if isUser && said {
		t.Add(transcript.Event{Kind: transcript.KindUser, Time: timeOf(m.created), Text: history.Join(texts)})
	}
}

// isKnown reports whether it is of a type that versions up to 1.18 write.
func (p *part) isKnown() bool {
	switch p.Type {
	case "text", "reasoning", "tool", "file", "compaction", "step-start", "step-finish", "patch", "agent", "subtask", "snapshot", "retry":
		return true
	}
	return false
}

// answer adds a part of what the assistant answered.
func answer(t *history.Recorder, m *message, p *part) {
	at := timeOf(p.Time.Start, m.created)
	switch p.Type {
	case "text":
		t.Add(transcript.Event{Kind: transcript.KindAssistant, Time: at, Text: p.Text})
	case "reasoning":
		t.Add(transcript.Event{Kind: transcript.KindReasoning, Time: at, Text: p.Text})
	case "tool":
		tool(t, m, p)
	}
}

// tool adds a call, and its result where there is one.
func tool(t *history.Recorder, m *message, p *part) {
	s := &p.State
	t.Add(transcript.Event{Kind: transcript.KindToolCall, Time: timeOf(s.Time.Start, m.created), Name: p.Tool, CallID: p.CallID, Arguments: s.Input})
	if s.Status != "completed" && s.Status != "error" {
		return
	}
	// Of a shell that failed the program has no error, but an exit code.
	failed := s.Status == "error" || s.Metadata.Exit != 0
	said := s.Output
	if failed && s.Error != nil {
		said = s.Error
	}
	var answers [][]byte
	for _, list := range s.Metadata.Answers {
		answers = append(answers, list...)
	}
	if len(answers) > 0 {
		said = history.Join(answers)
	}
	t.Add(transcript.Event{Kind: transcript.KindToolResult, Time: timeOf(s.Time.End, s.Time.Start, m.created), CallID: p.CallID, Failed: failed, Text: said})
}
