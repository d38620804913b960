// Package lock writes the contract that callers depend on as sorted JSON, so that people can read and merge changes
// line by line. It compares two contracts and says how each change affects callers.
//
// It must compare only contents of the file, never an [ir.Contract], so that it cannot judge facts outside the file.
package lock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/ir"
)

// File is the base name of the file with the facts.
const File = "contract.lock"

// Emit returns the file contract.lock in the folder of generated files.
func Emit(c *ir.Contract) ([]emit.File, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(factsOf(c)); err != nil {
		return nil, fmt.Errorf("writing the contract: %w", err)
	}
	return []emit.File{{Path: path.Join(c.Targets.Generated, File), Data: b.Bytes()}}, nil
}

// Facts returns the facts that callers depend on, as [Parse] returns them from the file that [Emit] writes. Of the
// input they are names, types, defaults, constraints, repairs, rules and error codes; of the output they are elements,
// attributes, fields and their order. They have no wording.
func Facts(c *ir.Contract) (Contract, error) {
	files, err := Emit(c)
	if err != nil {
		return nil, err
	}
	return Parse(files[0].Data)
}

// facts are the facts of an item: values by key, and the facts of the items in it by kind and name. The methods other
// than set and addItem add the facts of their arguments.
type facts map[string]any

// set adds a fact, unless its value is zero.
func (f facts) set(key string, value any) {
	if !reflect.ValueOf(value).IsZero() {
		f[key] = value
	}
}

// addItem adds an item without facts to f, under its kind and name, and returns its facts for the caller to set.
func (f facts) addItem(kind, name string) facts {
	items, ok := f[kind].(facts)
	if !ok {
		items = facts{}
		f[kind] = items
	}
	item := facts{}
	items[name] = item
	return item
}

// factsOf returns the facts of a contract: every error code, and the tools.
func factsOf(c *ir.Contract) facts {
	// Codes are not listed by tool. Callers lose nothing if a tool no longer fails with a code, but they do if a code
	// is renamed.
	var codes []string
	for _, code := range ir.ErrorCodes() {
		codes = append(codes, string(code.Code))
	}
	slices.Sort(codes)
	f := facts{"error": codes}
	for _, t := range c.Tools() {
		f.addItem("tool", t.Name).tool(t)
	}
	return f
}

// tool adds the facts of a tool, and of the items in it.
func (f facts) tool(t *ir.Tool) {
	f.set("effect", string(t.Effect))
	for _, a := range t.Aliases {
		f.addItem("alias", a.Name).set("until", a.Until)
	}
	f.parameters("parameter", t.Params)
	f.rules(t.Rules)
	if t.Answer == ir.TextAnswer || t.Answer == ir.JSONAnswer {
		answer := string(t.Answer)
		if t.Result.Plain {
			answer = plainJSON
		}
		f.set("answer", answer)
	}
	f.set("root", t.Envelope.Root)
	f.fields(t.Result.Fields)
	f.set("code", slices.Sorted(slices.Values(t.Result.Codes)))
	f.set("max_chars", t.MaxChars)
	for i := range t.Envelope.Elements {
		e := &t.Envelope.Elements[i]
		f.addItem("element", e.Name).element(e)
	}
}

// plainJSON is the form of an answer in JSON without ok on success.
const plainJSON = "json, plain"

// fields adds the facts of the fields of a result or of an object in it, and the order of the fields.
func (f facts) fields(fields []ir.Param) {
	var names []string
	for i := range fields {
		p := &fields[i]
		field := f.addItem("field", p.Name)
		names = append(names, p.Name)
		presence := ir.Always
		switch {
		case p.Nullable:
			presence = ir.Nullable
		case !p.Required:
			presence = ir.NonZero
		}
		field.set("type", fieldType(p))
		field.set("presence", string(presence))
		for p.Items != nil { // the key, members and variants are those of the innermost items
			p = p.Items
		}
		field.set("key", p.Key)
		field.fields(p.Members)
		for _, v := range p.Variants {
			field.addItem("variant", v.Value).fields(v.Members)
		}
	}
	f.set("fields", names)
}

// fieldType returns the type of a field in words, with the type of an array's items.
func fieldType(p *ir.Param) string {
	if p.Kind != ir.Array {
		return string(p.Kind)
	}
	item := fieldType(p.Item())
	if p.Item().Nullable {
		item += " or null"
	}
	return "array of " + item
}

// rules adds the rules between parameters as lists of names, under the key of their kind.
func (f facts) rules(rules []ir.Rule) {
	addList := func(key string, names []string) {
		if len(names) > 0 {
			lists, _ := f[key].([][]string)
			f[key] = append(lists, names)
		}
	}
	for _, r := range rules {
		// Names are sorted, because callers do not depend on their order.
		addList("exclusive", slices.Sorted(slices.Values(r.Exclusive)))
		addList("at_least_one", slices.Sorted(slices.Values(r.AtLeastOne)))
		addList("exactly_one", slices.Sorted(slices.Values(r.ExactlyOne)))
		for _, name := range r.Requires {
			addList("requires", []string{r.Given, name})
		}
	}
}

// parameters adds the facts of parameters or of members, as kind says.
func (f facts) parameters(kind string, params []ir.Param) {
	for i := range params {
		p := &params[i]
		parameter := f.addItem(kind, p.Name)
		parameter.set("type", string(p.Kind))
		parameter.set("one_or_many", p.OneOrMany)
		parameter.set("required", p.Required)
		if p.Default != nil {
			parameter["default"] = p.Default
		}
		parameter.set("repair", slices.Sorted(slices.Values(p.Repairs)))
		parameter.value("", p)
	}
}

// value adds the facts of the value p: its constraints, whether it may be null, and the key that selects a variant. The
// keys of these facts begin with prefix: "" for a parameter or member, "items." for the items of an array, and
// so on. value also adds the type of an item that is not a string, and the items, members and variants of p.
func (f facts) value(prefix string, p *ir.Param) {
	if isItem := prefix != ""; isItem && p.Kind != ir.String {
		f.set(prefix+"type", string(p.Kind))
	}
	f.set(prefix+"nullable", p.Nullable)
	f.set(prefix+"key", p.Key)
	for _, row := range ir.ConstraintTable() {
		if v := row.Of(&p.Constraints); v != nil && row.Form != ir.Remark {
			f[prefix+row.Key] = v
		}
	}
	if p.Items != nil {
		f.value(prefix+"items.", p.Items)
	}
	f.parameters("member", p.Members)
	for i := range p.Variants {
		f.addItem("variant", p.Variants[i].Value).parameters("member", p.Variants[i].Members)
	}
}

func (f facts) element(e *ir.Element) {
	f.set("body", string(e.Body))
	f.set("separator", e.Separator)
	var attributes, children []string
	for _, a := range e.Attributes {
		attributes = append(attributes, a.Name)
		attribute := f.addItem("attribute", a.Name)
		attribute.set("type", string(a.Type))
		attribute.set("presence", string(a.Presence))
		attribute.set("fixed", a.Fixed)
	}
	for _, c := range e.Children {
		children = append(children, c.Element)
		f.addItem("child", c.Element).set("occurs", occurrence(c))
	}
	f.set("attributes", attributes)
	f.set("children", children)
}

// The occurrences of a child.
const (
	once     = "once"
	optional = "optional"
	many     = "many"
)

// occurrence returns how often a child occurs: once, optional or many.
func occurrence(c ir.Child) string {
	switch {
	case c.Many:
		return many
	case c.Optional:
		return optional
	}
	return once
}
