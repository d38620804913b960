package gocode

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
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
func (t *toolCode) matcher(owner, pattern string) (string, error) {
	if _, err := regexp.Compile(pattern); err != nil {
		return "", fmt.Errorf("compiling the pattern: %w", err)
	}
	name := "matches" + owner
	if slices.Contains(t.matched, name) {
		return name, nil
	}
	t.matched = append(t.matched, name)
	says := fmt.Sprintf("%s reports whether s matches %s", name, pattern)
	if r, ok := runOf(pattern); ok {
		t.matchers = append(t.matchers, documented(runMatcher(name, r), says))
		return name, nil
	}
	variable := "pattern" + owner
	t.matchers = append(t.matchers,
		documented(jen.Var().Id(variable).Struct(
			jen.Id("once").Qual("sync", "Once"),
			jen.Id("re").Op("*").Qual("regexp", "Regexp"),
		), variable+" is compiled when it is first needed, and not at start-up."),
		documented(jen.Func().Id(name).Params(jen.Id("s").String()).Bool().Block(
			jen.Id(variable).Dot("once").Dot("Do").Call(jen.Func().Params().Block(
				jen.Id(variable).Dot("re").Op("=").Qual("regexp", "MustCompile").Call(jen.Lit(pattern)),
			)),
			jen.Return(jen.Id(variable).Dot("re").Dot("MatchString").Call(jen.Id("s"))),
		), says),
	)
	return name, nil
}

// runMatcher emits a loop over the bytes or characters of s.
func runMatcher(name string, r run) jen.Code {
	var body []jen.Code
	count, n := jen.Len(jen.Id("s")), jen.Id("n")
	if !r.ascii() {
		count = jen.Qual("unicode/utf8", "RuneCountInString").Call(jen.Id("s"))
	}
	outside := func(condition *jen.Statement) {
		body = append(body, jen.If(condition).Block(jen.Return(jen.False())))
	}
	switch {
	case r.min > 0 && r.max == r.min:
		outside(count.Op("!=").Lit(r.min))
	case r.min > 0 && r.max >= 0:
		outside(n.Clone().Op(":=").Add(count).Op(";").Add(n).Op("<").Lit(r.min).Op("||").Add(n).Op(">").Lit(r.max))
	case r.min > 0:
		outside(count.Op("<").Lit(r.min))
	case r.max >= 0:
		outside(count.Op(">").Lit(r.max))
	}
	variable := "r"
	loop := jen.For(jen.List(jen.Id("_"), jen.Id("r")).Op(":=").Range().Id("s"))
	head := jen.Switch()
	if r.ascii() {
		variable = "b"
		loop = jen.For(jen.Id("i").Op(":=").Range().Len(jen.Id("s")))
		head = jen.Switch(jen.Id("b").Op(":=").Id("s").Index(jen.Id("i")), jen.Empty())
	}
	var class []jen.Code
	for i := 0; i < len(r.ranges); i += 2 {
		class = append(class, inRange(jen.Id(variable), r.ranges[i], r.ranges[i+1]))
	}
	body = append(body, loop.Block(head.Block(
		jen.Case(class...),
		jen.Default().Block(jen.Return(jen.False())),
	)), jen.Return(jen.True()))
	return jen.Func().Id(name).Params(jen.Id("s").String()).Bool().Block(body...)
}

func inRange(variable *jen.Statement, first, last rune) jen.Code {
	switch {
	case first == last:
		return variable.Clone().Op("==").LitRune(first)
	case first == 0:
		return variable.Clone().Op("<=").LitRune(last)
	case last == utf8.MaxRune:
		return variable.Clone().Op(">=").LitRune(first)
	default:
		return jen.LitRune(first).Op("<=").Add(variable).Op("&&").Add(variable).Op("<=").LitRune(last)
	}
}
