package gocode

import (
	"fmt"
	"strconv"
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
	value   string // of a variant, which its key has
	param   *ir.Param
}

// Names of what is made for the type of an object.
func checkFunc(typeName string) string  { return "check" + typeName }
func repairFunc(typeName string) string { return "repair" + typeName }
func readFunc(typeName string) string   { return "read" + typeName }

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
					name: v.TypeName, path: path, members: v.Members, key: p.Key, value: v.Value,
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

// byVariant is a switch over the member that tells variants apart.
func byVariant(o object, object string, each func(*ir.Variant) code, otherwise ...string) code {
	var cases code
	for i := range o.param.Variants {
		v := &o.param.Variants[i]
		cases = append(cases, inCase(strconv.Quote(v.Value), each(v)...)...)
	}
	if len(otherwise) > 0 {
		cases = append(cases, inDefault(otherwise...)...)
	}
	return block("switch "+object+".Text("+strconv.Quote(o.key)+")", cases...)
}

// objectRepairs emits the function that repairs an object.
func (t *toolCode) objectRepairs(o object) (code, error) {
	name := repairFunc(o.name)
	body, err := t.repairs(o.members)
	if err != nil {
		return nil, err
	}
	if o.param != nil {
		body = byVariant(o, "args.Object", func(v *ir.Variant) code { return code{repairFunc(v.TypeName) + "(args)"} })
	}
	return documented(block("func "+name+"(args *"+pkgCoerce+"Args)", body...),
		name+" makes the repairs that are declared for "+o.about+"."), nil
}

// objectChecks emits the function that finds every problem of an object.
func (t *toolCode) objectChecks(o object) (code, error) {
	name := checkFunc(o.name)
	in := scope{variable: "o", owner: o.name}
	var body code
	if o.param != nil {
		body = byVariant(o, "o",
			func(v *ir.Variant) code { return code{"return " + checkFunc(v.TypeName) + "(problems, at, o)"} },
			"return append(problems, "+pkgCoerce+"WrongVariant("+in.path(o.key)+", o, "+strconv.Quote(o.key)+", "+words(variantValues(o.param))+"))",
		)
	} else {
		checks, err := t.checkMembers(in, o.members)
		if err != nil {
			return nil, err
		}
		body = append(append(checks, checkMemberNames(o)...), "return problems")
	}
	const problems = "[]" + pkgContract + "Problem"
	signature := "func " + name + "(problems " + problems + ", at *" + pkgContract + "Path, o " + pkgCoerce + "Object) " + problems
	return documented(block(signature, body...), name+" adds everything wrong with "+o.about+"."), nil
}

// checkMemberNames emits the loop that finds names an object does not have.
func checkMemberNames(o object) code {
	known := names(o.members)
	if o.value != "" {
		known = append([]string{o.key}, known...)
	}
	return checkNamesOf("o", known, report("UnknownMember", "at", "f.Name", words(known)))
}

// objectReader emits the function that reads a valid object.
func (t *toolCode) objectReader(o object) (code, error) {
	name := readFunc(o.name)
	object := "o"
	body, err := t.binding("o", o.name, o.members)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.path, err)
	}
	switch {
	case o.param != nil:
		body = append(code{"var p " + o.name}, byVariant(o, "o", func(v *ir.Variant) code {
			return block("if variant, ok := "+readFunc(v.TypeName)+"(v); ok", "p."+v.GoName+" = &variant")
		})...)
	case len(o.members) == 0:
		object = "_"
	}
	head := append(code{object + ", ok := v.(" + pkgCoerce + "Object)"}, block("if !ok", "return "+o.name+"{}, false")...)
	body = append(append(head, body...), "return p, true")
	return documented(block("func "+name+"(v any) ("+o.name+", bool)", body...),
		name+" reads "+o.about+", which "+checkFunc(o.name)+" has no problem with, and fills in defaults."), nil
}
