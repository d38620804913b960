package exports

import (
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// letta reads an agent of a Letta agent file: all its messages are one conversation.
func letta(raw []byte, into *archive.Conversation) error {
	var c struct {
		Native   string       `json:"id"`
		Title    string       `json:"name"`
		Created  moment       `json:"created_at"`
		Updated  moment       `json:"updated_at"`
		Messages jsontext.Raw `json:"messages"`
	}
	jsontext.Decode(raw, &c)
	*into = archive.Conversation{
		Kind: Letta, Native: c.Native, Title: c.Title, Created: c.Created.Time, Updated: c.Updated.Time, Messages: into.Messages[:0],
	}
	if err := complete(into, c.Messages); err != nil {
		return err
	}
	for message := range jsontext.Elements(c.Messages) {
		if len(into.Messages) >= maxMessages {
			return errTooMany
		}
		appendLetta(into, message)
	}
	return nil
}

// appendLetta appends what a message consists of, unless there is no text in it.
func appendLetta(into *archive.Conversation, raw []byte) {
	var m struct {
		ID      string       `json:"id"`
		Role    string       `json:"role"`
		Created moment       `json:"created_at"`
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
	add := func(kind transcript.Kind, name string, text []byte) {
		if len(text) > 0 {
			into.Messages = append(into.Messages, archive.Message{Native: m.ID, Kind: kind, Name: name, Time: m.Created.Time, Active: true, Text: text})
		}
	}
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
	add(kind, name, said)
	for _, call := range m.Calls {
		arguments := call.Function.Arguments
		if text, ok := jsontext.Unquote(arguments); ok {
			arguments = jsontext.Unescape(text)
		}
		var told struct {
			Message []byte `json:"message"`
		}
		if jsontext.Decode(arguments, &told) && call.Function.Name == "send_message" && told.Message != nil {
			add(transcript.KindAssistant, "", told.Message)
		} else {
			add(transcript.KindToolCall, call.Function.Name, arguments)
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
