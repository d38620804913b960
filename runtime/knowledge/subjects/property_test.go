package subjects_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/base/cases"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// What the package answers is what the oracle answers, over random topics and
// patterns.
func TestResolveAgreesWithTheOracle(t *testing.T) {
	t.Parallel()
	var hits, hiddenHits, known, missed, literal, off int
	for seed := range cases.Of(uint64(2_000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := subjectsOf(randomTree(r)...)
		pattern := func() string { return randomPattern(r, all) }
		disabled, learned, patterns := several(r, 0, 2, pattern), several(r, 0, 2, pattern), several(r, 1, 4, pattern)
		skip := r.IntN(2) == 0

		want := newOracle("a", all, disabled, learned)
		set := build("a", all, disabled, learned)
		for i := range all {
			if all[i].Disabled != want.disabled[i] || all[i].Learned != want.learned[i] {
				t.Fatalf("seed %d: %q with disabled %q and learned %q: disabled %t, want %t; learned %t, want %t", seed,
					all[i].Path, disabled, learned, all[i].Disabled, want.disabled[i], all[i].Learned, want.learned[i])
			}
			if visible := slices.Contains(set.Visible, all[i]); visible != (!all[i].Hidden && !want.disabled[i]) {
				t.Fatalf("seed %d: %q with disabled %q: visible %t", seed, all[i].Path, disabled, visible)
			}
			if want.disabled[i] {
				off++
			}
		}
		got, err := set.Resolve(patterns, skip)
		if err != nil {
			t.Fatal(err)
		}
		type answer struct {
			Hits, Already []string
			Missed        []string
			Literal       bool
		}
		wantHits, wantKnown, wantMissed, wantLiteral := want.resolve(patterns, skip)
		wanted := answer{pathsAt(all, wantHits), pathsAt(all, wantKnown), wantMissed, wantLiteral}
		gotten := answer{pathsOf(got.Hits), pathsOf(got.AlreadyLearned), missedPatterns(got), got.Literal}
		if diff := cmp.Diff(wanted, gotten, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d: %q over %q, disabled %q, learned %q, skip %t (-oracle +package):\n%s", seed,
				patterns, pathsAt(all, indexes(all)), disabled, learned, skip, diff)
		}
		checkSuggestions(t, set, all, got.Missed)
		hits, known, missed = hits+len(got.Hits), known+len(got.AlreadyLearned), missed+len(got.Missed)
		for _, hit := range got.Hits {
			if hit.Hidden {
				hiddenHits++
			}
		}
		if got.Literal {
			literal++
		}
	}
	for what, n := range map[string]int{"hits": hits, "hidden hits": hiddenHits, "already learned": known, "missed": missed, "literal": literal, "disabled": off} {
		if n < 50 {
			t.Errorf("only %d %s: the random topics try too little", n, what)
		}
	}
}

// checkSuggestions tries every suggestion: it matches something, and it names
// nothing that is hidden or disabled.
func checkSuggestions(t *testing.T, set *subjects.Tree, all []*subjects.Subject, missed []subjects.Miss) {
	t.Helper()
	for _, miss := range missed {
		if near := miss.Near; near != "" {
			result, err := set.Resolve([]string{near}, false)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(result.Hits, func(s *subjects.Subject) bool { return slices.Contains(set.Visible, s) }) {
				t.Fatalf("for %q, %q is suggested, which stands for %q of %q", miss.Pattern, near, pathsOf(result.Hits), pathsAt(all, indexes(all)))
			}
		}
	}
}

func randomTree(r *rand.Rand) []string {
	parts := []string{"a", "b", "ab", "A", "é", ".a", ".b", "..b", "a*", "[a]", "{a,b}", "c++", "notes [v2]", "a.b", "SKILL"}
	ends := []string{"", "", ".md", ".md", ".toml", ".", ".MD"}
	files := map[string]bool{}
	for range 1 + r.IntN(12) {
		var path []string
		for range 1 + r.IntN(3) {
			path = append(path, parts[r.IntN(len(parts))])
		}
		if r.IntN(8) == 0 {
			files[strings.Join(append(path, "SKILL.md"), "/")] = true
			continue
		}
		files[strings.Join(path, "/")+ends[r.IntN(len(ends))]] = true
	}
	var paths []string
	for file := range files {
		paths = append(paths, file)
	}
	slices.Sort(paths)
	return paths
}

func randomPattern(r *rand.Rand, all []*subjects.Subject) string {
	subject := all[r.IntN(len(all))]
	name := []string{subject.Slug, subject.PathSlug, subject.Path, withoutExtension(subject.Path)}[r.IntN(4)]
	switch r.IntN(8) {
	case 0:
		return name
	case 1:
		around := []string{"", "/", "./", "a/", "/a/", ".//a/"}
		return around[r.IntN(len(around))] + name + []string{"", "/", "//"}[r.IntN(3)]
	case 2: // a name with something else in one place
		at := r.IntN(len(name) + 1)
		return name[:at] + randomToken(r) + name[min(len(name), at+1):]
	case 3:
		return name[:strings.LastIndexByte(name, '/')+1] + []string{"*", "**", "**/", "?*", "[!a]*", "*.md"}[r.IntN(6)]
	default:
		var b strings.Builder
		for range 1 + r.IntN(6) {
			b.WriteString(randomToken(r))
		}
		return b.String()
	}
}

func randomToken(r *rand.Rand) string {
	tokens := []string{
		"a", "b", "A", "é", ".", "/", "/", "*", "*", "**", "**/", "/**", "***", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[+-9]", "[a-]", "[-a]",
		"[/]", "[", "]", "{", "}", ",", "{a,b}", "{a,b/**}", "{,a}", "{a,{b,**}}", `\`, `\*`, `\/`, `[\]a]`, "c++", "SKILL", "-", "é",
	}
	return tokens[r.IntN(len(tokens))]
}

func several(r *rand.Rand, least, most int, pattern func() string) []string {
	var all []string
	for range least + r.IntN(most-least+1) {
		all = append(all, pattern())
	}
	return all
}

func pathsAt(all []*subjects.Subject, indexes []int) []string {
	var paths []string
	for _, i := range indexes {
		paths = append(paths, all[i].Path)
	}
	return paths
}

func indexes(all []*subjects.Subject) []int {
	var indexes []int
	for i := range all {
		indexes = append(indexes, i)
	}
	return indexes
}

func missedPatterns(r subjects.Result) []string {
	var patterns []string
	for _, miss := range r.Missed {
		patterns = append(patterns, miss.Pattern)
	}
	return patterns
}

func pathsOf(subjects []*subjects.Subject) []string {
	var paths []string
	for _, s := range subjects {
		paths = append(paths, s.Path)
	}
	return paths
}
