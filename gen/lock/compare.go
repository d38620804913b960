package lock

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/runtime/contract"
)

// Change is one difference between two contracts.
type Change struct {
	Rule    Rule
	Subject string // "tool conversation_grep, parameter limit"
	Detail  string // "the maximum was 200 and is 100"
	// Accepted is the acceptance of a breaking change, or nil.
	Accepted *ir.Accepted
}

// String returns the change on one line.
func (c Change) String() string {
	line := fmt.Sprintf("%s: %s: %s [%s]", c.Rule.Class, c.Subject, c.Detail, c.Rule.ID)
	if c.Accepted != nil {
		line = "accepted, " + line + " in " + c.Accepted.Version + ": " + c.Accepted.Reason
	}
	return line
}

// Breaks reports whether the change breaks callers and is not accepted.
func (c Change) Breaks() bool { return c.Rule.Class == Breaking && c.Accepted == nil }

// Accept marks the accepted changes, and returns the acceptances that match no breaking change.
func Accept(changes []Change, accepted []ir.Accepted) (unused []ir.Accepted) {
	for i := range accepted {
		a, used := &accepted[i], false
		for j := range changes {
			if c := &changes[j]; c.Rule.Class == Breaking && c.Rule.ID == a.Rule && c.Subject == a.Subject {
				c.Accepted, used = a, true
			}
		}
		if !used {
			unused = append(unused, *a)
		}
	}
	return unused
}

// Summary returns the number of changes of each class as a sentence, or "" if there are none.
func Summary(changes []Change) string {
	counts := map[Class]int{}
	accepted := 0
	for _, c := range changes {
		if c.Accepted != nil {
			accepted++
		} else {
			counts[c.Rule.Class]++
		}
	}
	var parts []string
	for _, part := range []struct {
		count    int
		one, all string
	}{
		{counts[Breaking], "1 change breaks callers", "%d changes break callers"},
		{accepted, "1 breaking change is accepted", "%d breaking changes are accepted"},
		{counts[Risky], "1 is risky", "%d are risky"},
		{counts[Safe], "1 is safe", "%d are safe"},
	} {
		switch {
		case part.count == 1:
			parts = append(parts, part.one)
		case part.count > 1:
			parts = append(parts, fmt.Sprintf(part.all, part.count))
		}
	}
	return strings.Join(parts, ", ")
}

// Compare returns the changes from one contract to another. A former name may be removed after its sunset, that is,
// when today (YYYY-MM-DD) is later. The changes are sorted: breaking, risky, safe, then by subject and rule.
func Compare(old, after Contract, today string) []Change {
	before, now := &node{facts: old}, &node{facts: after}
	c := comparison{rules: map[string]Rule{}, today: today}
	for _, r := range Rules() {
		c.rules[r.ID] = r
	}
	for _, p := range renamed(pairs(before, now, "tool")) {
		c.tool(p)
	}
	for _, p := range pairs(before, now, "error") {
		c.cameOrWent(p, "error-code-added", "error-code-removed")
	}
	sort.SliceStable(c.changes, func(i, j int) bool { return compareChanges(c.changes[i], c.changes[j]) < 0 })
	return c.changes
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
	today   string
	changes []Change
}

func (c *comparison) add(rule string, at *node, format string, args ...any) {
	c.changes = append(c.changes, Change{Rule: c.rules[rule], Subject: at.subject, Detail: fmt.Sprintf(format, args...)})
}

// cameOrWent reports whether p exists in one contract only, and if so adds the change.
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

// renamed joins a removed tool and the added tool that has its name as an alias into one pair.
func renamed(tools []pair) []pair {
	var out []pair
	taken := map[string]bool{} // names of added tools that were joined
	for _, p := range tools {
		if p.after != nil {
			continue
		}
		for _, q := range tools {
			if q.before == nil && q.after.children("alias")[p.name] != nil {
				p.after = q.after
				taken[q.name] = true
			}
		}
		out = append(out, p)
	}
	for _, p := range tools {
		if p.after != nil && !taken[p.name] {
			out = append(out, p)
		}
	}
	return out
}

