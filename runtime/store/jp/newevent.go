package jp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// NewEvent is an event that is to be added to a conversation.
type NewEvent struct {
	At   time.Time
	Kind transcript.Kind // a turn start, or what a user, an assistant or a tool says
	Text string
	// Name and CallID are those of a tool call, and CallID that of its result.
	Name, CallID string
	Arguments    json.RawMessage // of a tool call, an object
	Failed       bool            // a result
	// Metadata is what JP keeps with the event, and shows to nobody. A turn start has none.
	Metadata map[string]any
}

// layEvents returns events as they stand between the brackets of a file.
func layEvents(events []NewEvent) ([]byte, error) {
	var all [][]byte
	for i, e := range events {
		fields, err := e.fields()
		if err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
		all = append(all, append([]byte("\n  "), marshalIndent(fields, "  ")...))
	}
	return bytes.Join(all, []byte(",")), nil
}

// fields returns the members of the event as JP stores it: without one of them it would load
// nothing of the conversation.
func (e NewEvent) fields() (map[string]any, error) {
	if e.At.IsZero() {
		return nil, errors.New("it has no time")
	}
	fields := map[string]any{"timestamp": formatTimestamp(e.At)}
	switch e.Kind {
	case transcript.KindTurnStart:
		fields["type"] = "turn_start"
		return fields, nil
	case transcript.KindUser:
		fields["type"], fields["content"] = "chat_request", e.Text
	case transcript.KindAssistant:
		fields["type"], fields["message"] = "chat_response", e.Text
	case transcript.KindToolCall:
		arguments := e.Arguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		if !jsontext.Decode(arguments, new(struct{})) || !json.Valid(arguments) {
			return nil, errors.New("the arguments of a call are no object")
		}
		fields["type"], fields["id"], fields["name"], fields["arguments"] = "tool_call_request", e.CallID, e.Name, stored(arguments)
	case transcript.KindToolResult:
		fields["type"], fields["id"], fields["content"], fields["is_error"] = "tool_call_response", e.CallID, stored(e.Text), e.Failed
	default:
		return nil, fmt.Errorf("an event of the kind %d cannot be added", e.Kind)
	}
	if len(e.Metadata) > 0 {
		fields["metadata"] = stored(e.Metadata)
	}
	return fields, nil
}

// stored returns a value with each text in it as JP stores it: in base64, but for keys.
func stored(value any) json.RawMessage {
	w := jsontext.Writer{Text: func(dst, raw []byte) []byte { return base64.StdEncoding.AppendEncode(dst, jsontext.Unescape(raw)) }}
	return w.Append(nil, marshalIndent(value, ""))
}
