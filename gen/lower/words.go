package lower

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/ir"
)

// constraint is one constraint in two forms: as in the spec, for reports, and in words, for readers.
type constraint struct {
	facts  []string
	phrase string
}

// Constraints returns the constraints on values of p in words, such as "1 to 200", "at most 500 characters" or "not
// blank". The type, enumerations and null are not among them.
func Constraints(p *ir.Param) []string {
	var phrases []string
	for _, c := range constraints(p) {
		if !strings.HasSuffix(c.facts[0], "nullable") {
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

func constraints(p *ir.Param) []constraint {
	list := of(p, "", "")
	for item, key, each := p.Items, "items.", "each "; item != nil; item, key, each = item.Items, key+"items.", "each item of "+each {
		list = append(list, of(item, key, each)...)
	}
	return list
}

// of returns the constraints on one value. It omits an enumeration, which every target has.
func of(p *ir.Param, key, each string) []constraint {
	var list []constraint
	add := func(phrase string, facts ...string) {
		for i := range facts {
			facts[i] = key + facts[i]
		}
		list = append(list, constraint{facts, each + phrase})
	}
	table := ir.ConstraintTable()
	for i, row := range table {
		value := row.Of(&p.Constraints)
		switch row.Form {
		case ir.Least: // the next row is the upper bound
			low, high := row.Bound(&p.Constraints), table[i+1].Bound(&p.Constraints)
			var facts []string
			for _, bound := range []struct {
				key   string
				value *float64
			}{{row.Key, low}, {table[i+1].Key, high}} {
				if bound.value != nil {
					facts = append(facts, bound.key+" "+Number(*bound.value))
				}
			}
			if len(facts) > 0 {
				add(Span(low, high, row.Unit), facts...)
			}
		case ir.Flag:
			if value != nil {
				add(row.Phrase, row.Key)
			}
		case ir.Text:
			if value != nil {
				add("must "+Says(&p.Constraints), row.Key)
			}
		case ir.Most, ir.List, ir.Remark:
		}
	}
	if p.Nullable {
		add("may be null", "nullable")
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

// fallback returns the default of a parameter as JSON, the form in which a model writes values. JSON is always on one
// line.
func fallback(p *ir.Param) []constraint {
	if p.Default == nil {
		return nil
	}
	phrase := "default " + ir.JSON(p.Default)
	return []constraint{{facts: []string{phrase}, phrase: phrase}}
}

// relations returns the rules that a parameter is part of, from its point of view.
func relations(tool *ir.Tool, name string) []constraint {
	var list []constraint
	for _, r := range tool.Rules {
		members := slices.Concat(r.Exclusive, r.AtLeastOne, r.ExactlyOne)
		others := slices.DeleteFunc(slices.Clone(members), func(n string) bool { return n == name })
		member := len(others) < len(members) && len(others) > 0
		add := func(fact, phrase string) { list = append(list, constraint{[]string{fact}, phrase}) }
		switch {
		case member && len(r.Exclusive) > 0:
			add("exclusive with "+strings.Join(others, ", "), "not together with "+or(others))
		case member && len(r.AtLeastOne) > 0:
			add("at_least_one with "+strings.Join(others, ", "), "this or "+or(others)+" is required")
		case member:
			add("exactly_one with "+strings.Join(others, ", "), "either this or "+or(others)+" is required")
		case r.Given == name:
			add("requires "+strings.Join(r.Requires, ", "), "only together with "+and(r.Requires))
		}
	}
	return list
}

// Span returns a range in words. unit is the counted thing, such as "character"; without it the range is of numbers.
func Span(low, high *float64, unit string) string {
	var words string
	last := high
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

func enumerate(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + last + names[len(names)-1]
}

// says reports whether a summary contains a phrase as whole words, ignoring case.
func says(summary, phrase string) bool {
	summary, phrase = strings.ToLower(summary), strings.ToLower(phrase)
	for begin := 0; ; {
		i := strings.Index(summary[begin:], phrase)
		if i < 0 || phrase == "" {
			return false
		}
		begin += i
		last, _ := utf8.DecodeLastRuneInString(summary[:begin])
		next, _ := utf8.DecodeRuneInString(summary[begin+len(phrase):])
		if !continues(last) && !continues(next) {
			return true
		}
		begin++
	}
}

// continues reports whether r can be part of a word or number.
func continues(r rune) bool {
	return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// parenthesize adds words in parentheses to a summary, before its full stop if it has one.
func parenthesize(summary, words string) string {
	if rest, ok := strings.CutSuffix(summary, "."); ok {
		return rest + " (" + words + ")."
	}
	return summary + " (" + words + ")"
}

// sentence returns a summary with a full stop.
func sentence(summary string) string {
	if summary == "" || strings.ContainsAny(summary[len(summary)-1:], ".!?") {
		return summary
	}
	return summary + "."
}

// oneLine replaces line breaks by spaces.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}
