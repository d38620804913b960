package exports

import (
	"errors"
	"slices"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/chatgptcontent"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

var errNoMessages = errors.New("its messages are no array")

// claude reads a conversation of a Claude.ai export, which is a JSON object that a cursor
// has walked.
func claude(raw []byte, into *archive.Conversation) error {
	var c struct {
		Native   string       `json:"uuid"`
		Title    string       `json:"name"`
		Created  moment       `json:"created_at"`
		Updated  moment       `json:"updated_at"`
		Messages jsontext.Raw `json:"chat_messages"`
		Current  string       `json:"current_leaf_message_uuid"`
	}
	jsontext.Decode(raw, &c)
	*into = archive.Conversation{
		Kind: Claude, Native: c.Native, Title: c.Title, Created: c.Created.Time, Updated: c.Updated.Time, Messages: into.Messages[:0],
	}
	if err := complete(into, c.Messages); err != nil {
		return err
	}
	var nodes []node
	before := "" // a message that does not name its parent answers the one before
	for element := range jsontext.Elements(c.Messages) {
		if len(nodes) == maxMessages {
			return errTooMany
		}
		var m struct {
			ID      string  `json:"uuid"`
			Parent  *string `json:"parent_message_uuid"`
			Created moment  `json:"created_at"`
		}
		jsontext.Decode(element, &m)
		n := node{id: m.ID, Parent: before, Message: element, time: m.Created.Time}
		if m.Parent != nil {
			n.Parent = *m.Parent
		}
		before = n.id
		nodes = append(nodes, n)
	}
	places, active := order(nodes, c.Current)
	for _, at := range places {
		appendClaude(into, &nodes[at], active[at])
	}
	return nil
}

// complete returns what a conversation lacks to be one, and nil where that is nothing.
func complete(c *archive.Conversation, messages jsontext.Raw) error {
	switch {
	case c.Native == "":
		return errNoID
	case len(messages) == 0 || messages[0] != '[':
		return errNoMessages
	}
	return nil
}

// claudeFile is a file that belongs to a message, and the text that was found in it.
type claudeFile struct {
	Name      string `json:"file_name"`
	Extracted string `json:"extracted_content"`
}

// appendClaude appends what a message consists of, unless there is no text in it.
func appendClaude(into *archive.Conversation, n *node, active bool) {
	var m struct {
		Sender      string         `json:"sender"`
		Text        []byte         `json:"text"`
		Content     []jsontext.Raw `json:"content"`
		Attachments []claudeFile   `json:"attachments"`
		Files       []claudeFile   `json:"files"`
	}
	jsontext.Decode(n.Message, &m)
	kind, name := kindOf(m.Sender)
	add := func(kind transcript.Kind, name string, text []byte) {
		if len(text) == 0 {
			return
		}
		// What a message says in several blocks is one text.
		if last := len(into.Messages) - 1; last >= 0 && into.Messages[last].Native == n.id && into.Messages[last].Kind == kind && kind == transcript.KindUser {
			into.Messages[last].Text = append(append(into.Messages[last].Text, '\n'), text...)
			return
		}
		into.Messages = append(into.Messages, archive.Message{Native: n.id, Kind: kind, Name: name, Time: n.time, Active: active, Text: text})
	}
	before := len(into.Messages)
	for _, block := range m.Content {
		addBlock(block, kind, name, add)
	}
	if len(into.Messages) == before { // older exports have the text alone
		add(kind, name, m.Text)
	}
	for _, file := range slices.Concat(m.Attachments, m.Files) {
		if file.Name != "" {
			add(kind, name, chatgptcontent.AppendLine([]byte("[file "+file.Name+"]"), []byte(file.Extracted)))
		}
	}
}

// addBlock adds what a block of the content of a message has to say.
func addBlock(raw jsontext.Raw, kind transcript.Kind, name string, add func(transcript.Kind, string, []byte)) {
	var b struct {
		Type     string       `json:"type"`
		Text     []byte       `json:"text"`
		Thinking []byte       `json:"thinking"`
		Name     string       `json:"name"`
		Input    jsontext.Raw `json:"input"`
		Content  jsontext.Raw `json:"content"`
	}
	jsontext.Decode(raw, &b)
	switch b.Type {
	case "text":
		add(kind, name, b.Text)
	case "thinking":
		add(transcript.KindReasoning, "", b.Thinking)
	case "tool_use":
		w := jsontext.Writer{Indent: true}
		if b.Input != nil {
			add(transcript.KindToolCall, b.Name, w.Append(nil, b.Input))
		}
	case "tool_result":
		add(transcript.KindToolResult, b.Name, textsOf(b.Content))
	default:
		add(kind, name, textsOf(raw))
	}
}

// textsOf returns the texts of blocks: those called text, content or thinking, wherever
// they are.
func textsOf(raw []byte) []byte {
	return chatgptcontent.AppendTexts(nil, raw, func(key string, isText bool) bool {
		switch key {
		case "text", "content", "thinking", "reasoning", "title", "url":
			return true
		}
		return !isText
	})
}
