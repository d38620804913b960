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
	var c struct {
		Native   string       `json:"conversation_id"`
		ID       string       `json:"id"`
		Title    string       `json:"title"`
		Created  moment       `json:"create_time"`
		Updated  moment       `json:"update_time"`
		Archived bool         `json:"is_archived"`
		Current  string       `json:"current_node"`
		Mapping  jsontext.Raw `json:"mapping"`
	}
	jsontext.Decode(raw, &c)
	*into = archive.Conversation{
		Kind: ChatGPT, Native: cmp.Or(c.Native, c.ID), Title: c.Title, Created: c.Created.Time, Updated: c.Updated.Time, Archived: c.Archived,
		Messages: into.Messages[:0],
	}
	switch {
	case into.Native == "":
		return errNoID
	case len(c.Mapping) == 0 || c.Mapping[0] != '{':
		return errNoMapping
	}
	var nodes []node
	for m := range jsontext.Members(c.Mapping) {
		if len(nodes) == maxMessages {
			return errTooMany
		}
		n := node{id: string(jsontext.Unescape(m.Key))} // the one inside repeats it
		jsontext.Decode(m.Value, &n)
		var said struct {
			Created moment `json:"create_time"`
		}
		jsontext.Decode(n.Message, &said)
		n.time = said.Created.Time
		nodes = append(nodes, n)
	}
	places, active := order(nodes, c.Current)
	for _, at := range places {
		appendChatGPT(into, nodes[at].Message, active[at])
	}
	return nil
}

// appendChatGPT appends a message, unless there is no text in it.
func appendChatGPT(into *archive.Conversation, raw jsontext.Raw, active bool) {
	var m struct {
		ID     string `json:"id"`
		Author struct {
			Role string `json:"role"`
			Name string `json:"name"`
		} `json:"author"`
		Created   moment       `json:"create_time"`
		Recipient string       `json:"recipient"`
		Content   jsontext.Raw `json:"content"`
		Metadata  struct {
			Hidden      bool `json:"is_visually_hidden_from_conversation"`
			Attachments []struct {
				Name string `json:"name"`
			} `json:"attachments"`
			References []reference `json:"content_references"`
		} `json:"metadata"`
	}
	jsontext.Decode(raw, &m)
	text, contentType := chatgptcontent.Content(m.Content)
	text = resolved(text, m.Metadata.References)
	for _, file := range m.Metadata.Attachments {
		if file.Name != "" {
			text = chatgptcontent.AppendLine(text, []byte("[file "+file.Name+"]"))
		}
	}
	if len(text) == 0 {
		return
	}
	kind, name := chatGPTKind(m.Author.Role, m.Author.Name, m.Recipient, contentType, m.Metadata.Hidden)
	into.Messages = append(into.Messages, archive.Message{Native: m.ID, Kind: kind, Name: name, Time: m.Created.Time, Active: active, Text: text})
}

// reference is what a mark in a text stands for.
type reference struct {
	Mark  string `json:"matched_text"`
	Shown string `json:"alt"`
}

// A reference of a text, such as to a page that was found, is marked in it: it begins and ends
// with characters of Unicode's private use, and has words for programs between.
const markBegin, markEnd, markCite = "\ue200", "\ue201", "\ue200cite\ue202"

// maxMark is the longest mark that is looked for, in bytes.
const maxMark = 1 << 10

// resolved returns a text with what references show in place of their marks: nothing where a
// citation shows nothing. Marks of which nothing is known stay. Each reference is used once, as
// exports have them: a text grows by no more than the references have.
func resolved(text []byte, references []reference) []byte {
	if !bytes.Contains(text, []byte(markBegin)) {
		return text
	}
	shown := map[string][]string{}
	for _, r := range references {
		shown[r.Mark] = append(shown[r.Mark], r.Shown)
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

// moment is a time in any of the forms of [messagedb.Moment].
type moment struct{ time.Time }

// UnmarshalJSON implements [json.Unmarshaler].
func (m *moment) UnmarshalJSON(raw []byte) error {
	if text, ok := jsontext.Unquote(raw); ok {
		raw = text
	}
	m.Time = messagedb.Moment(raw)
	return nil
}
