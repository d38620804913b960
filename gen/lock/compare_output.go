package lock

import (
	"cmp"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

// element adds the changes of an element of an envelope, and of its attributes and children.
func (c *comparison) element(p pair) {
	if c.addedOrRemoved(p, "element-added", "element-removed") {
		return
	}
	before, after := p.before, p.after
	c.changed(before, after, "body", "body-changed", "the body")
	c.changed(before, after, "separator", "separator-changed", "the separator")
	for _, q := range pairs(before, after, "attribute") {
		c.attribute(q)
	}
	for _, q := range pairs(before, after, "child") {
		c.child(q)
	}
	c.order(before, after, "attributes", "attribute-order-changed")
	c.order(before, after, "children", "child-order-changed")
}

// order adds a change if the names that are in both lists under key have another order. Other names are added and
// removed elsewhere.
func (c *comparison) order(before, after *node, key, rule string) {
	oldNames, newNames := before.list(key), after.list(key)
	was := slices.DeleteFunc(slices.Clone(oldNames), func(name string) bool { return !slices.Contains(newNames, name) })
	is := slices.DeleteFunc(slices.Clone(newNames), func(name string) bool { return !slices.Contains(oldNames, name) })
	if !slices.Equal(was, is) {
		c.addChange(rule, after, "the order was %s and is %s", strings.Join(was, ", "), strings.Join(is, ", "))
	}
}

// attribute adds the changes of an attribute of an element.
func (c *comparison) attribute(p pair) {
	if c.addedOrRemoved(p, "attribute-added", "attribute-removed") {
		return
	}
	before, after := p.before, p.after
	c.changed(before, after, "type", "attribute-type-changed", "the type")
	if was, is := before.text("presence"), after.text("presence"); was != is {
		// From least to most certain to be written.
		presences := []string{string(ir.NonZero), string(ir.Nullable), string(ir.Always)}
		rule := "attribute-became-certain"
		if slices.Index(presences, is) < slices.Index(presences, was) {
			rule = "attribute-became-optional"
		}
		c.addChange(rule, after, "the presence was %s and is %s", was, is)
	}
	switch was, is := before.value("fixed"), after.value("fixed"); {
	case was == is:
	case was == "":
		c.addChange("attribute-value-fixed", after, "the value is always %s", is)
	default:
		c.addChange("attribute-value-changed", after, "the value was always %s and is %s", was, cmp.Or(is, "none"))
	}
}

// fields adds the changes of the fields of a result, or of an object in a result.
func (c *comparison) fields(before, after *node) {
	for _, p := range pairs(before, after, "field") {
		if c.addedOrRemoved(p, "field-added", "field-removed") {
			continue
		}
		if was, is := p.before.text("type"), p.after.text("type"); was != is {
			c.addChange("field-type-changed", p.after, "the type was %s and is %s", was, is)
			continue
		}
		// An object with variants has a key: the member whose value selects the variant.
		c.changed(p.before, p.after, "key", "field-type-changed", "the key of its variants")
		if was, is := p.before.text("presence"), p.after.text("presence"); was != is {
			// A presence other than always allows null or no field. Readers that expect a value fail on both.
			rule := "field-became-optional"
			if is == string(ir.Always) {
				rule = "field-became-certain"
			}
			c.addChange(rule, p.after, "the presence was %s and is %s", was, is)
		}
		c.fields(p.before, p.after)
		for _, q := range pairs(p.before, p.after, "variant") {
			if !c.addedOrRemoved(q, "field-variant-added", "field-variant-removed") {
				c.fields(q.before, q.after)
			}
		}
	}
	c.order(before, after, "fields", "field-order-changed")
}

// child adds the changes of how often a child occurs in its element: once, optional (at most once) or many.
func (c *comparison) child(p pair) {
	if c.addedOrRemoved(p, "child-added", "child-removed") {
		return
	}
	was, is := p.before.text("occurs"), p.after.text("occurs")
	if was == is {
		return
	}
	addRule := func(rule string) { c.addChange(rule, p.after, "it occurred %s and occurs %s", was, is) }
	switch {
	case was == once: // now it may be absent, as optional and many include no occurrence
		addRule("child-became-optional")
	case is == once && was == optional:
		addRule("child-became-certain")
	}
	switch {
	case is == many:
		addRule("child-became-many")
	case was == many:
		addRule("child-became-single")
	}
}
