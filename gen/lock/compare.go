package lock

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/runtime/contract"
)

// Change is one difference between two contracts.
type Change struct {
	Rule     Rule
	Subject  string       // "tool conversation_grep, parameter limit"
	Detail   string       // "the maximum was 200 and is 100"
	Accepted *ir.Accepted // the acceptance of a breaking change, or nil
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

// Accept sets Accepted of each breaking change whose rule and subject are accepted. It returns the acceptances that
// match no breaking change.
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

// Summary returns the number of changes of each class as a sentence, accepted ones apart, or "" if there are none.
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
		count     int
		one, many string
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
			parts = append(parts, fmt.Sprintf(part.many, part.count))
		}
	}
	return strings.Join(parts, ", ")
}

// Compare returns the changes from the contract before to the contract after. Removing a former name is safe if today
// (YYYY-MM-DD) is later than the day until which the name was promised. The changes are sorted: breaking, risky, safe,
// then by subject and rule.
func Compare(before, after Contract, today string) []Change {
	oldRoot, newRoot := &node{facts: before}, &node{facts: after}
	c := comparison{rules: map[string]Rule{}, today: today}
	for _, r := range Rules() {
		c.rules[r.ID] = r
	}
	for _, p := range joinRenamed(pairs(oldRoot, newRoot, "tool")) {
		c.tool(p)
	}
	for _, p := range pairs(oldRoot, newRoot, "error") {
		c.addedOrRemoved(p, "error-code-added", "error-code-removed")
	}
	slices.SortStableFunc(c.changes, compareChanges)
	return c.changes
}

// compareChanges orders changes by class, subject, rule and detail.
func compareChanges(a, b Change) int {
	classes := []Class{Breaking, Risky, Safe}
	return cmp.Or(
		slices.Index(classes, a.Rule.Class)-slices.Index(classes, b.Rule.Class),
		strings.Compare(a.Subject, b.Subject),
		strings.Compare(a.Rule.ID, b.Rule.ID),
		strings.Compare(a.Detail, b.Detail),
	)
}

// comparison collects the changes between two contracts. A method that is named after an item, such as tool or
// parameter, adds the changes of the item and of all items in it.
type comparison struct {
	rules   map[string]Rule // by id
	today   string          // YYYY-MM-DD
	changes []Change
}

// addChange adds a change of an item, with the rule of the given id.
func (c *comparison) addChange(rule string, item *node, format string, args ...any) {
	c.changes = append(c.changes, Change{Rule: c.rules[rule], Subject: item.subject, Detail: fmt.Sprintf(format, args...)})
}

// addedOrRemoved reports whether the item p exists in one contract only. If so, it adds the change with the rule added
// or removed.
func (c *comparison) addedOrRemoved(p pair, added, removed string) bool {
	switch {
	case p.before == nil:
		c.addChange(added, p.after, "added")
	case p.after == nil:
		c.addChange(removed, p.before, "removed")
	default:
		return false
	}
	return true
}

// joinRenamed returns the pairs of tools. If an added tool has the name of a removed tool as an alias, the two become one
// pair, with the name of the removed tool.
func joinRenamed(tools []pair) []pair {
	var out []pair
	joined := map[string]bool{} // by name: the added tools that are in the pair of a removed tool
	for _, removed := range tools {
		if removed.after != nil {
			continue
		}
		for _, added := range tools {
			if added.before == nil && added.after.children("alias")[removed.name] != nil {
				removed.after = added.after
				joined[added.name] = true
			}
		}
		out = append(out, removed)
	}
	for _, p := range tools { // the others
		if p.after != nil && !joined[p.name] {
			out = append(out, p)
		}
	}
	return out
}

// tool adds the changes of a tool. p.before is nil if the tool was added, and p.after is nil if it was removed.
func (c *comparison) tool(p pair) {
	if c.addedOrRemoved(p, "tool-added", "tool-removed") {
		return
	}
	before, after := p.before, p.after
	if before.subject != after.subject {
		c.addChange("tool-renamed", before, "it is %s now", after.subject)
	}
	for _, q := range pairs(before, after, "alias") {
		switch isOldName := "tool "+q.name == before.subject; {
		case q.before == nil && isOldName: // the tool was renamed, which is reported above
		case q.before == nil:
			c.addChange("alias-added", q.after, "added")
		case q.after == nil && q.before.text("until") < c.today:
			c.addChange("alias-expired", q.before, "removed")
		case q.after == nil:
			c.addChange("alias-removed", q.before, "removed, and it is promised until %s", q.before.text("until"))
		}
	}
	if was, is := before.text("effect"), after.text("effect"); was != is {
		rule := "effect-became-read"
		if is == string(ir.Write) {
			rule = "effect-became-write"
		}
		c.addChange(rule, after, "the effect was %s and is %s", was, is)
	}
	for _, q := range pairs(before, after, "parameter") {
		c.parameter(q)
	}
	c.relations(before, after)
	c.changed(before, after, "max_chars", "max-chars-changed", "the limit of characters")
	if was, is := answerForm(before), answerForm(after); was != is {
		c.addChange("answer-changed", after, "the answer was %s and is %s", was, is)
		return // answers of different forms have no parts to compare
	}
	c.changed(before, after, "root", "root-changed", "the root element")
	for _, q := range pairs(before, after, "element") {
		c.element(q)
	}
	c.fields(before, after)
	for _, q := range pairs(before, after, "code") {
		c.addedOrRemoved(q, "result-code-added", "result-code-removed")
	}
}

