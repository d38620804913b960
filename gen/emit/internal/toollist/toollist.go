// Package toollist emits all tools of a contract as one JSON array: what hosts
// that take tool definitions differ in is the form of an entry. It refuses a
// contract that the host would refuse.
package toollist

import (
	"fmt"
	"path"
	"strings"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// Emit returns one file, name below the folder of generated files, with what
// entry makes of each tool, of what target says about it and of its schema.
func Emit(c *ir.Contract, target lower.Target, name string, schemas emit.Schemas, entry func(*ir.Tool, *lower.Text, jsontext.Object) jsontext.Object) ([]emit.File, error) {
	list := jsontext.Array{}
	for _, tool := range c.Tools() {
		text := lower.Brief(target, tool)
		if len(text.Problems) > 0 {
			return nil, fmt.Errorf("tool list %s: %s", name, strings.Join(text.Problems, "; "))
		}
		list = append(list, entry(tool, &text, schemas(tool)))
	}
	return []emit.File{{
		Path: path.Join(c.Targets.Generated, name),
		Data: jsontext.Pretty(list),
	}}, nil
}
