package subjects

import (
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"*", []string{"a", "README"}, []string{"a/b"}},
		{"**", []string{"a", "a/b", "a/b/c"}, nil},
		{"a/**", []string{"a/b", "a/b/c"}, []string{"a", "ab", "ab/c"}},
		{"a/**/c", []string{"a/c", "a/b/c", "a/b/b/c"}, []string{"ac", "a/b"}},
		{"**/rules", []string{"rules", "a/rules"}, []string{"myrules"}},
		{"a**", []string{"a", "ab"}, []string{"a/b", "ab/c"}},
		{"***", []string{"a"}, []string{"a/b"}},
		{"**a", []string{"a", "ba"}, []string{"b/a"}},
		{"?", []string{"a", "é"}, []string{"/", "", "ab"}},
		{"a?b", []string{"axb"}, []string{"a/b"}},
		{"é?", []string{"éx"}, []string{"é"}},
		{"[ab]c", []string{"ac", "bc"}, []string{"cc", "c"}},
		{"[!a]", []string{"b"}, []string{"a"}},
		{"[^a]", []string{"b"}, []string{"a"}},
		{"[a-]", []string{"a", "-"}, []string{"b"}},
		{"[-a]", []string{"a", "-"}, []string{"b"}},
		{"[a-c-e]", []string{"b", "-", "e"}, []string{"d"}},
		{`[\]]`, []string{"]"}, []string{`\`}},
		{`\*`, []string{"*"}, []string{"a"}},
		{`a\/b*`, []string{"a/bc"}, nil},
		{"{a,b/c}", []string{"a", "b/c"}, []string{"b"}},
		{"{a,{b,c}d}e", []string{"ae", "bde", "cde"}, []string{"be"}},
		{"a{,b}", []string{"a", "ab"}, nil},
		{"{[,],x}", []string{",", "x"}, nil},
		{`{a\,b,c}`, []string{"a,b", "c"}, []string{"a"}},
		{"{a/**,b}", []string{"a/x", "b"}, []string{"a"}},
		{"notes [v2]", []string{"notes v", "notes 2"}, []string{"notes [v2]"}},
		{"A", []string{"A"}, []string{"a"}},
		{"a/**/", []string{"a/b", "a/b/c"}, []string{"a"}},
		{"a[!/]b", []string{"axb"}, []string{"a/b"}},
		{"a[!+-9]b", []string{"axb"}, []string{"a/b", "a.b"}},
		{`[^\]-]]`, []string{"a]", "b]"}, []string{"]]"}},
	} {
		glob, problem := compile(c.pattern)
		if problem != "" {
			t.Errorf("%q %s", c.pattern, problem)
			continue
		}
		for _, name := range c.yes {
			if !matches([]string{glob}, []string{name}) {
				t.Errorf("%q does not match %q", c.pattern, name)
			}
		}
		for _, name := range c.no {
			if matches([]string{glob}, []string{name}) {
				t.Errorf("%q matches %q", c.pattern, name)
			}
		}
	}
	for _, pattern := range []string{"a[", "[", "[!", "[]", "[^]", "[a-", "[\\", "[\xff]", "\xff*", "{a", "{a,{b}", "{[,}", `\`, `a\`, `{a\}`} {
		if glob, problem := compile(pattern); problem == "" {
			t.Errorf("%q is read as %v", pattern, glob)
		}
	}
}

func TestAlternatives(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]int{
		"a": 1, "a,b": 1, "{a,b}": 2, "{a,b{c,d}}{e,}": 8, `{a\,b,c}`: 2, strings.Repeat("{a,b}", 6): 64, strings.Repeat("{a,b}", 40): 65,
		"{a,b,c,d,e}" + strings.Repeat("{a,b,c,d}", 2): 65,
	} {
		if got := alternatives(pattern); got != want {
			t.Errorf("%q: %d, want %d", pattern, got, want)
		}
		if _, problem := compile(pattern); (problem != "") != (want > 64) {
			t.Errorf("%q: %q", pattern, problem)
		}
	}
}
