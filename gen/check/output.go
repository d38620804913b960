package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
)

// output judges how a command prints its records. The types of fields are those of
// what reads them.
func (c *checker) output(t *ir.Tool, s *spec.Tool) *ir.Output {
	o := s.Command.Output
	if o == nil {
		if fields := c.pathFields(t, s); len(fields) > 0 {
			return &ir.Output{Fields: fields}
		}
		return nil
	}
	if t.Handler == ir.HandlerGo {
		c.reportName(o.At, "CT038", "drop the table", "the handler in Go reads what the command prints")
	}
	out := &ir.Output{
		Form:        c.choice(o.Form, "form", "json", "json_object", "json_lines", "delimited", "regexp", "text"),
		MayBeAbsent: o.MayBeAbsent.Value, Separator: "\t", End: "\n", Pattern: o.Pattern.Value, Skip: o.Skip.Value,
	}
	for key, f := range map[string]struct {
		set   bool
		at    spec.Place
		forms []string
	}{
		"path": {o.Path.Set, o.Path.At, []string{"json", "json_object"}}, "may_be_absent": {o.MayBeAbsent.Set, o.MayBeAbsent.At, []string{"json", "json_object"}},
		"pattern": {o.Pattern.Set, o.Pattern.At, []string{"regexp"}}, "skip": {o.Skip.Set, o.Skip.At, []string{"delimited", "regexp"}},
		"fields": {o.Fields.Set, o.Fields.At, []string{"delimited"}}, "separator": {o.Separator.Set, o.Separator.At, []string{"delimited"}}, "end": {o.End.Set, o.End.At, []string{"delimited"}},
	} {
		if f.set && !slices.Contains(f.forms, out.Form) && out.Form != "" {
			c.reportf(f.at, "CT038", "", "%s is of the form %s", key, strings.Join(f.forms, " or "))
		}
	}
	if o.Path.Set {
		out.Path = steps(o.Path.Value)
		switch {
		case out.Path == nil:
			c.reportf(o.Path.At, "CT038", pathHint, "%q is no path in JSON", o.Path.Value)
		case out.Form == "json_object" && slices.Contains(out.Path, everyItem):
			c.report(o.Path.At, "CT038", "what every item has is no single object", "use form = \"json\"")
		}
	}
	if _, err := regexp.Compile(o.Skip.Value); err != nil {
		c.reportf(o.Skip.At, "CT038", "", "skip is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	} else if o.Skip.Set && o.Skip.Value == "" {
		c.report(o.Skip.At, "CT038", "skip would pass over everything", "such as ^total [0-9]+$")
	}
	for _, f := range []struct {
		field spec.Field[string]
		to    *string
	}{{o.Separator, &out.Separator}, {o.End, &out.End}} {
		if f.field.Set {
			*f.to = f.field.Value
			if f.field.Value == "" {
				c.report(f.field.At, "CT038", "nothing cannot part fields or records", "")
			}
		}
	}
	if out.Form == "delimited" && out.Separator == out.End && out.Separator != "" {
		c.report(o.At, "CT038", "one text cannot both part fields and end records", "")
	}
	c.outputFields(t, s, o, out)
	return out
}

// readsPaths reports whether what fills an envelope is looked for at paths in JSON.
func readsPaths(t *ir.Tool) bool {
	if t.Handler == ir.HandlerGo || t.Command == nil {
		return false
	}
	o := t.Command.Output
	return o == nil || o.Form == "" || strings.HasPrefix(o.Form, "json")
}

// everyItem is the step of a path that leads to all items of an array.
const everyItem = "[]"

const pathHint = "names and numbers with dots between them, such as data.items or commits.0.hash; [] behind a name is every item of an array: labels[].name"

// steps takes a path in JSON apart. It returns nil for what is none.
func steps(path string) []string {
	var all []string
	for i, part := range strings.Split(path, ".") {
		name, each := strings.CutSuffix(part, everyItem)
		if (name != "" || i > 0 || !each) && !isKey(name) {
			return nil
		}
		if name != "" {
			all = append(all, name)
		}
		if each {
			all = append(all, everyItem)
		}
	}
	return all
}

// pathFields returns the fields that are deep inside of a record in JSON.
func (c *checker) pathFields(t *ir.Tool, s *spec.Tool) []ir.OutputField {
	e := recordElement(s)
	if e == nil || t.Handler == ir.HandlerGo {
		return nil
	}
	var fields []ir.OutputField
	use := func(f spec.Field[string], many bool) {
		path := steps(f.Value)
		if len(path) < 2 || path[0] == everyItem {
			return
		}
		if slices.Contains(path, everyItem) && !many {
			c.reportf(f.At, "CT038", "an element that repeats holds many: name it with * among the children", "%s has as many values as there are items", f.Value)
		}
		if !slices.ContainsFunc(fields, func(g ir.OutputField) bool { return g.Name == f.Value }) {
			fields = append(fields, ir.OutputField{Name: f.Value, Path: path})
		}
	}
	use(e.TextFrom, false)
	for i := range e.Attributes {
		use(e.Attributes[i].From, false)
	}
	elements := elementsByName(s)
	for _, child := range e.Children.Value {
		if name, many, _ := splitChild(child); elements[name] != nil {
			use(elements[name].TextFrom, many)
		}
	}
	return fields
}

func elementsByName(s *spec.Tool) map[string]*spec.Element {
	elements := map[string]*spec.Element{}
	for i := range s.Envelope.Elements {
		elements[s.Envelope.Elements[i].Name.Value] = &s.Envelope.Elements[i]
	}
	return elements
}

// outputFields settles the fields of records that are no JSON, or deep inside of it.
func (c *checker) outputFields(t *ir.Tool, s *spec.Tool, o *spec.Output, out *ir.Output) {
	var names []string
	at := o.At
	switch out.Form {
	case "delimited":
		names = o.Fields.Value
		if o.Fields.Set {
			at = o.Fields.At
		}
		for i, name := range names {
			if !isKey(name) || slices.Contains(names[:i], name) {
				c.reportf(o.Fields.At.Elem(i), "CT038", "", "%q is no name for a field, or there twice", name)
			}
		}
	case "regexp":
		re, err := regexp.Compile(out.Pattern)
		switch {
		case !o.Pattern.Set:
			c.report(o.At, "CT038", "the form regexp needs a pattern", "")
			return
		case err != nil:
			c.reportf(o.Pattern.At, "CT038", "", "the pattern is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			return
		}
		names, at = slices.DeleteFunc(re.SubexpNames(), func(name string) bool { return name == "" }), o.Pattern.At
		if len(names) == 0 {
			c.report(o.Pattern.At, "CT038", "the pattern has no named groups", `such as (?P<name>[^ ]+): they are the fields of a record`)
			return
		}
	case "text":
		names = []string{"text"}
	case "json", "json_object", "json_lines":
		out.Fields = c.pathFields(t, s)
		return
	default:
		return
	}
	if record := recordElement(s); record != nil && isBare(record) {
		// A record that is nothing but a body is a text.
		if len(names) > 0 && out.Form != "text" {
			c.reportf(at, "CT038", "give the element a text_from beside attributes, or print records without fields", "%s is a text and has no fields", record.Name.Value)
		}
		return
	}
	read := c.readFields(s, names, at)
	for _, name := range names {
		kind, ok := read[name]
		if !ok {
			kind = ir.TextAttribute // nobody reads it
		}
		out.Fields = append(out.Fields, ir.OutputField{Name: name, Type: kind})
	}
}

// recordElement is the element that there is one of for each record.
func recordElement(s *spec.Tool) *spec.Element {
	if s.Envelope == nil {
		return nil
	}
	for i := range s.Envelope.Elements {
		if s.Envelope.Elements[i].From.Value == "records" {
			return &s.Envelope.Elements[i]
		}
	}
	return nil
}

// readFields returns which fields the parts of a record read, and as what. A part that
// reads another is reported.
func (c *checker) readFields(s *spec.Tool, names []string, at spec.Place) map[string]ir.AttributeType {
	read := map[string]ir.AttributeType{}
	if s.Envelope == nil {
		return read
	}
	use := func(f spec.Field[string], kind ir.AttributeType) {
		switch {
		case !f.Set:
		case !slices.Contains(names, f.Value):
			c.dangling(f.At, "CT038", suggest(f.Value, "fields", names), "the command prints no field %q", f.Value)
		default:
			read[f.Value] = kind
		}
	}
	elements, e := elementsByName(s), recordElement(s)
	if e == nil {
		return read
	}
	if len(names) == 0 {
		c.reportf(at, "CT038", "name the fields of a record", "without fields a record is a text, and %s is more", e.Name.Value)
		return read
	}
	use(e.TextFrom, ir.TextAttribute)
	for i := range e.Attributes {
		use(e.Attributes[i].From, ir.AttributeType(e.Attributes[i].Type.Value))
	}
	for i, child := range e.Children.Value {
		name, many, _ := splitChild(child)
		if many {
			c.reportf(e.Children.At.Elem(i), "CT038", "only JSON holds lists in a record", "nothing fills the elements %s", name)
		} else if target := elements[name]; target != nil {
			use(target.TextFrom, ir.TextAttribute)
		}
	}
	return read
}
