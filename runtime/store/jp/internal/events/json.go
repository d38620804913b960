package events

import (
	"strconv"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// AppendJSON appends the event as compact JSON in the shape it has on disk, keys
// in recorded order, with the base64 of tool arguments, tool results and
// metadata decoded. The timestamp stays as recorded, and is null when there is
// none. Text that could not be decoded stays as stored and the event gets
// "encoding":"base64" (metadata does not count). Added keys come last; recorded
// keys of their names are left out.
func (e *Event) AppendJSON(dst []byte, opts transcript.JSONOptions) []byte {
	w := eventWriter{event: e, opts: opts, dst: append(dst, '{')}
	if !e.HasTimestamp() {
		w.key("timestamp")
		w.dst = append(w.dst, "null"...)
	}
	last := lastMembers(e.Raw())
	i := 0
	for m := range jsontext.Members(e.Raw()) {
		name := string(transcript.AppendUnescaped(nil, m.Key))
		if last[name] == i && w.keeps(name) {
			w.member(name, m.Value)
		}
		i++
	}
	w.additions()
	return append(w.dst, '}')
}

// lastMembers maps each key to the position of its last occurrence, the one that
// counts.
func lastMembers(raw []byte) map[string]int {
	last := make(map[string]int, 8)
	i := 0
	for m := range jsontext.Members(raw) {
		last[string(transcript.AppendUnescaped(nil, m.Key))] = i
		i++
	}
	return last
}

// eventWriter writes the members of one event.
type eventWriter struct {
	event *Event
	opts  transcript.JSONOptions
	dst   []byte
	any   bool // a member has been written

	encoding transcript.Encoding
	chars    int // real length of the main text when that was cut
	cut      bool
}

// keeps reports whether a recorded member is written.
func (w *eventWriter) keeps(name string) bool {
	switch name {
	case "timestamp":
		return w.event.HasTimestamp()
	case "metadata":
		return !w.opts.OmitMetadata
	case "turn":
		return !w.opts.Turn
	case "encoding", "chars", "head_chars", "cut":
		return false
	}
	return true
}

func (w *eventWriter) member(name string, raw []byte) {
	w.key(name)
	var value jsontext.Writer
	typed := w.event.Kind.Typed()
	switch {
	case name == "metadata":
		value.Decoder = decoder(typed)
		w.dst = value.Append(w.dst, raw)
		return // its encoding says nothing about the text of the event
	case typed && w.isMainText(name, raw):
		w.mainText(raw)
		return
	case name == "arguments":
		value.Decoder = decoder(w.event.Kind == transcript.KindToolCall)
		value.MaxText = w.limit(typed)
	case name == "content":
		value.Decoder = decoder(w.event.Kind == transcript.KindToolResult)
		value.MaxText = w.limit(typed)
	case name == "message", name == "reasoning", name == "data":
		value.MaxText = w.limit(typed)
	}
	w.dst = value.Append(w.dst, raw)
	w.cut = w.cut || value.Cut
	if value.Encoding != transcript.Plain {
		w.encoding = value.Encoding
	}
}

func (w *eventWriter) limit(typed bool) int {
	if typed {
		return w.opts.MaxText
	}
	return 0
}

// isMainText reports whether a member is the content, message or reasoning that
// is the text of the event. Structured data is not: it is cut like its leaves.
func (w *eventWriter) isMainText(name string, raw []byte) bool {
	if _, ok := jsontext.Unquote(raw); !ok {
		return false
	}
	if w.event.Kind == transcript.KindStructured {
		return false
	}
	f, _ := w.event.textField()
	known, ok := fieldOf([]byte(name))
	return ok && f == known
}

func (w *eventWriter) mainText(raw []byte) {
	w.dst = append(w.dst, '"')
	start := len(w.dst)
	text, _ := jsontext.Unquote(raw)
	_, base64 := w.event.textField()
	dst, info := appendBody(w.dst, text, transcript.Limits{Text: w.opts.MaxText}, base64)
	w.encoding, w.chars = info.Encoding, info.Chars
	w.dst = transcript.CloseQuoted(dst, start)
}

// additions writes the keys that are not recorded.
func (w *eventWriter) additions() {
	if w.encoding != transcript.Plain {
		w.key("encoding")
		w.dst = transcript.AppendQuoted(w.dst, []byte(w.encoding.String()))
	}
	if w.chars > 0 {
		w.number("chars", w.chars)
		w.number("head_chars", transcript.HeadChars(w.opts.MaxText))
	}
	if w.cut {
		w.key("cut")
		w.dst = append(w.dst, "true"...)
	}
	if w.opts.Turn {
		w.number("turn", w.event.Turn)
	}
}

func (w *eventWriter) number(name string, n int) {
	w.key(name)
	w.dst = strconv.AppendInt(w.dst, int64(n), 10)
}

func (w *eventWriter) key(name string) {
	if w.any {
		w.dst = append(w.dst, ',')
	}
	w.any = true
	w.dst = append(transcript.AppendQuoted(w.dst, []byte(name)), ':')
}
