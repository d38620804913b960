package claudecode

import (
	"bytes"

	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// decoder makes events of records, in the order of a plan.
type decoder struct {
	agent   bool // the conversation is that of a sub-agent
	Turn    int
	Asked   recorded.Asked
	unknown int // blocks of no known type
}

// inquiryTool is the tool with which the assistant asks the user.
const inquiryTool = "AskUserQuestion"

// synthetic is the model of what the program itself says in the name of the assistant.
const synthetic = "<synthetic>"

// events appends the events of a record.
func (d *decoder) events(dst []recorded.Event, r *record) []recorded.Event {
	from := len(dst)
	content, model := r.content()
	switch {
	case r.isBoundary():
		return append(dst, recorded.Event{Kind: transcript.KindCompaction, Stamp: r.stamp, Compacted: d.Turn})
	case r.is("assistant"):
		if string(model) != synthetic {
			dst = d.answer(dst, content)
		}
	case r.is("user"):
		dst = d.results(dst, r, content)
		if len(dst) == from && r.isPrompt() {
			d.Turn++
			dst = append(dst, d.prompt(content))
		}
	}
	if len(dst) > from && d.Turn == 0 {
		d.Turn = 1
	}
	for i := from; i < len(dst); i++ {
		dst[i].Stamp, dst[i].Turn = r.stamp, d.Turn
	}
	return dst
}

// prompt returns the event of what a person said, or of the task that the assistant
// gave a sub-agent.
func (d *decoder) prompt(content []byte) recorded.Event {
	e := recorded.Event{Kind: transcript.KindUser}
	if d.agent {
		e.Kind = transcript.KindAssistant
	}
	blocks(content, func(b *block) bool {
		if b.is("text") && b.said() {
			e.Pieces = append(e.Pieces, recorded.Piece{Raw: b.text})
		}
		return true
	})
	return e
}

// answer appends the events of a message of the assistant.
func (d *decoder) answer(dst []recorded.Event, content []byte) []recorded.Event {
	blocks(content, func(b *block) bool {
		switch {
		case b.is("text"):
			if len(b.text) > 0 {
				dst = append(dst, recorded.Event{Kind: transcript.KindAssistant, Pieces: []recorded.Piece{{Raw: b.text}}})
			}
		case b.is("thinking"):
			if len(b.thinking) > 0 {
				dst = append(dst, recorded.Event{Kind: transcript.KindReasoning, Pieces: []recorded.Piece{{Raw: b.thinking}}})
			}
		case b.is("redacted_thinking"): // there is nothing to read
		case b.is("tool_use"), b.is("server_tool_use"), b.is("mcp_tool_use"):
			dst = append(dst, d.call(b))
		case b.is("mcp_tool_result"), bytes.HasSuffix(b.kind, []byte("_tool_result")):
			dst = append(dst, d.result(b, nil))
		default:
			d.unknown++
		}
		return true
	})
	return dst
}

func (d *decoder) call(b *block) recorded.Event {
	e := recorded.Event{Kind: transcript.KindToolCall, Name: b.name, CallID: b.id, Arguments: b.input}
	if string(b.name) != inquiryTool {
		return e
	}
	pieces := recorded.Questions(b.input)
	if len(pieces) == 0 {
		return e
	}
	d.Asked.Ask(string(b.id))
	return recorded.Event{Kind: transcript.KindInquiry, CallID: b.id, Pieces: pieces}
}

// results appends the events of what tools returned.
func (d *decoder) results(dst []recorded.Event, r *record, content []byte) []recorded.Event {
	blocks(content, func(b *block) bool {
		if b.is("tool_result") {
			dst = append(dst, d.result(b, r.toolUse))
		}
		return true
	})
	return dst
}

func (d *decoder) result(b *block, whole []byte) recorded.Event {
	e := recorded.Event{Kind: transcript.KindToolResult, CallID: b.callID, Failed: b.failed}
	if d.Asked.Answers(b.callID) {
		e.Kind = transcript.KindInquiryResponse
	}
	blocks(b.content, func(b *block) bool {
		if b.is("text") {
			e.Pieces = append(e.Pieces, withoutReminders(b.text)...)
		}
		return true
	})
	if len(e.Pieces) == 1 && bytes.HasPrefix(e.Pieces[0].Raw, []byte("<persisted-output>")) {
		// The record repeats more of it than its message has, where the program keeps the
		// rest in a file of its own.
		if text := jsontext.GetText(whole, "stdout"); len(text) > 0 {
			e.Pieces[0].Raw = text
		}
	}
	return e
}

// withoutReminders returns a text without what the program adds for the assistant
// alone.
func withoutReminders(raw []byte) []recorded.Piece {
	const begin, end = "<system-reminder>", "</system-reminder>"
	pieces := []recorded.Piece{}
	joined := false
	for {
		i := bytes.Index(raw, []byte(begin))
		if i < 0 {
			break
		}
		n := bytes.Index(raw[i:], []byte(end))
		if n < 0 {
			break
		}
		pieces = append(pieces, recorded.Piece{Raw: raw[:i], Joined: joined})
		joined = true
		raw = raw[i+n+len(end):]
	}
	return append(pieces, recorded.Piece{Raw: raw, Joined: joined})
}
