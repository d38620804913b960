package lower

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/ir"
)

// constraint is one constraint in two forms: as in the spec, for reports, and in words, for readers. The two bounds of
// a range are one constraint.
type constraint struct {
	facts  []string // "minimum 1", "maximum 200"
	phrase string   // "1 to 200"
}

// Constraints returns the constraints on p and on the items of p in words, such as "1 to 200", "at most 500 characters"
// or "not blank". It leaves out that a value may be null; types and enumerations are not among the result of constraints.
func Constraints(p *ir.Param) []string {
	var phrases []string
	for _, c := range constraints(p) {
		if isNull := strings.HasSuffix(c.facts[0], "nullable"); !isNull { // "nullable", or "items.nullable" of items
			phrases = append(phrases, c.phrase)
		}
	}
	return phrases
}

// Kind returns the type of a value in words, such as "array of strings".
func Kind(p *ir.Param) string {
	if p.OneOrMany {
		return "string, or array of strings"
	}
	words := string(p.Kind)
	for p.Kind == ir.Array {
		p = p.Item()
		words += " of " + string(p.Kind) + "s"
		if p.Nullable {
			words += " or null"
		}
	}
	return words
}

// RuleSentence returns a rule as one sentence.
func RuleSentence(r ir.Rule) string {
	switch {
	case len(r.Exclusive) > 0:
		return "Give at most one of " + and(r.Exclusive) + "."
	case len(r.AtLeastOne) > 0:
		return "Give at least one of " + and(r.AtLeastOne) + "."
	case len(r.ExactlyOne) > 0:
		return "Give exactly one of " + and(r.ExactlyOne) + "."
	}
	return "Give " + r.Given + " only together with " + and(r.Requires) + "."
}

// ruleFact returns a rule as in the spec, for reports.
func ruleFact(r ir.Rule) string {
	switch {
	case len(r.Exclusive) > 0:
		return "exclusive " + strings.Join(r.Exclusive, ", ")
	case len(r.AtLeastOne) > 0:
		return "at_least_one " + strings.Join(r.AtLeastOne, ", ")
	case len(r.ExactlyOne) > 0:
		return "exactly_one " + strings.Join(r.ExactlyOne, ", ")
	}
	return "given " + r.Given + " requires " + strings.Join(r.Requires, ", ")
}

// constraints returns the constraints on p and then those on its items, at every depth of nested arrays.
func constraints(p *ir.Param) []constraint {
	list := valueConstraints(p, "", "")
	key, each := "items.", "each "
	for item := p.Items; item != nil; item = item.Items {
		list = append(list, valueConstraints(item, key, each)...)
		key, each = key+"items.", "each item of "+each
	}
	return list
}

// valueConstraints returns the constraints on p itself, without those on its items. That p may be null is one of them;
// an enumeration is not, because every target has a field for it. The facts, such as "minimum 1", begin with
// factPrefix, and the phrases, such as "at least 1", begin with phrasePrefix.
func valueConstraints(p *ir.Param, factPrefix, phrasePrefix string) []constraint {
	var list []constraint
	addConstraint := func(phrase string, facts ...string) {
		list = append(list, constraint{facts, phrasePrefix + phrase})
	}
	table := ir.ConstraintTable()
	for i, row := range table {
		isSet := row.Of(&p.Constraints) != nil
		switch {
		case row.Form == ir.Least: // with the upper bound, which is the next row
			low, high := row.Bound(&p.Constraints), table[i+1].Bound(&p.Constraints)
			var facts []string
			if low != nil {
				facts = append(facts, factPrefix+row.Key+" "+Number(*low))
			}
			if high != nil {
				facts = append(facts, factPrefix+table[i+1].Key+" "+Number(*high))
			}
			if len(facts) > 0 {
				addConstraint(Span(low, high, row.Unit), facts...)
			}
		case row.Form == ir.Flag && isSet:
			addConstraint(row.Phrase, factPrefix+row.Key)
		case row.Form == ir.Text && isSet:
			addConstraint("must "+Says(&p.Constraints), factPrefix+row.Key)
		}
	}
	if p.Nullable {
		addConstraint("may be null", factPrefix+"nullable")
	}
	return list
}

