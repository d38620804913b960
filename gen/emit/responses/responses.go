// Package responses emits the tools as the tool list of OpenAI's Responses API. A
// tool with a dot in its name is there in a namespace: conv.create is create in conv.
package responses

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/internal/jsontext"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
)

// Target is this package's.
func Target() emit.Target {
	to := lowering()
	return emit.Target{Name: to.Name, Lower: &to, List: file, Emit: Emit}
}

// file is where the list is.
const file = "responses/tools.json"

// lowering: the limits are those of OpenAI's other API.
func lowering() lower.Target {
	return lower.Target{Name: "responses", Schema: true, Groups: true, MaxName: 64, MaxDescription: 1024}
}

// Emit returns generated/responses/tools.json.
func Emit(c *ir.Contract, schemas emit.Schemas) ([]emit.File, error) {
	list := jsontext.Array{}
	groups := map[string]int{} // where they are in list
	for _, tool := range c.Tools() {
		text := lower.Brief(lowering(), tool)
		if len(text.Problems) > 0 {
			return nil, fmt.Errorf("tool list of responses: %s", strings.Join(text.Problems, "; "))
		}
		entry := function(&text, schemas(tool))
		if text.Group == "" {
			list = append(list, entry)
			continue
		}
		at, there := groups[text.Group]
		if !there {
			at = len(list)
			groups[text.Group] = at
			list = append(list, namespace(text.Group))
		}
		group := list[at].(jsontext.Object)
		last := &group[len(group)-1]
		last.Value = append(slices.Clip(last.Value.(jsontext.Array)), entry)
	}
	return []emit.File{{Path: path.Join(c.Targets.Generated, file), Data: jsontext.Pretty(list)}}, nil
}

// namespace is a group of tools, none of which is in it yet.
func namespace(name string) jsontext.Object {
	return jsontext.Object{
		{Name: "type", Value: jsontext.String("namespace")},
		{Name: "name", Value: jsontext.String(name)},
		{Name: "description", Value: jsontext.String("The tools whose names begin with " + name + ".")},
		{Name: "tools", Value: jsontext.Array{}},
	}
}

func function(text *lower.Text, schema jsontext.Object) jsontext.Object {
	return jsontext.Object{
		{Name: "type", Value: jsontext.String("function")},
		{Name: "name", Value: jsontext.String(text.Name)},
		{Name: "description", Value: jsontext.String(text.Description)},
		{Name: "parameters", Value: schema},
	}
}
