package recall

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/envelope"
	"github.com/convtools/convtools/runtime/transcript"
)

// The event kinds of conversation_read.
const (
	kindUser       = "user"
	kindAssistant  = "assistant"
	kindReasoning  = "reasoning"
	kindStructured = "structured"
	kindToolCall   = "tool_call"
	kindToolResult = "tool_result"
	kindInquiry    = "inquiry"
)

// includeOf says which value of the parameter include asks for a kind.
func includeOf(kind string) string {
	switch kind {
	case kindReasoning:
		return conversation.ReadIncludeReasoning
	case kindToolCall:
		return conversation.ReadIncludeToolCalls
	case kindToolResult:
		return conversation.ReadIncludeToolResults
	case kindInquiry:
		return conversation.ReadIncludeInquiries
	default:
		return conversation.ReadIncludeChat
	}
}

// printRecord is one event as the command line prints it: the shape it has on
// disk, decoded, with its turn.
type printRecord struct {
	Type      string          `json:"type"`
	Timestamp string          `json:"timestamp"`
	Turn      int             `json:"turn"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Content   string          `json:"content"`
	Message   *string         `json:"message"`
	Reasoning *string         `json:"reasoning"`
	Data      json.RawMessage `json:"data"`
	Arguments json.RawMessage `json:"arguments"`
	IsError   bool            `json:"is_error"`
	Question  struct {
		Text string `json:"text"`
	} `json:"question"`
	Answer    json.RawMessage `json:"answer"`
	Encoding  string          `json:"encoding"`
	Chars     int             `json:"chars"`
	HeadChars int             `json:"head_chars"`
	Cut       bool            `json:"cut"`
}

type readSummary struct {
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	Turns    *int    `json:"turns"`
	Archived bool    `json:"archived"`
	Hidden   bool    `json:"hidden"`
	Damaged  *string `json:"damaged"`
}

// text is the body of an event. It may be shorter already than what was
// recorded: then head is where the part that is missing was.
type text struct {
	kept  string
	head  int // characters of kept before the missing part
	kept0 int // characters of kept
	chars int // characters that were recorded
}

func newText(s string) text {
	s = envelope.Sanitize(s)
	n := utf8.RuneCountInString(s)
	return text{kept: s, head: n, kept0: n, chars: n}
}

// event is an event to be shown, before it is decided how much of it.
type event struct {
	shown conversation.ReadEvent
	turn  int
	body  text
	cut   bool // something inside was shortened already
}

// Read answers conversation_read.
func (t *Tools) Read(ctx context.Context, call contract.Call, p conversation.ReadParams) (*conversation.ReadEnvelope, error) {
	current := call.Context.ConversationID != "" && sameConversation(p.ID, call.Context.ConversationID)
	if current && !p.IncludeCurrent {
		return nil, contract.Fixable(fmt.Sprintf("%s is the current conversation, which is in front of you already. Pass include_current=true to read it all the same.", p.ID))
	}
	var r reading
	err := t.run(ctx, call, conversation.ReadCLI, conversation.ReadArgs(p, call.Context), conversation.ReadExitOK, &r.summary, func(raw json.RawMessage) error {
		var record printRecord
		if err := json.Unmarshal(raw, &record); err != nil {
			return err
		}
		r.add(&record)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.call, r.params, r.current = call, p, current
	if r.summary.ID == "" {
		r.summary.ID = p.ID
	}
	r.total = valueOr(r.summary.Turns, 0)
	for _, turn := range r.turns {
		r.total = max(r.total, turn)
	}
	return r.answer()
}

// reading is one call of conversation_read in the making.
type reading struct {
	call    contract.Call
	params  conversation.ReadParams
	summary readSummary
	current bool
	total   int     // turns of the conversation
	turns   []int   // turns that were asked for and exist
	events  []event // of every kind
}

func (r *reading) add(record *printRecord) {
	if n := len(r.turns); record.Turn > 0 && (n == 0 || r.turns[n-1] != record.Turn) {
		r.turns = append(r.turns, record.Turn)
	}
	e := event{turn: record.Turn, cut: record.Cut}
	switch record.Type {
	case "chat_request":
		e.shown.EventKind, e.body = kindUser, newText(record.Content)
	case "chat_response":
		switch {
		case record.Message != nil:
			e.shown.EventKind, e.body = kindAssistant, newText(*record.Message)
		case record.Reasoning != nil:
			e.shown.EventKind, e.body = kindReasoning, newText(*record.Reasoning)
		default:
			e.shown.EventKind, e.body = kindStructured, newText(structured(record.Data))
		}
	case "tool_call_request":
		e.shown.EventKind, e.shown.Name, e.shown.CallID = kindToolCall, clip(record.Name, maxTitle), callID(record.ID)
		e.body = newText(pretty(record.Arguments))
	case "tool_call_response":
		e.shown.EventKind, e.shown.CallID = kindToolResult, callID(record.ID)
		e.shown.IsError = &record.IsError
		e.body = newText(record.Content)
	case "inquiry_request":
		e.shown.EventKind, e.body = kindInquiry, newText(record.Question.Text)
	case "inquiry_response":
		e.shown.EventKind, e.body = kindInquiry, newText(structured(record.Answer))
	default:
		return
	}
	if record.Chars > e.body.chars {
		e.body.chars, e.body.head = record.Chars, min(record.HeadChars, e.body.kept0)
	}
	if record.Encoding == "base64" {
		e.shown.Encoding = record.Encoding
	}
	if at, err := transcript.ParseTimestamp(record.Timestamp); err == nil {
		e.shown.Timestamp = at.Truncate(time.Second)
	}
	r.events = append(r.events, e)
}

// callID lets through what looks like an identifier: it goes into an attribute,
// where recorded text must not.
func callID(id string) string {
	if len(id) > 128 || strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._:-", r)
	}) {
		return ""
	}
	return id
}

// structured shows a recorded JSON value: a string as its text.
func structured(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return pretty(raw)
}

func pretty(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "{}" {
		return string(raw)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}

// selection is the events that are shown: of the last n turns that were asked
// for, and of some kinds.
func (r *reading) selection(turns []int, include []string) []event {
	var out []event
	for _, e := range r.events {
		if len(turns) > 0 && e.turn >= turns[0] && slices.Contains(include, includeOf(e.shown.EventKind)) {
			out = append(out, e)
		}
	}
	return out
}

// answer builds the envelope: whole where it fits, refused where it holds
// several turns and does not, shortened where it holds one.
func (r *reading) answer() (*conversation.ReadEnvelope, error) {
	events := r.selection(r.turns, r.params.Include)
	if r.estimate(events) <= 2*conversation.ReadMaxChars {
		if e := r.envelope(r.turns, events, nil); chars(e) <= conversation.ReadMaxChars {
			return e, nil
		}
	}
	if len(r.turns) > 1 {
		return nil, r.refusal()
	}
	return r.shortened(events), nil
}

// estimate is a lower bound on the length of an envelope, for not rendering
// what is far too long.
func (r *reading) estimate(events []event) int {
	n := 0
	for i := range events {
		n += events[i].body.chars
	}
	return n
}

// envelope puts events into turns. notes come after those of the call.
func (r *reading) envelope(turns []int, events []event, notes []string) *conversation.ReadEnvelope {
	var e conversation.ReadEnvelope
	e.ID, e.Title = r.summary.ID, clip(r.summary.Title, maxTitle)
	e.TurnCount, e.TotalTurns, e.Events = len(turns), r.total, len(events)
	e.Archived, e.Hidden, e.Current = r.summary.Archived, r.summary.Hidden, r.current
	if len(turns) > 0 {
		e.FirstTurn, e.LastTurn = turns[0], turns[len(turns)-1]
	}
	for _, turn := range turns {
		e.Turns = append(e.Turns, conversation.ReadTurn{Index: turn})
	}
	at := 0
	for i := range events {
		for at < len(turns)-1 && turns[at] < events[i].turn {
			at++
		}
		shown := events[i].render()
		e.Chars += events[i].body.kept0
		e.Truncated = e.Truncated || shown.Truncated
		e.Turns[at].Events = append(e.Turns[at].Events, shown)
	}
	e.Notes = append(append(e.Notes, r.call.Notes...), notes...)
	if r.total == 0 {
		e.Notes = append(e.Notes, "This conversation has no turns yet.")
	} else if len(events) == 0 {
		e.Notes = append(e.Notes, fmt.Sprintf("Nothing of include=%s was recorded here.", list(r.params.Include)))
	}
	if r.summary.Damaged != nil {
		e.Notes = append(e.Notes, "This conversation is damaged, and only what precedes the damage is shown: "+clip(*r.summary.Damaged, 200)+".")
	}
	return &e
}

// render is the event as the envelope shows it.
func (e *event) render() conversation.ReadEvent {
	shown := e.shown
	body := e.body.String()
	if shown.EventKind == kindToolCall {
		shown.Arguments = body
	} else {
		shown.Content = body
	}
	if e.body.kept0 < e.body.chars {
		shown.Truncated, shown.Chars = true, e.body.chars
	}
	shown.Truncated = shown.Truncated || e.cut
	return shown
}

// String is the text with a mark where something is missing.
func (t *text) String() string {
	missing := t.chars - t.kept0
	if missing <= 0 {
		return t.kept
	}
	at := offset(t.kept, t.head)
	mark := fmt.Sprintf("[... %d of %d chars omitted ...]", missing, t.chars)
	return strings.TrimPrefix(t.kept[:at]+"\n", "\n") + mark + strings.TrimSuffix("\n"+t.kept[at:], "\n")
}

// offset is the byte offset of character n.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// shrink keeps n characters of the text: 60 % of them from its head, the rest
// from its tail.
func (t *text) shrink(n int) {
	if t.kept0 <= n {
		return
	}
	head := min(n*6/10, t.head)
	tail := min(n-head, t.kept0-t.head)
	if t.chars == t.kept0 { // whole so far: it may be cut anywhere
		tail = n - head
	}
	t.kept = t.kept[:offset(t.kept, head)] + t.kept[offset(t.kept, t.kept0-tail):]
	t.head, t.kept0 = head, head+tail
}
