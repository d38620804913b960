// Package mcp emits the tool list of the Model Context Protocol, as its
// tools/list answers with it.
package mcp

import (
	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/emit/internal/toollist"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// Emit returns generated/mcp/tools.json.
func Emit(c *ir.Contract) ([]emit.File, error) {
	return toollist.Emit(c, lower.MCP, "mcp/tools.json", entry)
}

func entry(tool *ir.Tool, text *lower.Text) jsontext.Object {
	return jsontext.Object{
		{Name: "name", Value: jsontext.String(text.Name)},
		{Name: "description", Value: jsontext.String(text.Description)},
		{Name: "inputSchema", Value: schema.Object(tool)},
		{Name: "annotations", Value: annotations(tool.Effect.Hints())},
	}
}

func annotations(hints ir.Hints) jsontext.Object {
	return jsontext.Object{
		{Name: "readOnlyHint", Value: jsontext.Bool(hints.ReadOnly)},
		{Name: "destructiveHint", Value: jsontext.Bool(hints.Destructive)},
		{Name: "idempotentHint", Value: jsontext.Bool(hints.Idempotent)},
		{Name: "openWorldHint", Value: jsontext.Bool(hints.OpenWorld)},
	}
}
