// Package lock keeps the contract that callers depend on as sorted JSON, so that a change to the
// contract is a change to lines that anyone can read and merge. It compares two contracts
// and says of each difference what it does to callers.
//
// It knows nothing of how facts came about: comparing works on what the file
// says, never on a contract, so that nothing outside the file is ever judged.
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

// File is the base name of the file that facts are kept in.
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

// Facts returns what callers depend on: names, types, defaults,
// constraints, repairs, rules and error codes on the way in; elements,
// attributes and their order on the way out. Wording is not part of it.
func Facts(c *ir.Contract) (Contract, error) {
	files, err := Emit(c)
	if err != nil {
		return nil, err
	}
	return Parse(files[0].Data)
}

// facts are those of a thing, and of the things in it by kind and name.
type facts map[string]any

// set adds a fact, unless it says nothing: no text, no list.
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

// in returns the facts of a thing inside of another.
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
	// Every code there is: that a tool cannot fail in one way any more is no
	// loss to its callers, but a code that got another name is.
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

// plainJSON is the form of an answer in JSON whose success has no ok.
const plainJSON = "json, plain"

// fields adds the facts of the fields of a result, in whose order callers trust.
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

// fieldType is the type of a field in one word or more: that of an array is the type
// of its items too.
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
		// The order of names means nothing to callers.
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

// value adds what narrows a value and what it holds. Items of an array are part of
// the same thing, with a prefix for their keys; items that are strings have no type.
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

// Occurrences of a child.
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
