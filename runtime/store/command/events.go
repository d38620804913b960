package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/jsontext"
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

// Version implements [store.Record]. Where the program does not list what changes with the
// events, these are printed, for who reads them next.
func (r *record) Version(ctx context.Context) (string, error) {
	if r.listed.Events != nil || !r.listed.LastEventAt.IsZero() {
		return r.version, nil
	}
	out, err := r.print(ctx)
	if err == nil {
		r.store.printed.Store(&printout{r, out})
	}
	return r.version + digest(out.stdout), err
}

// printout is what was printed of a conversation last.
type printout struct {
	of *record
	output
}

func (r *record) print(ctx context.Context) (output, error) {
	out, err := r.store.run(ctx, "print", "--no-metadata", "--", string(r.id))
	if err != nil {
		err = fmt.Errorf("reading the events of %s: %w", r.id, err)
	}
	return out, err
}

// Events implements [store.Record].
func (r *record) Events(ctx context.Context) (store.Events, error) {
	var out output
	var err error
	if last := r.store.printed.Load(); last != nil && last.of == r && r.store.printed.CompareAndSwap(last, nil) {
		out = last.output
	} else if out, err = r.print(ctx); err != nil {
		return nil, err
	}
	e := &events{record: r, out: out}
	if e.records, err = out.records(); err != nil {
		return nil, fmt.Errorf("reading the events of %s: %w", r.id, err)
	}
	e.Begin(r.id, e)
	return e, nil
}

// errDamaged is in words of our own: a model is told why events end.
var errDamaged = errors.New("the conversation command line reports an error of its events")

// events reads the events of a conversation. It implements [recorded.Script].
type events struct {
	recorded.Events
	record  *record
	out     output
	records [][]byte
	next    int // of records
	turn    int
	skipped int
}

// Totals implements [store.Events]. Who owns the conversation counts also what is not printed.
func (e *events) Totals() store.Totals {
	t := e.Events.Totals()
	if n := e.record.listed.Events; t.Uncounted == nil && n != nil {
		t.Events, t.LastAt = max(*n, 0), e.record.listed.LastEventAt
	}
	return t
}

// Read implements [recorded.Script].
func (e *events) Read(ctx context.Context, into *recorded.Stream) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if e.next == len(e.records) {
		if e.record.listed.Error != "" {
			return &store.DamageError{Err: errDamaged}
		}
		return io.EOF
	}
	raw := e.records[e.next]
	e.next++
	var p printed
	if p.read(raw); p.kind == nil {
		return e.out.wrong("record %d has no type", e.next)
	}
	x := p.event()
	if x.Kind.Global() {
		e.skipped++
		return nil
	}
	turn, err := strconv.Atoi(string(p.turn))
	if err != nil || turn < max(e.turn, 1) {
		return e.out.wrong("record %d: its turn, %s, is not that of the record before it, or one behind that", e.next, text.Quote(string(p.turn)))
	}
	e.turn, x.Turn = turn, turn
	into.Put(append(into.Free(), x), false)
	return nil
}

// Counts implements [recorded.Script].
func (e *events) Counts() (turns, skipped, tooLarge int) { return e.turn, e.skipped, 0 }

// Rewind implements [recorded.Script].
func (e *events) Rewind() { e.next, e.turn, e.skipped = 0, 0, 0 }

// Release implements [recorded.Script].
func (e *events) Release() {}

// printed is the members of an event as "print" prints it: those it has on disk, decoded, with
// its turn.
type printed struct {
	kind, stamp, id, name, encoding              []byte // between their quotes
	content, message, reasoning, data, arguments []byte
	question, answer, turn                       []byte
	failed                                       bool
}

func (p *printed) read(raw []byte) {
	jsontext.Read(raw,
		jsontext.Text("type", &p.kind), jsontext.Text("timestamp", &p.stamp), jsontext.Text("id", &p.id), jsontext.Text("name", &p.name),
		jsontext.Text("encoding", &p.encoding), jsontext.Value("content", &p.content), jsontext.Value("message", &p.message),
		jsontext.Value("reasoning", &p.reasoning), jsontext.Value("data", &p.data), jsontext.Value("arguments", &p.arguments),
		jsontext.Value("question", &p.question), jsontext.Value("answer", &p.answer), jsontext.Value("turn", &p.turn), jsontext.Is("is_error", &p.failed))
}

// event returns what is printed as an event, of an unknown kind where it is of no turn.
func (p *printed) event() recorded.Event {
	x := recorded.Event{Stamp: p.stamp, Name: p.name, CallID: p.id}
	if string(p.encoding) == transcript.Base64.String() {
		x.Encoding = transcript.Base64
	}
	var body []byte
	switch recorded.Unescape(p.kind) {
	case "turn_start":
		x.Kind = transcript.KindTurnStart
	case "chat_request":
		x.Kind, body = transcript.KindUser, p.content
	case "chat_response":
		x.Kind, body = p.response()
	case "tool_call_request":
		x.Kind, body = transcript.KindToolCall, p.arguments
	case "tool_call_response":
		x.Kind, body, x.Failed = transcript.KindToolResult, p.content, p.failed
	case "inquiry_request":
		x.Kind, body = transcript.KindInquiry, p.question
		if question := jsontext.Get(body, "text"); question != nil {
			body = question
		}
	case "inquiry_response":
		x.Kind, body = transcript.KindInquiryResponse, p.answer
	case "system_message":
		x.Kind, body = transcript.KindSystem, p.content
	}
	if said, ok := jsontext.Unquote(body); ok {
		x.Pieces = []recorded.Piece{{Raw: said}}
	} else if string(p.content) != "null" {
		x.Arguments = body
	}
	return x
}

// response returns the kind and the text of a response, by which of its three forms is there.
func (p *printed) response() (transcript.Kind, []byte) {
	if _, ok := jsontext.Unquote(p.message); ok {
		return transcript.KindAssistant, p.message
	}
	if _, ok := jsontext.Unquote(p.reasoning); ok {
		return transcript.KindReasoning, p.reasoning
	}
	if p.data != nil {
		return transcript.KindStructured, p.data
	}
	return transcript.KindAssistant, p.message
}
