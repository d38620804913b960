package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// record is a conversation that the program has listed. It implements [store.Record].
type record struct {
	store   *Store
	id      transcript.ID
	listed  listRecord
	version string // of all that was listed
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

func (r *record) print(ctx context.Context) (output, error) {
	out, err := r.store.run(ctx, "print", "--no-metadata", "--", string(r.id))
	if err != nil {
		err = fmt.Errorf("reading the events of %s: %w", r.id, err)
	}
	return out, err
}

// Version implements [store.Record]. Where the program does not list what changes with the events,
// it prints these.
func (r *record) Version(ctx context.Context) (string, error) {
	if r.listed.Events != nil || !r.listed.LastEventAt.IsZero() {
		return r.version, nil
	}
	out, err := r.print(ctx)
	return r.version + digest(out.stdout), err
}

// errDamaged is in words of our own: a model is told why events end.
var errDamaged = errors.New("the conversation command line reports an error of its events")

// Read implements [store.Record]. Who owns the conversation counts also what is not printed.
func (r *record) Read(ctx context.Context, mark *[]byte, yield func(*transcript.Event) bool) (store.Totals, error) {
	if mark != nil && len(*mark) > 0 {
		return store.Totals{}, store.ErrChanged
	}
	out, err := r.print(ctx)
	if err != nil {
		return store.Totals{}, err
	}
	records, err := out.records()
	t := history.Talk{Yield: yield}
	for n := 0; n < len(records) && err == nil; n++ {
		var x transcript.Event
		if x, err = event(records[n], t.Totals.Turns); err != nil {
			err = out.wrong("record %d%s", n+1, err)
			break
		}
		if x.Kind.Global() {
			t.Totals.Skipped++
			continue
		}
		t.Totals.Turns = x.Turn
		if t.Tell(x); t.Stopped {
			return t.End(r.id, nil)
		}
	}
	if err == nil && r.listed.Error != "" {
		err = &store.DamageError{Err: errDamaged}
	}
	totals, err := t.End(r.id, err)
	if n := r.listed.Events; err == nil && n != nil {
		totals.Events, totals.LastAt = max(*n, 0), r.listed.LastEventAt
	}
	return totals, err
}

// printed is an event as "print" prints it: as it is on disk, decoded, with its turn.
type printed struct {
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Encoding  string          `json:"encoding"`
	Content   json.RawMessage `json:"content"`
	Message   json.RawMessage `json:"message"`
	Reasoning json.RawMessage `json:"reasoning"`
	Data      json.RawMessage `json:"data"`
	Arguments json.RawMessage `json:"arguments"`
	Question  json.RawMessage `json:"question"`
	Answer    json.RawMessage `json:"answer"`
	Turn      json.RawMessage `json:"turn"`
	Failed    bool            `json:"is_error"`
}

// event returns the event of a record that follows a turn, which is of an unknown kind where it is
// of no turn. The error follows the words "record 1".
func event(raw []byte, after int) (x transcript.Event, err error) {
	var p printed
	_ = json.Unmarshal(raw, &p) // what has another type than it should have is missing
	if p.Type == "" {
		return x, errors.New(" has no type")
	}
	x = transcript.Event{Name: p.Name, CallID: p.ID}
	x.Time, _ = transcript.ParseTimestamp(p.Timestamp)
	if p.Encoding == transcript.Base64.String() {
		x.Encoding = transcript.Base64
	}
	body := p.body(&x)
	if said, ok := saidIn(body); ok {
		x.Text = []byte(said)
	} else if string(p.Content) != "null" {
		x.Arguments = body
	}
	if x.Kind.Global() {
		return x, nil
	}
	if x.Turn, err = strconv.Atoi(string(p.Turn)); err != nil || x.Turn < max(after, 1) {
		return x, fmt.Errorf(": its turn, %s, is not that of the record before it, or one behind that", text.Quote(string(p.Turn)))
	}
	return x, nil
}

// body returns the JSON value of what an event says, and sets its kind.
func (p *printed) body(x *transcript.Event) []byte {
	switch p.Type {
	case "turn_start":
		x.Kind = transcript.KindTurnStart
	case "chat_request":
		x.Kind = transcript.KindUser
		return p.Content
	case "chat_response":
		return p.response(x)
	case "tool_call_request":
		x.Kind = transcript.KindToolCall
		return p.Arguments
	case "tool_call_response":
		x.Kind, x.Failed = transcript.KindToolResult, p.Failed
		return p.Content
	case "inquiry_request":
		x.Kind = transcript.KindInquiry
		var question struct{ Text json.RawMessage }
		if _ = json.Unmarshal(p.Question, &question); question.Text != nil { // else it is the text
			return question.Text
		}
		return p.Question
	case "inquiry_response":
		x.Kind = transcript.KindInquiryResponse
		return p.Answer
	case "system_message":
		x.Kind = transcript.KindSystem
		return p.Content
	}
	return nil
}

// response is body for a response, by which of its three forms is there.
func (p *printed) response(x *transcript.Event) []byte {
	x.Kind = transcript.KindAssistant
	if _, ok := saidIn(p.Message); ok {
		return p.Message
	}
	if _, ok := saidIn(p.Reasoning); ok {
		x.Kind = transcript.KindReasoning
		return p.Reasoning
	}
	if p.Data != nil {
		x.Kind = transcript.KindStructured
		return p.Data
	}
	return p.Message
}

// saidIn returns the text of a JSON string.
func saidIn(raw []byte) (said string, ok bool) {
	return said, len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &said) == nil
}
