package eventtext

import (
	"slices"
	"strconv"
	"time"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// AppendJSON appends an event as a compact JSON object with the keys that JP's events have.
//
// An event with a recorded object keeps its keys in recorded order, with the text and the
// arguments as the event has them. The timestamp stays as recorded, and is null where there
// is none. Of a repeated key the last one is written, and none with the name of an added key.
//
// Where a text is left as stored, the object has "encoding":"base64". Added keys come last.
func AppendJSON(dst []byte, e *transcript.Event, options transcript.JSONOptions) []byte {
	dst = slices.Grow(dst, roomFor(len(e.Text)+len(e.Arguments)))
	w := writer{event: e, options: options, dst: append(dst, '{')}
	if e.Object != nil {
		w.recorded()
	} else {
		w.made()
	}
	w.additions()
	return append(w.dst, '}')
}

// writer writes the members of one event.
type writer struct {
	event   *transcript.Event
	options transcript.JSONOptions
	dst     []byte
	any     bool // a member has been written
}

// forms are the type of an event and the key of its text, by its kind.
var forms = [...]struct{ recorded, text string }{
	transcript.KindUnknown:         {"unknown", "content"},
	transcript.KindUser:            {"chat_request", "content"},
	transcript.KindAssistant:       {"chat_response", "message"},
	transcript.KindReasoning:       {"chat_response", "reasoning"},
	transcript.KindStructured:      {"chat_response", "data"},
	transcript.KindToolCall:        {"tool_call_request", "arguments"},
	transcript.KindToolResult:      {"tool_call_response", "content"},
	transcript.KindInquiry:         {"inquiry_request", "question"},
	transcript.KindInquiryResponse: {"inquiry_response", "answer"},
	transcript.KindCompaction:      {"compaction", ""},
	transcript.KindTurnStart:       {"turn_start", ""},
	transcript.KindConfigDelta:     {"config_delta", ""},
	transcript.KindSystem:          {"system_message", "content"},
}

// made writes the members of an event that is not recorded as an object.
func (w *writer) made() {
	e, form := w.event, forms[w.event.Kind]
	if w.key("timestamp"); e.Time.IsZero() {
		w.dst = append(w.dst, "null"...)
	} else {
		w.dst = append(e.Time.AppendFormat(append(w.dst, '"'), time.RFC3339Nano), '"')
	}
	w.string("type", form.recorded)
	w.string("id", e.CallID)
	w.string("name", e.Name)
	switch {
	case form.text == "":
	case len(e.Arguments) > 0:
		w.key(form.text)
		w.value(e.Arguments)
	default:
		w.key(form.text)
		w.text()
	}
	if e.Kind == transcript.KindToolResult {
		w.key("is_error")
		w.dst = strconv.AppendBool(w.dst, e.Failed)
	}
}

// recorded writes the members of a recorded object: of a repeated key the last one, and none that
// is added.
func (w *writer) recorded() {
	skipped := map[string]bool{"encoding": true, "chars": true, "head_chars": true, "cut": true, "turn": w.options.Turn, "metadata": w.options.OmitMetadata}
	if _, timed := jsontext.Unquote(jsontext.Get(w.event.Object, "timestamp")); !timed {
		w.key("timestamp")
		w.dst = append(w.dst, "null"...)
		skipped["timestamp"] = true
	}
	members := slices.Collect(jsontext.Members(w.event.Object))
	last := map[string]int{}
	name := func(m jsontext.Member) string { return string(transcript.AppendUnescaped(nil, m.Key)) }
	for i, m := range members {
		last[name(m)] = i
	}
	for i, m := range members {
		if name := name(m); last[name] == i && !skipped[name] {
			w.member(name, m.Value)
		}
	}
}

func (w *writer) member(name string, raw []byte) {
	w.key(name)
	isText := name == forms[w.event.Kind].text
	if isText && len(w.event.Arguments) > 0 {
		raw = w.event.Arguments
	} else if isText && w.isDecoded() {
		w.text()
		return
	}
	w.value(raw)
}

// isDecoded reports whether the text of the event may be recorded in another form.
func (w *writer) isDecoded() bool {
	const decoded = transcript.ScopeUser | transcript.ScopeAssistant | transcript.ScopeReasoning | transcript.ScopeToolResult
	return w.event.Kind.Scope()&decoded != 0
}

// text writes the text of the event.
func (w *writer) text() {
	w.dst = transcript.AppendQuoted(w.dst, w.event.Text)
}

// value writes a JSON value.
func (w *writer) value(raw []byte) {
	var value jsontext.Writer
	w.dst = value.Append(w.dst, raw)
}

// additions writes the keys that are not recorded.
func (w *writer) additions() {
	w.string("encoding", w.event.Encoding.String())
	if w.options.Turn {
		w.number("turn", w.event.Turn)
	}
}

// string writes a member, unless it is empty.
func (w *writer) string(name, text string) {
	if text != "" {
		w.key(name)
		w.dst = transcript.AppendQuoted(w.dst, []byte(text))
	}
}

func (w *writer) number(name string, n int) {
	w.key(name)
	w.dst = strconv.AppendInt(w.dst, int64(n), 10)
}

func (w *writer) key(name string) {
	if w.any {
		w.dst = append(w.dst, ',')
	}
	w.any = true
	w.dst = append(transcript.AppendQuoted(w.dst, []byte(name)), ':')
}