// answerForm returns the form of a tool's answer in words. The lock file has no fact for an answer that is an envelope.
func answerForm(tool *node) string {
	words := map[string]string{string(ir.TextAnswer): "plain text", string(ir.JSONAnswer): "JSON", plainJSON: "JSON without ok"}
	return cmp.Or(words[tool.text("answer")], "an envelope")
}

// relations adds the changes of the rules between parameters. Exclusive rules are compared by pairs of parameters: "at
// most one of three" equals three rules about two. An exactly_one rule is an exclusive and an at_least_one rule.
func (c *comparison) relations(before, after *node) {
	for _, rule := range []struct {
		name     string
		groups   func(tool *node) [][]string // the names in each rule of a tool
		describe func(names []string) string
	}{
		{
			"exclusive", exclusivePairs,
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
		was, is := rule.groups(before), rule.groups(after)
		for _, names := range without(is, was) {
			c.addChange(rule.name+"-added", after, "%s", rule.describe(names))
		}
		for _, names := range without(was, is) {
			c.addChange(rule.name+"-removed", after, "no longer: %s", rule.describe(names))
		}
	}
}

// without returns those of lists that are not in others.
func without(lists, others [][]string) [][]string {
	return slices.DeleteFunc(slices.Clone(lists), func(list []string) bool {
		return slices.ContainsFunc(others, func(other []string) bool { return slices.Equal(list, other) })
	})
}

// lists returns the lists of names under the given keys of a tool's facts. It leaves out lists of fewer than two names.
func lists(tool *node, keys ...string) [][]string {
	var result [][]string
	for _, key := range keys {
		values, _ := tool.facts[key].([]any)
		for _, value := range values {
			if names := texts(value); len(names) > 1 {
				result = append(result, names)
			}
		}
	}
	return result
}

// exclusivePairs returns each pair of mutually exclusive parameters once, with the names of a pair sorted.
func exclusivePairs(tool *node) [][]string {
	var pairs [][]string
	for _, names := range lists(tool, "exclusive", "exactly_one") {
		slices.Sort(names)
		for i, first := range names {
			for _, second := range names[i+1:] {
				isSame := func(pair []string) bool { return pair[0] == first && pair[1] == second }
				if !slices.ContainsFunc(pairs, isSame) {
					pairs = append(pairs, []string{first, second})
				}
			}
		}
	}
	return pairs
}

// parameter adds the changes of a parameter or of a member of an object.
func (c *comparison) parameter(p pair) {
	before, after := p.before, p.after
	switch {
	case before == nil && after.value("required") != "":
		c.addChange("required-parameter-added", after, "added, and required")
		return
	case c.addedOrRemoved(p, "optional-parameter-added", "parameter-removed"):
		return
	}
	switch was, is := typeOf(before), typeOf(after); {
	case was == is:
	case was == "integer" && is == "number": // a number takes every integer
		c.addChange("constraint-relaxed", after, "the type was %s and is %s", was, is)
	default:
		c.addChange("parameter-type-changed", after, "the type was %s and is %s", was, is)
		return // constraints and defaults of different types cannot be compared
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
		c.addChange("default-added", after, "there was no default, it is %s", is)
	case is == "":
		c.addChange("default-removed", after, "the default was %s, there is none", was)
	default:
		c.addChange("default-changed", after, "the default was %s and is %s", was, is)
	}
	c.constraints(before, after, "")
	for depth := range strings.Count(typeOf(after), "array") { // in an array of arrays, items have items
		c.constraints(before, after, strings.Repeat("items.", depth+1))
	}
	c.values(before, after, "repair", "repair-added", "repair-removed")
	for _, q := range pairs(before, after, "member") {
		c.parameter(q)
	}
	for _, q := range pairs(before, after, "variant") {
		if !c.addedOrRemoved(q, "variant-added", "variant-removed") {
			for _, m := range pairs(q.before, q.after, "member") {
				c.parameter(m)
			}
		}
	}
}

// typeOf returns the type of a parameter in words, such as "array of array of integer". An array of strings is "array",
// because contract.lock omits the type of an item that is a string.
func typeOf(p *node) string {
	words, key := p.text("type"), "items.type" // then items.items.type, for arrays in the array
	for strings.HasSuffix(words, "array") && p.text(key) != "" {
		words += " of " + p.text(key)
		key = "items." + key
	}
	return words
}

// absorbed reports whether value is a repair whose removal makes no difference, because one_or_many now accepts what
// the repair corrected. key is the key of value.
func absorbed(after *node, key, value string) bool {
	return key == "repair" && after.value("one_or_many") != "" &&
		(value == ir.JSON(contract.FromString) || value == ir.JSON(contract.FromScalar))
}

// values adds a change with addedRule for each value of key that only after has, and a change with removedRule for each
// value that only before has. The removal of a repair, a correction of wrong arguments, is no change if after accepts
// these arguments as they are.
func (c *comparison) values(before, after *node, key, addedRule, removedRule string) {
	for _, v := range after.values(key) {
		if !slices.Contains(before.values(key), v) {
			c.addChange(addedRule, after, "%s %s is added", key, v)
		}
	}
	for _, v := range before.values(key) {
		if !slices.Contains(after.values(key), v) && !absorbed(after, key, v) {
			c.addChange(removedRule, after, "%s %s is removed", key, v)
		}
	}
}

// constraints adds the changes of a value's constraints, and of the facts nullable and key. The keys of all these facts
// begin with prefix: "" for a parameter, "items." for the items of an array, and so on.
func (c *comparison) constraints(before, after *node, prefix string) {
	for _, row := range ir.ConstraintTable() {
		key := prefix + row.Key
		was, is := before.value(key), after.value(key)
		switch row.Form {
		case ir.List:
			c.list(before, after, key, row)
		case ir.Remark: // not among the facts
		case ir.Least, ir.Most:
			if was != is {
				rule := boundRule(before, after, key, row)
				c.addChange(rule, after, "%s was %s and is %s", key, cmp.Or(was, "none"), cmp.Or(is, "none"))
			}
		case ir.Text:
			switch {
			case was == is:
			case was == "":
				c.addChange(row.Narrowed, after, "%s is %s", key, is)
			case is == "":
				c.addChange("constraint-relaxed", after, "%s was %s and is none", key, was)
			default:
				c.addChange(row.Key+"-changed", after, "%s was %s and is %s", key, was, is)
			}
		case ir.Flag:
			c.flag(before, after, key, row.Narrowed, key+" is demanded", "constraint-relaxed", key+" is no longer demanded")
		}
	}
	nullable := prefix + "nullable"
	c.flag(before, after, nullable, "nullable-added", nullable+": null is accepted", "nullable-removed", nullable+": null is no longer accepted")
	c.changed(before, after, prefix+"key", "key-changed", prefix+"key")
}

// boundRule returns the rule for a changed bound: the one for a bound stricter than before, or constraint-relaxed.
func boundRule(before, after *node, key string, row ir.Constraint) string {
	was, existed := before.number(key)
	is, exists := after.number(key)
	stricter := is > was // for a lower bound
	if row.Form == ir.Most {
		stricter = is < was
	}
	if exists && (stricter || !existed) {
		return row.Narrowed
	}
	return "constraint-relaxed"
}

// list adds the changes of a constraint that is a list of accepted values. Without the list, all values are accepted.
func (c *comparison) list(before, after *node, key string, row ir.Constraint) {
	switch had, has := len(before.values(key)) > 0, len(after.values(key)) > 0; {
	case !had && has:
		c.addChange(row.Narrowed, after, "%s: only %s are accepted", key, strings.Join(after.values(key), ", "))
	case had && !has:
		c.addChange("enum-removed", after, "%s: all strings are accepted", key)
	default:
		c.values(before, after, key, "enum-value-added", "enum-value-removed")
	}
}

// flag adds a change if a boolean fact became true or false. The rule and the detail are came and cameSays if the fact
// became true, and went and wentSays if it became false.
func (c *comparison) flag(before, after *node, key, came, cameSays, went, wentSays string) {
	switch was, is := before.value(key) != "", after.value(key) != ""; {
	case is && !was:
		c.addChange(came, after, "%s", cameSays)
	case was && !is:
		c.addChange(went, after, "%s", wentSays)
	}
}

// changed adds a change with the given rule if a word or number differs. what names the fact in the detail.
func (c *comparison) changed(before, after *node, key, rule, what string) {
	if was, is := before.word(key), after.word(key); was != is {
		c.addChange(rule, after, "%s was %s and is %s", what, cmp.Or(was, "none"), cmp.Or(is, "none"))
	}
}
