package eventtext

import (
	"slices"
	"strconv"
	"time"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// AppendJSON appends an event as a compact JSON object with the keys of JP's events.
//
// An event with a recorded object keeps the object's keys in their order, with the text and the arguments of the
// event. The timestamp stays as recorded; a missing timestamp is null. Of a repeated key the last one is written.
// The last keys are "encoding", which is "base64" for a text that is left as stored, and "turn", the number of the
// turn; they replace recorded keys of the same names.
func AppendJSON(dst []byte, e *transcript.Event, withMetadata bool) []byte {
	dst = slices.Grow(dst, roomFor(len(e.Text)+len(e.Arguments)))
	w := writer{event: e, dst: append(dst, '{')}
	if e.Object != nil {
		w.recorded(withMetadata)
	} else {
		w.made()
	}
	w.string("encoding", e.Encoding.String())
	w.key("turn")
	return append(strconv.AppendInt(w.dst, int64(e.Turn), 10), '}')
}

// writer writes the members of one event.
type writer struct {
	event *transcript.Event
	dst   []byte
}

// forms has the type of an event and the key of its text, by its kind.
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

// made writes the members of an event without a recorded object.
func (w *writer) made() {
	e, form := w.event, forms[w.event.Kind]
	if e.Time.IsZero() {
		w.null("timestamp")
	} else {
		w.string("timestamp", e.Time.Format(time.RFC3339Nano))
	}
	w.string("type", form.recorded)
	w.string("id", e.CallID)
	w.string("name", e.Name)
	if form.text != "" {
		w.key(form.text)
		w.text()
	}
	if e.Kind == transcript.KindToolResult {
		w.key("is_error")
		w.dst = strconv.AppendBool(w.dst, e.Failed)
	}
}

// recorded writes the members of the recorded object, except those that AppendJSON adds or leaves out, with the decoded
// text or arguments of the event in place of the recorded ones. It first writes "timestamp":null if none is recorded.
func (w *writer) recorded(withMetadata bool) {
	const decodedTexts = transcript.ScopeUser | transcript.ScopeAssistant | transcript.ScopeReasoning | transcript.ScopeToolResult
	e := w.event
	isDecoded := len(e.Arguments) > 0 || e.Kind.Scope()&decodedTexts != 0 // other texts are only in the recorded object
	skipped := map[string]bool{"encoding": true, "chars": true, "head_chars": true, "cut": true, "turn": true, "metadata": !withMetadata}
	if _, timed := jsontext.Unquote(jsontext.Get(e.Object, "timestamp")); !timed {
		w.null("timestamp")
		skipped["timestamp"] = true
	}
	members := slices.Collect(jsontext.Members(e.Object))
	last := map[string]int{} // the index of the last member with a name
	for i, m := range members {
		last[string(jsontext.Unescape(m.Key))] = i
	}
	for i, m := range members {
		name := string(jsontext.Unescape(m.Key))
		if last[name] != i || skipped[name] {
			continue
		}
		w.key(name)
		if isText := name == forms[e.Kind].text; isText && isDecoded {
			w.text()
		} else {
			w.value(m.Value)
		}
	}
}

// text writes the arguments of the event or else its text.
func (w *writer) text() {
	if len(w.event.Arguments) > 0 {
		w.value(w.event.Arguments)
	} else {
		w.dst = transcript.AppendQuoted(w.dst, w.event.Text)
	}
}

// value writes a JSON value.
func (w *writer) value(raw []byte) {
	var value jsontext.Writer
	w.dst = value.Append(w.dst, raw)
}

// string writes a member with a text, unless that is empty.
func (w *writer) string(name, text string) {
	if text != "" {
		w.key(name)
		w.dst = transcript.AppendQuoted(w.dst, []byte(text))
	}
}

// null writes a member that is null.
func (w *writer) null(name string) {
	w.key(name)
	w.dst = append(w.dst, "null"...)
}

// key writes a key, after a comma unless it is the first.
func (w *writer) key(name string) {
	if w.dst[len(w.dst)-1] != '{' { // no value ends with that
		w.dst = append(w.dst, ',')
	}
	w.dst = append(transcript.AppendQuoted(w.dst, []byte(name)), ':')
}
