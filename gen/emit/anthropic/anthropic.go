// Package anthropic emits the tools as the tool list of Anthropic's Messages
// API.
package anthropic

import (
	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/emit/internal/toollist"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// Emit returns generated/anthropic/tools.json.
func Emit(c *ir.Contract) ([]emit.File, error) {
	return toollist.Emit(c, lower.Anthropic, "anthropic/tools.json", entry)
}

func entry(tool *ir.Tool, text *lower.Text) jsontext.Object {
	return jsontext.Object{
		{Name: "name", Value: jsontext.String(text.Name)},
		{Name: "description", Value: jsontext.String(text.Description)},
		{Name: "input_schema", Value: schema.Object(tool)},
	}
}
