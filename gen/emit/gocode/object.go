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

// objectsIn returns the types of the objects in values, each before the types nested in it. path is the path of the
// object that has the values as members, or "" for the parameters of a tool or the fields of a result. root is what the
// path begins at, in words for a comment, such as "the arguments of conv.create".
func objectsIn(values []ir.Param, path, root string) []object {
	var list []object
	for i := range values {
		p := &values[i]
		list = append(list, objectsOf(p, strings.TrimPrefix(path+"."+p.Name, "."), root)...)
	}
	return list
}

// objectsOf returns the types of the objects in the value p. If p is an object, its type is the first. path is the path
// of p, such as items[].text. root is what the path begins at, in words, such as "the arguments of conv.create".
func objectsOf(p *ir.Param, path, root string) []object {
	about := path + " in " + root
	switch {
	case p.Items != nil:
		return objectsOf(p.Items, path+"[]", root)
	case p.Key != "": // p has variants, and Key is the member that selects one
		list := []object{{name: p.TypeName, about: about + ". Exactly one field is set: the one that " + p.Key + " names", variants: p}}
		for _, v := range p.Variants {
			ofVariant := about + " if " + p.Key + " is " + v.Value + ": " + lowerFirst(oneLine(v.Summary))
			list = append(list, object{name: v.TypeName, about: ofVariant, members: v.Members})
			list = append(list, objectsIn(v.Members, path, root)...)
		}
		return list
	case p.Kind == ir.Object:
		return append([]object{{name: p.TypeName, about: about, members: p.Members}}, objectsIn(p.Members, path, root)...)
	}
	return nil
}

// declaration returns the struct type of an object. The struct has the lines that field returns for each member, or, if
// the object has variants, a pointer to each.
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
