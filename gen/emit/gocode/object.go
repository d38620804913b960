package gocode

import (
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

// object is a type that becomes of an object, or of one of its variants.
type object struct {
	name    string
	about   string // completes "NAME is …"
	path    string // for messages: "items[]"
	members []ir.Param
	key     string // tells the variants apart; their own key tells nothing
	param   *ir.Param
}

// readFunc is the function that reads an object.
func readFunc(typeName string) string { return "read" + typeName }

// objects returns the types that become of the objects in a tool's parameters, each
// before those inside of it.
func (t *toolCode) objects() []object { return objectsIn(t.tool.Params, t.inArguments) }

// objectsIn is the same for any values; words is what stands at a path, in words.
func objectsIn(values []ir.Param, words func(path string) string) []object {
	var list []object
	var walk func(p *ir.Param, path string)
	members := func(path string, params []ir.Param) {
		for i := range params {
			walk(&params[i], strings.TrimPrefix(path+"."+params[i].Name, "."))
		}
	}
	walk = func(p *ir.Param, path string) {
		switch {
		case p.Items != nil:
			walk(p.Items, path+"[]")
		case p.Key != "":
			list = append(list, object{name: p.TypeName, about: words(path), path: path, key: p.Key, param: p})
			for i := range p.Variants {
				v := &p.Variants[i]
				list = append(list, object{
					name: v.TypeName, path: path, members: v.Members,
					about: words(path) + " where " + p.Key + " is " + v.Value + ": " + lowerFirst(oneLine(v.Summary)),
				})
				members(path, v.Members)
			}
		case p.Kind == ir.Object:
			list = append(list, object{name: p.TypeName, about: words(path), path: path, members: p.Members})
			members(path, p.Members)
		}
	}
	members("", values)
	return list
}

// inArguments is what stands at a path, in words.
func (t *toolCode) inArguments(path string) string {
	return path + " in the arguments of " + t.tool.Name
}

// objectType emits the struct of an object: its members, or a field for each of its
// variants.
func objectType(o object) []code {
	about := sentence(o.name + " is " + o.about)
	if o.param == nil {
		return append([]code{documented(fields(o.name, o.members), about)}, constants(o.name, o.name, o.members)...)
	}
	return []code{documented(variantFields(o), about+" One of its fields is set: the one that "+o.key+" names.")}
}

// variantFields is a struct with a field for each variant of an object.
func variantFields(o object) code {
	var lines code
	for i := range o.param.Variants {
		v := &o.param.Variants[i]
		lines = append(lines, comment(sentence(v.Summary))...)
		lines = append(lines, v.GoName+"\t*"+v.TypeName)
	}
	return typeBlock(o.name, lines)
}

// objectReader emits the function that reads a valid object.
func objectReader(o object) code {
	name, variable := readFunc(o.name), "o"
	body := binding("o", o.name, o.members, ", ok")
	if o.param != nil {
		var forms code
		for i := range o.param.Variants {
			v := &o.param.Variants[i]
			forms = append(forms, v.GoName+":\t"+pkgCoerce+"ReadForm(v, "+quoted([]string{o.key, v.Value})+", "+readFunc(v.TypeName)+"),")
		}
		body = literalOf("return "+o.name, forms)
		body[len(body)-1] += ", ok"
	}
	if len(o.members) == 0 {
		variable = "_"
	}
	body = append(code{variable + ", ok := v.(" + pkgCoerce + "Object)"}, body...)
	return documented(block("func "+name+"(v any) ("+o.name+", bool)", body...),
		name+" reads "+o.about+", which is valid, and fills in defaults.")
}
