package gemini

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is a line of a log, a message in it, or a whole session in one object. Its texts can be parts of
// the line.
type record struct {
	ID       jsontext.Raw `json:"id"` // nil if it is no message
	Type     string       `json:"type"`
	At       time.Time    `json:"timestamp"`
	Content  jsontext.Raw `json:"content"`
	Thoughts []thought    `json:"thoughts"`
	Calls    []call       `json:"toolCalls"`

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

// call is a call of a tool, with its result if it has one.
type call struct {
	ID     string       `json:"id"`
	Name   string       `json:"name"`
	Status string       `json:"status"`
	At     time.Time    `json:"timestamp"`
	Args   jsontext.Raw `json:"args"`
	Result jsontext.Raw `json:"result"`
}

// response is the result of a tool.
type response struct {
	ID       string `json:"id"`
	Response struct {
		Error   []byte `json:"error"`
		Output  []byte `json:"output"`
		Content []byte `json:"content"`
	} `json:"response"`
}

// part is a part of a message's content.
type part struct {
	Text     []byte       `json:"text"`
	Thought  bool         `json:"thought"`
	Call     *call        `json:"functionCall"`
	Response *response    `json:"functionResponse"`
	Inline   jsontext.Raw `json:"inlineData"`
	File     jsontext.Raw `json:"fileData"`
}

// parse reads a line. It returns false if that is no JSON object, with the members up to the mistake.
func parse(line []byte) (r record, ok bool) {
	ok = jsontext.Decode(line, &r)
	return r, ok
}

// records returns the messages of a list, up to the first mistake.
func records(list jsontext.Raw) []record {
	return jsontext.Parts(list, func([]byte) (none record) { return none })
}

func (r *record) parts() []part { return parts(r.Content) }

func parts(content jsontext.Raw) []part {
	return jsontext.Parts(content, func(said []byte) part { return part{Text: said} })
}

// snapshotMark begins a summary of compressed messages.
const snapshotMark = "<state_snapshot>"

// isSnapshot reports whether a message is a summary of compressed messages.
func (r *record) isSnapshot() bool {
	all := r.parts()
	return r.Type == "user" && len(all) > 0 && history.Begins(all[0].Text, snapshotMark)
}

// isInjected reports whether the program wrote a text in the name of the user.
func isInjected(said []byte) bool {
	return history.Begins(said,
		"<session_context>", "<hook_context>", snapshotMark, "This is the Gemini CLI. We are setting up the context")
}

// decoder makes events of messages. Calls and their results can be recorded several times.
type decoder struct {
	to               *history.Recorder
	called, returned map[string]bool // ids of the calls and of the results that were added
}

func newDecoder(t *history.Recorder, agent bool) *decoder {
	t.Agent, t.Inquiry = agent, "ask_user"
	return &decoder{t, map[string]bool{}, map[string]bool{}}
}

func (d *decoder) text(kind transcript.Kind, at time.Time, text []byte) {
	d.to.Add(transcript.Event{Kind: kind, Time: at, Text: text})
}

// decode adds the events of a message.
func (d *decoder) decode(r *record) {
	switch r.Type {
	case "user":
		d.user(r)
	case "gemini":
		d.answer(r)
	case "info", "warning", "error": // of the program itself
	default:
		d.to.Totals.Skipped++
	}
}

// The lines between which the program puts the files that a prompt mentions.
const (
	filesBegin = "--- Content from referenced files ---"
	filesEnd   = "--- End of content ---"
)

// user adds a prompt of a person, and results that are recorded nowhere else.
func (d *decoder) user(r *record) {
	var texts [][]byte
	said, first, inFiles := false, true, false
	for _, p := range r.parts() {
		switch {
		case p.Response != nil:
			d.response(r.At, p.Response, &call{})
		case history.Begins(p.Text, filesBegin):
			inFiles = true
		case history.Begins(p.Text, filesEnd):
			inFiles = false
		case inFiles || p.Thought:
		case p.Inline != nil || p.File != nil:
			said = true
		case len(p.Text) == 0 || isInjected(p.Text):
		case first && (p.Text[0] == '/' || p.Text[0] == '?'):
			return // a command to the program
		default:
			said = true
			texts = append(texts, p.Text)
		}
		first = first && len(p.Text) == 0
	}
	if said {
		d.text(transcript.KindUser, r.At, bytes.Join(texts, nil))
	}
}

// answer adds an answer of the assistant.
func (d *decoder) answer(r *record) {
	for _, t := range r.Thoughts {
		said := [][]byte{t.Subject, t.Description}
		said = slices.DeleteFunc(said, func(text []byte) bool { return len(text) == 0 })
		d.text(transcript.KindReasoning, cmp.Or(t.At, r.At), history.Join(said))
	}
	for _, p := range r.parts() {
		switch {
		case p.Call != nil:
			d.call(r.At, p.Call)
		case p.Response != nil:
			d.response(r.At, p.Response, &call{})
		case p.Thought:
			d.text(transcript.KindReasoning, r.At, p.Text)
		default:
			d.text(transcript.KindAssistant, r.At, p.Text)
		}
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		d.call(r.At, c)
		for _, p := range parts(c.Result) {
			if p.Response != nil {
				d.response(cmp.Or(c.At, r.At), p.Response, c)
			}
		}
	}
}

// first adds an id to a set, and reports whether it was not there. Nothing equals an empty id.
func first(set map[string]bool, id string) bool {
	again := set[id]
	set[id] = id != ""
	return !again
}

// call adds a call, unless it was added.
func (d *decoder) call(at time.Time, c *call) {
	if first(d.called, c.ID) {
		d.to.Add(transcript.Event{Kind: transcript.KindToolCall, Time: at, Name: c.Name, CallID: c.ID, Arguments: c.Args})
	}
}

// response adds the result of a call, unless it was added.
func (d *decoder) response(at time.Time, r *response, of *call) {
	id := cmp.Or(r.ID, of.ID)
	if !first(d.returned, id) {
		return
	}
	var texts [][]byte
	for _, text := range [][]byte{r.Response.Error, r.Response.Output, r.Response.Content} {
		if text != nil {
			texts = append(texts, unwrap(text))
		}
	}
	failed := of.Status == "error" || r.Response.Error != nil
	d.to.Add(transcript.Event{Kind: transcript.KindToolResult, Time: at, CallID: id, Failed: failed, Text: history.Join(texts)})
}

// unwrap returns a text without the marks that the program puts around untrusted content.
func unwrap(said []byte) []byte {
	inner, begins := bytes.CutPrefix(said, []byte("<untrusted_context>"))
	inner, ends := bytes.CutSuffix(inner, []byte("</untrusted_context>"))
	if !begins || !ends {
		return said
	}
	return bytes.TrimSuffix(bytes.TrimPrefix(inner, []byte("\n")), []byte("\n"))
}
