package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/runtime/base/text"
)

// answer sets the maximum length of a tool's answer and how it is shortened. It reports tables and keys of the spec
// that do not go with the form of the answer.
func (c *checker) answer(tool *ir.Tool, t *spec.Tool) {
	form := map[ir.Answer]string{ir.TextAnswer: "a text answer", ir.JSONAnswer: "an answer in JSON"}[tool.Answer]
	if mayHaveEnvelope := form == ""; t.Envelope != nil && !mayHaveEnvelope { // form is "" for an envelope and an unknown answer
		c.reportName(t.Envelope.At, "CT031", `drop the table, or answer = "`+t.Answer.Value+`"`, "%s has no envelope", form)
	}
	// The other mistakes may follow from an answer or a handler that could not be read.
	if !t.At.Key("answer").Doubtful() && !t.At.Key("handler").Doubtful() {
		byCommand := tool.Handler == ir.HandlerCommand
		if byCommand && tool.Answer == ir.TextAnswer {
			c.report(t.Answer.At, "CT031", form+" needs a handler in Go", `leave answer out: what a command prints is the text of an element`)
		}
		switch {
		case t.Result == nil, tool.Answer == "": // an unknown answer is reported already
		case tool.Answer != ir.JSONAnswer:
			c.reportName(t.Result.At, "CT031", `add answer = "json", or drop the table`, "only an answer in JSON has a result")
		case byCommand: // the answer is the JSON that the command prints
			c.reportName(t.Result.At, "CT031", "drop the table", "an answer in JSON of a command is what that prints, and has no result")
		}
	}
	c.narrowAndStructured(tool, t)
	c.maxChars(tool, t)
}

// maxChars sets the maximum length of a tool's answer. The spec has it as max_chars at its top or, if the answer is an
// envelope, in the table of the envelope. maxChars reports a second max_chars, and one that is too small or too large.
func (c *checker) maxChars(tool *ir.Tool, t *spec.Tool) {
	limit := t.MaxChars
	if tool.Answer == ir.EnvelopeAnswer && t.Envelope != nil && t.Envelope.MaxChars.Set {
		if limit.Set {
			c.report(limit.At, "CT031", "max_chars is there twice", "drop one of the two")
		}
		limit = t.Envelope.MaxChars
	}
	tool.MaxChars = int(limit.Value)
	most := int64(10_000_000)
	if tool.Handler == ir.HandlerCommand {
		most = 1_000_000
		tool.MaxChars = cmp.Or(tool.MaxChars, usualChars)
	}
	if limit.Set && (limit.Value < 1000 || limit.Value > most) {
		c.reportf(limit.At, "CT007", "", "max_chars must be between 1,000 and %s", text.Number(int(most)))
	}
}

// usualChars is the default maximum length, in characters, of a command's answer.
const usualChars = 20_000

// narrowAndStructured sets narrow, the parameter with which callers ask for less, and structured, which gives hosts the
// answer as structured content too. It reports a narrow that names no parameter or is beside a handler in Go, and a
// structured beside an answer that is not JSON. Both reports have CT031, the rule for the keys of an answer.
func (c *checker) narrowAndStructured(tool *ir.Tool, t *spec.Tool) {
	tool.Narrow, tool.Structured = t.Narrow.Value, t.Structured.Value
	switch {
	case !t.Narrow.Set: // nothing to report
	case tool.Handler == ir.HandlerGo:
		c.reportName(t.Narrow.At, "CT031", "drop it", "the handler in Go says how to ask for less")
	default:
		c.knownParam(tool, t.Narrow.At, "CT031", t.Narrow.Value)
	}
	if t.Structured.Value && tool.Answer != ir.JSONAnswer {
		c.reportName(t.Structured.At, "CT031", `add answer = "json", or drop it`, "only an answer in JSON is for programs")
	}
}

// plainEnvelope returns the envelope of a tool that declares none: the text that its command prints, and notes.
func plainEnvelope(t *ir.Tool) ir.Envelope {
	root := ir.Flat(t.Name)
	return ir.Envelope{Root: root, Elements: []ir.Element{
		{Name: root, Children: []ir.Child{
			{Element: "output", Many: true, From: "records"},
			{Element: "note", Many: true},
		}},
		{Name: "output", Summary: "What the command printed", Body: ir.BlockBody},
		{Name: "note", Summary: "What was repaired in the call, and what was left out", Body: ir.InlineBody},
	}}
}

