// Package mcp emits the tool list of the Model Context Protocol, as its
// tools/list answers with it.
package mcp

import (
	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/emit/internal/toollist"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// Target is this package's.
func Target() emit.Target {
	to := lowering()
	return emit.Target{Name: to.Name, Lower: &to, List: file, Emit: Emit}
}

// file is where the list is.
const file = "mcp/tools.json"

// lowering leaves room for what clients put before the name of a tool of a server
// before they hand it to an API with names of 64 characters. Claude Code cuts a
// description at 2048 characters without saying so.
func lowering() lower.Target {
	return lower.Target{Name: "mcp", Schema: true, Dots: true, MaxName: 64 - len("mcp__convtools__"), MaxDescription: 2048}
}

// Emit returns generated/mcp/tools.json.
func Emit(c *ir.Contract, schemas emit.Schemas) ([]emit.File, error) {
	return toollist.Emit(c, lowering(), file, schemas, entry)
}

func entry(tool *ir.Tool, text *lower.Text, schema jsontext.Object) jsontext.Object {
	return jsontext.Object{
		{Name: "name", Value: jsontext.String(text.Name)},
		{Name: "description", Value: jsontext.String(text.Description)},
		{Name: "inputSchema", Value: schema},
		{Name: "annotations", Value: annotations(tool.Hints())},
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
