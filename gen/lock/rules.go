package lock

import (
	"slices"

	"github.com/convtools/convtools/gen/ir"
)

// Class is the effect of a change on callers and readers.
type Class string

// The classes.
const (
	Breaking Class = "breaking" // calls that worked fail, or answers are misread
	Risky    Class = "risky"    // calls still work, with another effect
	Safe     Class = "safe"
)

// Side is the side of a tool that a change is in: its input or its output. A tool may safely accept more; it may not
// safely answer with more.
type Side string

// The sides.
const (
	Input  Side = "input"
	Output Side = "output"
)

// Rule is a kind of change. Its id is stable.
type Rule struct {
	ID    string
	Side  Side
	Class Class
	Says  string // the reason for its class, as one sentence without a full stop
}

// Rules returns every kind of change: input before output, and breaking, risky, safe within each.
func Rules() []Rule {
	rules := []Rule{
		{"tool-removed", Input, Breaking, "Calls of the tool fail; a new name without an alias for the old one is a removal and an addition"},
		{"alias-removed", Input, Breaking, "Calls by the former name fail before its sunset"},
		{"parameter-removed", Input, Breaking, "Calls that give the parameter are refused"},
		{"required-parameter-added", Input, Breaking, "Calls that worked lack the parameter"},
		{"parameter-became-required", Input, Breaking, "Calls that left the parameter out are refused"},
		{"parameter-type-changed", Input, Breaking, "Values of the old type are refused"},
		{"one-or-many-removed", Input, Breaking, "Calls that give one item, which is no array, are refused"},
		{"enum-value-removed", Input, Breaking, "Calls that give the value are refused"},
		{"pattern-changed", Input, Breaking, "Nobody can tell whether the new pattern accepts all that the old one did"},
		{"format-changed", Input, Breaking, "Strings of the old form are refused"},
		{"nullable-removed", Input, Breaking, "Calls that give null are refused"},
		{"variant-removed", Input, Breaking, "Objects of that form are refused"},
		{"key-changed", Input, Breaking, "Objects that the old member tells apart are refused"},
		{"repair-removed", Input, Breaking, "Values that were repaired are refused"},
		{"exclusive-added", Input, Breaking, "Calls that give both parameters are refused"},
		{"at-least-one-added", Input, Breaking, "Calls that give none of the parameters are refused"},
		{"requires-added", Input, Breaking, "Calls that give the one without the other are refused"},
		{"effect-became-write", Input, Risky, "A tool that was allowed because it only reads can change data"},
		{"default-added", Input, Risky, "Calls that leave the parameter out do something else"},
		{"default-changed", Input, Risky, "Calls that leave the parameter out do something else"},
		{"default-removed", Input, Risky, "Calls that leave the parameter out do something else"},
		{"tool-added", Input, Safe, "Nobody calls it yet"},
		{"tool-renamed", Input, Safe, "The former name works until its sunset"},
		{"alias-added", Input, Safe, "One name more works"},
		{"alias-expired", Input, Safe, "The sunset of the former name is over"},
		{"optional-parameter-added", Input, Safe, "Calls that worked leave it out"},
		{"parameter-became-optional", Input, Safe, "Calls that worked give it"},
		{"one-or-many-added", Input, Safe, "Arrays are still accepted"},
		{"enum-removed", Input, Safe, "The listed values are still accepted"},
		{"enum-value-added", Input, Safe, "The other values are still accepted"},
		{"constraint-relaxed", Input, Safe, "All that was accepted still is"},
		{"repair-added", Input, Safe, "More values are accepted"},
		{"exclusive-removed", Input, Safe, "More calls are accepted"},
		{"at-least-one-removed", Input, Safe, "More calls are accepted"},
		{"requires-removed", Input, Safe, "More calls are accepted"},
		{"nullable-added", Input, Safe, "The other values are still accepted"},
		{"variant-added", Input, Safe, "The other forms are still accepted"},
		{"effect-became-read", Input, Safe, "The tool does less than it was allowed to"},

		{"answer-changed", Output, Breaking, "Readers read the answer in its old form"},
		{"root-changed", Output, Breaking, "Readers look for the old root element"},
		{"element-removed", Output, Breaking, "Readers look for the element; a new name is a removal and an addition"},
		{"body-changed", Output, Breaking, "Readers read the body in its old form"},
		{"attribute-removed", Output, Breaking, "Readers look for the attribute"},
		{"attribute-type-changed", Output, Breaking, "Readers parse the old type"},
		{"attribute-became-optional", Output, Breaking, "Readers expect the attribute where it can now be missing"},
		{"attribute-value-changed", Output, Breaking, "Readers depend on the constant"},
		{"attribute-order-changed", Output, Breaking, "The order is promised, and snapshots of answers depend on it"},
		{"child-removed", Output, Breaking, "Readers look for the child"},
		{"child-became-optional", Output, Breaking, "Readers expect the child where it can now be missing"},
		{"child-order-changed", Output, Breaking, "The order is promised, and snapshots of answers depend on it"},
		{"error-code-removed", Output, Breaking, "Callers act on the code; a new name is a removal and an addition"},
		{"field-removed", Output, Breaking, "Readers look for the field"},
		{"field-type-changed", Output, Breaking, "Readers parse the old type"},
		{"field-became-optional", Output, Breaking, "Readers expect a value where it can now be missing or null"},
		{"field-order-changed", Output, Breaking, "The order is promised, and snapshots of answers depend on it"},
		{"field-variant-removed", Output, Breaking, "Readers look for objects of that form"},
		{"result-code-removed", Output, Breaking, "Callers act on the code; a new name is a removal and an addition"},
		{"field-variant-added", Output, Risky, "Readers may not know the form"},
		{"result-code-added", Output, Risky, "Callers may not know the code"},
		{"child-became-many", Output, Risky, "Readers may take the first one only"},
		{"child-became-single", Output, Risky, "Readers find one where there were all"},
		{"separator-changed", Output, Risky, "Readers may not know the element, or miss it"},
		{"max-chars-changed", Output, Risky, "Answers are longer, or hold less, than callers have room for or count on"},
		{"error-code-added", Output, Risky, "Callers may not know the code"},
		{"element-added", Output, Safe, "Readers ignore what they do not know"},
		{"attribute-added", Output, Safe, "Readers ignore what they do not know"},
		{"attribute-became-certain", Output, Safe, "Readers find the attribute more often"},
		{"attribute-value-fixed", Output, Safe, "The constant is one of the values there were"},
		{"field-added", Output, Safe, "Readers ignore what they do not know"},
		{"field-became-certain", Output, Safe, "Readers find the value always"},
		{"child-added", Output, Safe, "Readers ignore what they do not know"},
		{"child-became-certain", Output, Safe, "Readers find the child always"},
	}
	var narrowed []Rule
	for _, c := range ir.ConstraintTable() {
		if c.Narrowed != "" {
			narrowed = append(narrowed, Rule{c.Narrowed, Input, Breaking, c.Effect})
		}
	}
	first := slices.IndexFunc(rules, func(r Rule) bool { return r.Class != Breaking })
	return slices.Insert(rules, first, narrowed...)
}
