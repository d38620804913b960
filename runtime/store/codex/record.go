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

// record is a line of a rollout. What it holds may be parts of the line.
type record struct {
	Type    string       `json:"type"`
	At      time.Time    `json:"timestamp"`
	State   string       `json:"record_type"`
	Ordinal jsontext.Raw `json:"ordinal"`
	Payload jsontext.Raw `json:"payload"`

	// bare is set for a line without an envelope, as versions before 0.30 wrote them. It is the
	// payload then.
	bare bool
}

// parse reads a line. It returns false where that is no JSON object.
func parse(line []byte) (r record, ok bool) {
	ok = jsontext.Decode(line, &r)
	if r.bare = ok && r.Payload == nil && r.State == ""; r.bare {
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

// item is what a line records.
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

func (r *record) item() (x item) {
	jsontext.Decode(r.Payload, &x)
	return x
}

// texts returns the texts of a content: a text, or an array of texts and of blocks that have one.
func texts(content jsontext.Raw) (all [][]byte) {
	type block struct {
		Text []byte `json:"text"`
	}
	for _, b := range jsontext.Parts(content, func(said []byte) block { return block{said} }) {
		if b.Text != nil {
			all = append(all, b.Text)
		}
	}
	return all
}

// injected are the beginnings of what the program writes in the name of the user.
var injected = [...]string{
	"<environment_context>", "# AGENTS.md instructions for", "<user_instructions>", "<turn_aborted>", "<subagent_notification>",
	"<skill>", "<image name=",
}

// said returns the texts that a person wrote. What an editor puts before a request is
// left out.
func said(texts [][]byte) (kept [][]byte) {
	const mark = "## My request for Codex:"
	for _, text := range texts {
		if history.Begins(text, injected[:]...) {
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

// decoder makes events of records, in their order.
type decoder struct {
	talk      *history.Talk
	bare      bool // texts are what the model was sent, as there is nothing else
	paginated bool // texts are completed items, not messages
	undoes    bool // some turns are dropped: events are pending until all were read
	pending   []transcript.Event
}

// newDecoder returns a decoder of a rollout with a header.
func newDecoder(h *header, t *history.Talk) decoder {
	t.Agent, t.Inquiry = h.Agent, "request_user_input"
	return decoder{talk: t, paginated: h.Paginated}
}

func (d *decoder) add(e transcript.Event) {
	if !d.undoes {
		d.talk.Add(e)
		return
	}
	e.Text, e.Arguments, e.Copied = bytes.Clone(e.Text), bytes.Clone(e.Arguments), d.talk.Copied
	d.pending = append(d.pending, e)
}

func (d *decoder) say(kind transcript.Kind, at time.Time, said []byte) {
	d.add(transcript.Event{Kind: kind, Time: at, Text: said})
}

// undo drops turns.
func (d *decoder) undo(turns int64) {
	for i, e := range slices.Backward(d.pending) {
		if turns > 0 && e.Kind == transcript.KindUser {
			d.pending = d.pending[:i]
			turns--
		}
	}
}

// tell adds the events of a record.
func (d *decoder) tell(r *record) {
	x := r.item()
	switch {
	case r.bare:
		d.bare = true
		d.response(r.At, &x)
	case r.Type == "event_msg" && d.paginated:
		if x.Type == "item_completed" && x.Item != nil {
			d.shown(r.At, x.Item)
		}
	case r.Type == "event_msg" && x.Type == rolledBack:
		d.undo(x.Turns)
	case r.Type == "event_msg":
		d.shown(r.At, &x)
	case r.Type == "response_item":
		d.response(r.At, &x)
	case r.Type == "compacted":
		d.say(transcript.KindCompaction, r.At, nil)
	case r.State != "":
	default:
		d.unknown(r.Type, "session_meta", "turn_context", "world_state", "token_usage_record")
	}
}

// unknown counts a record, unless its type is one of those that are known.
func (d *decoder) unknown(kind string, known ...string) {
	if !slices.Contains(known, kind) {
		d.talk.Totals.Skipped++
	}
}

// shown adds what the program showed its user: a message, or an item that was completed.
func (d *decoder) shown(at time.Time, x *item) {
	switch x.Type {
	case "user_message":
		d.user(at, [][]byte{x.Message})
	case "agent_message":
		d.say(transcript.KindAssistant, at, x.Message)
	case "agent_reasoning":
		d.say(transcript.KindReasoning, at, x.Text)
	case "UserMessage":
		d.user(at, texts(x.Content))
	case "AgentMessage":
		d.say(transcript.KindAssistant, at, history.Join(texts(x.Content)))
	case "Reasoning":
		d.say(transcript.KindReasoning, at, history.Join(texts(x.SummaryText)))
	}
}

// user adds what a person said. It may be a picture alone.
func (d *decoder) user(at time.Time, texts [][]byte) {
	if kept := said(texts); len(kept) > 0 || len(texts) == 0 {
		d.say(transcript.KindUser, at, history.Join(kept))
	}
}

// response adds what the model was sent, or answered. What is shown too is told as that.
func (d *decoder) response(at time.Time, x *item) {
	switch {
	case x.Type == "message" && d.bare:
		switch all := texts(x.Content); {
		case x.Role == "user" && len(all) > 0:
			d.user(at, all)
		case x.Role == "assistant":
			d.say(transcript.KindAssistant, at, history.Join(all))
		}
	case x.Type == "reasoning" && d.bare:
		d.say(transcript.KindReasoning, at, history.Join(texts(x.Summary)))
	case strings.HasSuffix(x.Type, "_output"):
		d.result(at, x)
	case strings.HasSuffix(x.Type, "_call"):
		d.call(at, x)
	case x.Type != "":
		d.unknown(x.Type, "message", "reasoning")
	}
}

func (d *decoder) call(at time.Time, x *item) {
	name := cmp.Or(x.Name, strings.TrimSuffix(x.Type, "_call"))
	if strings.HasPrefix(x.Namespace, "mcp__") {
		// Some versions end the namespace as the other ones join it.
		name = strings.TrimRight(x.Namespace, "_") + "__" + x.Name
	}
	var arguments jsontext.Raw
	var said []byte
	text, isText := jsontext.Unquote(x.Arguments)
	switch {
	case isText:
		said = jsontext.Unescape(text)
		if arguments = object(said); arguments != nil {
			said = nil
		}
	case len(x.Arguments) > 0:
		arguments = x.Arguments
	case len(x.Input) > 0:
		if all := texts(x.Input); all != nil {
			said = history.Join(all)
		} else {
			arguments = x.Input
		}
	default:
		arguments = x.Action
	}
	d.add(transcript.Event{Kind: transcript.KindToolCall, Time: at, Name: name, CallID: x.CallID, Arguments: arguments, Text: said})
}

// object returns the JSON object that a text is, or nil.
func object(text []byte) jsontext.Raw {
	var any struct{}
	text = bytes.TrimSpace(text)
	if !jsontext.Decode(text, &any) {
		return nil
	}
	return text
}

func (d *decoder) result(at time.Time, x *item) {
	said, whole := texts(x.Output), x.Output
	if text, ok := jsontext.Unquote(x.Output); ok && bytes.HasPrefix(text, []byte("{")) {
		if inner := object(jsontext.Unescape(text)); inner != nil {
			whole = inner
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
	jsontext.Decode(whole, &envelope)
	code := envelope.Metadata.ExitCode
	failed := code != nil && string(code) != "0" || string(envelope.Success) == "false"
	// Only an output with an exit code is known to be one in an envelope; an object
	// is no text otherwise.
	switch {
	case code != nil && envelope.Output != nil:
		said = texts(envelope.Output)
	case envelope.Content != nil && len(said) == 0:
		said = texts(envelope.Content)
	}
	if len(said) > 0 && code == nil {
		failed = failed || exitCode(said[0]) != 0
	}
	d.add(transcript.Event{Kind: transcript.KindToolResult, Time: at, CallID: x.CallID, Failed: failed, Text: history.Join(said)})
}

// exitCode returns the code in the header that the output of a shell has; 0 where there is none.
func exitCode(output []byte) int {
	const header, mark = 512, "Process exited with code "
	begin, _, _ := strings.Cut(string(output[:min(len(output), header)]), "Output:")
	for line := range strings.Lines(begin) {
		if digits, ok := strings.CutPrefix(line, mark); ok {
			code, _ := strconv.Atoi(strings.TrimSpace(digits))
			return code
		}
	}
	return 0
}
