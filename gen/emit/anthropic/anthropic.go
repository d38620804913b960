// Package anthropic emits the tools as the tool list of Anthropic's Messages
// API.
package anthropic

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
const file = "anthropic/tools.json"

// lowering: the API accepts names of 64 characters.
func lowering() lower.Target { return lower.Target{Name: "anthropic", Schema: true, MaxName: 64} }

// Emit returns generated/anthropic/tools.json.
func Emit(c *ir.Contract, schemas emit.Schemas) ([]emit.File, error) {
	return toollist.Emit(c, lowering(), file, schemas, entry)
}

func entry(_ *ir.Tool, text *lower.Text, schema jsontext.Object) jsontext.Object {
	return jsontext.Object{
		{Name: "name", Value: jsontext.String(text.Name)},
		{Name: "description", Value: jsontext.String(text.Description)},
		{Name: "input_schema", Value: schema},
	}
}
