package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/transcript"
)

// readRecord is an event as "print" prints it: the shape it has on disk, decoded,
// with its turn.
type readRecord struct {
	Type      string          `json:"type"`
	Timestamp recorded        `json:"timestamp"`
	ID        recorded        `json:"id"`
	Name      recorded        `json:"name"`
	Content   recorded        `json:"content"`
	Message   *recorded       `json:"message"`
	Reasoning *recorded       `json:"reasoning"`
	Data      json.RawMessage `json:"data"`
	Arguments json.RawMessage `json:"arguments"`
	IsError   recorded        `json:"is_error"`
	Question  json.RawMessage `json:"question"`
	Answer    json.RawMessage `json:"answer"`

	// Added by the program.
	Turn      int    `json:"turn"`
	Encoding  string `json:"encoding"`
	Chars     int    `json:"chars"`
	HeadChars int    `json:"head_chars"`
	Cut       bool   `json:"cut"`
}

// recorded is a string somebody else wrote: it may be any other JSON value as
// well, which is then shown as it is instead of making the rest unreadable.
type recorded struct {
	text string
	json bool // text is another JSON value
}

func (r *recorded) UnmarshalJSON(raw []byte) error {
	if string(raw) != "null" {
		*r = structured(raw)
	}
	return nil
}

// readSummary is what "print" prints behind the events.
type readSummary struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	CreatedAt time.Time `json:"created_at"`
	Turns     *int      `json:"turns"`
	Archived  bool      `json:"archived"`
	Hidden    bool      `json:"hidden"`
	Damaged   *string   `json:"damaged"`
}

// Read implements [conversations.Source]. The program prints the whole
// conversation: events are counted and selected here.
func (s source) Read(ctx context.Context, q conversations.ReadQuery) (conversations.Reading, error) {
	c, err := call(s.config.Read, q, q.ID)
	if err != nil {
		return conversations.Reading{}, err
	}
	out, err := s.run(ctx, c, "print")
	if err != nil {
		return conversations.Reading{}, err
	}
	count := counter{wanted: q.Events}
	if err := out.each(&count.summary, count.add); err != nil {
		return conversations.Reading{}, err
	}
	reading, err := count.reading(&out, q.ID)
	if err != nil {
		return reading, err
	}
	first, last, err := count.selected(&reading, q.Turns)
	if err != nil {
		return reading, err
	}
	if q.Opened != nil {
		if err := q.Opened(&reading); err != nil {
			return reading, err
		}
	}
	if q.Event == nil || last < first {
		return reading, nil
	}
	return reading, handOver(&out, &q, first, last)
}

// counter counts the events among records.
type counter struct {
	wanted conversations.EventRange

	summary   readSummary
	numbering transcript.Numbering
	records   int
	typed     bool // one of them at least has the type of an event
	turn      int  // the last one that was seen
	// Of the wanted events: the last number, and the turns of the first and the last.
	lastNumber, firstTurn, lastTurn int
}

func (c *counter) add(raw json.RawMessage) error {
	var r readRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	c.records++
	c.typed = c.typed || r.Type != ""
	if r.Turn <= 0 {
		return nil
	}
	if r.Turn < c.turn {
		return errors.New("its turn is before the one of the record before it")
	}
	c.turn = r.Turn
	if n := c.numbering.Next(r.kind()); c.wanted.Has(n) {
		c.lastNumber, c.lastTurn = n, r.Turn
		if n == c.wanted.First {
			c.firstTurn = r.Turn
		}
	}
	return nil
}

// reading is what is known of the conversation. It has the turns that were seen,
// and more where the summary has more.
func (c *counter) reading(out *output, id string) (conversations.Reading, error) {
	s := &c.summary
	if c.records > 0 && !c.typed && or(s.Turns, 1) != 0 {
		return conversations.Reading{}, out.wrong("its records are no events: none has a type")
	}
	reading := conversations.Reading{
		Conversation: transcript.Conversation{Title: s.Title, CreatedAt: s.CreatedAt, Archived: s.Archived, Hidden: s.Hidden},
		Turns:        max(or(s.Turns, 0), c.turn),
		Events:       c.numbering.Events,
		Requests:     c.numbering.Requests,
	}
	var err error
	if reading.ID, err = conversations.ParseID(s.ID); err != nil {
		if reading.ID, err = conversations.ParseID(id); err != nil {
			return conversations.Reading{}, err
		}
	}
	if s.Damaged != nil {
		reading.Damage = reported(reading.ID, *s.Damaged)
	}
	return reading, nil
}

// selected returns the first and the last number that is asked for, or else turn,
// and sets the turns of the reading. There is none where the last is before the
// first.
func (c *counter) selected(r *conversations.Reading, turns conversations.Turns) (first, last int, err error) {
	if c.wanted != (conversations.EventRange{}) {
		if c.wanted.First < 1 || c.wanted.First > r.Events {
			return 0, 0, &conversations.EventRangeError{ID: r.ID, Number: c.wanted.First, Events: r.Events}
		}
		r.FirstTurn, r.LastTurn = c.firstTurn, c.lastTurn
		return c.wanted.First, c.lastNumber, nil
	}
	first, last = 1, r.Turns
	switch n := turns.First.N; {
	case turns == conversations.Turns{}:
	case turns.First.Kind == conversations.Turn && turns.First == turns.Last:
		if n < 1 || n > r.Turns {
			return 0, 0, &conversations.TurnRangeError{ID: r.ID, Turn: n, Turns: r.Turns}
		}
		first, last = n, n
	case turns.First.Kind == conversations.CountBack && turns.Last.Kind == conversations.Unbounded:
		first = max(r.Turns-n+1, 1)
	default:
		return 0, 0, fmt.Errorf("reading these turns: %w", conversations.ErrUnsupported)
	}
	if first <= last {
		r.FirstTurn, r.LastTurn = first, last
	}
	return first, last, nil
}

