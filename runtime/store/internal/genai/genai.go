// Package genai makes events of messages in the form of Google's API, which Gemini CLI and Qwen Code record.
package genai

import (
	"bytes"
	"cmp"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Call is a call of a tool. Its fields from Status on are recorded only beside a message, not in its parts.
type Call struct {
	ID     string       `json:"id"`
	Name   string       `json:"name"`
	Args   jsontext.Raw `json:"args"`
	Status string       `json:"status"`
	At     time.Time    `json:"timestamp"`
	Result jsontext.Raw `json:"result"` // the content of a message
}

// Response is the result of a tool.
type Response struct {
	ID       string `json:"id"`
	Response struct {
		Error   []byte `json:"error"`
		Output  []byte `json:"output"`
		Content []byte `json:"content"`
	} `json:"response"`
}

// Part is a part of a message's content.
type Part struct {
	Text     []byte       `json:"text"`
	Thought  bool         `json:"thought"`
	Call     *Call        `json:"functionCall"`
	Response *Response    `json:"functionResponse"`
	Inline   jsontext.Raw `json:"inlineData"`
	File     jsontext.Raw `json:"fileData"`
}

// Parts returns the parts of a content, which can be a text alone.
func Parts(content jsontext.Raw) []Part {
	return jsontext.Parts(content, func(text []byte) Part { return Part{Text: text} })
}

// Decoder makes events of messages. Calls and their results can be recorded several times.
type Decoder struct {
	To               *history.Recorder
	called, returned map[string]bool // ids of the calls and of the results that were added
}

// NewDecoder returns a decoder that adds events to a recorder.
func NewDecoder(to *history.Recorder) *Decoder {
	return &Decoder{to, map[string]bool{}, map[string]bool{}}
}

// The lines between which a program puts the files that a prompt mentions.
const (
	filesBegin = "--- Content from referenced files ---"
	filesEnd   = "--- End of content ---"
)

// User adds the results of calls in a message of the user, and then one prompt with what a person wrote, if there is
// any; a picture alone is a prompt too. It leaves out thoughts, texts that begin with one of the prefixes in injected,
// and the files that the program adds between filesBegin and filesEnd.
func (d *Decoder) User(at time.Time, content jsontext.Raw, injected ...string) {
	var texts [][]byte
	inFiles := false
	for _, p := range Parts(content) {
		switch {
		case p.Response != nil:
			d.response(at, p.Response, &Call{})
		case history.Begins(p.Text, filesBegin):
			inFiles = true
		case history.Begins(p.Text, filesEnd):
			inFiles = false
		case inFiles || p.Thought: // left out
		case p.Inline != nil || p.File != nil:
			texts = append(texts, nil)
		case len(p.Text) > 0 && !history.Begins(p.Text, injected...):
			texts = append(texts, p.Text)
		}
	}
	if len(texts) > 0 {
		d.To.AddText(transcript.KindUser, at, bytes.Join(texts, nil))
	}
}

// Answer adds the texts, thoughts and calls of an answer, and the results in it.
func (d *Decoder) Answer(at time.Time, content jsontext.Raw) {
	for _, p := range Parts(content) {
		switch {
		case p.Call != nil:
			d.Call(at, p.Call)
		case p.Response != nil:
			d.response(at, p.Response, &Call{})
		case p.Thought:
			d.To.AddText(transcript.KindReasoning, at, p.Text)
		default:
			d.To.AddText(transcript.KindAssistant, at, p.Text)
		}
	}
}

// isNew adds an id to a set, and reports whether the set did not have it. An empty id is always new.
func isNew(set map[string]bool, id string) bool {
	had := set[id]
	set[id] = id != ""
	return !had
}

// Call adds a call, unless a call with its id was added.
func (d *Decoder) Call(at time.Time, c *Call) {
	if isNew(d.called, c.ID) {
		d.To.Add(transcript.Event{Kind: transcript.KindToolCall, Time: at, Name: c.Name, CallID: c.ID, Arguments: c.Args})
	}
}

// Results adds the results of a call that are in a content, unless they were added.
func (d *Decoder) Results(at time.Time, content jsontext.Raw, call *Call) {
	for _, p := range Parts(content) {
		if p.Response != nil {
			d.response(at, p.Response, call)
		}
	}
}

// response adds the result r, unless its call has a result. call has the id and status recorded beside r, if any.
func (d *Decoder) response(at time.Time, r *Response, call *Call) {
	id := cmp.Or(r.ID, call.ID)
	if !isNew(d.returned, id) {
		return
	}
	var texts [][]byte
	for _, text := range [][]byte{r.Response.Error, r.Response.Output, r.Response.Content} {
		if text != nil {
			texts = append(texts, unwrap(text))
		}
	}
	failed := call.Status == "error" || r.Response.Error != nil
	d.To.Add(transcript.Event{Kind: transcript.KindToolResult, Time: at, CallID: id, Failed: failed, Text: history.Join(texts)})
}

// unwrap returns a text without the marks that a program puts around untrusted content.
func unwrap(said []byte) []byte {
	inner, begins := bytes.CutPrefix(said, []byte("<untrusted_context>"))
	inner, ends := bytes.CutSuffix(inner, []byte("</untrusted_context>"))
	if !begins || !ends {
		return said
	}
	return bytes.TrimSuffix(bytes.TrimPrefix(inner, []byte("\n")), []byte("\n"))
}
