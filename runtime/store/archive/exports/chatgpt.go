package exports

import (
	"bytes"
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/chatgptcontent"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// Errors of conversations.
var (
	errNoID      = errors.New("it has no id")
	errNoMapping = errors.New("its mapping is no object of nodes")
)

// chatGPT reads a conversation of a ChatGPT export, which is a JSON object that a cursor
// has walked.
func chatGPT(raw []byte, into *archive.Conversation) error {
	var native, id, title, created, updated, current, mapping []byte
	*into = archive.Conversation{Kind: ChatGPT, Messages: into.Messages[:0]}
	jsontext.Read(raw,
		jsontext.Value("conversation_id", &native), jsontext.Value("id", &id), jsontext.Value("title", &title),
		jsontext.Value("create_time", &created), jsontext.Value("update_time", &updated), jsontext.Is("is_archived", &into.Archived),
		jsontext.Value("current_node", &current), jsontext.Value("mapping", &mapping),
	)
	into.Native, into.Title = cmp.Or(stringOf(native), stringOf(id)), stringOf(title)
	into.Created, into.Updated = timeOf(created), timeOf(updated)
	switch {
	case into.Native == "":
		return errNoID
	case len(mapping) == 0 || mapping[0] != '{':
		return errNoMapping
	}
	var nodes []node
	for m := range jsontext.Members(mapping) {
		if len(nodes) == maxMessages {
			return errTooMany
		}
		nodes = append(nodes, chatGPTNode(m))
	}
	places, active := order(nodes, stringOf(current))
	for _, at := range places {
		if nodes[at].message != nil {
			appendChatGPT(into, nodes[at].message, active[at])
		}
	}
	return nil
}

// chatGPTNode reads a member of a mapping. Its key is its id: the one inside repeats it.
func chatGPTNode(m jsontext.Member) node {
	n := node{id: string(jsontext.Unescape(m.Key))}
	var parent, message []byte
	jsontext.Read(m.Value, jsontext.Value("parent", &parent), jsontext.Value("children", &n.children), jsontext.Value("message", &message))
	n.parent = stringOf(parent)
	if len(message) > 0 && message[0] == '{' {
		n.message, n.time = message, timeOf(jsontext.Get(message, "create_time"))
	}
	return n
}

// appendChatGPT appends a message, unless there is no text in it.
func appendChatGPT(into *archive.Conversation, raw []byte, active bool) {
	m := archive.Message{Active: active}
	var id, author, created, recipient, content, metadata, attachments, references []byte
	var hidden bool
	jsontext.Read(raw,
		jsontext.Value("id", &id), jsontext.Value("author", &author), jsontext.Value("create_time", &created),
		jsontext.Value("recipient", &recipient), jsontext.Value("content", &content), jsontext.Value("metadata", &metadata),
	)
	jsontext.Read(metadata,
		jsontext.Is("is_visually_hidden_from_conversation", &hidden),
		jsontext.Value("attachments", &attachments), jsontext.Value("content_references", &references),
	)
	m.Native, m.Time = stringOf(id), timeOf(created)
	text, contentType := chatgptcontent.Content(content)
	m.Text = resolved(text, references)
	for file := range jsontext.Elements(attachments) {
		if name := memberText(file, "name"); name != "" {
			m.Text = chatgptcontent.AppendLine(m.Text, []byte("[file "+name+"]"))
		}
	}
	if len(m.Text) == 0 {
		return
	}
	m.Kind, m.Name = chatGPTKind(memberText(author, "role"), memberText(author, "name"), stringOf(recipient), contentType, hidden)
	into.Messages = append(into.Messages, m)
}

// A reference of a text, such as to a page that was found, is marked in it: it begins and ends
// with characters of Unicode's private use, and has words for programs between.
const markBegin, markEnd, markCite = "\ue200", "\ue201", "\ue200cite\ue202"

// maxMark is the longest mark that is looked for, in bytes.
const maxMark = 1 << 10

// resolved returns a text with what references show in place of their marks: nothing where a
// citation shows nothing. Marks of which nothing is known stay. Each reference is used once, as
// exports have them: a text grows by no more than the references have.
func resolved(text, references []byte) []byte {
	if !bytes.Contains(text, []byte(markBegin)) {
		return text
	}
	shown := map[string][]string{}
	for r := range jsontext.Elements(references) {
		mark := memberText(r, "matched_text")
		shown[mark] = append(shown[mark], memberText(r, "alt"))
	}
	var out []byte
	for {
		begin := bytes.Index(text, []byte(markBegin))
		if begin < 0 {
			return append(out, text...)
		}
		out, text = append(out, text[:begin]...), text[begin:]
		size := len(markBegin)
		if end := bytes.Index(text[:min(len(text), maxMark)], []byte(markEnd)); end >= 0 {
			size = end + len(markEnd)
		}
		mark := string(text[:size])
		text = text[size:]
		switch alts := shown[mark]; {
		case len(alts) > 0:
			shown[mark] = alts[1:]
			mark = alts[0]
		case strings.HasPrefix(mark, markCite):
			mark = ""
		}
		if mark == "" {
			out = bytes.TrimSuffix(out, []byte(" "))
		}
		out = append(out, mark...)
	}
}

// chatGPTKind returns the kind of a message, and its name. What is hidden under the role of
// the user, such as custom instructions, the user did not say in the conversation.
func chatGPTKind(role, author, recipient, contentType string, hidden bool) (kind transcript.Kind, name string) {
	switch {
	case contentType == "user_editable_context" || contentType == "model_editable_context" || role == "user" && hidden:
		return transcript.KindSystem, ""
	case role == "assistant" && (contentType == "thoughts" || contentType == "reasoning_recap"):
		return transcript.KindReasoning, ""
	case role == "assistant" && recipient != "" && recipient != "all":
		return transcript.KindToolCall, recipient
	case role == "tool":
		return transcript.KindToolResult, author
	}
	return kindOf(role)
}

// kindOf returns the kind of the messages of a role. Those of one that is not known have it
// as their name.
func kindOf(role string) (kind transcript.Kind, name string) {
	switch role {
	case "user", "human":
		return transcript.KindUser, ""
	case "assistant":
		return transcript.KindAssistant, ""
	case "tool":
		return transcript.KindToolResult, ""
	case "system":
		return transcript.KindSystem, ""
	case "":
		return transcript.KindSystem, "unknown"
	}
	return transcript.KindSystem, role
}

// stringOf returns the text of a JSON string; "" for any other value.
func stringOf(raw []byte) string {
	text, _ := jsontext.Unquote(raw)
	return string(jsontext.Unescape(text))
}

// memberText returns the text of a member of an object; "" where it is no string.
func memberText(raw []byte, name string) string {
	return string(jsontext.Unescape(jsontext.GetText(raw, name)))
}

// timeOf returns the time that a JSON value is, as [messagedb.Moment] has it, or zero.
func timeOf(raw []byte) time.Time {
	if text, ok := jsontext.Unquote(raw); ok {
		raw = text
	}
	return messagedb.Moment(raw)
}
