package opencode

import (
	"strconv"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// decode reads the JSON of a message, which may be cut.
func (m *message) decode(raw []byte) {
	var role, parent, failure, at []byte
	jsontext.Read(raw,
		jsontext.Text("role", &role), jsontext.Text("parentID", &parent), jsontext.Value("error", &failure), jsontext.Value("time", &at),
		jsontext.Is("summary", &m.summary), // of a user's message it is an object
	)
	switch string(role) {
	case "user":
		m.role = user
	case "assistant":
		m.role = assistant
	}
	m.parent, m.failed = string(parent), failure != nil && string(failure) != "null"
	if m.created.IsZero() {
		m.created = memberTime(at, "created")
	}
}

// decodeRevert reads what was undone in a session.
func decodeRevert(raw []byte) revert {
	return revert{string(jsontext.GetText(raw, "messageID")), string(jsontext.GetText(raw, "partID"))}
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
func memberTime(raw []byte, key string) time.Time { return parseTime(jsontext.Get(raw, key)) }

// content is a decoded part. Strings are as they stand between their quotes, and all of
// it aliases the part.
type content struct {
	kind, text, tool, callID []byte
	state, time              []byte // JSON values
	synthetic                bool   // the program put it in
}

// parsePart reads a part. It returns false where that is no JSON object.
func parsePart(raw []byte) (c content, ok bool) {
	var ignored bool
	ok = jsontext.Read(raw,
		jsontext.Text("type", &c.kind), jsontext.Text("text", &c.text), jsontext.Text("tool", &c.tool), jsontext.Text("callID", &c.callID),
		jsontext.Value("state", &c.state), jsontext.Value("time", &c.time), jsontext.Is("synthetic", &c.synthetic), jsontext.Is("ignored", &ignored),
	)
	c.synthetic = c.synthetic || ignored
	return c, ok
}

// decoder makes events of messages, in their order.
type decoder struct {
	agent  bool          // the session is that of a sub-agent
	totals *store.Totals // turns, and what is skipped, up to here
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
		d.totals.Skipped++
	}
	if len(dst) > from && d.totals.Turns == 0 && !dst[from].Kind.Global() {
		d.totals.Turns = 1
	}
	for i := from; i < len(dst); i++ {
		dst[i].Turn = d.totals.Turns
	}
	return dst
}

func (d *decoder) parse(p part) (content, bool) {
	if p.file {
		return content{kind: []byte("file")}, true
	}
	c, ok := parsePart(p.raw)
	if !ok {
		d.totals.Skipped++
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
				dst = append(dst, recorded.Event{Kind: transcript.KindCompaction, At: m.created, Compacted: d.totals.Turns})
			}
		default:
			d.known(&c)
		}
	}
	if said {
		d.totals.Turns++
		dst = append(dst, e)
	}
	return dst
}

// known counts a part of which nothing is told, where its type is no known one.
func (d *decoder) known(c *content) {
	switch string(c.kind) {
	case "file", "compaction", "step-start", "step-finish", "patch", "agent", "subtask", "snapshot", "retry":
	default:
		d.totals.Skipped++
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
	var status, output, failure, metadata, at []byte
	jsontext.Read(c.state,
		jsontext.Text("status", &status), jsontext.Value("input", &call.Arguments), jsontext.Text("output", &output),
		jsontext.Text("error", &failure), jsontext.Value("metadata", &metadata), jsontext.Value("time", &at),
	)
	// Of a shell that failed the program has no error, but an exit code.
	exit, _ := strconv.Atoi(string(jsontext.Get(metadata, "exit")))
	result.Failed = string(status) == "error" || exit != 0
	if start := memberTime(at, "start"); !start.IsZero() {
		call.At = start
	}
	if result.At = memberTime(at, "end"); result.At.IsZero() {
		result.At = call.At
	}
	if string(c.tool) == inquiryTool {
		if pieces := recorded.Questions(call.Arguments); len(pieces) > 0 {
			call = recorded.Event{Kind: transcript.KindInquiry, At: call.At, CallID: c.callID, Pieces: pieces}
			result.Kind = transcript.KindInquiryResponse
			result.Pieces = answered(jsontext.Get(metadata, "answers"))
		}
	}
	dst = append(dst, call)
	if string(status) != "completed" && string(status) != "error" {
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
