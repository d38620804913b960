package lock

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/convtools/convtools/gen/ir"
)

// Change is one difference between two contracts.
type Change struct {
	Rule    Rule
	Subject string // "tool conversation_grep, parameter limit"
	Detail  string // "the maximum was 200 and is 100"
}

// String returns the change on one line.
func (c Change) String() string {
	return fmt.Sprintf("%s: %s: %s [%s]", c.Rule.Class, c.Subject, c.Detail, c.Rule.ID)
}

// Compare returns what became of a contract: old and after are facts as [Parse] and
// [Facts] return them. The changes are sorted: breaking before risky before
// safe, then by subject and rule. The error is for lines that are not facts and
// facts that contradict each other.
func Compare(old, after []string) ([]Change, error) {
	before, err := tree(old)
	if err != nil {
		return nil, fmt.Errorf("old contract: %w", err)
	}
	now, err := tree(after)
	if err != nil {
		return nil, fmt.Errorf("new contract: %w", err)
	}
	c := comparison{rules: map[string]Rule{}}
	for _, r := range Rules() {
		c.rules[r.ID] = r
	}
	for _, p := range pairs(before, now, "tool") {
		c.tool(p)
	}
	for _, p := range pairs(before, now, "error") {
		c.cameOrWent(p, "error-code-added", "error-code-removed")
	}
	sort.SliceStable(c.changes, func(i, j int) bool { return compareChanges(c.changes[i], c.changes[j]) < 0 })
	return c.changes, nil
}

func compareChanges(a, b Change) int {
	classes := []Class{Breaking, Risky, Safe}
	if d := slices.Index(classes, a.Rule.Class) - slices.Index(classes, b.Rule.Class); d != 0 {
		return d
	}
	if d := strings.Compare(a.Subject, b.Subject); d != 0 {
		return d
	}
	if d := strings.Compare(a.Rule.ID, b.Rule.ID); d != 0 {
		return d
	}
	return strings.Compare(a.Detail, b.Detail)
}

type comparison struct {
	rules   map[string]Rule
	changes []Change
}

func (c *comparison) add(rule string, at *node, format string, args ...any) {
	c.changes = append(c.changes, Change{Rule: c.rules[rule], Subject: at.subject, Detail: fmt.Sprintf(format, args...)})
}

// cameOrWent reports a thing that is in one contract only, and returns whether it
// was one.
func (c *comparison) cameOrWent(p pair, added, removed string) bool {
	switch {
	case p.before == nil:
		c.add(added, p.after, "added")
	case p.after == nil:
		c.add(removed, p.before, "removed")
	default:
		return false
	}
	return true
}

func (c *comparison) tool(p pair) {
	if c.cameOrWent(p, "tool-added", "tool-removed") {
		return
	}
	before, after := p.before, p.after
	if was, is := before.text("effect"), after.text("effect"); was != is {
		rule := "effect-became-read"
		if is == string(ir.Write) {
			rule = "effect-became-write"
		}
		c.add(rule, after, "the effect was %s and is %s", was, is)
	}
	for _, q := range pairs(before, after, "parameter") {
		c.parameter(q)
	}
	c.exclusions(before, after)
	was, is := answer(before), answer(after)
	if was != is {
		c.add("answer-changed", after, "the answer was %s and is %s", was, is)
	} else if was, is := before.text("root"), after.text("root"); was != is {
		c.add("root-changed", after, "the root element was %s and is %s", was, is)
	}
	if was, is := before.value("max_chars"), after.value("max_chars"); was != is {
		c.add("max-chars-changed", after, "the most characters of an answer were %s and are %s", orNone(was), orNone(is))
	}
	if was != is {
		return // what is no envelope has no elements to compare
	}
	for _, q := range pairs(before, after, "element") {
		c.element(q)
	}
}

// answer is the form of a tool's answer in words.
func answer(tool *node) string {
	if tool.text("answer") == string(ir.TextAnswer) {
		return "plain text"
	}
	return "an envelope"
}

// exclusions compares rules by the pairs of parameters they exclude: that at most
// one of three is given says the same as three rules about two.
func (c *comparison) exclusions(before, after *node) {
	was, is := excluded(before), excluded(after)
	for _, e := range is {
		if !slices.Contains(was, e) {
			c.add("exclusive-added", after, "%s and %s can no longer be given together", e[0], e[1])
		}
	}
	for _, e := range was {
		if !slices.Contains(is, e) {
			c.add("exclusive-removed", after, "%s and %s can be given together", e[0], e[1])
		}
	}
}

