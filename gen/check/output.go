package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/runtime/commandline"
)

// output checks the table [command.output], which says how a command prints its records, and returns its content. Without
// this table, a command prints any JSON for an answer in JSON, and text for a tool without an [envelope]. For a tool with
// an [envelope], it prints a JSON array, which is the zero Output.
func (c *checker) output(t *ir.Tool, s *spec.Tool) commandline.Output {
	o := s.Command.Output
	switch {
	case o == nil && t.Answer == ir.JSONAnswer:
		return commandline.Output{Form: commandline.JSONAny}
	case o == nil && s.Envelope == nil:
		return commandline.Output{Form: commandline.Text}
	case o == nil:
		c.paths(s)
		return commandline.Output{}
	}
	if t.Answer == ir.JSONAnswer && o.Form.Set && !strings.HasPrefix(o.Form.Value, "json") {
		c.report(o.Form.At, "CT038", "an answer in JSON is of a command that prints JSON", "use a form of JSON, or leave answer out")
	}
	out := commandline.Output{
		Form:        c.choice(o.Form, "form", "json", "json_object", "json_lines", "delimited", "regexp", "text"),
		MayBeAbsent: o.MayBeAbsent.Value, Pattern: o.Pattern.Value, Skip: o.Skip.Value,
	}
	if out.Form == commandline.Delimited {
		out.Separator, out.End = "\t", "\n"
	}
	for key, f := range map[string]struct { // the forms of output that each key belongs to
		set   bool
		place spec.Place
		forms []string
	}{
		"path": {o.Path.Set, o.Path.At, []string{"json", "json_object"}}, "may_be_absent": {o.MayBeAbsent.Set, o.MayBeAbsent.At, []string{"json", "json_object"}},
		"pattern": {o.Pattern.Set, o.Pattern.At, []string{"regexp"}}, "skip": {o.Skip.Set, o.Skip.At, []string{"delimited", "regexp"}},
		"fields": {o.Fields.Set, o.Fields.At, []string{"delimited"}}, "separator": {o.Separator.Set, o.Separator.At, []string{"delimited"}}, "end": {o.End.Set, o.End.At, []string{"delimited"}},
	} {
		if f.set && !slices.Contains(f.forms, out.Form) && out.Form != "" {
			c.reportf(f.place, "CT038", "", "%s is of the form %s", key, strings.Join(f.forms, " or "))
		}
	}
	if o.Path.Set {
		out.Path = pathSteps(o.Path.Value)
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
		field  spec.Field[string]
		target *string
	}{{o.Separator, &out.Separator}, {o.End, &out.End}} {
		if f.field.Set {
			*f.target = f.field.Value
			if f.field.Value == "" {
				c.report(f.field.At, "CT038", "nothing cannot part fields or records", "")
			}
		}
	}
	if out.Form == "delimited" && out.Separator == out.End && out.Separator != "" {
		c.report(o.At, "CT038", "one text cannot both part fields and end records", "")
	}
	c.outputFields(t, s, o, &out)
	return out
}

// everyItem is the step of a path that selects all items of an array.
const everyItem = commandline.EveryItem

const pathHint = "names and numbers with dots between them, such as data.items or commits.0.hash; [] after a name is every item of an array: labels[].name"

// pathSteps returns the keys, indexes and [everyItem] in a JSON path such as a[].b.0, or nil for a malformed path.
func pathSteps(path string) []string {
	for i, part := range strings.Split(path, ".") {
		beginsWithItems := i == 0 && part == everyItem // a path may begin with [] alone
		name := strings.TrimSuffix(part, everyItem)
		if isStep := beginsWithItems || isKey(name); !isStep { // isKey accepts an index too
			return nil
		}
	}
	return ir.Steps(path)
}

// paths reports each path that selects many values for a part with room for one, such as an attribute. It checks the
// paths in the element that is written once for each JSON record.
func (c *checker) paths(s *spec.Tool) {
	e := recordElement(s)
	if e == nil {
		return
	}
	reportMany := func(f spec.Field[string]) {
		// A path that begins with [] fits no part of a record, and is reported with the paths that are malformed.
		if path := pathSteps(f.Value); slices.Contains(path, everyItem) && path[0] != everyItem {
			c.reportf(f.At, "CT038", "an element that repeats holds many: name it with * among the children", "%s has as many values as there are items", f.Value)
		}
	}
	reportMany(e.TextFrom)
	for i := range e.Attributes {
		reportMany(e.Attributes[i].From)
	}
	for _, child := range e.Children.Value {
		name, many, _ := splitChild(child)
		if target := s.Envelope.Element(name); target != nil && !many {
			reportMany(target.TextFrom)
		}
	}
}

