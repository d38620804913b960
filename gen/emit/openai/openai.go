// Package openai emits the tools as the function list of OpenAI's Chat
// Completions API, which many other providers accept too.
package openai

import (
	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/emit/internal/toollist"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// Emit returns generated/openai/functions.json.
func Emit(c *ir.Contract) ([]emit.File, error) {
	return toollist.Emit(c, lower.OpenAI, "openai/functions.json", entry)
}

func entry(tool *ir.Tool, text *lower.Text) jsontext.Object {
	return jsontext.Object{
		{Name: "type", Value: jsontext.String("function")},
		{Name: "function", Value: jsontext.Object{
			{Name: "name", Value: jsontext.String(text.Name)},
			{Name: "description", Value: jsontext.String(text.Description)},
			{Name: "parameters", Value: schema.Object(tool)},
		}},
	}
}
