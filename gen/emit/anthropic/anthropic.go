// Package anthropic emits the tools as the tool list of Anthropic's Messages
// API.
package anthropic

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

// Emit returns generated/anthropic/tools.json.
func Emit(c *ir.Contract) ([]emit.File, error) {
	tools := jsontext.Array{}
	for _, tool := range c.Tools() {
		text := lower.For(lower.Anthropic, tool)
		if len(text.Problems) > 0 {
			return nil, fmt.Errorf("tool list for Anthropic: %s", strings.Join(text.Problems, "; "))
		}
		tools = append(tools, jsontext.Object{
			{Name: "name", Value: jsontext.String(tool.Name)},
			{Name: "description", Value: jsontext.String(text.Description)},
			{Name: "input_schema", Value: schema.Object(tool)},
		})
	}
	return []emit.File{{
		Path: path.Join(c.Targets.Generated, "anthropic", "tools.json"),
		Data: jsontext.Pretty(tools),
	}}, nil
}