// envelope checks an [envelope] table. It returns the elements, with the root first. It leaves out an element without a
// name and an element with the name of an earlier one.
func (c *checker) envelope(t *ir.Tool, s *spec.Envelope) ir.Envelope {
	out := ir.Envelope{Root: s.Root.Value}
	names := c.elementNames(s)
	if root := s.Element(s.Root.Value); root != nil {
		reached := map[string]bool{}
		c.markReached(s, root, nil, reached)
		for _, name := range names {
			if !reached[name] && s.At.Sound() {
				c.reportf(s.Element(name).Name.At, "CT019", "name it among another element's children", "nothing contains the element %q", name)
			}
		}
		withoutRoot := slices.DeleteFunc(names, func(name string) bool { return name == out.Root })
		names = append([]string{out.Root}, withoutRoot...)
	} else if s.Root.Set && allNamed(s) { // an element whose name is unknown may be the root
		c.reportf(s.Root.At, "CT019", nameSuggestion(s.Root.Value, "elements", names), "the root %q is not among the elements", s.Root.Value)
	}
	for _, name := range names {
		out.Elements = append(out.Elements, c.element(t, s, s.Element(name)))
	}
	return out
}

// elementNames returns the names of the elements of an envelope, each once. It reports a name that two elements have,
// and a name that no element can have.
func (c *checker) elementNames(s *spec.Envelope) []string {
	var names []string
	for i := range s.Elements {
		name := s.Elements[i].Name
		switch {
		case !name.Set: // reported already
		case slices.Contains(names, name.Value):
			c.reportf(name.At, "CT019", "", "the element %q is declared twice", name.Value)
		default:
			names = append(names, name.Value)
			if !isMarkup(name.Value) {
				c.reportf(name.At, "CT020", nameHint(name.Value, longestOther), "%q is not an element name", name.Value)
			}
		}
	}
	return names
}

// allNamed reports whether the names of all elements are known.
func allNamed(s *spec.Envelope) bool {
	return !s.At.Key("elements").Doubtful() && !slices.ContainsFunc(s.Elements, func(e spec.Element) bool { return !e.Name.Set })
}

// markReached sets reached for the name of e and of every element below e. above has the names of the elements above e.
// markReached reports a child that is not declared, and a child that is also above itself.
func (c *checker) markReached(s *spec.Envelope, e *spec.Element, above []string, reached map[string]bool) {
	name := e.Name.Value
	reached[name] = true
	for i, child := range e.Children.Value {
		place := e.Children.At.Elem(i)
		childName, _, _ := splitChild(child)
		next := s.Element(childName)
		switch {
		case next == nil && !allNamed(s): // an element whose name is unknown may be the child
		case next == nil:
			var names []string
			for _, element := range s.Elements {
				names = append(names, element.Name.Value)
			}
			c.reportf(place, "CT019", nameSuggestion(childName, "elements", names), "the element %q is not declared", childName)
		case childName == name || slices.Contains(above, childName):
			c.reportf(place, "CT019", "", "the element %q would contain itself", childName)
		case !reached[childName]:
			c.markReached(s, next, append(above, name), reached)
		}
	}
}

// splitChild parses a child: "note*" (any number), "title?" (one or none) or "content".
func splitChild(child string) (name string, many, optional bool) {
	if name, many = strings.CutSuffix(child, "*"); !many {
		name, optional = strings.CutSuffix(child, "?")
	}
	return name, many, optional
}

