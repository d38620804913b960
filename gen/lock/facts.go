// Package lock writes the contract that callers depend on as sorted JSON, so that people can read and merge changes
// line by line. It compares two contracts and says how each change affects callers.
//
// It must compare only the contents of the file, never an [ir.Contract], so that it cannot judge facts outside the
// file.
package lock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/ir"
)

// File is the base name of the file with the facts.
const File = "contract.lock"

// Emit returns generated/contract.lock.
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

// Facts returns the facts that callers depend on. Input: names, types, defaults, constraints, repairs, rules and
// error codes. Output: elements, attributes and their order. Wording is not among them.
func Facts(c *ir.Contract) (Contract, error) {
	files, err := Emit(c)
	if err != nil {
		return nil, err
	}
	return Parse(files[0].Data)
}

// facts are the facts of an item, and of the items in it by kind and name.
type facts map[string]any

// set adds a fact, unless it is empty or false.
func (f facts) set(key string, value any) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return
		}
	case bool:
		if !v {
			return
		}
	case []string:
		if len(v) == 0 {
			return
		}
	}
	f[key] = value
}

// in adds an item to f and returns its facts.
func (f facts) in(kind, name string) facts {
	group, ok := f[kind].(facts)
	if !ok {
		group = facts{}
		f[kind] = group
	}
	inner := facts{}
	group[name] = inner
	return inner
}

func factsOf(c *ir.Contract) facts {
	// The list has every code. A tool that can no longer fail with a code is no loss to its callers, but a renamed
	// code is.
	var codes []string
	for _, code := range ir.ErrorCodes() {
		codes = append(codes, string(code.Code))
	}
	slices.Sort(codes)
	f := facts{"error": codes}
	for _, t := range c.Tools() {
		f.in("tool", t.Name).tool(t)
	}
	return f
}

func (f facts) tool(t *ir.Tool) {
	f.set("effect", string(t.Effect))
	for _, a := range t.Aliases {
		f.in("alias", a.Name).set("until", a.Until)
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
	if t.MaxChars > 0 {
		f.set("max_chars", t.MaxChars)
	}
	for i := range t.Envelope.Elements {
		e := &t.Envelope.Elements[i]
		f.in("element", e.Name).element(e)
	}
}

// plainJSON is the form of an answer in JSON without ok on success.
const plainJSON = "json, plain"

// fields adds the facts of the fields of a result. Callers depend on the order of fields.
func (f facts) fields(fields []ir.Param) {
	var names []string
	for i := range fields {
		p := &fields[i]
		field := f.in("field", p.Name)
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
		for p.Items != nil {
			p = p.Items
		}
		field.set("key", p.Key)
		field.fields(p.Members)
		for _, v := range p.Variants {
			field.in("variant", v.Value).fields(v.Members)
		}
	}
	f.set("fields", names)
}

// fieldType returns the type of a field, with the type of an array's items.
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

func (f facts) rules(rules []ir.Rule) {
	add := func(key string, names []string) {
		if len(names) > 0 {
			all, _ := f[key].([][]string)
			f[key] = append(all, names)
		}
	}
	for _, r := range rules {
		// Callers do not depend on the order of names.
		add("exclusive", slices.Sorted(slices.Values(r.Exclusive)))
		add("at_least_one", slices.Sorted(slices.Values(r.AtLeastOne)))
		add("exactly_one", slices.Sorted(slices.Values(r.ExactlyOne)))
		for _, name := range r.Requires {
			add("requires", []string{r.Given, name})
		}
	}
}

// parameters adds the facts of parameters or of members.
func (f facts) parameters(kind string, params []ir.Param) {
	for i := range params {
		p := &params[i]
		parameter := f.in(kind, p.Name)
		parameter.set("type", string(p.Kind))
		parameter.set("one_or_many", p.OneOrMany)
		parameter.set("required", p.Required)
		if p.Default != nil {
			parameter["default"] = p.Default
		}
		if len(p.Repairs) > 0 {
			parameter["repair"] = slices.Sorted(slices.Values(p.Repairs))
		}
		parameter.value("", p)
	}
}

// value adds the constraints of a value and its nested values. The items of an array are part of the same item, with
// a prefix for their keys; items that are strings have no type.
func (f facts) value(prefix string, p *ir.Param) {
	if prefix != "" && p.Kind != ir.String {
		f.set(prefix+"type", string(p.Kind))
	}
	f.set(prefix+"nullable", p.Nullable)
	f.set(prefix+"key", p.Key)
	for _, row := range ir.ConstraintTable() {
		if v := row.Of(&p.Constraints); v != nil && row.Form != ir.Remark {
			f.set(prefix+row.Key, v)
		}
	}
	if p.Items != nil {
		f.value(prefix+"items.", p.Items)
	}
	f.parameters("member", p.Members)
	for i := range p.Variants {
		f.in("variant", p.Variants[i].Value).parameters("member", p.Variants[i].Members)
	}
}

func (f facts) element(e *ir.Element) {
	f.set("body", string(e.Body))
	f.set("separator", e.Separator)
	var attributes, children []string
	for _, a := range e.Attributes {
		attributes = append(attributes, a.Name)
		attribute := f.in("attribute", a.Name)
		attribute.set("type", string(a.Type))
		attribute.set("presence", string(a.Presence))
		attribute.set("fixed", a.Fixed)
	}
	for _, c := range e.Children {
		children = append(children, c.Element)
		f.in("child", c.Element).set("occurs", occurrence(c))
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

func occurrence(c ir.Child) string {
	switch {
	case c.Many:
		return many
	case c.Optional:
		return optional
	}
	return once
}
