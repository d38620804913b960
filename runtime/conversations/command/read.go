package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

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
	FirstTurn *int      `json:"first_turn"`
	LastTurn  *int      `json:"last_turn"`
	Archived  bool      `json:"archived"`
	Hidden    bool      `json:"hidden"`
	Damaged   *string   `json:"damaged"`
}

// Read implements [conversations.Source].
func (s source) Read(ctx context.Context, q conversations.ReadQuery) (conversations.Reading, error) {
	c, err := call(s.config.Read, q, q.ID)
	if err != nil {
		return conversations.Reading{}, err
	}
	out, err := s.run(ctx, c)
	if err != nil {
		return conversations.Reading{}, err
	}
	if q.Opened != nil {
		// What is known of the conversation stands behind the events.
		ahead := reader{}
		if err := out.each(&ahead.summary, ahead.add); err != nil {
			return conversations.Reading{}, err
		}
		opened, err := ahead.reading(&out, q)
		if err != nil {
			return conversations.Reading{}, err
		}
		opened.Damage = nil
		if err := q.Opened(&opened); err != nil {
			return conversations.Reading{}, err
		}
	}
	r := reader{handOver: q.Event, kinds: q.Kinds, maxText: q.MaxText}
	err = out.each(&r.summary, r.add)
	if r.refused != nil {
		err = r.refused
	}
	if err != nil {
		return conversations.Reading{}, err
	}
	return r.reading(&out, q)
}

// reader hands over the events among records, and counts turns.
type reader struct {
	handOver func(*conversations.Event) error // nil only counts
	kinds    func(transcript.Kind) bool
	maxText  int

	summary     readSummary
	first, last int // turns that were seen
	records     int
	typed       bool  // one of them at least has the type of an event
	refused     error // what handOver said, which is no fault of the output
}

func (r *reader) add(raw json.RawMessage) error {
	var record readRecord
	if err := json.Unmarshal(raw, &record); err != nil {
		return err
	}
	r.records++
	r.typed = r.typed || record.Type != ""
	if record.Turn <= 0 {
		return nil
	}
	if record.Turn < r.last {
		return errors.New("its turn is before the one of the record before it")
	}
	if r.first == 0 {
		r.first = record.Turn
	}
	r.last = record.Turn
	if r.handOver == nil {
		return nil
	}
	if e, ok := record.typed(raw); ok && (r.kinds == nil || r.kinds(e.Kind)) {
		cut(&e, r.maxText)
		r.refused = r.handOver(&e)
	}
	return r.refused
}

// reading is what is known of the conversation. The turns are those that were
// seen, and more where the summary has more that make sense.
func (r *reader) reading(out *output, q conversations.ReadQuery) (conversations.Reading, error) {
	s := &r.summary
	if r.records > 0 && !r.typed && or(s.Turns, 1) != 0 {
		return conversations.Reading{}, out.wrong("its records are no events: none has a type")
	}
	reading := conversations.Reading{
		Conversation: transcript.Conversation{Title: s.Title, CreatedAt: s.CreatedAt, Archived: s.Archived, Hidden: s.Hidden},
		Turns:        max(or(s.Turns, 0), r.last),
		FirstTurn:    r.first,
		LastTurn:     r.last,
	}
	var err error
	if reading.ID, err = conversations.ParseID(s.ID); err != nil {
		if reading.ID, err = conversations.ParseID(q.ID); err != nil {
			return conversations.Reading{}, err
		}
	}
	if first, last := or(s.FirstTurn, 0), or(s.LastTurn, 0); 0 < first && first <= last && last <= or(s.Turns, 0) {
		if r.first == 0 || first < r.first {
			reading.FirstTurn = first
		}
		reading.LastTurn = max(r.last, last)
	}
	if s.Damaged != nil {
		reading.Damage = reported(reading.ID, *s.Damaged)
	}
	return reading, nil
}

// typed reads a record. Types that are no events of a turn are not ok.
func (r *readRecord) typed(raw json.RawMessage) (e conversations.Event, ok bool) {
	e = conversations.Event{
		Index: -1, Turn: r.Turn, Cut: r.Cut,
		AppendJSON: func(dst []byte, _ transcript.JSONOptions) []byte { return append(dst, raw...) },
	}
	var body recorded
	switch r.Type {
	case "turn_start":
		e.Kind = transcript.KindTurnStart
	case "chat_request":
		e.Kind, body = transcript.KindUser, r.Content
	case "chat_response":
		switch {
		case r.Message != nil:
			e.Kind, body = transcript.KindAssistant, *r.Message
		case r.Reasoning != nil:
			e.Kind, body = transcript.KindReasoning, *r.Reasoning
		default:
			e.Kind, body = transcript.KindStructured, structured(r.Data)
		}
	case "tool_call_request":
		e.Kind, e.Name, e.CallID = transcript.KindToolCall, r.Name.text, r.ID.text
		body = recorded{indented(r.Arguments), len(r.Arguments) > 0}
	case "tool_call_response":
		e.Kind, e.CallID, e.IsError = transcript.KindToolResult, r.ID.text, r.IsError.text == "true"
		body = r.Content
	case "inquiry_request":
		e.Kind, body = transcript.KindInquiry, question(r.Question)
	case "inquiry_response":
		e.Kind, body = transcript.KindInquiryResponse, structured(r.Answer)
	default:
		return e, false
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
	return e, true
}

// cut shortens the text of an event that the program has not cut to so many
// characters: 60 % from its beginning, the rest from its end.
func cut(e *conversations.Event, most int) {
	n := utf8.RuneCount(e.Text)
	if most == 0 || n <= most || e.Chars > 0 {
		return
	}
	runes := []rune(string(e.Text))
	head := most * 6 / 10
	e.Text = []byte(string(runes[:head]) + string(runes[n-(most-head):]))
	e.Chars, e.Head = n, head
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