// element checks an [[envelope.elements]] table and returns the element. In a generated struct for the element, the
// body, the separator, the attributes and the children are fields, whose Go names have to differ.
func (c *checker) element(t *ir.Tool, envelope *spec.Envelope, s *spec.Element) ir.Element {
	root := s.Name.Value == envelope.Root.Value
	e := ir.Element{
		Name: s.Name.Value, Summary: s.Summary.Value, From: s.TextFrom.Value, Separator: s.Separator.Value,
		Body:   ir.Body(c.choice(s.Body, "body", "inline", "lines", "block", "json")),
		Beside: s.Beside.Value,
	}
	switch {
	case root:
		e.GoName = t.GoName + "Envelope"
	case !isBare(s):
		e.GoName = c.declare(t.GoName+ir.GoName(e.Name), "Element", "the element "+e.Name+" of "+t.Name)
	}
	c.summary(s.Summary, parameterSummary)
	if s.Body.Set && len(s.Children.Value) > 0 {
		c.report(s.Body.At, "CT022", "an element has a body or children, not both", "")
	}
	if s.Beside.Value && root {
		c.report(s.Beside.At, "CT022", "the root has nothing before it", "drop it")
	}
	if s.TextFrom.Set && !s.Body.Set && !s.At.Key("body").Doubtful() {
		c.report(s.TextFrom.At, "CT021", "text_from needs a body to fill", "")
	}
	if s.From.Set && (s.From.Value != "records" || root) {
		c.report(s.From.At, "CT021", `from of an element can only be "records", below the root`, "")
	}
	if s.Separator.Set && !isMarkup(s.Separator.Value) {
		c.reportf(s.Separator.At, "CT020", nameHint(s.Separator.Value, longestOther), "%q is not an element name", s.Separator.Value)
	}
	fields := map[string]string{} // by Go name: what the field holds
	claimField := func(place spec.Place, name, what string) {
		if before, taken := fields[name]; taken {
			c.reportf(place, "CT026", "rename one of them", "%s and %s have the same Go name %s", before, what, name)
		}
		fields[name] = what
	}
	keys := map[string]bool{} // the keys of a record that fill a part of the element
	claimKey := func(f spec.Field[string]) {
		switch {
		case !f.Set:
		case t.Command == nil && c.spec.At.Key("command").Doubtful(): // whether records are JSON is unknown
		case !isSource(t, f.Value):
			c.reportf(f.At, "CT021", pathHint, "%q is not a key of a JSON object that can be read here", f.Value)
		case keys[f.Value] && !root: // the root is not read from JSON
			c.reportf(f.At, "CT021", "one place is enough: a key is read once", "the key %q is read already in this element", f.Value)
		}
		keys[f.Value] = true
	}
	claimKey(s.TextFrom)
	if e.Body != ir.NoBody {
		claimField(s.At, "Text", "the body")
	}
	if e.Separator != "" {
		claimField(s.At, ir.GoName(e.Separator)+"Before", "the separator")
	}
	for i := range s.Attributes {
		a := c.attribute(t, &s.Attributes[i], root)
		a.GoName = countName(a, s.Children.Value)
		switch {
		case !s.Attributes[i].Name.Set: // reported already
		case slices.ContainsFunc(e.Attributes, func(b ir.Attribute) bool { return a.Name == b.Name }):
			c.reportf(s.Attributes[i].Name.At, "CT020", "", "the attribute %q is there twice", a.Name)
		case a.Fixed == "": // a constant needs no field
			claimField(s.Attributes[i].Name.At, a.GoName, "the attribute "+a.Name)
		}
		claimKey(s.Attributes[i].From)
		e.Attributes = append(e.Attributes, a)
	}
	for i, child := range s.Children.Value {
		place := s.Children.At.Elem(i)
		name, many, optional := splitChild(child)
		ch := ir.Child{Element: name, Many: many, Optional: optional, GoName: ir.GoName(name)}
		if many {
			ch.GoName = ir.GoName(plural(name))
		}
		if target := envelope.Element(name); target != nil {
			if many {
				ch.From = target.From.Value
			} else if target.From.Value == "records" {
				c.reportf(place, "CT021", "write it as "+name+"*", "%s is made from records, of which there may be any number", name)
			}
			if isBare(target) && target.TextFrom.Set {
				claimKey(target.TextFrom)
			}
			claimField(place, ch.GoName, "the child "+name)
		}
		e.Children = append(e.Children, ch)
	}
	return e
}

// isSource reports whether records of t's command can have a value at key: a path if they are JSON, a name otherwise.
func isSource(t *ir.Tool, key string) bool {
	if t.ReadsPaths() {
		return pathSteps(key) != nil && !strings.HasPrefix(key, everyItem)
	}
	return isKey(key)
}

// isBare is [ir.Element.Bare] for an element of a spec.
func isBare(s *spec.Element) bool {
	return s.Body.Value != "" && len(s.Attributes) == 0 && len(s.Children.Value) == 0
}

