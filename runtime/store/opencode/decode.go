package opencode

import (
	"strconv"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/jsontext"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/transcript"
)

// decode reads the JSON of a message, which may be cut.
func (m *message) decode(raw []byte) {
	for x := range jsontext.Members(raw) {
		text, _ := jsontext.Unquote(x.Value)
		switch string(x.Key) {
		case "role":
			switch string(text) {
			case "user":
				m.role = user
			case "assistant":
				m.role = assistant
			}
		case "parentID":
			m.parent = string(text)
		case "summary":
			m.summary = string(x.Value) == "true" // of a user's message it is an object
		case "error":
			m.failed = string(x.Value) != "null"
		case "time":
			if at := memberTime(x.Value, "created"); m.created.IsZero() {
				m.created = at
			}
		}
	}
}

// decodeRevert reads what was undone in a session.
func decodeRevert(raw []byte) revert {
	var r revert
	for x := range jsontext.Members(raw) {
		text, _ := jsontext.Unquote(x.Value)
		switch string(x.Key) {
		case "messageID":
			r.message = string(text)
		case "partID":
			r.part = string(text)
		}
	}
	return r
}

// parseTime reads a time in milliseconds since 1970; the zero time for none.
func parseTime(raw []byte) time.Time {
	ms, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return milliseconds(ms)
}

func milliseconds(ms int64) time.Time { return transcript.InRange(time.UnixMilli(ms).UTC()) }

// memberTime returns a time that is a member of an object.
func memberTime(raw []byte, key string) time.Time {
	for x := range jsontext.Members(raw) {
		if jsontext.KeyIs(x.Key, key) {
			return parseTime(x.Value)
		}
	}
	return time.Time{}
}

// content is a decoded part. Strings are as they stand between their quotes, and all of
// it aliases the part.
type content struct {
	kind, text, tool, callID []byte
	state, time              []byte // JSON values
	synthetic                bool   // the program put it in
}

// parsePart reads a part. It returns false where that is no JSON object.
func parsePart(raw []byte) (c content, ok bool) {
	ok = jsontext.Object(raw, func(key, value []byte) {
		text, _ := jsontext.Unquote(value)
		switch string(key) {
		case "type":
			c.kind = text
		case "text":
			c.text = text
		case "tool":
			c.tool = text
		case "callID":
			c.callID = text
		case "state":
			c.state = value
		case "time":
			c.time = value
		case "synthetic", "ignored":
			c.synthetic = c.synthetic || string(value) == "true"
		}
	})
	return c, ok
}

// isFile reports whether a part, of which at least the beginning is given, is a file.
func isFile(begin []byte) bool {
	for x := range jsontext.Members(begin) {
		if text, ok := jsontext.Unquote(x.Value); ok && jsontext.KeyIs(x.Key, "type") {
			return string(text) == "file"
		}
	}
	return false
}

// decoder makes events of messages, in their order.
type decoder struct {
	agent   bool // the session is that of a sub-agent
	turn    int
	skipped int // parts that are damaged, or of no known type
}

// events appends the events of a message.
func (d *decoder) events(dst []recorded.Event, m *message, parts []part) []recorded.Event {
	from := len(dst)
	switch m.role {
	case user:
		dst = d.prompt(dst, m, parts)
	case assistant:
		for _, p := range parts {
			if c, ok := d.parse(p); ok {
				dst = d.answer(dst, m, &c)
			}
		}
	default:
		d.skipped++
	}
	if len(dst) > from && d.turn == 0 && !dst[from].Kind.Global() {
		d.turn = 1
	}
	for i := from; i < len(dst); i++ {
		dst[i].Turn = d.turn
	}
	return dst
}

func (d *decoder) parse(p part) (content, bool) {
	if p.file {
		return content{kind: []byte("file")}, true
	}
	c, ok := parsePart(p.raw)
	if !ok {
		d.skipped++
	}
	return c, ok
}

