// Package recorded is an event as the stores of other programs than JP record it:
// pieces of stored text, or a JSON value, with a time, a name and an id. It decodes
// them where they are asked for, and writes events as the JSON that "conversation
// print" has for JP's.
//
// It knows no format of a file. What an event holds are parts of what a store read, or
// made by it of that, and valid until the next event.
package recorded

import (
	"strconv"
	"time"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Event is what is recorded of an event. It implements [transcript.Record].
type Event struct {
	Kind transcript.Kind
	// Stamp is the timestamp, as it stands between its quotes; nil for none.
	Stamp []byte
	// At is the time where that is recorded in another form, in UTC; zero for none.
	At time.Time
	// Pieces are the text. Of a tool call they are arguments that are no JSON.
	Pieces []Piece
	// Arguments is the JSON value of a tool call's arguments, or nil. A cursor has walked
	// it without a failure.
	Arguments []byte
	// Name and CallID are as they stand between their quotes.
	Name, CallID []byte
	Failed       bool // a tool result that is marked as an error
	Compacted    int  // turns that a compaction replaces
	Turn         int
}

// Piece is a part of a text.
type Piece struct {
	Raw []byte // as it stands between its quotes
	// Plain is set where Raw is the text itself.
	Plain bool
	// Joined is set where no line ends between the piece before and this one.
	Joined bool
}

var _ transcript.Record = (*Event)(nil)

// Time implements [transcript.Record].
func (e *Event) Time() time.Time {
	if e.Stamp == nil {
		return e.At
	}
	t, err := transcript.ParseTimestamp(e.Stamp)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Stored implements [transcript.Record].
func (e *Event) Stored() ([]byte, transcript.StoredForm) {
	if e.Kind != transcript.KindToolCall && len(e.Pieces) == 1 && !e.Pieces[0].Plain {
		return e.Pieces[0].Raw, transcript.StoredString
	}
	return nil, transcript.StoredOtherwise
}

// AppendText implements [transcript.Record].
func (e *Event) AppendText(dst []byte) ([]byte, transcript.Encoding) {
	if e.Kind == transcript.KindToolCall {
		dst = e.AppendName(dst, 0)
		switch {
		case len(e.Arguments) > 0 && !jsontext.IsEmpty(e.Arguments):
			w := jsontext.Writer{Indent: true}
			return w.Append(append(dst, '\n'), e.Arguments), transcript.Plain
		case len(e.Pieces) > 0:
			dst = append(dst, '\n')
		}
	}
	k := jsontext.Keep(len(dst), transcript.Limits{})
	return e.appendPieces(dst, &k), transcript.Plain
}

func (e *Event) appendPieces(dst []byte, k *jsontext.Kept) []byte {
	for i, p := range e.Pieces {
		if i > 0 && !p.Joined {
			dst, _ = k.Append(dst, []byte(`\n`), nil)
		}
		if p.Plain {
			dst = k.AppendPlain(dst, p.Raw)
		} else {
			dst, _ = k.Append(dst, p.Raw, nil)
		}
	}
	return k.Finish(dst)
}

// AppendBody implements [transcript.Record].
func (e *Event) AppendBody(dst []byte, limits transcript.Limits) ([]byte, transcript.BodyInfo) {
	var info transcript.BodyInfo
	if len(e.Arguments) == 0 {
		k := jsontext.Keep(len(dst), limits)
		dst = e.appendPieces(dst, &k)
		k.Describe(&info)
		return dst, info
	}
	w := jsontext.Writer{Indent: true}
	if limits.Part == 0 {
		w.MaxText, limits.Text = limits.Text, limits.JSON
	}
	w.Whole = jsontext.Keep(len(dst), limits)
	dst = w.Whole.Finish(w.Append(dst, e.Arguments))
	info.JSON, info.Cut = true, w.Cut
	w.Whole.Describe(&info)
	return dst, info
}

// AppendName implements [transcript.Record].
func (e *Event) AppendName(dst []byte, most int) []byte { return appendFirst(dst, e.Name, most) }

// AppendCallID implements [transcript.Record].
func (e *Event) AppendCallID(dst []byte, most int) []byte { return appendFirst(dst, e.CallID, most) }

func appendFirst(dst, raw []byte, most int) []byte {
	k := jsontext.KeepFirst(len(dst), most)
	dst, _ = k.Append(dst, raw, nil)
	return dst
}

// IsError implements [transcript.Record].
func (e *Event) IsError() bool { return e.Failed }

// CompactedTurns implements [transcript.Record].
func (e *Event) CompactedTurns() int { return e.Compacted }

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

// AppendJSON implements [transcript.Record], with the keys that JP's events have.
func (e *Event) AppendJSON(dst []byte, options transcript.JSONOptions) []byte {
	form := forms[e.Kind]
	dst = append(dst, `{"timestamp":`...)
	if t := e.Time(); t.IsZero() {
		dst = append(dst, "null"...)
	} else {
		dst = append(t.AppendFormat(append(dst, '"'), time.RFC3339Nano), '"')
	}
	dst = append(append(append(dst, `,"type":"`...), form.recorded...), '"')
	if e.CallID != nil {
		dst = appendMember(dst, "id", e.AppendCallID(nil, 0))
	}
	if e.Name != nil {
		dst = appendMember(dst, "name", e.AppendName(nil, 0))
	}
	var cut bool
	var info transcript.BodyInfo
	switch {
	case form.text == "":
	case len(e.Arguments) > 0:
		w := jsontext.Writer{MaxText: options.MaxText}
		dst = w.Append(append(dst, `,"arguments":`...), e.Arguments)
		cut = w.Cut
	default:
		dst = append(append(append(dst, `,"`...), form.text...), `":"`...)
		start := len(dst)
		dst, info = e.AppendBody(dst, transcript.Limits{Text: options.MaxText})
		dst = transcript.CloseQuoted(dst, start)
	}
	if e.Kind == transcript.KindToolResult {
		dst = strconv.AppendBool(append(dst, `,"is_error":`...), e.Failed)
	}
	if info.Chars > 0 {
		dst = strconv.AppendInt(append(dst, `,"chars":`...), int64(info.Chars), 10)
		dst = strconv.AppendInt(append(dst, `,"head_chars":`...), int64(info.Head), 10)
	}
	if cut {
		dst = append(dst, `,"cut":true`...)
	}
	if options.Turn {
		dst = strconv.AppendInt(append(dst, `,"turn":`...), int64(e.Turn), 10)
	}
	return append(dst, '}')
}

func appendMember(dst []byte, key string, text []byte) []byte {
	dst = append(append(append(dst, `,"`...), key...), `":`...)
	return transcript.AppendQuoted(dst, text)
}
