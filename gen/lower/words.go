package lower

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/ir"
)

// constraint is one constraint in two forms: as the spec has it, for reports,
// and in words, for readers.
type constraint struct {
	facts  []string
	phrase string
}

// Constraints returns what a value of p must be beyond its type and its enum,
// in words: "1 to 200", "at most 500 characters", "not blank".
func Constraints(p *ir.Param) []string {
	var phrases []string
	for _, c := range constraints(p) {
		phrases = append(phrases, c.phrase)
	}
	return phrases
}

// RuleSentence is a rule in words, as one sentence.
func RuleSentence(r ir.Rule) string {
	return "Give at most one of " + and(r.Exclusive) + "."
}

func constraints(p *ir.Param) []constraint {
	list := of(&p.Constraints, "", "")
	if p.Items != nil {
		list = append(list, of(p.Items, "items.", "each ")...)
	}
	return list
}

func of(c *ir.Constraints, key, each string) []constraint {
	var list []constraint
	add := func(phrase string, facts ...string) {
		for i := range facts {
			facts[i] = key + facts[i]
		}
		list = append(list, constraint{facts, each + phrase})
	}
	between := func(low, high *int64, lowKey, highKey, unit string) {
		if low == nil && high == nil {
			return
		}
		var facts []string
		if low != nil {
			facts = append(facts, fmt.Sprintf("%s %d", lowKey, *low))
		}
		if high != nil {
			facts = append(facts, fmt.Sprintf("%s %d", highKey, *high))
		}
		add(span(low, high, unit), facts...)
	}
	between(c.Minimum, c.Maximum, "minimum", "maximum", "")
	between(c.MinItems, c.MaxItems, "min_items", "max_items", "item")
	between(c.MinLength, c.MaxLength, "min_length", "max_length", "character")
	switch {
	case c.Pattern == "":
	case c.PatternSays != "":
		add("must "+oneLine(c.PatternSays), "pattern")
	default:
		add("must match the regular expression "+oneLine(c.Pattern), "pattern")
	}
	if c.NotBlank {
		add("not blank", "not_blank")
	}
	if c.SingleLine {
		add("on one line", "single_line")
	}
	return list
}

// fallback is the default of a parameter, as JSON: that is how a model writes
// the value, and it keeps any text on one line.
func fallback(p *ir.Param) []constraint {
	if p.Default == nil {
		return nil
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p.Default); err != nil {
		return nil // what has no JSON is refused where the schema is made
	}
	phrase := "default " + strings.TrimSuffix(b.String(), "\n")
	return []constraint{{facts: []string{phrase}, phrase: phrase}}
}

// exclusions is a parameter's side of every rule it is part of.
func exclusions(tool *ir.Tool, name string) []constraint {
	var list []constraint
	for _, r := range tool.Rules {
		var others []string
		member := false
		for _, n := range r.Exclusive {
			if n == name {
				member = true
			} else {
				others = append(others, n)
			}
		}
		if member && len(others) > 0 {
			list = append(list, constraint{
				facts:  []string{"exclusive with " + strings.Join(others, ", ")},
				phrase: "not together with " + or(others),
			})
		}
	}
	return list
}

// span is a range in words. Without a unit it is a range of numbers.
func span(low, high *int64, unit string) string {
	var words string
	last := high
	switch {
	case low == nil:
		words = "at most " + strconv.FormatInt(*high, 10)
	case high == nil:
		words, last = "at least "+strconv.FormatInt(*low, 10), low
	case *low == *high:
		words = "exactly " + strconv.FormatInt(*low, 10)
	default:
		words = strconv.FormatInt(*low, 10) + " to " + strconv.FormatInt(*high, 10)
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

// says reports whether a summary has a phrase in it, in whole words and in any
// case.
func says(summary, phrase string) bool {
	summary, phrase = strings.ToLower(summary), strings.ToLower(phrase)
	for i := range summary {
		after, found := strings.CutPrefix(summary[i:], phrase)
		if !found {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(summary[:i])
		next, _ := utf8.DecodeRuneInString(after)
		if !continues(last) && !continues(next) {
			return true
		}
	}
	return false
}

// continues reports whether a word or number goes on with r.
func continues(r rune) bool {
	return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// parenthesize puts words after a summary, before its full stop if it has one.
func parenthesize(summary, words string) string {
	if rest, ok := strings.CutSuffix(summary, "."); ok {
		return rest + " (" + words + ")."
	}
	return summary + " (" + words + ")"
}

// sentence ends a summary as a sentence.
func sentence(summary string) string {
	if summary == "" || strings.ContainsAny(summary[len(summary)-1:], ".!?") {
		return summary
	}
	return summary + "."
}

// oneLine replaces line breaks by spaces.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}