// errEnough ends the reading of records.
var errEnough = errors.New("nothing that follows is asked for")

// handOver hands over the events from the first to the last number or turn.
func handOver(out *output, q *conversations.ReadQuery, first, last int) error {
	var numbering transcript.Numbering
	var stopped error // by the consumer: no fault of the output
	err := out.each(&readSummary{}, func(raw json.RawMessage) error {
		var r readRecord
		if err := json.Unmarshal(raw, &r); err != nil {
			return err
		}
		kind := r.kind()
		if r.Turn <= 0 || kind == transcript.KindUnknown {
			return nil
		}
		at, number := r.Turn, numbering.Next(kind)
		if q.Events != (conversations.EventRange{}) {
			at = number
		}
		if at > last {
			stopped = errEnough
			return stopped
		}
		if at < first || q.Kinds != nil && !q.Kinds(kind) {
			return nil
		}
		e := r.event(kind, raw)
		e.Number, e.Request = number, numbering.Requests
		if err := cut(&e, q); err != nil {
			return err
		}
		stopped = q.Event(&e)
		return stopped
	})
	switch {
	case stopped == errEnough:
		return nil
	case stopped != nil:
		return stopped
	}
	return err
}

// kind is the kind of an event of a turn; unknown for anything else.
func (r *readRecord) kind() transcript.Kind {
	switch r.Type {
	case "turn_start":
		return transcript.KindTurnStart
	case "chat_request":
		return transcript.KindUser
	case "chat_response":
		switch {
		case r.Message != nil && !r.Message.json:
			return transcript.KindAssistant
		case r.Reasoning != nil && !r.Reasoning.json:
			return transcript.KindReasoning
		case len(r.Data) > 0:
			return transcript.KindStructured
		}
		return transcript.KindAssistant
	case "tool_call_request":
		return transcript.KindToolCall
	case "tool_call_response":
		return transcript.KindToolResult
	case "inquiry_request":
		return transcript.KindInquiry
	case "inquiry_response":
		return transcript.KindInquiryResponse
	case "system_message":
		return transcript.KindSystem
	}
	return transcript.KindUnknown
}

// event is the event of a record.
func (r *readRecord) event(kind transcript.Kind, raw json.RawMessage) conversations.Event {
	e := conversations.Event{
		Index: -1, Turn: r.Turn, Kind: kind, Cut: r.Cut,
		AppendJSON: func(dst []byte, _ transcript.JSONOptions) []byte { return append(dst, raw...) },
	}
	var body recorded
	switch kind {
	case transcript.KindUser:
		body = r.Content
	case transcript.KindAssistant:
		if r.Message != nil {
			body = *r.Message
		}
	case transcript.KindReasoning:
		body = *r.Reasoning
	case transcript.KindStructured:
		body = structured(r.Data)
	case transcript.KindToolCall:
		e.Name, e.CallID = r.Name.text, r.ID.text
		body = recorded{indented(r.Arguments), len(r.Arguments) > 0}
	case transcript.KindToolResult:
		e.CallID, e.IsError = r.ID.text, r.IsError.text == "true"
		body = r.Content
	case transcript.KindInquiry:
		body = question(r.Question)
	case transcript.KindInquiryResponse:
		body = structured(r.Answer)
	case transcript.KindSystem:
		e.Name = r.Name.text
		body = r.Content
	}
	e.Text, e.JSON = []byte(body.text), body.json
	// Numbers that do not fit the text are no numbers of a cut.
	if n := utf8.RuneCountInString(body.text); r.Chars > n {
		e.Chars, e.Head = r.Chars, min(max(r.HeadChars, 0), n)
	}
	if r.Encoding == "base64" {
		e.Encoding = transcript.Base64
	}
	if at, err := transcript.ParseTimestamp(r.Timestamp.text); err == nil {
		e.Time = at
	}
	return e
}

// cut leaves of the text of an event the part that is asked for, or its beginning
// and its end where the program has not cut it to so many characters. Of a name and
// an id it leaves the beginning.
func cut(e *conversations.Event, q *conversations.ReadQuery) error {
	if q.MaxText > 0 {
		e.Name, _, _ = text.Ends(e.Name, q.MaxText, 0)
		e.CallID, _, _ = text.Ends(e.CallID, q.MaxText, 0)
	}
	switch {
	case q.Part > 0 && (e.Chars > 0 || e.Cut):
		return errors.New("its text is cut, although all of it was asked for")
	case q.Part > 0:
		before, most := transcript.Limits{Text: q.MaxText, Part: q.Part}.PartRange()
		e.Chars = utf8.RuneCount(e.Text)
		first, _, _ := text.Ends(e.Text, before, 0)
		e.Text, _, _ = text.Ends(e.Text[len(first):], most, 0)
	case q.MaxText > 0 && e.Chars == 0:
		head := transcript.HeadChars(q.MaxText)
		first, last, omitted := text.Ends(e.Text, head, q.MaxText-head)
		if omitted > 0 {
			e.Text = slices.Concat(first, last)
			e.Chars, e.Head = q.MaxText+omitted, head
		}
	}
	return nil
}

// question is the text of a recorded question.
func question(raw json.RawMessage) recorded {
	var q struct {
		Text recorded `json:"text"`
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		return structured(raw)
	}
	return q.Text
}

// structured shows a recorded JSON value: a string as its text.
func structured(raw json.RawMessage) recorded {
	var s string
	if bytes.HasPrefix(raw, []byte(`"`)) && json.Unmarshal(raw, &s) == nil {
		return recorded{text: s}
	}
	return recorded{indented(raw), len(raw) > 0}
}

// indented lays a JSON value out over several lines.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}
