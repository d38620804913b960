// Package openai emits the tools as the function list of OpenAI's Chat
// Completions API, which many other providers accept too.
package openai

import (
	"fmt"
	"path"
	"strings"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// Emit returns generated/openai/functions.json.
func Emit(c *ir.Contract) ([]emit.File, error) {
	functions := jsontext.Array{}
	for _, tool := range c.Tools() {
		text := lower.For(lower.OpenAI, tool)
		if len(text.Problems) > 0 {
			return nil, fmt.Errorf("OpenAI function list: %s", strings.Join(text.Problems, "; "))
		}
		functions = append(functions, jsontext.Object{
			{Name: "type", Value: jsontext.String("function")},
			{Name: "function", Value: jsontext.Object{
				{Name: "name", Value: jsontext.String(tool.Name)},
				{Name: "description", Value: jsontext.String(text.Description)},
				{Name: "parameters", Value: schema.Object(tool)},
			}},
		})
	}
	return []emit.File{{
		Path: path.Join(c.Targets.Generated, "openai", "functions.json"),
		Data: jsontext.Pretty(functions),
	}}, nil
}
