// Package mcp emits the tool list of the Model Context Protocol, as its
// tools/list answers with it.
package mcp

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

// Emit returns generated/mcp/tools.json.
func Emit(c *ir.Contract) ([]emit.File, error) {
	tools := jsontext.Array{}
	for _, tool := range c.Tools() {
		text := lower.For(lower.MCP, tool)
		if len(text.Problems) > 0 {
			return nil, fmt.Errorf("MCP tool list: %s", strings.Join(text.Problems, "; "))
		}
		tools = append(tools, jsontext.Object{
			{Name: "name", Value: jsontext.String(tool.Name)},
			{Name: "description", Value: jsontext.String(text.Description)},
			{Name: "inputSchema", Value: schema.Object(tool)},
			{Name: "annotations", Value: annotations(tool.Effect)},
		})
	}
	return []emit.File{{
		Path: path.Join(c.Targets.Generated, "mcp", "tools.json"),
		Data: jsontext.Pretty(tools),
	}}, nil
}

// annotations says of a reading tool that calling it twice changes nothing and
// that it leaves this machine alone. Of a writing tool it says what MCP assumes
// when told nothing, which is the cautious side of every hint.
func annotations(effect ir.Effect) jsontext.Object {
	read := effect == ir.Read
	return jsontext.Object{
		{Name: "readOnlyHint", Value: jsontext.Bool(read)},
		{Name: "destructiveHint", Value: jsontext.Bool(!read)},
		{Name: "idempotentHint", Value: jsontext.Bool(read)},
		{Name: "openWorldHint", Value: jsontext.Bool(!read)},
	}
}
