package gocode

import (
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

// object is a Go type for an object or for one of its variants.
type object struct {
	name     string
	about    string // completes "NAME is …"
	members  []ir.Param
	variants *ir.Param // the object, if it has variants; nil for other objects and for a variant
}

// objectsIn returns the types of the objects in values, each before the types nested in it. where names the container
// of the values, such as "the arguments of conv.create".
func objectsIn(values []ir.Param, where string) []object {
	var list []object
	var walk func(p *ir.Param, path string)
	walkMembers := func(path string, params []ir.Param) {
		for i := range params {
			walk(&params[i], strings.TrimPrefix(path+"."+params[i].Name, "."))
		}
	}
	walk = func(p *ir.Param, path string) {
		about := path + " in " + where
		switch {
		case p.Items != nil:
			walk(p.Items, path+"[]")
		case p.Key != "":
			list = append(list, object{name: p.TypeName, about: about + ". Exactly one field is set: the one that " + p.Key + " names", variants: p})
			for i := range p.Variants {
				v := &p.Variants[i]
				list = append(list, object{
					name: v.TypeName, members: v.Members,
					about: about + " if " + p.Key + " is " + v.Value + ": " + lowerFirst(oneLine(v.Summary)),
				})
				walkMembers(path, v.Members)
			}
		case p.Kind == ir.Object:
			list = append(list, object{name: p.TypeName, about: about, members: p.Members})
			walkMembers(path, p.Members)
		}
	}
	walkMembers("", values)
	return list
}

// declaration returns the struct of an object, with what field returns for each member, or with one field for each
// variant.
func (o object) declaration(field func(*ir.Param) code) code {
	var lines code
	for i := range o.members {
		lines = append(lines, field(&o.members[i])...)
	}
	if p := o.variants; p != nil {
		for i := range p.Variants {
			v := &p.Variants[i]
			lines = append(lines, comment(sentence(v.Summary))...)
			lines = append(lines, v.GoName+" *"+v.TypeName+tags("variant", p.Key+"="+v.Value))
		}
	}
	return documented(block("type "+o.name+" struct", lines...), sentence(o.name+" is "+o.about))
}
