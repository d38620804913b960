package sessionlog

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/session"
)

// parser reads JSON as [encode] writes it: without white space. It is here because a log has to be read at the speed of
// a disk, which package encoding/json is too slow for by half; what is rare or small goes there. Texts without escapes
// share the memory of the line.
type parser struct {
	text string
	at   int
	bad  bool // it is not JSON of that form, or not of the expected type
}

// fail gives up: there is nothing left to read.
func (p *parser) fail() {
	p.bad, p.at = true, len(p.text)
}

// accept reads a character where it is the next one.
func (p *parser) accept(c byte) bool {
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(c byte) {
	if !p.accept(c) {
		p.fail()
	}
}

// list reads what is between two brackets, with commas in between.
func (p *parser) list(begin, end byte, element func()) {
	p.expect(begin)
	if p.accept(end) {
		return
	}
	for !p.bad {
		element()
		if p.accept(end) {
			return
		}
		p.expect(',')
	}
}

// object calls a function for each key, to read the value.
func (p *parser) object(field func(key string)) {
	p.list('{', '}', func() {
		key := p.string()
		p.expect(':')
		field(key)
	})
}

func (p *parser) integer() int64 {
	begin := p.at
	for p.at < len(p.text) && (p.text[p.at] == '-' || '0' <= p.text[p.at] && p.text[p.at] <= '9') {
		p.at++
	}
	n, err := strconv.ParseInt(p.text[begin:p.at], 10, 64)
	if err != nil {
		p.fail()
	}
	return n
}

func (p *parser) bool() bool {
	for _, b := range []bool{true, false} {
		if word := strconv.FormatBool(b); strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return b
		}
	}
	p.fail()
	return false
}

// quoted reads a string as it stands there, with its quotes.
func (p *parser) quoted() string {
	begin := p.at
	p.expect('"')
	for !p.bad {
		quote := strings.IndexByte(p.text[p.at:], '"')
		if quote < 0 {
			p.fail()
			return ""
		}
		p.at += quote + 1
		// A quote is the end unless the number of backslashes before it is odd.
		slash := p.at - 2
		for slash > begin && p.text[slash] == '\\' {
			slash--
		}
		if (p.at-2-slash)%2 == 0 {
			return p.text[begin:p.at]
		}
	}
	return ""
}

func (p *parser) string() string {
	quoted := p.quoted()
	if p.bad {
		return ""
	}
	text := quoted[1 : len(quoted)-1]
	escape := strings.IndexByte(text, '\\')
	if escape < 0 {
		return text
	}
	var plain strings.Builder
	plain.Grow(len(text))
	for escape >= 0 {
		plain.WriteString(text[:escape])
		r, _, rest, err := strconv.UnquoteChar(text[escape:], '"')
		if err != nil { // half of a surrogate pair, or what Go has no such escape for
			var s string
			if json.Unmarshal([]byte(quoted), &s) != nil {
				p.fail()
			}
			return s
		}
		plain.WriteRune(r)
		text = rest
		escape = strings.IndexByte(text, '\\')
	}
	plain.WriteString(text)
	return plain.String()
}

// raw reads any value as it stands there. It is not known to be JSON then, but to end where it does.
func (p *parser) raw() string {
	begin, depth := p.at, 0
	for p.at < len(p.text) {
		switch c := p.text[p.at]; c {
		case '"':
			p.quoted()
			if depth == 0 {
				return p.text[begin:p.at]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 {
				return p.text[begin:p.at]
			}
			if c != ',' {
				depth--
			}
			if depth == 0 {
				p.at++
				return p.text[begin:p.at]
			}
		}
		p.at++
	}
	p.fail()
	return ""
}

// into reads a value that is rare or small.
func (p *parser) into(v any) {
	if json.Unmarshal([]byte(p.raw()), v) != nil {
		p.fail()
	}
}

// events reads the events of a record.
func (p *parser) events() ([]session.Event, error) {
	var all []session.Event
	var f event
	var err error
	p.list('[', ']', func() {
		f = event{}
		p.object(func(key string) { p.field(&f, key) })
		e, problem := f.event()
		if problem != nil && err == nil {
			err = problem
		}
		all = append(all, e)
	})
	if p.bad || p.at != len(p.text) || len(all) == 0 {
		return nil, errForm
	}
	return all, err
}

func (p *parser) field(f *event, key string) {
	switch key {
	case "seq":
		f.Seq = p.integer()
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
		success := p.bool()
		f.Success = &success
	case "raw":
		f.Raw = p.string()
	case "last_assistant_message":
		f.LastMessage = p.pointer()
	case "usage":
		f.Usage = new(session.Usage)
		p.object(func(key string) {
			switch key {
			case "input_tokens":
				f.Usage.InputTokens = p.integer()
			case "output_tokens":
				f.Usage.OutputTokens = p.integer()
			case "samples":
				f.Usage.Samples = p.integer()
			case "calls":
				f.Usage.Calls = p.integer()
			default:
				p.raw()
			}
		})
	case "request":
		f.Request = new(request)
		p.into(f.Request)
	case "parts":
		p.into(&f.Parts)
	case "config":
		p.into(&f.Config)
	case "parent_id":
		f.Parent = p.string()
	case "context":
		p.into(&f.Context)
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
		f.Chain = p.bool()
	case "expired":
		f.Expired = p.bool()
	case "destroy":
		p.into(&f.Destroy)
	default:
		p.raw()
	}
}

func (p *parser) pointer() *string {
	s := p.string()
	return &s
}

func number[T ~int](p *parser) T { return T(p.integer()) }