// Says describes the pattern or format of c in words that complete "must …".
func Says(c *ir.Constraints) string {
	if format, ok := ir.FormatNamed(c.Format); ok {
		return format.Says
	}
	if c.PatternSays != "" {
		return oneLine(c.PatternSays)
	}
	return "match the regular expression " + oneLine(c.Pattern)
}

// Number returns a bound without an exponent.
func Number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// defaultOf returns the default of a parameter in the form of a constraint, or nil if it has none. The default is JSON,
// the form in which a model writes values, on one line.
func defaultOf(p *ir.Param) []constraint {
	if p.Default == nil {
		return nil
	}
	phrase := "default " + ir.JSON(p.Default)
	return []constraint{{facts: []string{phrase}, phrase: phrase}}
}

// relations returns the rules between the named parameter and others, in words from the point of view of the named one.
func relations(tool *ir.Tool, name string) []constraint {
	var list []constraint
	for _, r := range tool.Rules {
		members := slices.Concat(r.Exclusive, r.AtLeastOne, r.ExactlyOne)
		others := slices.DeleteFunc(slices.Clone(members), func(member string) bool { return member == name })
		isMember := slices.Contains(members, name) && len(others) > 0 // a rule about one parameter alone is no relation
		addRelation := func(fact, phrase string) { list = append(list, constraint{[]string{fact}, phrase}) }
		switch {
		case isMember && len(r.Exclusive) > 0:
			addRelation("exclusive with "+strings.Join(others, ", "), "not together with "+or(others))
		case isMember && len(r.AtLeastOne) > 0:
			addRelation("at_least_one with "+strings.Join(others, ", "), "this or "+or(others)+" is required")
		case isMember: // of ExactlyOne
			addRelation("exactly_one with "+strings.Join(others, ", "), "either this or "+or(others)+" is required")
		case r.Given == name:
			addRelation("requires "+strings.Join(r.Requires, ", "), "only together with "+and(r.Requires))
		}
	}
	return list
}

// Span returns a range in words, such as "1 to 200 characters". A nil bound means no bound, but one of the two must not
// be nil. unit is the counted thing in the singular; if it is "", the range is of numbers.
func Span(low, high *float64, unit string) string {
	var words string
	last := high // the number directly before the unit
	switch {
	case low == nil:
		words = "at most " + Number(*high)
	case high == nil:
		words, last = "at least "+Number(*low), low
	case *low == *high:
		words = "exactly " + Number(*low)
	default:
		words = Number(*low) + " to " + Number(*high)
	}
	if unit == "" {
		return words
	}
	if *last != 1 {
		unit += "s"
	}
	return words + " " + unit
}

func and(names []string) string { return enumerate(names, " and ") }
func or(names []string) string  { return enumerate(names, " or ") }

// enumerate joins names by commas, and the last two by lastSeparator.
func enumerate(names []string, lastSeparator string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + lastSeparator + names[len(names)-1]
}

// containsPhrase reports whether a summary contains a phrase as whole words, ignoring case. The phrase must not be empty.
func containsPhrase(summary, phrase string) bool {
	summary, phrase = strings.ToLower(summary), strings.ToLower(phrase)
	for begin := range summary {
		if !strings.HasPrefix(summary[begin:], phrase) {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(summary[:begin])
		after, _ := utf8.DecodeRuneInString(summary[begin+len(phrase):])
		if !inWord(before) && !inWord(after) {
			return true
		}
	}
	return false
}

// inWord reports whether r can be part of a word or number.
func inWord(r rune) bool {
	return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// parenthesize adds words in parentheses to a summary, before its full stop if it has one.
func parenthesize(summary, words string) string {
	if rest, ok := strings.CutSuffix(summary, "."); ok {
		return rest + " (" + words + ")."
	}
	return summary + " (" + words + ")"
}

// sentence returns a summary with a full stop, unless it is empty or ends like a sentence.
func sentence(summary string) string {
	if summary == "" || strings.ContainsAny(summary[len(summary)-1:], ".!?") {
		return summary
	}
	return summary + "."
}

// oneLine replaces every run of line breaks by a space, and removes those at the beginning and at the end.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}