// prompt appends the event of what a person said, or of the task that the assistant gave
// a sub-agent. It may be a picture alone.
func (d *decoder) prompt(dst []recorded.Event, m *message, parts []part) []recorded.Event {
	e := recorded.Event{Kind: transcript.KindUser, At: m.created}
	if d.agent {
		e.Kind = transcript.KindAssistant
	}
	said := false
	for _, p := range parts {
		c, ok := d.parse(p)
		switch {
		case !ok:
		case string(c.kind) == "text":
			if !c.synthetic {
				said = true
				e.Pieces = append(e.Pieces, recorded.Piece{Raw: c.text})
			}
		case string(c.kind) == "file":
			said = true
		case string(c.kind) == "compaction":
			if m.compacted {
				dst = append(dst, recorded.Event{Kind: transcript.KindCompaction, At: m.created, Compacted: d.turn})
			}
		default:
			d.known(&c)
		}
	}
	if said {
		d.turn++
		dst = append(dst, e)
	}
	return dst
}

// known counts a part of which nothing is told, where its type is no known one.
func (d *decoder) known(c *content) {
	switch string(c.kind) {
	case "file", "compaction", "step-start", "step-finish", "patch", "agent", "subtask", "snapshot", "retry":
	default:
		d.skipped++
	}
}

// answer appends the events of a part of what the assistant answered.
func (d *decoder) answer(dst []recorded.Event, m *message, c *content) []recorded.Event {
	kind := transcript.KindAssistant
	switch string(c.kind) {
	case "text":
	case "reasoning":
		kind = transcript.KindReasoning
	case "tool":
		return d.tool(dst, m, c)
	default:
		d.known(c)
		return dst
	}
	if len(c.text) == 0 || c.synthetic {
		return dst
	}
	at := memberTime(c.time, "start")
	if at.IsZero() {
		at = m.created
	}
	return append(dst, recorded.Event{Kind: kind, At: at, Pieces: []recorded.Piece{{Raw: c.text}}})
}

// inquiryTool is the tool with which the assistant asks the user.
const inquiryTool = "question"

// tool appends the events of a call, and of its result where there is one.
func (d *decoder) tool(dst []recorded.Event, m *message, c *content) []recorded.Event {
	call := recorded.Event{Kind: transcript.KindToolCall, At: m.created, Name: c.tool, CallID: c.callID}
	result := recorded.Event{Kind: transcript.KindToolResult, CallID: c.callID}
	var output, failure, answers []byte
	ended := false
	for x := range jsontext.Members(c.state) {
		text, isText := jsontext.Unquote(x.Value)
		switch string(x.Key) {
		case "status":
			ended = string(text) == "completed" || string(text) == "error"
			result.Failed = result.Failed || string(text) == "error"
		case "input":
			call.Arguments = x.Value
		case "output":
			if isText {
				output = text
			}
		case "error":
			if isText {
				failure = text
			}
		case "metadata":
			answers = d.metadata(&result, x.Value)
		case "time":
			if at := memberTime(x.Value, "start"); !at.IsZero() {
				call.At = at
			}
			result.At = memberTime(x.Value, "end")
		}
	}
	if result.At.IsZero() {
		result.At = call.At
	}
	if string(c.tool) == inquiryTool {
		if pieces := recorded.Questions(call.Arguments); len(pieces) > 0 {
			call = recorded.Event{Kind: transcript.KindInquiry, At: call.At, CallID: c.callID, Pieces: pieces}
			result.Kind = transcript.KindInquiryResponse
			result.Pieces = answered(answers)
		}
	}
	dst = append(dst, call)
	if !ended {
		return dst
	}
	if result.Failed && failure != nil {
		output = failure
	}
	if len(result.Pieces) == 0 && output != nil {
		result.Pieces = []recorded.Piece{{Raw: output}}
	}
	return append(dst, result)
}

// metadata reads what the program notes of a call: the exit code of a shell, for which
// it has no error, and the answers of the user, which it returns.
func (d *decoder) metadata(result *recorded.Event, raw []byte) (answers []byte) {
	for x := range jsontext.Members(raw) {
		switch string(x.Key) {
		case "exit":
			code, err := strconv.Atoi(string(x.Value))
			result.Failed = result.Failed || err == nil && code != 0
		case "answers":
			answers = x.Value
		}
	}
	return answers
}

// answered returns the text of answers, which are an array for each question.
func answered(raw []byte) []recorded.Piece {
	var pieces []recorded.Piece
	for answers := range jsontext.Elements(raw) {
		for answer := range jsontext.Elements(answers) {
			if text, ok := jsontext.Unquote(answer); ok {
				pieces = append(pieces, recorded.Piece{Raw: text})
			}
		}
	}
	return pieces
}
