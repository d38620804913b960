package exports

import (
	"errors"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/chatgptcontent"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

var errNoMessages = errors.New("its messages are no array")

// head reads what Claude.ai and Letta say of a conversation beside its messages, and returns
// those; id and messages are the names of their members.
func head(into *archive.Conversation, raw []byte, id, messages string) (list []byte) {
	var native, title, created, updated []byte
	jsontext.Read(raw,
		jsontext.Value(id, &native), jsontext.Value("name", &title), jsontext.Value("created_at", &created),
		jsontext.Value("updated_at", &updated), jsontext.Value(messages, &list),
	)
	into.Native, into.Title, into.Created, into.Updated = stringOf(native), stringOf(title), timeOf(created), timeOf(updated)
	return list
}

// complete returns what a conversation lacks to be one, and nil where that is nothing.
func complete(c *archive.Conversation, messages []byte) error {
	switch {
	case c.Native == "":
		return errNoID
	case len(messages) == 0 || messages[0] != '[':
		return errNoMessages
	}
	return nil
}

// claude reads a conversation of a Claude.ai export, which is a JSON object that a cursor
// has walked.
func claude(raw []byte, into *archive.Conversation) error {
	*into = archive.Conversation{Kind: Claude, Messages: into.Messages[:0]}
	messages := head(into, raw, "uuid", "chat_messages")
	if err := complete(into, messages); err != nil {
		return err
	}
	var nodes []node
	before := "" // a message that does not name its parent answers the one before
	for element := range jsontext.Elements(messages) {
		if len(nodes) == maxMessages {
			return errTooMany
		}
		n := node{message: element, parent: before}
		var id, parent, created []byte
		jsontext.Read(element, jsontext.Value("uuid", &id), jsontext.Value("parent_message_uuid", &parent), jsontext.Value("created_at", &created))
		if n.id, n.time = stringOf(id), timeOf(created); parent != nil {
			n.parent = stringOf(parent)
		}
		before = n.id
		nodes = append(nodes, n)
	}
	places, active := order(nodes, memberText(raw, "current_leaf_message_uuid"))
	for _, at := range places {
		appendClaude(into, &nodes[at], active[at])
	}
	return nil
}

// appendClaude appends what a message consists of, unless there is no text in it.
func appendClaude(into *archive.Conversation, n *node, active bool) {
	var sender, text, content, attachments, files []byte
	jsontext.Read(n.message,
		jsontext.Value("sender", &sender), jsontext.Value("text", &text), jsontext.Value("content", &content),
		jsontext.Value("attachments", &attachments), jsontext.Value("files", &files),
	)
	kind, name := kindOf(stringOf(sender))
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
	for block := range jsontext.Elements(content) {
		addBlock(block, kind, name, add)
	}
	if len(into.Messages) == before { // older exports have the text alone
		add(kind, name, []byte(stringOf(text)))
	}
	for _, list := range [][]byte{attachments, files} {
		for file := range jsontext.Elements(list) {
			add(kind, name, fileText(file))
		}
	}
}

// addBlock adds what a block of the content of a message has to say.
func addBlock(block []byte, kind transcript.Kind, name string, add func(transcript.Kind, string, []byte)) {
	switch memberText(block, "type") {
	case "text":
		add(kind, name, []byte(memberText(block, "text")))
	case "thinking":
		add(transcript.KindReasoning, "", []byte(memberText(block, "thinking")))
	case "tool_use":
		w := jsontext.Writer{Indent: true}
		if input := jsontext.Get(block, "input"); input != nil {
			add(transcript.KindToolCall, memberText(block, "name"), w.Append(nil, input))
		}
	case "tool_result":
		add(transcript.KindToolResult, memberText(block, "name"), textsOf(jsontext.Get(block, "content")))
	default:
		add(kind, name, textsOf(block))
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

// fileText returns the words for a file that belongs to a message, and the text that was
// found in it.
func fileText(raw []byte) []byte {
	name := memberText(raw, "file_name")
	if name == "" {
		return nil
	}
	text := []byte("[file " + name + "]")
	if extracted := memberText(raw, "extracted_content"); extracted != "" {
		text = append(append(text, '\n'), extracted...)
	}
	return text
}
