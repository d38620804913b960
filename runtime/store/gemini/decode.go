package gemini

import (
	"bytes"

	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// decoder makes events of messages, in their order.
type decoder struct {
	agent    bool // the conversation is that of a sub-agent
	turn     int
	called   map[string]bool // ids of calls that were told of
	returned map[string]bool // ids of calls of which the result was told
	asked    map[string]bool // ids of calls that ask the user something
	unknown  int             // messages of no known type
}

// inquiryTool is the tool with which the assistant asks the user.
const inquiryTool = "ask_user"

// compaction returns the event of a compression.
func (d *decoder) compaction(stamp []byte) recorded.Event {
	return recorded.Event{Kind: transcript.KindCompaction, Stamp: stamp, Compacted: d.turn}
}

// events appends the events of a message.
func (d *decoder) events(dst []recorded.Event, r *record) []recorded.Event {
	from := len(dst)
	switch {
	case r.is("user"):
		dst = d.user(dst, r)
	case r.is("gemini"):
		dst = d.answer(dst, r)
	case r.is("info"), r.is("warning"), r.is("error"): // of the program itself
	default:
		d.unknown++
	}
	if len(dst) > from && d.turn == 0 {
		d.turn = 1
	}
	for i := from; i < len(dst); i++ {
		if dst[i].Turn = d.turn; dst[i].Stamp == nil {
			dst[i].Stamp = r.stamp
		}
	}
	return dst
}

// The lines between which the program puts the files that a prompt mentions.
const (
	filesBegin = "--- Content from referenced files ---"
	filesEnd   = "--- End of content ---"
)

// user appends the events of what a person said, or of the task that the assistant gave a
// sub-agent, and of results that are told nowhere else.
func (d *decoder) user(dst []recorded.Event, r *record) []recorded.Event {
	e := recorded.Event{Kind: transcript.KindUser}
	if d.agent {
		e.Kind = transcript.KindAssistant
	}
	said, first, inFiles := false, true, false
	contents(r.content, func(c *content) bool {
		switch {
		case c.response != nil:
			dst = d.response(dst, c.response, nil)
		case recorded.Begins(c.text, filesBegin):
			inFiles = true
		case recorded.Begins(c.text, filesEnd):
			inFiles = false
		case inFiles || c.thought:
		case c.isData:
			said = true
		case len(c.text) == 0 || isInjected(c.text):
		case first && isCommand(c.text):
			said, e.Pieces = false, nil
			return false
		default:
			said = true
			e.Pieces = append(e.Pieces, recorded.Piece{Raw: c.text, Joined: true})
		}
		first = first && len(c.text) == 0
		return true
	})
	if said {
		d.turn++
		dst = append(dst, e)
	}
	return dst
}

// answer appends the events of what the assistant answered.
func (d *decoder) answer(dst []recorded.Event, r *record) []recorded.Event {
	for raw := range jsontext.Elements(r.thoughts) {
		dst = thought(dst, raw)
	}
	contents(r.content, func(c *content) bool {
		switch {
		case c.call != nil:
			called := parseCall(c.call)
			dst = d.call(dst, &called)
		case c.response != nil:
			dst = d.response(dst, c.response, nil)
		case len(c.text) == 0:
		case c.thought:
			dst = append(dst, recorded.Event{Kind: transcript.KindReasoning, Pieces: []recorded.Piece{{Raw: c.text}}})
		default:
			dst = append(dst, recorded.Event{Kind: transcript.KindAssistant, Pieces: []recorded.Piece{{Raw: c.text}}})
		}
		return true
	})
	for raw := range jsontext.Elements(r.calls) {
		called := parseCall(raw)
		dst = d.call(dst, &called)
		dst = d.result(dst, &called)
	}
	return dst
}

// thought appends the event of a thought, which has a subject and a description.
func thought(dst []recorded.Event, raw []byte) []recorded.Event {
	e := recorded.Event{Kind: transcript.KindReasoning}
	var subject, description []byte
	jsontext.Read(raw, jsontext.Text("subject", &subject), jsontext.Text("description", &description), jsontext.Text("timestamp", &e.Stamp))
	for _, text := range [][]byte{subject, description} {
		if len(text) > 0 {
			e.Pieces = append(e.Pieces, recorded.Piece{Raw: text})
		}
	}
	if len(e.Pieces) == 0 {
		return dst
	}
	return append(dst, e)
}

// first adds an id to a set, and reports whether it was not there. Where there is no id,
// nothing is known to be the same.
func first(set *map[string]bool, id []byte) bool {
	if len(id) == 0 {
		return true
	}
	if *set == nil {
		*set = map[string]bool{}
	}
	if (*set)[string(id)] {
		return false
	}
	(*set)[string(id)] = true
	return true
}

// call appends the event of a call, unless it was told of.
func (d *decoder) call(dst []recorded.Event, c *call) []recorded.Event {
	if !first(&d.called, c.id) {
		return dst
	}
	if string(c.name) == inquiryTool {
		if pieces := recorded.Questions(c.args); len(pieces) > 0 {
			first(&d.asked, c.id)
			return append(dst, recorded.Event{Kind: transcript.KindInquiry, CallID: c.id, Pieces: pieces})
		}
	}
	return append(dst, recorded.Event{Kind: transcript.KindToolCall, Name: c.name, CallID: c.id, Arguments: c.args})
}

// result appends the events of the result of a call. It has one response as a rule.
func (d *decoder) result(dst []recorded.Event, c *call) []recorded.Event {
	contents(c.result, func(part *content) bool {
		if part.response != nil {
			dst = d.response(dst, part.response, c)
		}
		return true
	})
	return dst
}

// response appends the event of what a tool returned, unless it was told of. c is the call
// that has it; nil where a message has it.
func (d *decoder) response(dst []recorded.Event, raw []byte, c *call) []recorded.Event {
	e := recorded.Event{Kind: transcript.KindToolResult, CallID: jsontext.GetText(raw, "id")}
	if c != nil {
		e.Stamp, e.Failed = c.stamp, string(c.status) == "error"
		if len(e.CallID) == 0 {
			e.CallID = c.id
		}
	}
	if !first(&d.returned, e.CallID) {
		return dst
	}
	if d.asked[string(e.CallID)] {
		e.Kind = transcript.KindInquiryResponse
	}
	for m := range jsontext.Members(jsontext.Get(raw, "response")) {
		text, ok := jsontext.Unquote(m.Value)
		switch {
		case !ok:
		case jsontext.KeyIs(m.Key, "error"):
			e.Failed = true
			e.Pieces = append(e.Pieces, recorded.Piece{Raw: unwrap(text)})
		case jsontext.KeyIs(m.Key, "output"), jsontext.KeyIs(m.Key, "content"):
			e.Pieces = append(e.Pieces, recorded.Piece{Raw: unwrap(text)})
		}
	}
	return append(dst, e)
}

// unwrap returns a text, as it stands between its quotes, without the mark that the
// program puts around what comes from outside.
func unwrap(raw []byte) []byte {
	inner, begins := bytes.CutPrefix(raw, []byte("<untrusted_context>"))
	inner, ends := bytes.CutSuffix(inner, []byte("</untrusted_context>"))
	if !begins || !ends {
		return raw
	}
	inner = bytes.TrimPrefix(inner, []byte(`\n`))
	return bytes.TrimSuffix(inner, []byte(`\n`))
}
