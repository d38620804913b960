// Package openai emits the tools as the function list of OpenAI's Chat
// Completions API, which many other providers accept too.
package openai

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
const file = "openai/functions.json"

// lowering: the API accepts names of 64 characters and descriptions of 1024, and
// refuses the whole request otherwise.
func lowering() lower.Target {
	return lower.Target{Name: "openai", Schema: true, MaxName: 64, MaxDescription: 1024}
}

// Emit returns generated/openai/functions.json.
func Emit(c *ir.Contract, schemas emit.Schemas) ([]emit.File, error) {
	return toollist.Emit(c, lowering(), file, schemas, entry)
}

func entry(_ *ir.Tool, text *lower.Text, schema jsontext.Object) jsontext.Object {
	return jsontext.Object{
		{Name: "type", Value: jsontext.String("function")},
		{Name: "function", Value: jsontext.Object{
			{Name: "name", Value: jsontext.String(text.Name)},
			{Name: "description", Value: jsontext.String(text.Description)},
			{Name: "parameters", Value: schema},
		}},
	}
}
