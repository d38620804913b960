package gocode

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxRanges is how many ranges of characters a loop compares one by one. More,
// as in \p{L}, are left to a regular expression.
const maxRanges = 16

// run is a pattern of the form ^[class]{min,max}$: a whole string of characters
// from one class. A negative max is none.
type run struct {
	ranges   []rune // pairs of first and last
	min, max int
}

// runOf reads a pattern as a run. It is false for every other pattern.
func runOf(pattern string) (run, bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || len(re.Sub) != 3 ||
		re.Sub[0].Op != syntax.OpBeginText || re.Sub[2].Op != syntax.OpEndText {
		return run{}, false
	}
	r := run{min: 1, max: 1}
	class := re.Sub[1]
	switch class.Op {
	case syntax.OpStar:
		r.min, r.max, class = 0, -1, class.Sub[0]
	case syntax.OpPlus:
		r.min, r.max, class = 1, -1, class.Sub[0]
	case syntax.OpQuest:
		r.min, r.max, class = 0, 1, class.Sub[0]
	case syntax.OpRepeat:
		r.min, r.max, class = class.Min, class.Max, class.Sub[0]
	}
	switch {
	case class.Op == syntax.OpCharClass && len(class.Rune) > 0 && len(class.Rune) <= 2*maxRanges:
		r.ranges = class.Rune
	case class.Op == syntax.OpLiteral && len(class.Rune) == 1 && class.Flags&syntax.FoldCase == 0:
		r.ranges = []rune{class.Rune[0], class.Rune[0]}
	default:
		return run{}, false
	}
	return r, true
}

// ascii reports whether the class has ASCII characters alone, so that a byte stands
// for a character.
func (r run) ascii() bool { return r.ranges[len(r.ranges)-1] < utf8.RuneSelf }

// matcher returns the name of the function that matches a pattern, whose name ends
// in owner, and notes that the function has to be emitted, once.
func (t *toolCode) matcher(owner, pattern string) string {
	name := "matches" + owner
	if slices.Contains(t.matched, name) {
		return name
	}
	t.matched = append(t.matched, name)
	says := fmt.Sprintf("%s reports whether s matches %s", name, pattern)
	signature := "func " + name + "(s string) bool"
	if r, ok := runOf(pattern); ok {
		t.matchers = append(t.matchers, documented(block(signature, r.matches()...), says))
		return name
	}
	variable := "pattern" + owner
	t.matchers = append(t.matchers,
		documented(block("var "+variable+" struct", "once\t"+pkgSync+"Once", "re\t*"+pkgRegexp+"Regexp"),
			variable+" is compiled when it is first needed, and not at start-up."),
		documented(block(signature,
			variable+".once.Do(func() {",
			variable+".re = "+pkgRegexp+"MustCompile("+strconv.Quote(pattern)+")",
			"})",
			"return "+variable+".re.MatchString(s)",
		), says),
	)
	return name
}

// matches is a loop over the bytes or characters of s.
func (r run) matches() code {
	count := "len(s)"
	if !r.ascii() {
		count = pkgUTF8 + "RuneCountInString(s)"
	}
	low, high := strconv.Itoa(r.min), strconv.Itoa(r.max)
	outside := ""
	switch {
	case r.min > 0 && r.max == r.min:
		outside = count + " != " + low
	case r.min > 0 && r.max >= 0:
		outside = "n := " + count + "; n < " + low + " || n > " + high
	case r.min > 0:
		outside = count + " < " + low
	case r.max >= 0:
		outside = count + " > " + high
	}
	var body code
	if outside != "" {
		body = block("if "+outside, "return false")
	}
	variable, loop, head := "r", "for _, r := range s", "switch"
	if r.ascii() {
		variable, loop, head = "b", "for i := range len(s)", "switch b := s[i];"
	}
	var class []string
	for i := 0; i < len(r.ranges); i += 2 {
		class = append(class, inRange(variable, r.ranges[i], r.ranges[i+1]))
	}
	cases := append(inCase(strings.Join(class, ", ")), inDefault("return false")...)
	return slices.Concat(body, block(loop, block(head, cases...)...), code{"return true"})
}

func inRange(variable string, first, last rune) string {
	low, high := strconv.QuoteRune(first), strconv.QuoteRune(last)
	switch {
	case first == last:
		return variable + " == " + low
	case first == 0:
		return variable + " <= " + high
	case last == utf8.MaxRune:
		return variable + " >= " + low
	default:
		return low + " <= " + variable + " && " + variable + " <= " + high
	}
}