func excluded(tool *node) [][2]string {
	var all [][2]string
	for _, value := range tool.values["exclusive"] {
		names, _ := decode[[]string](value)
		sort.Strings(names)
		for i, a := range names {
			for _, b := range names[i+1:] {
				if p := [2]string{a, b}; !slices.Contains(all, p) {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

func (c *comparison) parameter(p pair) {
	before, after := p.before, p.after
	switch {
	case before == nil && after.value("required") != "":
		c.add("required-parameter-added", after, "added, and required")
		return
	case c.cameOrWent(p, "optional-parameter-added", "parameter-removed"):
		return
	}
	if was, is := before.text("type"), after.text("type"); was != is {
		// Constraints and defaults of different types cannot be compared.
		c.add("parameter-type-changed", after, "the type was %s and is %s", was, is)
		return
	}
	switch was, is := before.value("one_or_many"), after.value("one_or_many"); {
	case was == "" && is != "":
		c.add("one-or-many-added", after, "one item is accepted in the place of an array")
	case was != "" && is == "":
		c.add("one-or-many-removed", after, "only an array is accepted, and no longer one item")
	}
	switch was, is := before.value("required"), after.value("required"); {
	case was == "" && is != "":
		c.add("parameter-became-required", after, "it was optional and is required")
	case was != "" && is == "":
		c.add("parameter-became-optional", after, "it was required and is optional")
	}
	switch was, is := before.value("default"), after.value("default"); {
	case was == is:
	case was == "":
		c.add("default-added", after, "there was no default, it is %s", is)
	case is == "":
		c.add("default-removed", after, "the default was %s, there is none", was)
	default:
		c.add("default-changed", after, "the default was %s and is %s", was, is)
	}
	for _, prefix := range []string{"", "items."} {
		c.constraints(before, after, prefix)
	}
	c.values(before, after, "repair", "repair-added", "repair-removed")
}

// absorbed says of a repair that went that values it was made to are accepted
// as they are.
func absorbed(after *node, key, value string) bool {
	return key == "repair" && after.value("one_or_many") != "" &&
		(value == encode(ir.RepairFromString) || value == encode(ir.RepairFromScalar))
}

// values compares a key of many values.
func (c *comparison) values(before, after *node, key, added, removed string) {
	for _, v := range after.values[key] {
		if !slices.Contains(before.values[key], v) {
			c.add(added, after, "%s %s is added", key, v)
		}
	}
	for _, v := range before.values[key] {
		if !slices.Contains(after.values[key], v) && !absorbed(after, key, v) {
			c.add(removed, after, "%s %s is removed", key, v)
		}
	}
}

func (c *comparison) constraints(before, after *node, prefix string) {
	for _, b := range []struct {
		key, narrowed string
		lower         bool // a lower bound: more is narrower
	}{
		{"minimum", "minimum-increased", true},
		{"maximum", "maximum-decreased", false},
		{"min_length", "min-length-increased", true},
		{"max_length", "max-length-decreased", false},
		{"min_items", "min-items-increased", true},
		{"max_items", "max-items-decreased", false},
	} {
		key := prefix + b.key
		was, had := before.number(key)
		is, has := after.number(key)
		if had == has && was == is {
			continue
		}
		rule := "constraint-relaxed"
		if has && (!had || (is > was) == b.lower) {
			rule = b.narrowed
		}
		c.add(rule, after, "%s was %s and is %s", key, orNone(before.value(key)), orNone(after.value(key)))
	}

	enum := prefix + "enum"
	switch had, has := len(before.values[enum]) > 0, len(after.values[enum]) > 0; {
	case !had && has:
		c.add("enum-added", after, "%s: only %s are accepted", enum, strings.Join(after.values[enum], ", "))
	case had && !has:
		c.add("enum-removed", after, "%s: all strings are accepted", enum)
	default:
		c.values(before, after, enum, "enum-value-added", "enum-value-removed")
	}

	pattern := prefix + "pattern"
	switch was, is := before.value(pattern), after.value(pattern); {
	case was == is:
	case was == "":
		c.add("pattern-added", after, "%s is %s", pattern, is)
	case is == "":
		c.add("constraint-relaxed", after, "%s was %s and is none", pattern, was)
	default:
		c.add("pattern-changed", after, "%s was %s and is %s", pattern, was, is)
	}

	for _, f := range []struct{ key, added string }{{"not_blank", "not-blank-added"}, {"single_line", "single-line-added"}} {
		key := prefix + f.key
		switch was, is := before.value(key), after.value(key); {
		case was == is:
		case was == "":
			c.add(f.added, after, "%s is demanded", key)
		default:
			c.add("constraint-relaxed", after, "%s is no longer demanded", key)
		}
	}
}

func orNone(v string) string {
	if v == "" {
		return "none"
	}
	return v
}
