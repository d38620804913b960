package codex

import (
	"bytes"
	"strconv"

	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is a line of a rollout. Strings are as they stand between their quotes, and
// all of it aliases the line.
type record struct {
	kind, stamp, state []byte
	ordinal            int64  // -1 for none
	payload            []byte // JSON value
	// bare are the members of a line without an envelope, as versions before 0.30 wrote
	// them: the whole line.
	bare []byte
}

// parse reads a line. It returns false where that is no JSON object.
func parse(line []byte) (r record, ok bool) {
	var ordinal []byte
	ok = jsontext.Read(line,
		jsontext.Text("type", &r.kind), jsontext.Text("timestamp", &r.stamp), jsontext.Text("record_type", &r.state),
		jsontext.Value("payload", &r.payload), jsontext.Value("ordinal", &ordinal),
	)
	var err error
	if r.ordinal, err = strconv.ParseInt(string(ordinal), 10, 64); err != nil {
		r.ordinal = -1
	}
	if ok && r.payload == nil && r.state == nil {
		r.bare = line
	}
	return r, ok
}

func (r *record) is(kind string) bool { return string(r.kind) == kind }

// item is what a line records: the payload of an envelope, or a bare line.
type item struct {
	kind, role, name, namespace, callID []byte // as they stand between their quotes
	message, text                       []byte
	content, arguments, input, output   []byte // JSON values
	summary, action, item               []byte
	turns                               int
}

func parseItem(raw []byte) (x item) {
	var turns []byte
	jsontext.Read(raw,
		jsontext.Text("type", &x.kind), jsontext.Text("role", &x.role), jsontext.Text("name", &x.name),
		jsontext.Text("namespace", &x.namespace), jsontext.Text("call_id", &x.callID),
		jsontext.Text("message", &x.message), jsontext.Text("text", &x.text),
		jsontext.Value("content", &x.content), jsontext.Value("arguments", &x.arguments),
		jsontext.Value("input", &x.input), jsontext.Value("output", &x.output),
		jsontext.Value("summary", &x.summary), jsontext.Value("summary_text", &x.summary),
		jsontext.Value("action", &x.action), jsontext.Value("item", &x.item), jsontext.Value("num_turns", &turns),
	)
	x.turns, _ = strconv.Atoi(string(turns))
	return x
}

func (x *item) is(kind string) bool { return string(x.kind) == kind }

// texts returns the texts of a content: a string, or an array of strings and of blocks
// that have a text.
func texts(content []byte) []recorded.Piece {
	if text, ok := jsontext.Unquote(content); ok {
		return []recorded.Piece{{Raw: text}}
	}
	var pieces []recorded.Piece
	for raw := range jsontext.Elements(content) {
		if text, ok := jsontext.Unquote(raw); ok {
			pieces = append(pieces, recorded.Piece{Raw: text})
			continue
		}
		if text := jsontext.GetText(raw, "text"); text != nil {
			pieces = append(pieces, recorded.Piece{Raw: text})
		}
	}
	return pieces
}

// injected are the beginnings of what the program writes in the name of the user.
var injected = [...]string{
	"<environment_context>", "# AGENTS.md instructions for", "<user_instructions>", "<turn_aborted>", "<subagent_notification>",
	"<skill>", "<image name=",
}

// said returns the texts that a person wrote. What an editor puts before a request is
// left out.
func said(pieces []recorded.Piece) []recorded.Piece {
	var kept []recorded.Piece
	for _, p := range pieces {
		if recorded.Begins(p.Raw, injected[:]...) {
			continue
		}
		const mark = "## My request for Codex:"
		if i := bytes.Index(p.Raw, []byte(mark)); i >= 0 && recorded.Begins(p.Raw, "# Context from my IDE setup", mark) {
			p.Raw = p.Raw[i+len(mark):]
			for bytes.HasPrefix(p.Raw, []byte(`\n`)) {
				p.Raw = p.Raw[len(`\n`):]
			}
		}
		kept = append(kept, p)
	}
	return kept
}

// decoder makes events of records, in their order.
type decoder struct {
	agent     bool // the thread is that of a sub-agent
	paginated bool // texts are completed items, not messages
	Bare      bool // texts are what the model was sent, as there is nothing else
	Turn      int
	Asked     recorded.Asked
	unknown   int    // records of no known type
	decoded   []byte // arguments and outputs that are JSON in a string
}

// inquiryTool is the tool with which the assistant asks the user.
const inquiryTool = "request_user_input"

// events appends the events of a record.
func (d *decoder) events(dst []recorded.Event, r *record) []recorded.Event {
	from := len(dst)
	d.decoded = d.decoded[:0]
	switch {
	case r.bare != nil:
		d.Bare = true
		x := parseItem(r.bare)
		dst = d.response(dst, &x)
	case r.is("event_msg"):
		x := parseItem(r.payload)
		dst = d.message(dst, &x)
	case r.is("response_item"):
		x := parseItem(r.payload)
		dst = d.response(dst, &x)
	case r.is("compacted"):
		return append(dst, recorded.Event{Kind: transcript.KindCompaction, Stamp: r.stamp, Compacted: d.Turn})
	case r.is("session_meta"), r.is("turn_context"), r.is("world_state"), r.is("token_usage_record"), r.state != nil:
	default:
		d.unknown++
	}
	if len(dst) > from && d.Turn == 0 {
		d.Turn = 1
	}
	for i := from; i < len(dst); i++ {
		dst[i].Stamp, dst[i].Turn = r.stamp, d.Turn
	}
	return dst
}

// message appends the events of what the program showed its user.
func (d *decoder) message(dst []recorded.Event, x *item) []recorded.Event {
	if d.paginated {
		if !x.is("item_completed") {
			return dst
		}
		done := parseItem(x.item)
		switch {
		case done.is("UserMessage"):
			return d.user(dst, texts(done.content))
		case done.is("AgentMessage"):
			return add(dst, transcript.KindAssistant, texts(done.content))
		case done.is("Reasoning"):
			return add(dst, transcript.KindReasoning, texts(done.summary))
		}
		return dst
	}
	switch {
	case x.is("user_message"):
		return d.user(dst, []recorded.Piece{{Raw: x.message}})
	case x.is("agent_message"):
		return add(dst, transcript.KindAssistant, []recorded.Piece{{Raw: x.message}})
	case x.is("agent_reasoning"):
		return add(dst, transcript.KindReasoning, []recorded.Piece{{Raw: x.text}})
	}
	return dst
}

// add appends an event with a text, if there is one.
func add(dst []recorded.Event, kind transcript.Kind, pieces []recorded.Piece) []recorded.Event {
	for _, p := range pieces {
		if len(p.Raw) > 0 {
			return append(dst, recorded.Event{Kind: kind, Pieces: pieces})
		}
	}
	return dst
}

// user appends the event of what a person said, or of the task that the assistant gave
// a sub-agent. It may be a picture alone.
func (d *decoder) user(dst []recorded.Event, pieces []recorded.Piece) []recorded.Event {
	kept := said(pieces)
	if len(kept) == 0 && len(pieces) > 0 {
		return dst
	}
	d.Turn++
	kind := transcript.KindUser
	if d.agent {
		kind = transcript.KindAssistant
	}
	return append(dst, recorded.Event{Kind: kind, Pieces: kept})
}

// response appends the events of what the model was sent, or answered.
func (d *decoder) response(dst []recorded.Event, x *item) []recorded.Event {
	switch {
	case x.is("message"):
		if !d.Bare {
			return dst // a message that is shown has it too
		}
		switch string(x.role) {
		case "user":
			if kept := said(texts(x.content)); len(kept) > 0 {
				return d.user(dst, kept)
			}
		case "assistant":
			return add(dst, transcript.KindAssistant, texts(x.content))
		}
	case x.is("reasoning"):
		if d.Bare {
			return add(dst, transcript.KindReasoning, texts(x.summary))
		}
	case bytes.HasSuffix(x.kind, []byte("_output")):
		return append(dst, d.result(x))
	case bytes.HasSuffix(x.kind, []byte("_call")):
		return append(dst, d.call(x))
	case x.kind != nil:
		d.unknown++
	}
	return dst
}

func (d *decoder) call(x *item) recorded.Event {
	e := recorded.Event{Kind: transcript.KindToolCall, Name: x.name, CallID: x.callID}
	if x.name == nil {
		e.Name = bytes.TrimSuffix(x.kind, []byte("_call"))
	}
	if bytes.HasPrefix(x.namespace, []byte("mcp__")) {
		// Some versions end the namespace as the other ones join it.
		e.Name = bytes.Join([][]byte{bytes.TrimRight(x.namespace, "_"), x.name}, []byte("__"))
	}
	text, isText := jsontext.Unquote(x.arguments)
	switch {
	case isText:
		if e.Arguments = d.inner(text); e.Arguments == nil && len(text) > 0 {
			e.Pieces = []recorded.Piece{{Raw: text}}
		}
	case len(x.arguments) > 0:
		e.Arguments = x.arguments
	case len(x.input) > 0:
		if e.Pieces = texts(x.input); e.Pieces == nil {
			e.Arguments = x.input
		}
	case len(x.action) > 0:
		e.Arguments = x.action
	}
	if string(x.name) != inquiryTool {
		return e
	}
	pieces := recorded.Questions(e.Arguments)
	if len(pieces) == 0 {
		return e
	}
	d.Asked.Ask(string(x.callID))
	return recorded.Event{Kind: transcript.KindInquiry, CallID: x.callID, Pieces: pieces}
}

// inner returns the JSON object that a string holds, or nil.
func (d *decoder) inner(raw []byte) []byte {
	start := len(d.decoded)
	d.decoded = transcript.AppendUnescaped(d.decoded, raw)
	text := bytes.TrimSpace(d.decoded[start:])
	if !jsontext.Read(text) {
		return nil
	}
	return text
}

func (d *decoder) result(x *item) recorded.Event {
	e := recorded.Event{Kind: transcript.KindToolResult, CallID: x.callID}
	if d.Asked.Answers(x.callID) {
		e.Kind = transcript.KindInquiryResponse
	}
	e.Pieces = texts(x.output)
	whole := x.output
	if text, ok := jsontext.Unquote(x.output); ok && bytes.HasPrefix(text, []byte(`{`)) {
		if inner := d.inner(text); inner != nil {
			whole = inner
		}
	}
	var metadata, success, output, content []byte
	jsontext.Read(whole,
		jsontext.Value("metadata", &metadata), jsontext.Value("success", &success),
		jsontext.Value("output", &output), jsontext.Value("content", &content),
	)
	code := jsontext.Get(metadata, "exit_code")
	e.Failed = code != nil && string(code) != "0" || string(success) == "false"
	// Only an output with an exit code is known to be one in an envelope; an object
	// is no text otherwise.
	switch {
	case code != nil && output != nil:
		e.Pieces = texts(output)
	case content != nil && len(e.Pieces) == 0:
		e.Pieces = texts(content)
	}
	if len(e.Pieces) > 0 && code == nil {
		e.Failed = e.Failed || exitCode(e.Pieces[0].Raw) != 0
	}
	return e
}

// exitCode returns the code in the header that the output of a shell has, as it stands
// between its quotes; 0 where there is none.
func exitCode(raw []byte) int {
	const header, mark = 512, "Process exited with code "
	raw = raw[:min(len(raw), header)]
	if end := bytes.Index(raw, []byte(`Output:`)); end >= 0 {
		raw = raw[:end]
	}
	i := bytes.Index(raw, []byte(mark))
	if i < 0 || i > 0 && !bytes.HasSuffix(raw[:i], []byte(`\n`)) {
		return 0
	}
	digits := raw[i+len(mark):]
	if end := bytes.IndexByte(digits, '\\'); end >= 0 {
		digits = digits[:end]
	}
	code, _ := strconv.Atoi(string(digits))
	return code
}
