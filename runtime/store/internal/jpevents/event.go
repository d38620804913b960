package jpevents

import (
	"strconv"
	"time"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Event is one element of events.json. It refers to the scanned data.
type Event struct {
	Index  int // position in the array, from 0
	Offset int // of the event in the file, in bytes
	Kind   transcript.Kind
	// Turn is 0 for global kinds. A turn_start opens a turn, except that the first typed event
	// opens turn 1 whatever it is: streams written before markers existed have none.
	Turn int
	Raw  []byte // the recorded JSON object
	Recorded
	said []byte // the value of what was said, asked for or returned; nil for none
}

// Recorded are recorded values. When a key occurs twice, the last one counts.
type Recorded struct {
	Type      jsontext.Raw `json:"type"`
	Timestamp jsontext.Raw `json:"timestamp"`
	Metadata  jsontext.Raw `json:"metadata"`
	Content   jsontext.Raw `json:"content"`
	Message   jsontext.Raw `json:"message"`
	Reasoning jsontext.Raw `json:"reasoning"`
	Data      jsontext.Raw `json:"data"`
	ID        jsontext.Raw `json:"id"`
	Name      jsontext.Raw `json:"name"`
	Arguments jsontext.Raw `json:"arguments"`
	IsError   jsontext.Raw `json:"is_error"`
	Question  jsontext.Raw `json:"question"`
	Answer    jsontext.Raw `json:"answer"`
	ToTurn    jsontext.Raw `json:"to_turn"`
	Encoding  jsontext.Raw `json:"encoding"` // only in what is printed
	InTurn    jsontext.Raw `json:"turn"`     // the same
}

// read finds the kind of the event, and what was said. What kind a chat_response is depends on which of its three
// forms is there: a message or reasoning must be a string, data may be anything.
func (e *Event) read() {
	recorded, _ := jsontext.Unquote(e.Type)
	switch string(jsontext.Unescape(recorded)) {
	case "turn_start":
		e.Kind = transcript.KindTurnStart
	case "chat_request":
		e.Kind, e.said = transcript.KindUser, e.Content
	case "chat_response":
		switch e.Kind, e.said = transcript.KindAssistant, e.Message; {
		case isText(e.Message):
		case isText(e.Reasoning):
			e.Kind, e.said = transcript.KindReasoning, e.Reasoning
		case e.Data != nil:
			e.Kind, e.said = transcript.KindStructured, e.Data
		}
	case "tool_call_request":
		e.Kind, e.said = transcript.KindToolCall, e.Arguments
	case "tool_call_response":
		e.Kind, e.said = transcript.KindToolResult, e.Content
	case "inquiry_request":
		e.Kind = transcript.KindInquiry
		for _, text := range [][]byte{e.Question, jsontext.Get(e.Question, "text")} {
			if isText(text) {
				e.said = text
			}
		}
	case "inquiry_response":
		e.Kind, e.said = transcript.KindInquiryResponse, e.Answer
	case "system_message": // which only is printed
		e.Kind, e.said = transcript.KindSystem, e.Content
	case "config_delta":
		e.Kind = transcript.KindConfigDelta
	case "compaction":
		e.Kind = transcript.KindCompaction
	}
}

func isText(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }

// Time returns the timestamp, in UTC; zero where there is none that can be used.
func (e *Event) Time() time.Time {
	recorded, _ := jsontext.Unquote(e.Timestamp)
	t, _ := transcript.ParseTimestamp(jsontext.Unescape(recorded))
	return t
}

// Printed returns an event whose strings are as they were said as a plain value, which refers to
// the scanned data.
func (e *Event) Printed() transcript.Event {
	p := transcript.Event{
		Index: e.Index, Turn: e.Turn, Kind: e.Kind, Time: e.Time(), Name: jsontext.String(e.Name), CallID: jsontext.String(e.ID),
		Failed: string(e.IsError) == "true",
	}
	if said, ok := jsontext.Unquote(e.said); ok {
		p.Text = jsontext.Unescape(said)
	} else {
		p.Arguments = e.said
	}
	return p
}

// Decode returns an event of a file as a plain value, which refers to the scanned data.
func (e *Event) Decode() transcript.Event {
	d := e.Printed()
	d.Object = e.object()
	stored, isText := jsontext.Unquote(e.said)
	switch {
	case e.Kind == transcript.KindToolResult && isText:
		d.Text, d.Encoding = AppendDecoded(nil, jsontext.Unescape(stored))
	case e.said != nil && (e.Kind == transcript.KindToolResult || e.Kind == transcript.KindToolCall):
		d.Text = nil
		d.Arguments, d.Encoding = decodeStrings(e.said)
	}
	return d
}

// object returns the recorded object, with decoded metadata, which JP stores as it stores
// tool data.
func (e *Event) object() []byte {
	if e.Metadata == nil || !e.Kind.Typed() {
		return e.Raw
	}
	object := make([]byte, 0, len(e.Raw))
	for m := range jsontext.Members(e.Raw) {
		value := m.Value
		if jsontext.KeyIs(m.Key, "metadata") {
			value, _ = decodeStrings(value)
		}
		object = append(append(append(append(object, `,"`...), m.Key...), `":`...), value...)
	}
	object[0] = '{'
	return append(object, '}')
}

// CompactedTurns returns how many turns, from the first, a compaction replaces. The bounds on
// disk count from 0 and include the last turn. One that cannot be read covers nothing.
func (e *Event) CompactedTurns() int {
	if e.Kind != transcript.KindCompaction {
		return 0
	}
	last, err := strconv.Atoi(string(e.ToTurn))
	if err != nil {
		return 0
	}
	return last + 1
}
