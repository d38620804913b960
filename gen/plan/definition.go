package plan

import (
	"bytes"
	"encoding/json"

	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/emit/targets"
)

// Definition is what a target has of a tool, which a model pays for with every request.
type Definition struct {
	Tool, Target string
	Bytes        int // without white space between values of JSON
}

// Definitions returns the definitions of a project's tools, by tools and then by
// targets. Targets that have none of single tools, such as docs, are left out.
func (r *Result) Definitions() []Definition {
	var all []Definition
	for _, tool := range r.Contract.Tools() {
		for _, target := range targets.All() {
			if target.Define == nil || !r.Contract.Targets.Makes(target.Name) {
				continue
			}
			definition := target.Define(r.Contract, tool, schema.Of)
			var b bytes.Buffer
			if json.Compact(&b, definition) == nil {
				definition = b.Bytes()
			}
			all = append(all, Definition{tool.Name, target.Name, len(definition)})
		}
	}
	return all
}
