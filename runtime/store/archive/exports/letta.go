package exports

import (
	"cmp"
	"encoding/json"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// letta reads an agent of a Letta agent file: all its messages are one conversation.
func letta(raw []byte, into *archive.Conversation) error {
	*into = archive.Conversation{Kind: Letta, Messages: into.Messages[:0]}
	messages := head(into, raw, "id", "messages")
	// Agent files of the first version have no ids.
	into.Native = cmp.Or(into.Native, into.Title)
	if err := complete(into, messages); err != nil {
		return err
	}
	for message := range jsontext.Elements(messages) {
		if len(into.Messages) >= maxMessages {
			return errTooMany
		}
		appendLetta(into, message)
	}
	return nil
}

// lettaAgents are the agents of an agent file. In the first version the file is the agent.
func lettaAgents(raw []byte) [][]byte {
	agents := jsontext.Get(raw, "agents")
	if agents == nil {
		return [][]byte{raw}
	}
	var all [][]byte
	for agent := range jsontext.Elements(agents) {
		all = append(all, agent)
	}
	return all
}

// appendLetta appends what a message consists of, unless there is no text in it.
func appendLetta(into *archive.Conversation, raw []byte) {
	m := archive.Message{Active: true}
	var id, role, created, tool, content, text, calls []byte
	jsontext.Read(raw,
		jsontext.Value("id", &id), jsontext.Value("role", &role), jsontext.Value("created_at", &created), jsontext.Value("name", &tool),
		jsontext.Value("content", &content), jsontext.Value("text", &text), jsontext.Value("tool_calls", &calls),
	)
	if content == nil || string(content) == "null" {
		content = text
	}
	m.Native, m.Time = stringOf(id), timeOf(created)
	m.Kind, m.Name = kindOf(stringOf(role))
	add := func(kind transcript.Kind, name string, text []byte) {
		if len(text) > 0 {
			m := m
			m.Kind, m.Name, m.Text = kind, name, text
			into.Messages = append(into.Messages, m)
		}
	}
	isCalling := false
	for range jsontext.Elements(calls) {
		isCalling = true
	}
	said := textsOf(content)
	switch {
	case m.Kind == transcript.KindUser:
		kind, text := lettaUser(said)
		add(kind, "", text)
	case m.Kind == transcript.KindToolResult:
		add(m.Kind, stringOf(tool), said)
	case m.Kind == transcript.KindAssistant && isCalling:
		add(transcript.KindReasoning, "", said) // what is said is in a call
	default:
		add(m.Kind, m.Name, said)
	}
	for call := range jsontext.Elements(calls) {
		name, arguments := lettaCall(call)
		if said, ok := saidBy(name, arguments); ok {
			add(transcript.KindAssistant, "", said)
		} else {
			add(transcript.KindToolCall, name, arguments)
		}
	}
}

// lettaCall returns the name of a called tool, and its arguments.
func lettaCall(raw []byte) (name string, arguments []byte) {
	if function := jsontext.Get(raw, "function"); function != nil {
		raw = function
	}
	value := jsontext.Get(raw, "arguments")
	if text, ok := jsontext.Unquote(value); ok {
		return memberText(raw, "name"), []byte(string(jsontext.Unescape(text)))
	}
	return memberText(raw, "name"), value
}

// saidBy returns what an agent says to its user, for which it calls a tool.
func saidBy(tool string, arguments []byte) ([]byte, bool) {
	if tool != "send_message" {
		return nil, false
	}
	var said struct{ Message *string }
	if json.Unmarshal(arguments, &said) != nil || said.Message == nil {
		return nil, false
	}
	return []byte(*said.Message), true
}

// lettaUser returns what a user said, which Letta packs into an object with a time, and
// the kind of it: what Letta itself tells an agent stands under the role of the user too.
func lettaUser(text []byte) (transcript.Kind, []byte) {
	var packed struct {
		Type    string
		Message *string
	}
	if json.Unmarshal(text, &packed) != nil || packed.Message == nil || packed.Type == "" {
		return transcript.KindUser, text
	}
	if packed.Type != "user_message" {
		return transcript.KindSystem, []byte(*packed.Message)
	}
	return transcript.KindUser, []byte(*packed.Message)
}
