package exports

import (
	"slices"

	"github.com/convtools/convtools/runtime/store/internal/chatgptcontent"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

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
