package check

import (
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/diag"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
)

func (c *checker) envelope(t *ir.Tool, s *spec.Envelope) ir.Envelope {
	out := ir.Envelope{Root: s.Root.Value, MaxChars: int(s.MaxChars.Value)}
	if s.MaxChars.Set && (s.MaxChars.Value < 1000 || s.MaxChars.Value > 10_000_000) {
		c.report(s.MaxChars.At, "CT007", "max_chars must be between 1,000 and 10,000,000", "")
	}
	byName := map[string]*spec.Element{}
	var names []string
	for i := range s.Elements {
		e := &s.Elements[i]
		if !isSnake(e.Name.Value, 40) {
			c.reportf(e.Name.At, "CT020", "", "%q is not an element name", e.Name.Value)
		}
		if byName[e.Name.Value] != nil {
			c.reportf(e.Name.At, "CT019", "", "the element %q is declared twice", e.Name.Value)
			continue
		}
		byName[e.Name.Value] = e
		names = append(names, e.Name.Value)
	}
	root := byName[s.Root.Value]
	if root == nil {
		if s.Root.Set {
			c.reportf(s.Root.At, "CT019", "", "the root %q is not among the elements", s.Root.Value)
		}
		return out
	}
	used := map[string]bool{}
	c.reach(s, byName, root, nil, used)
	for _, name := range names {
		e := byName[name]
		if !used[name] {
			c.reportf(e.Name.At, "CT019", "name it among another element's children", "nothing contains the element %q", name)
		}
	}
	order := slices.Concat([]string{s.Root.Value}, slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == s.Root.Value }))
	for _, name := range order {
		out.Elements = append(out.Elements, c.element(t, byName[name], byName, name == s.Root.Value))
	}
	return out
}

// reach walks the elements from the root, so that loops and loose ends show.
func (c *checker) reach(s *spec.Envelope, byName map[string]*spec.Element, e *spec.Element, above []string, used map[string]bool) {
	name := e.Name.Value
	used[name] = true
	for i, child := range e.Children.Value {
		at := e.Children.At.Elem(i)
		childName, _, _ := splitChild(child)
		next := byName[childName]
		switch {
		case next == nil:
			hint := ""
			var names []string
			for _, el := range s.Elements {
				names = append(names, el.Name.Value)
			}
			if near, ok := diag.Nearest(childName, names); ok {
				hint = "did you mean " + near + "?"
			}
			c.reportf(at, "CT019", hint, "the element %q is not declared", childName)
		case childName == name || slices.Contains(above, childName):
			c.reportf(at, "CT019", "", "the element %q would contain itself", childName)
		case !used[childName]:
			c.reach(s, byName, next, append(above, name), used)
		}
	}
}

// splitChild reads "note*" (any number), "title?" (one or none), "content".
func splitChild(child string) (name string, many, optional bool) {
	if name, ok := strings.CutSuffix(child, "*"); ok {
		return name, true, false
	}
	if name, ok := strings.CutSuffix(child, "?"); ok {
		return name, false, true
	}
	return child, false, false
}

