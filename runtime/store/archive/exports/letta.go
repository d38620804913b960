package exports

import (
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// letta appends what a message of a Letta agent file consists of.
func letta(into *saying, raw jsontext.Raw) {
	var m struct {
		Role    string       `json:"role"`
		Tool    string       `json:"name"`
		Content jsontext.Raw `json:"content"`
		Calls   []struct {
			Function struct {
				Name      string       `json:"name"`
				Arguments jsontext.Raw `json:"arguments"` // in a text
			} `json:"function"`
		} `json:"tool_calls"`
	}
	jsontext.Decode(raw, &m)
	kind, name := kindOf(m.Role)
	said := textsOf(m.Content)
	switch {
	case kind == transcript.KindUser:
		kind, said = lettaUser(said)
	case kind == transcript.KindToolResult:
		name = m.Tool
	case kind == transcript.KindAssistant && len(m.Calls) > 0:
		kind = transcript.KindReasoning // what is said is in a call
	}
	into.add(kind, name, said)
	for _, call := range m.Calls {
		arguments := call.Function.Arguments
		if text, ok := jsontext.Unquote(arguments); ok {
			arguments = jsontext.Unescape(text)
		}
		var told struct {
			Message []byte `json:"message"`
		}
		if jsontext.Decode(arguments, &told) && call.Function.Name == "send_message" && told.Message != nil {
			into.add(transcript.KindAssistant, "", told.Message)
		} else {
			into.add(transcript.KindToolCall, call.Function.Name, arguments)
		}
	}
}

// lettaUser returns what a user said, which Letta packs into an object with a time, and
// the kind of it: what Letta itself tells an agent stands under the role of the user too.
func lettaUser(text []byte) (transcript.Kind, []byte) {
	var packed struct {
		Type    string `json:"type"`
		Message []byte `json:"message"`
	}
	switch {
	case !jsontext.Decode(text, &packed) || packed.Message == nil || packed.Type == "":
		return transcript.KindUser, text
	case packed.Type != "user_message":
		return transcript.KindSystem, packed.Message
	}
	return transcript.KindUser, packed.Message
}
