package sessionlog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/session"
	"github.com/convtools/convtools/runtime/store/jsontext"
)

// parse reads the events of a record. It is here because a log has to be read at the speed of a disk, which package
// encoding/json is too slow for by half; what is rare or small goes there.
func parse(record []byte) ([]session.Event, error) {
	p := parser{cursor: jsontext.Cursor{Data: record}, text: string(record)}
	var all []session.Event
	var failed error
	for before := byte('['); p.accept(before); before = ',' {
		if !p.event() {
			return nil, errForm
		}
		e, err := p.form.event()
		if err != nil && failed == nil {
			failed = err
		}
		all = append(all, e)
	}
	if len(all) == 0 || !p.accept(']') || p.cursor.Pos != len(record) {
		return nil, errForm
	}
	return all, failed
}

// parser reads events. Texts without escapes share the memory of their record.
type parser struct {
	cursor jsontext.Cursor
	text   string // of the record
	form   event  // that is read
	raw    []byte // the value of the member that is read
	bad    bool   // it is not of the expected type
}

// accept reads a character where it is the next one.
func (p *parser) accept(b byte) bool {
	c := &p.cursor
	if c.Pos == len(c.Data) || c.Data[c.Pos] != b {
		return false
	}
	c.Pos++
	return true
}

// event reads an event, and reports whether it is one.
func (p *parser) event() bool {
	p.form = event{}
	c := &p.cursor
	return c.Pos < len(c.Data) && c.Data[c.Pos] == '{' && c.Object(1, func(key, value []byte) bool {
		p.raw = value
		p.field(&p.form, key)
		return !p.bad
	})
}

func (p *parser) string() string {
	escaped, ok := jsontext.Unquote(p.raw)
	if !ok {
		p.bad = true
		return ""
	}
	text := p.text[p.cursor.Pos-len(p.raw)+1 : p.cursor.Pos-1]
	escape := bytes.IndexByte(escaped, '\\')
	if escape < 0 {
		return text
	}
	var plain strings.Builder
	plain.Grow(len(text))
	for ; escape >= 0; escape = strings.IndexByte(text, '\\') {
		plain.WriteString(text[:escape])
		r, _, rest, err := strconv.UnquoteChar(text[escape:], '"')
		if err != nil { // half of a surrogate pair, or what Go has no such escape for
			var s string
			p.into(&s)
			return s
		}
		plain.WriteRune(r)
		text = rest
	}
	plain.WriteString(text)
	return plain.String()
}

func (p *parser) pointer() *string {
	s := p.string()
	return &s
}

func number[T ~int | ~int64](p *parser) T {
	n, err := strconv.ParseInt(string(p.raw), 10, 64)
	p.bad = p.bad || err != nil
	return T(n)
}

// into reads a value that is rare or small.
func (p *parser) into(v any) { p.bad = p.bad || json.Unmarshal(p.raw, v) != nil }

func (p *parser) field(f *event, key []byte) {
	switch string(key) {
	case "seq":
		f.Seq = number[int64](p)
	case "ts":
		f.At = p.string()
	case "session_id":
		f.Session = p.string()
	case "conversation_id":
		f.Conversation = p.string()
	case "task_id":
		f.Task = number[session.TaskID](p)
	case "logical_turn_id":
		f.LogicalTurn = number[session.TurnID](p)
	case "frame_id":
		f.Frame = number[session.FrameID](p)
	case "submission_id":
		f.SubmissionID = number[session.SubmissionID](p)
	case "type":
		f.Type = p.string()
	case "origin":
		f.Origin = session.Origin(p.string())
	case "from":
		f.From = p.string()
	case "text":
		f.Text = p.pointer()
	case "call_id":
		f.CallID = p.string()
	case "name":
		f.Name = p.string()
	case "tool":
		f.Tool = session.Tool(p.string())
	case "arguments":
		f.Arguments = p.pointer()
	case "content":
		f.Content = p.pointer()
	case "success":
		p.into(&f.Success)
	case "raw":
		f.Raw = p.string()
	case "last_assistant_message":
		f.LastMessage = p.pointer()
	case "usage":
		p.into(&f.Usage)
	case "request":
		p.into(&f.Request)
	case "parts":
		p.into(&f.Parts)
	case "config":
		p.into(&f.Config)
	case "parent_id":
		f.Parent = p.string()
	case "context":
		p.into(&f.Context)
	case "history":
		p.into(&f.History)
	case "submission":
		p.into(&f.Submission)
	case "continues":
		p.into(&f.Continues)
	case "budget":
		p.into(&f.Budget)
	case "error":
		p.into(&f.Failure)
	case "reason":
		f.Reason = session.AbortReason(p.string())
	case "batch":
		p.into(&f.Batch)
	case "result":
		p.into(&f.Result)
	case "outputs":
		p.into(&f.Outputs)
	case "chain":
		p.into(&f.Chain)
	case "expired":
		p.into(&f.Expired)
	case "destroy":
		p.into(&f.Destroy)
	}
}