func (c *comparison) tool(p pair) {
	if c.cameOrWent(p, "tool-added", "tool-removed") {
		return
	}
	before, after := p.before, p.after
	if before.subject != after.subject {
		c.add("tool-renamed", before, "it is %s now", after.subject)
	}
	for _, q := range pairs(before, after, "alias") {
		switch {
		case q.before == nil && "tool "+q.name != before.subject:
			c.add("alias-added", q.after, "added")
		case q.after == nil && q.before.text("until") < c.today:
			c.add("alias-expired", q.before, "removed")
		case q.after == nil:
			c.add("alias-removed", q.before, "removed, and it is promised until %s", q.before.text("until"))
		}
	}
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
	c.relations(before, after)
	c.changed(before, after, "max_chars", "max-chars-changed", "the limit of characters")
	if was, is := answer(before), answer(after); was != is {
		c.add("answer-changed", after, "the answer was %s and is %s", was, is)
		return // only envelopes have elements to compare
	}
	c.changed(before, after, "root", "root-changed", "the root element")
	for _, q := range pairs(before, after, "element") {
		c.element(q)
	}
	c.fields(before, after)
	for _, q := range pairs(before, after, "code") {
		c.cameOrWent(q, "result-code-added", "result-code-removed")
	}
}

// answer returns the form of a tool's answer in words.
func answer(tool *node) string {
	switch tool.text("answer") {
	case string(ir.TextAnswer):
		return "plain text"
	case string(ir.JSONAnswer):
		return "JSON"
	case plainJSON:
		return "JSON without ok"
	}
	return "an envelope"
}

// relations compares rules. Exclusive rules are compared by pairs of parameters: "at most one of three" equals three
// rules about two. An exactly_one rule also counts as an at_least_one rule.
func (c *comparison) relations(before, after *node) {
	for _, rule := range []struct {
		name string
		of   func(*node) [][]string
		says func([]string) string
	}{
		{
			"exclusive", excluded,
			func(names []string) string { return names[0] + " and " + names[1] + " exclude each other" },
		},
		{
			"at-least-one", func(n *node) [][]string { return lists(n, "at_least_one", "exactly_one") },
			func(names []string) string { return "one of " + strings.Join(names, ", ") + " has to be given" },
		},
		{
			"requires", func(n *node) [][]string { return lists(n, "requires") },
			func(names []string) string { return names[0] + " has to be given together with " + names[1] },
		},
	} {
		was, is := rule.of(before), rule.of(after)
		for _, names := range without(is, was) {
			c.add(rule.name+"-added", after, "%s", rule.says(names))
		}
		for _, names := range without(was, is) {
			c.add(rule.name+"-removed", after, "no longer: %s", rule.says(names))
		}
	}
}

// without returns the lists that are not in others.
func without(lists, others [][]string) [][]string {
	return slices.DeleteFunc(slices.Clone(lists), func(list []string) bool {
		return slices.ContainsFunc(others, func(other []string) bool { return slices.Equal(list, other) })
	})
}

// lists returns those values of keys that are lists of two or more names.
func lists(tool *node, keys ...string) [][]string {
	var all [][]string
	for _, key := range keys {
		values, _ := tool.facts[key].([]any)
		for _, value := range values {
			if names := texts(value); len(names) > 1 {
				all = append(all, names)
			}
		}
	}
	return all
}

