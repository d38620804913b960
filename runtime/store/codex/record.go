package codex

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is a line of a rollout. Its texts can be parts of the line.
type record struct {
	Type    string       `json:"type"`
	At      time.Time    `json:"timestamp"`
	State   string       `json:"record_type"`
	Ordinal jsontext.Raw `json:"ordinal"`
	Payload jsontext.Raw `json:"payload"`

	bare bool // the line is the payload, without an envelope, as in versions before 0.30
}

// parse reads a line: an envelope with a type and a payload. It returns false if the line is no JSON object. In versions
// before 0.30 a line is a bare payload, without an envelope.
func parse(line []byte) (r record, ok bool) {
	ok = jsontext.Decode(line, &r)
	if r.bare = ok && r.Payload == nil && r.State == ""; r.bare { // only an envelope has a payload or a state
		r.Payload = line
	}
	return r, ok
}

// ordinal returns the number of the record; -1 for none.
func (r *record) ordinal() int64 {
	n, err := strconv.ParseInt(string(r.Ordinal), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// item is the payload of a record.
type item struct {
	Type        string       `json:"type"`
	Role        string       `json:"role"`
	Name        string       `json:"name"`
	Namespace   string       `json:"namespace"`
	CallID      string       `json:"call_id"`
	Message     []byte       `json:"message"`
	Text        []byte       `json:"text"`
	Content     jsontext.Raw `json:"content"`
	Arguments   jsontext.Raw `json:"arguments"`
	Input       jsontext.Raw `json:"input"`
	Output      jsontext.Raw `json:"output"`
	Summary     jsontext.Raw `json:"summary"`
	SummaryText jsontext.Raw `json:"summary_text"`
	Action      jsontext.Raw `json:"action"`
	Item        *item        `json:"item"`
	Turns       int64        `json:"num_turns"`
}

// isInjected reports whether the program wrote a text in the name of the user.
func isInjected(text []byte) bool {
	return history.Begins(text, "<environment_context>", "# AGENTS.md instructions for", "<user_instructions>", "<turn_aborted>",
		"<subagent_notification>", "<skill>", "<image name=")
}

// byPerson returns those of some texts that a person wrote, without the context that an editor puts before a request.
func byPerson(texts [][]byte) (kept [][]byte) {
	const mark = "## My request for Codex:"
	for _, text := range texts {
		if isInjected(text) {
			continue
		}
		if history.Begins(text, "# Context from my IDE setup", mark) {
			if _, request, ok := bytes.Cut(text, []byte(mark)); ok {
				text = bytes.TrimLeft(request, "\n")
			}
		}
		kept = append(kept, text)
	}
	return kept
}

// decoder makes events of the records of a thread.
type decoder struct {
	to        *history.Recorder
	bare      bool // texts are those of the model, because there are no others
	paginated bool // texts are completed items, not messages
	copied    bool // the records are copies of those of another thread
	pending   []transcript.Event
}

// newDecoder returns a decoder for a thread with a header.
func newDecoder(h *header, to *history.Recorder) *decoder {
	to.Agent, to.Inquiry = h.Agent, "request_user_input"
	return &decoder{to: to, paginated: h.Paginated}
}

// add adds an event. Events are pending because a later record can drop them.
func (d *decoder) add(e transcript.Event) {
	e.Text, e.Arguments, e.Copied = bytes.Clone(e.Text), bytes.Clone(e.Arguments), d.copied
	d.pending = append(d.pending, e)
}

// text adds an event with a text.
func (d *decoder) text(kind transcript.Kind, at time.Time, text []byte) {
	d.add(transcript.Event{Kind: kind, Time: at, Text: text})
}

// undo drops the pending events of the last turns; turns is their number. Each turn begins with a prompt.
func (d *decoder) undo(turns int64) {
	for i, e := range slices.Backward(d.pending) {
		if turns > 0 && e.Kind == transcript.KindUser {
			d.pending = d.pending[:i] // the range goes on in the events before
			turns--
		}
	}
}

// flush passes the pending events on to the recorder.
func (d *decoder) flush() {
	for _, e := range d.pending {
		d.to.Copied = e.Copied
		d.to.Add(e)
	}
	d.pending = d.pending[:0]
}

// record adds the events of a record. An event_msg has a message that was shown to the user, and a response_item an item
// that was sent to the model or came from it. A bare record, in versions before 0.30, is such an item itself.
func (d *decoder) record(r *record) {
	x, _ := jsontext.Parse[item](r.Payload)
	switch {
	case r.bare:
		d.bare = true
		d.response(r.At, &x)
	case r.Type == "event_msg" && d.paginated: // in this form only completed items have texts
		if x.Type == "item_completed" && x.Item != nil {
			d.shown(r.At, x.Item)
		}
	case r.Type == "event_msg" && x.Type == "thread_rolled_back":
		d.undo(x.Turns) // the message drops the events of the last turns
	case r.Type == "event_msg":
		d.shown(r.At, &x)
	case r.Type == "response_item":
		d.response(r.At, &x)
	case r.Type == "compacted":
		d.text(transcript.KindCompaction, r.At, nil)
	case r.State != "": // a state of the program, without an event
	default:
		d.skipUnknown(r.Type, headerType, "turn_context", "world_state", "token_usage_record")
	}
}

// skipUnknown counts a record as skipped, unless its type is one of the known ones.
func (d *decoder) skipUnknown(kind string, known ...string) {
	if !slices.Contains(known, kind) {
		d.to.Totals.Skipped++
	}
}

// shown adds the event of an item that the program showed to the user. Other items have none.
func (d *decoder) shown(at time.Time, x *item) {
	switch x.Type { // the first three are of files in the older form, the others of files in the paginated one
	case "user_message":
		d.user(at, [][]byte{x.Message})
	case "agent_message":
		d.text(transcript.KindAssistant, at, x.Message)
	case "agent_reasoning":
		d.text(transcript.KindReasoning, at, x.Text)
	case "UserMessage":
		d.user(at, history.Texts(x.Content))
	case "AgentMessage":
		d.text(transcript.KindAssistant, at, history.Join(history.Texts(x.Content)))
	case "Reasoning":
		d.text(transcript.KindReasoning, at, history.Join(history.Texts(x.SummaryText)))
	}
}

// user adds a prompt with the texts that a person wrote. It adds none if the program wrote all of the texts. Without
// texts the prompt is a picture alone.
func (d *decoder) user(at time.Time, texts [][]byte) {
	if kept := byPerson(texts); len(kept) > 0 || len(texts) == 0 {
		d.text(transcript.KindUser, at, history.Join(kept))
	}
}

// response adds the event of an item that was sent to the model or came from it. It adds messages and reasoning only in
// versions before 0.30 (d.bare). Later versions also record them as shown to the user, and [decoder.shown] adds them.
func (d *decoder) response(at time.Time, x *item) {
	switch {
	case x.Type == "message" && d.bare:
		switch all := history.Texts(x.Content); {
		case x.Role == "user" && len(all) > 0:
			d.user(at, all)
		case x.Role == "assistant":
			d.text(transcript.KindAssistant, at, history.Join(all))
		}
	case x.Type == "reasoning" && d.bare:
		d.text(transcript.KindReasoning, at, history.Join(history.Texts(x.Summary)))
	case strings.HasSuffix(x.Type, "_output"):
		d.result(at, x)
	case strings.HasSuffix(x.Type, "_call"):
		d.call(at, x)
	case x.Type != "":
		d.skipUnknown(x.Type, "message", "reasoning")
	}
}

// call adds the event of a call. The name of a call without a name is that of its type, such as local_shell.
func (d *decoder) call(at time.Time, x *item) {
	name := cmp.Or(x.Name, strings.TrimSuffix(x.Type, "_call"))
	if strings.HasPrefix(x.Namespace, "mcp__") {
		name = strings.TrimRight(x.Namespace, "_") + "__" + x.Name // in some versions "__" ends the namespace
	}
	arguments := history.First(x.Arguments, x.Input, x.Action)
	if all := history.Texts(arguments); all != nil {
		arguments = history.Join(all)
	}
	d.add(history.Call(at, name, x.CallID, arguments))
}

// result adds the event of the result of a call. The output is a text, an array of texts, or a JSON object, which may be
// written as a text. If the object has an exit code, the event has the texts in the object's member output. The call has
// failed if the object says so, or if the text begins with the header of a shell with an exit code other than 0.
func (d *decoder) result(at time.Time, x *item) {
	outputs, object := history.Texts(x.Output), x.Output
	if text, ok := jsontext.Unquote(x.Output); ok && bytes.HasPrefix(text, []byte("{")) {
		if inner := jsontext.Unescape(text); jsontext.Decode(inner, new(struct{})) {
			object = inner
		}
	}
	var envelope struct {
		Metadata struct {
			ExitCode jsontext.Raw `json:"exit_code"`
		} `json:"metadata"`
		Success jsontext.Raw `json:"success"`
		Output  jsontext.Raw `json:"output"`
		Content jsontext.Raw `json:"content"`
	}
	jsontext.Decode(object, &envelope)
	code := envelope.Metadata.ExitCode
	failed := code != nil && string(code) != "0" || string(envelope.Success) == "false"
	switch {
	case code != nil && envelope.Output != nil:
		outputs = history.Texts(envelope.Output)
	case envelope.Content != nil && len(outputs) == 0: // x.Output is the object itself, not its JSON in a text
		outputs = history.Texts(envelope.Content)
	}
	if len(outputs) > 0 && code == nil { // the text of a shell may begin with a header that has the code
		failed = failed || exitCode(outputs[0]) != 0
	}
	d.add(transcript.Event{Kind: transcript.KindToolResult, Time: at, CallID: x.CallID, Failed: failed, Text: history.Join(outputs)})
}

// exitCode returns the exit code in the header of the output of a shell, before "Output:"; 0 if there is none.
func exitCode(output []byte) int {
	const most, mark = 512, "Process exited with code " // most is the longest header, in bytes
	begin, _, _ := strings.Cut(string(output[:min(len(output), most)]), "Output:")
	for line := range strings.Lines(begin) {
		if digits, ok := strings.CutPrefix(line, mark); ok {
			code, _ := strconv.Atoi(strings.TrimSpace(digits))
			return code
		}
	}
	return 0
}
