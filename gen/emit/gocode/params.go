package gocode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/table"
)

func paramsName(tool *ir.Tool) string { return tool.GoName + "Params" }

// params returns the struct of a tool's parameters and the types of the objects in them.
func params(tool *ir.Tool) []code {
	name := paramsName(tool)
	root := object{name: name, about: "the arguments of " + tool.Name + ", valid and with defaults filled in, in the order of its spec", members: tool.Params}
	var declarations []code
	for _, o := range append([]object{root}, objectsIn(tool.Params, "", "the arguments of "+tool.Name)...) {
		declarations = append(declarations, o.declaration(func(p *ir.Param) code {
			return append(comment(fieldDoc(p)), p.GoName+" "+goType(p))
		}))
	}
	return declarations
}

// fieldDoc returns the comment of a parameter's field: its summary, its constraints, its default, and when it is nil.
func fieldDoc(p *ir.Param) string {
	text := sentence(p.Summary)
	bare := *p // in Go, null is nil, and one or many is always a list
	bare.Nullable, bare.OneOrMany = false, false
	impliedByType := []string{"a string", "an integer", "a number", "true or false", "an object"}
	if want := table.Wants(&bare); !slices.Contains(impliedByType, want) {
		text += " It is " + lowerFirst(want) + "."
	}
	if p.Default != nil {
		text += " Default: " + defaultText(p.Default) + "."
	}
	switch {
	case p.Nullable && (p.Required || p.Default != nil):
		text += " It is nil if null is given."
	case p.Nullable:
		text += " It is nil if null or nothing is given."
	case !p.Required && p.Default == nil:
		text += " It is nil if nothing is given."
	}
	return strings.TrimSpace(text)
}

// defaultText returns a default as text for people: a string in quotes, or the items of a list separated by commas.
func defaultText(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case []string:
		if len(v) == 0 {
			return "none"
		}
		return strings.Join(v, ", ")
	case []any:
		list := make([]string, len(v))
		for i := range v {
			list[i] = fmt.Sprint(v[i])
		}
		return defaultText(list)
	default:
		return fmt.Sprint(v)
	}
}

// goType returns the Go type of a value.
func goType(p *ir.Param) string {
	if p.Pointer() {
		return "*" + bareType(p)
	}
	return bareType(p)
}

// bareType returns the Go type of a value that is present.
func bareType(p *ir.Param) string {
	switch p.Kind {
	case ir.Integer:
		return "int"
	case ir.Number:
		return "float64"
	case ir.Boolean:
		return "bool"
	case ir.Object:
		return p.TypeName
	case ir.Array:
		item := p.Item()
		if item.Nullable && item.Kind != ir.Array {
			return "[]*" + bareType(item) // nil for null; a slice needs no pointer for that
		}
		return "[]" + bareType(item)
	default:
		return "string"
	}
}
