package gemini

import (
	"cmp"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/genai"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is a line of a log, a message in it, or a whole session in one object. Its texts can be parts of the line.
type record struct {
	ID       jsontext.Raw `json:"id"` // nil if it is no message
	Type     string       `json:"type"`
	At       time.Time    `json:"timestamp"`
	Content  jsontext.Raw `json:"content"`
	Thoughts []thought    `json:"thoughts"`
	Calls    []genai.Call `json:"toolCalls"`

	Session     string       `json:"sessionId"`
	Start       time.Time    `json:"startTime"`
	Kind        string       `json:"kind"`
	Summary     string       `json:"summary"`
	Messages    jsontext.Raw `json:"messages"`
	Directories []string     `json:"directories"`

	Set *struct {
		Messages jsontext.Raw `json:"messages"`
		Summary  string       `json:"summary"`
	} `json:"$set"`
	Rewind jsontext.Raw `json:"$rewindTo"`
}

type thought struct {
	Subject     []byte    `json:"subject"`
	Description []byte    `json:"description"`
	At          time.Time `json:"timestamp"`
}

// records returns the messages of a list, up to the first mistake.
func records(list jsontext.Raw) []record {
	return jsontext.Parts(list, func([]byte) (none record) { return none })
}

func (r *record) parts() []genai.Part { return genai.Parts(r.Content) }

const snapshotMark = "<state_snapshot>" // begins a summary of compressed messages

// isSnapshot reports whether a message is a summary of compressed messages.
func (r *record) isSnapshot() bool {
	all := r.parts()
	return r.Type == "user" && len(all) > 0 && history.Begins(all[0].Text, snapshotMark)
}

// isCommand reports whether a message is a command to the program: its first text begins with '/' or '?'.
func (r *record) isCommand() bool {
	for _, p := range r.parts() {
		if len(p.Text) > 0 {
			return p.Text[0] == '/' || p.Text[0] == '?'
		}
	}
	return false
}

// decoder makes events of messages.
type decoder struct{ *genai.Decoder }

func newDecoder(to *history.Recorder, agent bool) *decoder {
	to.Agent, to.Inquiry = agent, "ask_user"
	return &decoder{genai.NewDecoder(to)}
}

// message adds the events of a message to the recorder.
func (d *decoder) message(r *record) {
	switch r.Type {
	case "user":
		if !r.isCommand() {
			d.User(r.At, r.Content, "<session_context>", "<hook_context>", snapshotMark, "This is the Gemini CLI. We are setting up the context")
		}
	case "gemini":
		d.answer(r)
	case "info", "warning", "error": // of the program itself
	default:
		d.To.Totals.Skipped++
	}
}

// answer adds the thoughts, the texts, and the calls with their results of a message of the assistant.
func (d *decoder) answer(r *record) {
	for _, t := range r.Thoughts {
		d.To.AddText(transcript.KindReasoning, cmp.Or(t.At, r.At), history.Join([][]byte{t.Subject, t.Description}))
	}
	d.Answer(r.At, r.Content)
	for i := range r.Calls {
		c := &r.Calls[i]
		d.Call(r.At, c)
		d.Results(cmp.Or(c.At, r.At), c.Result, c)
	}
}
