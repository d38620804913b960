package lock

// Class is what a change does to those who depend on a contract.
type Class string

// The classes.
const (
	Breaking Class = "breaking" // what worked fails, or an answer is read wrongly
	Risky    Class = "risky"    // what worked works, with another effect
	Safe     Class = "safe"
)

// Side is the direction a change acts in. Accepting more is safe on the way in;
// answering with more is not on the way out.
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
	Says  string // why it is of its class, as one sentence without a full stop
}

// Rules returns every kind of change there is: input before output, breaking
// before risky before safe.
func Rules() []Rule {
	return []Rule{
		{"tool-removed", Input, Breaking, "Calls of the tool fail; a new name is a removal and an addition"},
		{"parameter-removed", Input, Breaking, "Calls that give the parameter are refused"},
		{"required-parameter-added", Input, Breaking, "Calls that worked lack the parameter"},
		{"parameter-became-required", Input, Breaking, "Calls that left the parameter out are refused"},
		{"parameter-type-changed", Input, Breaking, "Values of the old type are refused"},
		{"one-or-many-removed", Input, Breaking, "Calls that give one item, which is no array, are refused"},
		{"enum-added", Input, Breaking, "Values outside the new list are refused"},
		{"enum-value-removed", Input, Breaking, "Calls that give the value are refused"},
		{"minimum-increased", Input, Breaking, "Numbers between the old and the new bound are refused"},
		{"maximum-decreased", Input, Breaking, "Numbers between the new and the old bound are refused"},
		{"min-length-increased", Input, Breaking, "Shorter strings are refused"},
		{"max-length-decreased", Input, Breaking, "Longer strings are refused"},
		{"min-items-increased", Input, Breaking, "Shorter arrays are refused"},
		{"max-items-decreased", Input, Breaking, "Longer arrays are refused"},
		{"pattern-added", Input, Breaking, "Strings of another form are refused"},
		{"pattern-changed", Input, Breaking, "Nobody can tell whether the new pattern accepts all that the old one did"},
		{"not-blank-added", Input, Breaking, "Blank strings are refused"},
		{"single-line-added", Input, Breaking, "Strings of several lines are refused"},
		{"repair-removed", Input, Breaking, "Values that were repaired are refused"},
		{"exclusive-added", Input, Breaking, "Calls that give both parameters are refused"},
		{"effect-became-write", Input, Risky, "A tool that was allowed because it only reads can change data"},
		{"default-added", Input, Risky, "Calls that leave the parameter out do something else"},
		{"default-changed", Input, Risky, "Calls that leave the parameter out do something else"},
		{"default-removed", Input, Risky, "Calls that leave the parameter out do something else"},
		{"tool-added", Input, Safe, "Nobody calls it yet"},
		{"optional-parameter-added", Input, Safe, "Calls that worked leave it out"},
		{"parameter-became-optional", Input, Safe, "Calls that worked give it"},
		{"one-or-many-added", Input, Safe, "Arrays are still accepted"},
		{"enum-removed", Input, Safe, "The listed values are still accepted"},
		{"enum-value-added", Input, Safe, "The other values are still accepted"},
		{"constraint-relaxed", Input, Safe, "All that was accepted still is"},
		{"repair-added", Input, Safe, "More values are accepted"},
		{"exclusive-removed", Input, Safe, "More calls are accepted"},
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
		{"child-became-many", Output, Risky, "Readers may take the first one only"},
		{"child-became-single", Output, Risky, "Readers find one where there were all"},
		{"separator-changed", Output, Risky, "Readers may not know the element, or miss it"},
		{"max-chars-changed", Output, Risky, "Answers are longer, or hold less, than callers have room for or count on"},
		{"error-code-added", Output, Risky, "Callers may not know the code"},
		{"element-added", Output, Safe, "Readers pass over what they do not know"},
		{"attribute-added", Output, Safe, "Readers pass over what they do not know"},
		{"attribute-became-certain", Output, Safe, "Readers find the attribute more often"},
		{"attribute-value-fixed", Output, Safe, "The constant is one of the values there were"},
		{"child-added", Output, Safe, "Readers pass over what they do not know"},
		{"child-became-certain", Output, Safe, "Readers find the child always"},
	}
}