func (c *checker) element(t *ir.Tool, s *spec.Element, byName map[string]*spec.Element, root bool) ir.Element {
	e := ir.Element{
		Name: s.Name.Value, Summary: s.Summary.Value, From: s.TextFrom.Value, Separator: s.Separator.Value,
		Body: ir.Body(c.choice(s.Body, "body", "inline", "block", "json")),
	}
	e.GoName = t.GoName + goName(e.Name)
	if root {
		e.GoName = t.GoName + "Envelope"
	} else if s.Summary.Set {
		c.summary(s.Summary, parameterSummary)
	}
	if s.Body.Set && len(s.Children.Value) > 0 {
		c.report(s.Body.At, "CT022", "an element has a body or children, not both", "")
	}
	if s.TextFrom.Set && !s.Body.Set {
		c.report(s.TextFrom.At, "CT021", "text_from needs a body to fill", "")
	}
	if s.From.Set && (s.From.Value != "records" || root) {
		c.report(s.From.At, "CT021", `from of an element can only be "records", below the root`, "")
	}
	if s.Separator.Set && !isSnake(s.Separator.Value, 40) {
		c.reportf(s.Separator.At, "CT020", "", "%q is not an element name", s.Separator.Value)
	}
	fields := map[string]string{}
	claim := func(at spec.Place, name, what string) {
		if before, taken := fields[name]; taken {
			c.reportf(at, "CT026", "rename one of them", "%s and %s have the same Go name %s", before, what, name)
		}
		fields[name] = what
	}
	if e.Body != ir.NoBody {
		claim(s.At, "Text", "the body")
	}
	if e.Separator != "" {
		claim(s.At, goName(e.Separator)+"Before", "the separator")
	}
	for i := range s.Attributes {
		a := c.attribute(t, &s.Attributes[i], root)
		a.GoName = countName(a, s.Children.Value)
		if slices.ContainsFunc(e.Attributes, func(b ir.Attribute) bool { return a.Name == b.Name }) {
			c.reportf(s.Attributes[i].At, "CT020", "", "the attribute %q is there twice", a.Name)
		} else {
			claim(s.Attributes[i].At, a.GoName, "the attribute "+a.Name)
		}
		e.Attributes = append(e.Attributes, a)
	}
	for i, child := range s.Children.Value {
		name, many, optional := splitChild(child)
		ch := ir.Child{Element: name, Many: many, Optional: optional, GoName: goName(name)}
		if many {
			ch.GoName = goName(plural(name))
		}
		if target := byName[name]; target != nil && many {
			ch.From = target.From.Value
		}
		claim(s.Children.At.Elem(i), ch.GoName, "the child "+name)
		e.Children = append(e.Children, ch)
	}
	return e
}

func (c *checker) attribute(t *ir.Tool, s *spec.Attribute, root bool) ir.Attribute {
	a := ir.Attribute{
		Name: s.Name.Value, GoName: goName(s.Name.Value), Summary: c.summary(s.Summary, parameterSummary),
		Type:     ir.AttributeType(c.choice(s.Type, "type", "string", "integer", "boolean", "time")),
		Presence: ir.Always, From: s.From.Value, Param: s.Param.Value, Fixed: s.Fixed.Value,
	}
	if s.Presence.Set {
		a.Presence = ir.Presence(c.choice(s.Presence, "presence", "always", "optional", "nullable"))
	}
	if s.Name.Set && (!isSnake(a.Name, 40) || a.Name == "untrusted") {
		c.reportf(s.Name.At, "CT020", "", "%q cannot be the name of an attribute", a.Name)
	}
	sources := 0
	for _, f := range []spec.Field[string]{s.From, s.Param, s.Fixed} {
		if f.Set {
			sources++
		}
	}
	if sources > 1 {
		c.report(s.At, "CT021", "an attribute has one source: from, param or fixed", "")
	}
	if s.Fixed.Set && a.Type != ir.TextAttribute {
		c.report(s.Fixed.At, "CT021", "a fixed value needs type = \"string\"", "")
	}
	if s.Param.Set {
		p := t.Param(s.Param.Value)
		want := map[ir.AttributeType]ir.Kind{ir.TextAttribute: ir.String, ir.IntegerAttribute: ir.Integer, ir.BooleanAttribute: ir.Boolean}[a.Type]
		switch {
		case p == nil:
			c.reportf(s.Param.At, "CT021", "parameters: "+strings.Join(paramNames(t), ", "), "there is no parameter %q", s.Param.Value)
		case !root || p.Pointer() || p.Kind != want || p.Kind == ir.String && len(p.Enum) == 0:
			c.reportf(s.Param.At, "CT021", "param is for the root, and for parameters of the same type that always have a value; strings need an enum", "%s cannot be shown here", s.Param.Value)
		}
	}
	return a
}

// countName keeps a number of things apart from the things: an integer
// attribute named like the field of a child that repeats is called its count.
func countName(a ir.Attribute, children []string) string {
	for _, child := range children {
		name, many, _ := splitChild(child)
		if many && a.Type == ir.IntegerAttribute && a.Name == plural(name) {
			return goName(name) + "Count"
		}
	}
	return a.GoName
}
