package exports

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store/internal/chatgptcontent"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// chatGPT appends a message of a ChatGPT export.
func chatGPT(into *saying, raw jsontext.Raw) {
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
	into.native = m.ID
	kind, name := chatGPTKind(m.Author.Role, m.Author.Name, m.Recipient, contentType, m.Metadata.Hidden)
	into.add(kind, name, text)
}

// reference is what a mark in a text stands for.
type reference struct {
	Mark  string `json:"matched_text"`
	Shown string `json:"alt"`
}

// resolved returns a text with what references show in place of their marks, which begin and end with
// characters of Unicode's private use: nothing where a citation shows nothing. Marks of which nothing
// is known stay. Each reference is used once, as exports have them: a text grows by no more than the
// references have.
func resolved(text []byte, references []reference) []byte {
	const begin, end, cite = "\ue200", "\ue201", "\ue200cite\ue202"
	if !bytes.Contains(text, []byte(begin)) {
		return text
	}
	shown := map[string][]string{}
	for _, r := range references {
		shown[r.Mark] = append(shown[r.Mark], r.Shown)
	}
	marks := regexp.MustCompile(" ?" + begin + "[^" + begin + end + "]*" + end)
	return marks.ReplaceAllFunc(text, func(found []byte) []byte {
		mark := strings.TrimPrefix(string(found), " ")
		alts := shown[mark]
		switch {
		case len(alts) > 0 && alts[0] != "":
			found = []byte(strings.TrimSuffix(string(found), mark) + alts[0])
		case len(alts) > 0 || strings.HasPrefix(mark, cite):
			found = nil
		}
		shown[mark] = alts[min(1, len(alts)):]
		return found
	})
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

// claudeFile is a file that belongs to a message, and the text that was found in it.
type claudeFile struct {
	Name      string `json:"file_name"`
	Extracted string `json:"extracted_content"`
}

// claude appends what a message of a Claude.ai export consists of.
func claude(into *saying, raw jsontext.Raw) {
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
		addBlock(into, block, kind, name)
	}
	if len(into.to.Messages) == into.from { // older exports have the text alone
		into.add(kind, name, m.Text)
	}
	for _, file := range slices.Concat(m.Attachments, m.Files) {
		if file.Name != "" {
			into.add(kind, name, chatgptcontent.AppendLine([]byte("[file "+file.Name+"]"), []byte(file.Extracted)))
		}
	}
}

// addBlock adds what a block of the content of a message has to say.
func addBlock(into *saying, raw jsontext.Raw, kind transcript.Kind, name string) {
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
		into.add(kind, name, b.Text)
	case "thinking":
		into.add(transcript.KindReasoning, "", b.Thinking)
	case "tool_use":
		w := jsontext.Writer{Indent: true}
		if b.Input != nil {
			into.add(transcript.KindToolCall, b.Name, w.Append(nil, b.Input))
		}
	case "tool_result":
		into.add(transcript.KindToolResult, b.Name, textsOf(b.Content))
	default:
		into.add(kind, name, textsOf(raw))
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
