package exports

import (
	"bytes"
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