// outputFields reports field names, patterns and paths that are invalid or do not fit the record's element, the element
// that is written once for each record of the output. It sets the fields of delimited records, unless the record's
// element is bare: a body without attributes and children.
func (c *checker) outputFields(t *ir.Tool, s *spec.Tool, o *spec.Output, out *commandline.Output) {
	var names []string
	place := o.At // of the names
	switch out.Form {
	case "delimited":
		names = o.Fields.Value
		if o.Fields.Set {
			place = o.Fields.At
		}
		for i, name := range names {
			if !isKey(name) || slices.Contains(names[:i], name) {
				c.reportf(o.Fields.At.Elem(i), "CT038", "", "%q is no name for a field, or there twice", name)
			}
		}
	case "regexp":
		re, err := regexp.Compile(out.Pattern)
		switch {
		case o.At.Key("pattern").Doubtful():
			return // reported already
		case !o.Pattern.Set:
			c.report(o.At, "CT038", "the form regexp needs a pattern", "")
			return
		case err != nil:
			c.reportf(o.Pattern.At, "CT038", "", "the pattern is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			return
		}
		names, place = slices.DeleteFunc(re.SubexpNames(), func(name string) bool { return name == "" }), o.Pattern.At
		if len(names) == 0 {
			c.report(o.Pattern.At, "CT038", "the pattern has no named groups", `such as (?P<name>[^ ]+): they are the fields of a record`)
			return
		}
	case "text":
		names = []string{"text"}
	case "json", "json_object", "json_lines":
		c.paths(s)
		return
	default: // an unknown form
		return
	}
	if record := recordElement(s); record != nil && isBare(record) {
		// The whole record becomes the body.
		if len(names) > 0 && out.Form != "text" && record.At.Sound() {
			c.reportf(place, "CT038", "give the element a text_from beside attributes, or print records without fields", "%s is a text and has no fields", record.Name.Value)
		}
		return
	}
	c.readFields(s, names, place)
	if out.Form == commandline.Delimited {
		out.Fields = names
	}
}

// recordElement returns the element that is written once for each record, or nil.
func recordElement(s *spec.Tool) *spec.Element {
	if s.Envelope == nil {
		return nil
	}
	i := slices.IndexFunc(s.Envelope.Elements, func(e spec.Element) bool { return e.From.Value == "records" })
	if i < 0 {
		return nil
	}
	return &s.Envelope.Elements[i]
}

// readFields checks the element that is written for each record. names are the names of a record's fields, and place is
// where the spec has the names. readFields reports each part of the element that reads an unknown field, and each child
// that repeats, because no field is a list. If a record has no fields, it reports the element itself.
func (c *checker) readFields(s *spec.Tool, names []string, place spec.Place) {
	e := recordElement(s)
	if e == nil {
		return
	}
	if len(names) == 0 {
		if s.Command.Output.At.Key("fields").Doubtful() { // there may be fields that could not be read
			return
		}
		c.reportf(place, "CT038", "name the fields of a record", "without fields a record is a text, and %s is more", e.Name.Value)
		return
	}
	allRead := s.Command.Output.At.Sound() // otherwise a part that could not be read may name a field
	reportUnknown := func(f spec.Field[string]) {
		if f.Set && !slices.Contains(names, f.Value) && allRead {
			c.reportf(f.At, "CT038", nameSuggestion(f.Value, "fields", names), "the command prints no field %q", f.Value)
		}
	}
	reportUnknown(e.TextFrom)
	for i := range e.Attributes {
		reportUnknown(e.Attributes[i].From)
	}
	for i, child := range e.Children.Value {
		name, many, _ := splitChild(child)
		if many {
			c.reportf(e.Children.At.Elem(i), "CT038", "only JSON holds lists in a record", "nothing fills the elements %s", name)
		} else if target := s.Envelope.Element(name); target != nil {
			reportUnknown(target.TextFrom)
		}
	}
}
