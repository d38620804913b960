package exports

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/anthropic"
	"github.com/convtools/convtools/runtime/store/internal/chatgptcontent"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// messages are the messages that one recorded message consists of.
type messages []archive.Message

// add adds a message with a text, unless the text is empty. If the last message and the new one are both the user's, it
// adds the text to the last message: together they are one request.
func (all *messages) add(kind transcript.Kind, name string, text []byte) {
	last := len(*all) - 1
	switch {
	case len(text) == 0:
	case kind == transcript.KindUser && last >= 0 && (*all)[last].Kind == kind:
		(*all)[last].Text = chatgptcontent.AppendLine((*all)[last].Text, text)
	default:
		*all = append(*all, archive.Message{Kind: kind, Name: name, Text: text})
	}
}

// kindOf returns the kind and the name of a message with a role. An unknown role is the name of a system message.
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
	case "": // the message has no role
		return transcript.KindSystem, "unknown"
	}
	return transcript.KindSystem, role
}

// chatGPT returns the message of a ChatGPT export, with the names of attached files; none if it has no text.
func chatGPT(raw jsontext.Raw) (all messages) {
	var m struct {
		ID     string `json:"id"`
		Author struct {
			Role string `json:"role"`
			Name string `json:"name"`
		} `json:"author"`
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
	kind, name := chatGPTKind(m.Author.Role, m.Author.Name, m.Recipient, contentType, m.Metadata.Hidden)
	all.add(kind, name, text)
	for i := range all {
		all[i].Native = m.ID
	}
	return all
}

// reference is the text that a program shows in place of a mark.
type reference struct {
	Mark  string `json:"matched_text"`
	Shown string `json:"alt"`
}

// resolved returns a text in which marks are replaced. A mark is a part of the text from U+E200 to U+E201. It is
// replaced by the text that the first unused reference to the mark shows. If that text is empty, the mark and the space
// before the mark are removed. A mark without an unused reference stays, except that the mark of a citation is removed
// with the space before the mark. Each reference is used once, so that the growth of the text is bounded.
func resolved(text []byte, references []reference) []byte {
	const begin, end, cite = "\ue200", "\ue201", "\ue200cite\ue202" // cite begins the mark of a citation
	if !bytes.Contains(text, []byte(begin)) {
		return text
	}
	shown := map[string][]string{} // the texts of the unused references, by their marks
	for _, r := range references {
		shown[r.Mark] = append(shown[r.Mark], r.Shown)
	}
	marks := regexp.MustCompile(" ?" + begin + "[^" + begin + end + "]*" + end)
	return marks.ReplaceAllFunc(text, func(found []byte) []byte {
		mark := strings.TrimPrefix(string(found), " ")
		replacement := ""
		if unused := shown[mark]; len(unused) > 0 {
			replacement, shown[mark] = unused[0], unused[1:]
		} else if isCitation := strings.HasPrefix(mark, cite); !isCitation {
			return found
		}
		if replacement == "" {
			return nil // the mark and its space are removed
		}
		return bytes.Replace(found, []byte(mark), []byte(replacement), 1)
	})
}

// chatGPTKind returns the kind and the name of a message. The name is the tool of a call or a result, the role if it is
// unknown, or "". Hidden messages with the role "user", such as custom instructions, are system messages.
func chatGPTKind(role, author, recipient, contentType string, hidden bool) (kind transcript.Kind, name string) {
	isContext := contentType == "user_editable_context" || contentType == "model_editable_context"
	switch {
	case isContext, role == "user" && hidden:
		return transcript.KindSystem, ""
	case role == "assistant" && (contentType == "thoughts" || contentType == "reasoning_recap"):
		return transcript.KindReasoning, ""
	case role == "assistant" && recipient != "" && recipient != "all": // the message is for a tool
		return transcript.KindToolCall, recipient
	case role == "tool": // the author is the tool
		return transcript.KindToolResult, author
	}
	return kindOf(role)
}

// claudeFile is an attached file, and the text that was extracted from it.
type claudeFile struct {
	Name      string `json:"file_name"`
	Extracted string `json:"extracted_content"`
}

// claude returns the messages that a message of a Claude.ai export consists of.
func claude(raw jsontext.Raw) (all messages) {
	var m struct {
		Sender      string         `json:"sender"`
		Text        []byte         `json:"text"`
		Content     []jsontext.Raw `json:"content"`
		Attachments []claudeFile   `json:"attachments"`
		Files       []claudeFile   `json:"files"`
	}
	jsontext.Decode(raw, &m)
	kind, name := kindOf(m.Sender)
	for _, block := range m.Content {
		all.addBlock(block, kind, name)
	}
	if len(all) == 0 { // older exports have only the text
		all.add(kind, name, m.Text)
	}
	for _, file := range slices.Concat(m.Attachments, m.Files) {
		if file.Name != "" {
			all.add(kind, name, chatgptcontent.AppendLine([]byte("[file "+file.Name+"]"), []byte(file.Extracted)))
		}
	}
	return all
}

// addBlock adds a message for a block. kind and name are for a text; other blocks have kinds and names of their own.
func (all *messages) addBlock(raw jsontext.Raw, kind transcript.Kind, name string) {
	switch b, _ := jsontext.Parse[anthropic.Block](raw); b.Type {
	case "text":
		all.add(kind, name, b.Text)
	case "thinking":
		all.add(transcript.KindReasoning, "", b.Thinking)
	case "tool_use":
		w := jsontext.Writer{Indent: true}
		if b.Input != nil {
			all.add(transcript.KindToolCall, b.Name, w.Append(nil, b.Input))
		}
	case "tool_result":
		all.add(transcript.KindToolResult, b.Name, textsOf(b.Content))
	default:
		all.add(kind, name, textsOf(raw))
	}
}

// textsOf returns the texts in a JSON value, each on lines of its own. A text in an object needs one of the keys below.
func textsOf(raw []byte) []byte {
	return chatgptcontent.AppendTexts(nil, raw, func(key string, isText bool) bool {
		switch key {
		case "text", "content", "thinking", "reasoning", "title", "url":
			return true
		}
		return !isText // arrays and objects can have texts in them, whatever their keys
	})
}

// letta returns the messages that a message of a Letta agent file consists of. An agent answers with a call of
// send_message; its text beside a call is reasoning.
func letta(raw jsontext.Raw) (all messages) {
	var m struct {
		Role    string       `json:"role"`
		Tool    string       `json:"name"`
		Content jsontext.Raw `json:"content"`
		Calls   []struct {
			Function struct {
				Name      string       `json:"name"`
				Arguments jsontext.Raw `json:"arguments"` // JSON in a text
			} `json:"function"`
		} `json:"tool_calls"`
	}
	jsontext.Decode(raw, &m)
	kind, name := kindOf(m.Role)
	text := textsOf(m.Content)
	switch {
	case kind == transcript.KindUser:
		kind, text = lettaUser(text)
	case kind == transcript.KindToolResult:
		name = m.Tool
	case kind == transcript.KindAssistant && len(m.Calls) > 0:
		kind = transcript.KindReasoning
	}
	all.add(kind, name, text)
	for _, call := range m.Calls {
		arguments := jsontext.Plain(call.Function.Arguments)
		var answer struct {
			Message []byte `json:"message"`
		}
		if jsontext.Decode(arguments, &answer) && call.Function.Name == "send_message" && answer.Message != nil {
			all.add(transcript.KindAssistant, "", answer.Message)
		} else {
			all.add(transcript.KindToolCall, call.Function.Name, arguments)
		}
	}
	return all
}

// lettaUser returns the kind and the text of a message under the role of the user. Letta wraps the text in an
// object, and sends its own messages to an agent under this role too.
func lettaUser(text []byte) (transcript.Kind, []byte) {
	var wrapped struct {
		Type    string `json:"type"`
		Message []byte `json:"message"`
	}
	isWrapped := jsontext.Decode(text, &wrapped) && wrapped.Message != nil && wrapped.Type != ""
	switch {
	case !isWrapped:
		return transcript.KindUser, text
	case wrapped.Type != "user_message":
		return transcript.KindSystem, wrapped.Message
	}
	return transcript.KindUser, wrapped.Message
}
