package match

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
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
		{"a***", []string{"a", "ab"}, []string{"a/b"}},
		{"***", []string{"a"}, []string{"a/b"}},
		{"**a", []string{"a", "ba"}, []string{"b/a"}},
		{"?", []string{"a", "é"}, []string{"/", "", "ab"}},
		{"a?b", []string{"axb"}, []string{"a/b"}},
		{"é?", []string{"éx"}, []string{"é"}},
		{"[ab]c", []string{"ac", "bc"}, []string{"cc", "c"}},
		{"[!a]", []string{"b"}, []string{"a"}},
		{"[^a]", []string{"b"}, []string{"a"}},
		{"a[^x]b", []string{"ayb"}, []string{"a/b"}},
		{"a[+-9]b", []string{"a.b", "a0b"}, []string{"a/b"}},
		{"a[/]b", nil, []string{"a/b"}},
		{"[a-]", []string{"a", "-"}, []string{"b"}},
		{"[-a]", []string{"a", "-"}, []string{"b"}},
		{"[a-c-e]", []string{"b", "-", "e"}, []string{"d"}},
		{`[\]]`, []string{"]"}, []string{`\`}},
		{"a]}", []string{"a]}"}, nil},
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
		{"a**/", nil, []string{"a", "ab"}},
		{"a[!/]b", []string{"axb"}, []string{"a/b"}},
		{"a[!+-9]b", []string{"axb"}, []string{"a/b", "a.b"}},
		{"a[.-/]b", []string{"a.b"}, []string{"a/b"}},
		{"a[/-0]b", []string{"a0b"}, []string{"a/b"}},
		{"a[^b-a]b", []string{"axb"}, []string{"a/b"}},
		{"a[b-a]b", nil, []string{"aab", "abb"}},
		{`[^\]-]]`, []string{"a]", "b]"}, []string{"]]"}},
		{"{a[/]b,c}", []string{"c"}, []string{"a/b"}},
		{"\uFFFD*", []string{"\uFFFDa"}, []string{"a", "\xffa"}},
	} {
		globs, err := compile(c.pattern)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		for _, name := range c.yes {
			if !matchAny(globs, name) {
				t.Errorf("%q does not match %q", c.pattern, name)
			}
		}
		for _, name := range c.no {
			if matchAny(globs, name) {
				t.Errorf("%q matches %q", c.pattern, name)
			}
		}
	}
	for _, pattern := range []string{"a[", "[", "[!", "[]", "[^]", "[a-", "[\\", "[\xff]", "\xff*", "{a", "{a,{b}", "{[,}", `\`, `a\`, `{a\}`} {
		if globs, err := compile(pattern); err == nil {
			t.Errorf("%q is read as %v", pattern, globs)
		}
	}
}

// Where doublestar means the same by a pattern, it matches the same names.
func TestGlobAgreesWithDoublestar(t *testing.T) {
	t.Parallel()
	tokens := []string{"a", "b", "é", "/", "/**/", "*", "?", "[ab]", "[a-cé]", `\*`}
	letters := []string{"a", "b", "é", "/", "*", "ab"}
	r := rand.New(rand.NewPCG(1, 2))
	random := func(from []string) string {
		var s strings.Builder
		for range 1 + r.IntN(8) {
			s.WriteString(from[r.IntN(len(from))])
		}
		return s.String()
	}
	matched := 0
	for range 200_000 {
		pattern, name := random(tokens), random(letters)
		// These mean something else to doublestar, or are no names.
		if strings.HasSuffix(pattern, "/") || strings.Contains(pattern, "//") || strings.Contains(strings.ReplaceAll(pattern, "/**/", "/"), "**") || strings.Contains(name, "//") || strings.Trim(name, "/") != name {
			continue
		}
		globs, err := compile(pattern)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		want, err := doublestar.Match(pattern, name)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		if got := matchAny(globs, name); got != want {
			t.Fatalf("%q matches %q: %v, want %v", pattern, name, got, want)
		}
		if want {
			matched++
		}
	}
	if matched < 1000 {
		t.Errorf("only %d matches", matched)
	}
}

func TestExpandBraces(t *testing.T) {
	t.Parallel()
	got, err := expandBraces("{a,b{c,d}}{e,}")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ae", "a", "bce", "bc", "bde", "bd"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, err := expandBraces(strings.Repeat("{a,b}", 6)); err != nil || len(got) != 64 {
		t.Errorf("64 patterns: %d, %v", len(got), err)
	}
	if got, err := expandBraces("{a,b,c,d,e}" + strings.Repeat("{a,b,c,d}", 2)); err == nil {
		t.Errorf("80 patterns: %d", len(got))
	}
}

func TestQuoteMeta(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "notes [v2]", `a\b`, "{a,b}*?", "é[", "\uFFFD*"} {
		globs, err := compile(QuoteMeta(name))
		if err != nil || !matchAny(globs, name) {
			t.Errorf("%q is quoted as %q: %v", name, QuoteMeta(name), err)
		}
	}
}