// attribute checks an entry of an element's attributes and returns the attribute. root is true for an attribute of the
// root element, which alone can count records and repeat parameters.
func (c *checker) attribute(t *ir.Tool, s *spec.Attribute, root bool) ir.Attribute {
	a := ir.Attribute{
		Name: s.Name.Value, GoName: ir.GoName(s.Name.Value), Summary: c.summary(s.Summary, parameterSummary),
		Type:     ir.AttributeType(c.choice(s.Type, "type", "string", "integer", "boolean", "time")),
		Presence: ir.Always, From: s.From.Value, Param: s.Param.Value, Fixed: s.Fixed.Value,
		Counts: root && s.From.Value == "count",
	}
	if s.Presence.Set {
		a.Presence = ir.Presence(c.choice(s.Presence, "presence", "always", "optional", "nullable"))
	}
	switch {
	case !s.Name.Set:
	case a.Name == "untrusted":
		c.report(s.Name.At, "CT020", "untrusted is written by the generator", "leave it out")
	case !isMarkup(a.Name):
		c.reportf(s.Name.At, "CT020", nameHint(a.Name, longestOther), "%q cannot be the name of an attribute", a.Name)
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
	switch {
	case !s.Fixed.Set || a.Type == "":
	case a.Type != ir.TextAttribute:
		c.report(s.Fixed.At, "CT021", "a fixed value needs type = \"string\"", "")
	case a.Fixed == "" || !oneLine(a.Fixed):
		c.report(s.Fixed.At, "CT021", "a fixed value is one line of text", "")
	}
	if s.Param.Set {
		p := c.knownParam(t, s.Param.At, "CT021", s.Param.Value)
		switch {
		case p == nil, a.Type == "", p.Kind == "", c.unsound[p.Name], !c.spec.Envelope.Root.Set: // reported already
		case !root || !canRepeat(a.Type, p):
			c.reportf(s.Param.At, "CT021", "param is for the root, and for parameters of the same type that always have a value; strings need an enum", "%s cannot be shown here", s.Param.Value)
		}
	}
	return a
}

// canRepeat reports whether an attribute of the given type can repeat p in every answer: p always has a value, and the
// value has the type of the attribute. A string must be one of an enum.
func canRepeat(attribute ir.AttributeType, p *ir.Param) bool {
	alwaysHasValue := !p.Pointer()
	switch attribute {
	case ir.TextAttribute:
		return alwaysHasValue && p.Kind == ir.String && len(p.Enum) > 0
	case ir.IntegerAttribute:
		return alwaysHasValue && p.Kind == ir.Integer
	case ir.BooleanAttribute:
		return alwaysHasValue && p.Kind == ir.Boolean
	case ir.TimeAttribute:
	}
	return false
}

// countName returns the Go name of an attribute. It differs from the usual name if the attribute is an integer and its
// name is the plural of a repeated child: beside note*, whose field is Notes, the attribute notes becomes NoteCount.
func countName(a ir.Attribute, children []string) string {
	for _, child := range children {
		name, many, _ := splitChild(child)
		if many && a.Type == ir.IntegerAttribute && a.Name == plural(name) {
			return ir.GoName(name) + "Count"
		}
	}
	return a.GoName
}

// reportUnfilled reports parts of the envelope s that generated code cannot fill. The code has only the parameters, the
// records, the number of records, and notes. reportUnfilled also reports a root without records or notes.
func (c *checker) reportUnfilled(t *ir.Tool, s *spec.Envelope) {
	root := s.Element(s.Root.Value)
	for i := range root.Attributes {
		a := &root.Attributes[i]
		isCount := a.From.Value == "count" && a.Type.Value == string(ir.IntegerAttribute) && a.Presence.Value != string(ir.Nullable)
		if filled := isCount || a.Param.Set || a.Fixed.Set; !filled {
			c.reportf(a.Name.At, "CT023", `it can have param, fixed, or from = "count" and type = "integer"; anything else needs handler = "go"`, "nothing fills the attribute %s of the root", a.Name.Value)
		}
	}
	records, notes := 0, false
	for i, child := range root.Children.Value {
		name, many, _ := splitChild(child)
		e := s.Element(name)
		switch {
		case e == nil: // reported already
		case many && e.From.Value == "records":
			records++
			c.reportUnfilledRecord(s, e)
		case many && name == "note" && isBare(e):
			notes = true
		default:
			c.reportf(root.Children.At.Elem(i), "CT023", `a root holds its records and notes; anything else needs handler = "go"`, "nothing fills the element %s", name)
		}
	}
	if records != 1 {
		c.reportf(s.At, "CT023", `give one element from = "records", and name it among the root's children as name*`, "the root needs one child that is made from the command's records")
	}
	if !notes {
		c.reportf(s.At, "CT023", `add an element "note" with body = "inline", and name it as note*`, "the root needs the child note*, where repairs and records left out are told")
	}
}

// reportUnfilledRecord reports the parts of e that nothing fills: its body, separator, attributes and children. e is
// the element that is written once for each record of the command's output, such as a JSON object, and filled from the
// keys of this record. s declares all elements.
func (c *checker) reportUnfilledRecord(s *spec.Envelope, e *spec.Element) {
	hint := "name a key of the command's JSON with from or text_from, or use handler = \"go\""
	if e.Body.Set && !e.TextFrom.Set && !isBare(e) { // a bare element is a body alone, and the whole record fills it
		c.reportf(e.Body.At, "CT023", hint, "nothing fills the body of %s", e.Name.Value)
	}
	if e.Separator.Set {
		c.reportf(e.Separator.At, "CT023", `drop it, or use handler = "go"`, "nothing says when to write %s", e.Separator.Value)
	}
	for i := range e.Attributes {
		a := &e.Attributes[i]
		if filled := a.From.Set || a.Param.Set || a.Fixed.Set; !filled {
			c.reportf(a.Name.At, "CT023", hint, "nothing fills the attribute %s of %s", a.Name.Value, e.Name.Value)
		}
	}
	for i, name := range e.Children.Value {
		name, _, _ = splitChild(name)
		switch child := s.Element(name); {
		case child == nil: // the element is not declared, which is reported already
		case !isBare(child), !child.TextFrom.Set: // a record fills only a child that is a body alone and names a key
			c.reportf(e.Children.At.Elem(i), "CT023", hint+"; a child of a record is a body", "nothing fills the element %s", name)
		}
	}
}
