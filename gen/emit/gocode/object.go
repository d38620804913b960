package gocode

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

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
func (t *toolCode) objectType(o object) []jen.Code {
	about := sentence(o.name + " is " + o.about)
	if o.param == nil {
		return append([]jen.Code{documented(t.fields(o.name, o.members), about)}, t.constants(o.name, o.name, o.members)...)
	}
	return []jen.Code{documented(variantFields(o), about+" One of its fields is set: the one that "+o.key+" names.")}
}

// variantFields is a struct with a field for each variant of an object.
func variantFields(o object) jen.Code {
	return jen.Type().Id(o.name).StructFunc(func(fields *jen.Group) {
		for i := range o.param.Variants {
			v := &o.param.Variants[i]
			comment(fields, sentence(v.Summary))
			fields.Id(v.GoName).Op("*").Id(v.TypeName)
		}
	})
}

// byVariant is a switch over the member that tells variants apart.
func byVariant(o object, object jen.Code, each func(*ir.Variant) []jen.Code, otherwise ...jen.Code) jen.Code {
	return jen.Switch(jen.Add(object).Dot("Text").Call(jen.Lit(o.key))).BlockFunc(func(g *jen.Group) {
		for i := range o.param.Variants {
			v := &o.param.Variants[i]
			g.Case(jen.Lit(v.Value)).Block(each(v)...)
		}
		if len(otherwise) > 0 {
			g.Default().Block(otherwise...)
		}
	})
}

// objectRepairs emits the function that repairs an object.
func (t *toolCode) objectRepairs(o object) (jen.Code, error) {
	name := repairFunc(o.name)
	body, err := t.repairs(o.members)
	if err != nil {
		return nil, err
	}
	if o.param != nil {
		body = []jen.Code{byVariant(o, jen.Id("args").Dot("Object"), func(v *ir.Variant) []jen.Code {
			return []jen.Code{jen.Id(repairFunc(v.TypeName)).Call(jen.Id("args"))}
		})}
	}
	declaration := jen.Func().Id(name).Params(jen.Id("args").Op("*").Qual(t.runtime.coerce, "Args")).Block(body...)
	return documented(declaration, name+" makes the repairs that are declared for "+o.about+"."), nil
}

// objectChecks emits the function that finds every problem of an object.
func (t *toolCode) objectChecks(o object) (jen.Code, error) {
	name := checkFunc(o.name)
	in := scope{variable: "o", owner: o.name}
	var body []jen.Code
	if o.param != nil {
		body = []jen.Code{byVariant(o, jen.Id("o"),
			func(v *ir.Variant) []jen.Code {
				return []jen.Code{jen.Return(jen.Id(checkFunc(v.TypeName)).Call(jen.Id("problems"), jen.Id("at"), jen.Id("o")))}
			},
			jen.Return(jen.Append(jen.Id("problems"), jen.Qual(t.runtime.coerce, "WrongVariant").Call(
				in.path(o.key), jen.Id("o"), jen.Lit(o.key), words(variantValues(o.param)),
			))),
		)}
	} else {
		checks, err := t.checkMembers(in, o.members)
		if err != nil {
			return nil, err
		}
		body = append(checks, t.checkMemberNames(o), jen.Return(jen.Id("problems")))
	}
	declaration := jen.Func().Id(name).Params(
		jen.Id("problems").Index().Qual(t.runtime.contract, "Problem"), jen.Id("at").Op("*").Qual(t.runtime.contract, "Path"),
		jen.Id("o").Qual(t.runtime.coerce, "Object"),
	).Index().Qual(t.runtime.contract, "Problem").Block(body...)
	return documented(declaration, name+" adds everything wrong with "+o.about+"."), nil
}

// checkMemberNames emits the loop that finds names an object does not have.
func (t *toolCode) checkMemberNames(o object) jen.Code {
	var names []string
	if o.value != "" {
		names = append(names, o.key)
	}
	for i := range o.members {
		names = append(names, o.members[i].Name)
	}
	return jen.For(jen.List(jen.Id("_"), jen.Id("f")).Op(":=").Range().Id("o")).Block(
		t.stopAtMost(),
		jen.Switch(jen.Id("f").Dot("Name")).Block(
			jen.Case(literals(names)...),
			jen.Default().Block(t.report("UnknownMember", jen.Id("at"), jen.Id("f").Dot("Name"), words(names))),
		),
	)
}

// objectReader emits the function that reads a valid object.
func (t *toolCode) objectReader(o object) (jen.Code, error) {
	name := readFunc(o.name)
	object := "o"
	body, err := t.binding("o", o.name, o.members)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.path, err)
	}
	switch {
	case o.param != nil:
		body = []jen.Code{jen.Var().Id("p").Id(o.name), byVariant(o, jen.Id("o"), func(v *ir.Variant) []jen.Code {
			return []jen.Code{jen.If(jen.List(jen.Id("variant"), jen.Id("ok")).Op(":=").Id(readFunc(v.TypeName)).Call(jen.Id("v")), jen.Id("ok")).Block(
				jen.Id("p").Dot(v.GoName).Op("=").Op("&").Id("variant"),
			)}
		})}
	case len(o.members) == 0:
		object = "_"
	}
	body = append([]jen.Code{
		jen.List(jen.Id(object), jen.Id("ok")).Op(":=").Id("v").Assert(jen.Qual(t.runtime.coerce, "Object")),
		jen.If(jen.Op("!").Id("ok")).Block(jen.Return(jen.Id(o.name).Values(), jen.False())),
	}, append(body, jen.Return(jen.Id("p"), jen.True()))...)
	declaration := jen.Func().Id(name).Params(jen.Id("v").Any()).Params(jen.Id(o.name), jen.Bool()).Block(body...)
	return documented(declaration, name+" reads "+o.about+", which "+checkFunc(o.name)+" has no problem with, and fills in defaults."), nil
}