// excluded returns the pairs of mutually exclusive parameters.
func excluded(tool *node) [][]string {
	var all [][]string
	for _, names := range lists(tool, "exclusive", "exactly_one") {
		sort.Strings(names)
		for i, a := range names {
			for _, b := range names[i+1:] {
				all = append(all, without([][]string{{a, b}}, all)...)
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
	if was, is := typeOf(before), typeOf(after); was != is {
		if was != "integer" || is != "number" {
			// Constraints and defaults of different types cannot be compared.
			c.add("parameter-type-changed", after, "the type was %s and is %s", was, is)
			return
		}
		c.add("constraint-relaxed", after, "the type was %s and is %s", was, is)
	}
	c.flag(before, after, "one_or_many",
		"one-or-many-added", "one item is accepted in the place of an array",
		"one-or-many-removed", "only an array is accepted, and no longer one item")
	c.flag(before, after, "required",
		"parameter-became-required", "it was optional and is required",
		"parameter-became-optional", "it was required and is optional")
	switch was, is := before.value("default"), after.value("default"); {
	case was == is:
	case was == "":
		c.add("default-added", after, "there was no default, it is %s", is)
	case is == "":
		c.add("default-removed", after, "the default was %s, there is none", was)
	default:
		c.add("default-changed", after, "the default was %s and is %s", was, is)
	}
	for prefix := ""; strings.Count(prefix, ".") <= strings.Count(typeOf(after), "array"); prefix += "items." {
		c.constraints(before, after, prefix)
	}
	c.values(before, after, "repair", "repair-added", "repair-removed")
	for _, q := range pairs(before, after, "member") {
		c.parameter(q)
	}
	for _, q := range pairs(before, after, "variant") {
		if !c.cameOrWent(q, "variant-added", "variant-removed") {
			for _, m := range pairs(q.before, q.after, "member") {
				c.parameter(m)
			}
		}
	}
}

// typeOf returns the type of a parameter in words, with the type of an array's items.
func typeOf(p *node) string {
	words, prefix := p.text("type"), ""
	for item := words; item == "array"; {
		prefix += "items."
		if item = p.text(prefix + "type"); item == "" {
			break // an array of strings
		}
		words += " of " + item
	}
	return words
}

// absorbed reports whether the values that a removed repair produced are now accepted unchanged.
func absorbed(after *node, key, value string) bool {
	return key == "repair" && after.value("one_or_many") != "" &&
		(value == ir.JSON(contract.FromString) || value == ir.JSON(contract.FromScalar))
}

// values compares a key with many values.
func (c *comparison) values(before, after *node, key, added, removed string) {
	for _, v := range after.values(key) {
		if !slices.Contains(before.values(key), v) {
			c.add(added, after, "%s %s is added", key, v)
		}
	}
	for _, v := range before.values(key) {
		if !slices.Contains(after.values(key), v) && !absorbed(after, key, v) {
			c.add(removed, after, "%s %s is removed", key, v)
		}
	}
}

func (c *comparison) constraints(before, after *node, prefix string) {
	for _, row := range ir.ConstraintTable() {
		key := prefix + row.Key
		was, is := before.value(key), after.value(key)
		switch row.Form {
		case ir.List:
			c.list(before, after, key, row)
		case ir.Remark:
		case ir.Least, ir.Most:
			if was == is {
				continue
			}
			old, had := before.number(key)
			bound, has := after.number(key)
			rule := "constraint-relaxed"
			if has && (!had || (bound > old) == (row.Form == ir.Least)) {
				rule = row.Narrowed
			}
			c.add(rule, after, "%s was %s and is %s", key, orNone(was), orNone(is))
		case ir.Text:
			switch {
			case was == is:
			case was == "":
				c.add(row.Narrowed, after, "%s is %s", key, is)
			case is == "":
				c.add("constraint-relaxed", after, "%s was %s and is none", key, was)
			default:
				c.add(row.Key+"-changed", after, "%s was %s and is %s", key, was, is)
			}
		case ir.Flag:
			c.flag(before, after, key, row.Narrowed, key+" is demanded", "constraint-relaxed", key+" is no longer demanded")
		}
	}
	nullable := prefix + "nullable"
	c.flag(before, after, nullable, "nullable-added", nullable+": null is accepted", "nullable-removed", nullable+": null is no longer accepted")
	c.changed(before, after, prefix+"key", "key-changed", prefix+"key")
}

// list compares a constraint that is a list of accepted values.
func (c *comparison) list(before, after *node, key string, row ir.Constraint) {
	switch had, has := len(before.values(key)) > 0, len(after.values(key)) > 0; {
	case !had && has:
		c.add(row.Narrowed, after, "%s: only %s are accepted", key, strings.Join(after.values(key), ", "))
	case had && !has:
		c.add("enum-removed", after, "%s: all strings are accepted", key)
	default:
		c.values(before, after, key, "enum-value-added", "enum-value-removed")
	}
}

// flag reports a boolean fact that was added or removed.
func (c *comparison) flag(before, after *node, key, came, cameSays, went, wentSays string) {
	switch was, is := before.value(key) != "", after.value(key) != ""; {
	case is && !was:
		c.add(came, after, "%s", cameSays)
	case was && !is:
		c.add(went, after, "%s", wentSays)
	}
}

// changed reports a changed word or number.
func (c *comparison) changed(before, after *node, key, rule, what string) {
	if was, is := before.word(key), after.word(key); was != is {
		c.add(rule, after, "%s was %s and is %s", what, orNone(was), orNone(is))
	}
}

func orNone(v string) string {
	if v == "" {
		return "none"
	}
	return v
}
