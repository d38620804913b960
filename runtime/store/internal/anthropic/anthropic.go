// Package anthropic decodes messages in the form of Anthropic's API, as Claude Code, Cline and Claude.ai record them.
package anthropic

import "github.com/convtools/convtools/runtime/store/jsontext"

// Block is a part of a message's content. Its texts can be parts of the JSON that was read.
type Block struct {
	Type      string       `json:"type"`
	Text      []byte       `json:"text"`
	Thinking  []byte       `json:"thinking"`
	ID        string       `json:"id"` // of a call
	Name      string       `json:"name"`
	Input     jsontext.Raw `json:"input"`
	ToolUseID string       `json:"tool_use_id"` // the id of the call that it is the result of
	Content   jsontext.Raw `json:"content"`
	IsError   bool         `json:"is_error"`
}

// Blocks returns the blocks of a content, which can be one text.
func Blocks(content jsontext.Raw) []Block {
	return jsontext.Parts(content, func(text []byte) Block { return Block{Type: "text", Text: text} })
}
