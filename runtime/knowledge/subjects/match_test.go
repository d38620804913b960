package subjects_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

func project() []string {
	return []string{
		".hidden-dir/visible.md", ".internal-notes.md", "code-quality.md", "maintainers.md",
		"maintainers/.old.md", "maintainers/jean.md", "maintainers/ryan.toml", "maintainers/team/june.md", "README",
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	type want struct {
		hits    []string // paths
		already []string
		missed  []subjects.Miss
		literal bool
	}
	one := func(path string) want { return want{hits: []string{path}, literal: true} }
	miss := func(pattern, reason string) want {
		return want{missed: []subjects.Miss{{Pattern: pattern, Reason: reason}}}
	}
	for _, c := range []struct {
		name              string
		files             []string
		disabled, learned []string
		skip              bool
		ask               []string
		want              want
	}{
		{name: "KB-8 ** leaves hidden subjects out", files: project(), ask: []string{"**"}, want: want{hits: []string{
			"README", "code-quality.md", "maintainers.md", "maintainers/jean.md", "maintainers/ryan.toml", "maintainers/team/june.md",
		}}},
		{name: "KB-8 * leaves hidden subjects out", files: project(), ask: []string{"*"}, want: want{hits: []string{"README", "code-quality.md", "maintainers.md"}}},
		{name: "KB-8 a glob with a dot finds no hidden subject", files: project(), ask: []string{".*"}, want: miss(".*", "")},
		{name: "KB-8 a glob of a hidden folder finds nothing", files: project(), ask: []string{"hidden-dir/*"}, want: miss("hidden-dir/*", "")},
		{name: "KB-8 A-1 an exact slug loads a hidden subject", files: project(), ask: []string{"internal-notes"}, want: one(".internal-notes.md")},
		{name: "A-1 in a hidden folder", files: project(), ask: []string{"hidden-dir/visible"}, want: one(".hidden-dir/visible.md")},
		{name: "A-1 in a visible folder", files: project(), ask: []string{"maintainers/old"}, want: one("maintainers/.old.md")},

		{name: "KB-9 disabled beats exact", files: project(), disabled: []string{"code-quality"}, ask: []string{"code-quality"}, want: miss("code-quality", "")},
		{name: "KB-9 disabled beats the path", files: project(), disabled: []string{"code-quality"}, ask: []string{"code-quality.md"}, want: miss("code-quality.md", "")},
		{name: "KB-9 disabled beats globs", files: project(), disabled: []string{"code-quality"}, ask: []string{"c*"}, want: miss("c*", "")},
		{name: "KB-9 disabled beats hidden", files: project(), disabled: []string{"internal-notes"}, ask: []string{"internal-notes"}, want: miss("internal-notes", "")},
		{name: "KB-9 disabled beats learned", files: project(), disabled: []string{"code-quality"}, learned: []string{"code-quality"}, skip: true, ask: []string{"code-quality"}, want: miss("code-quality", "")},

		{name: "KB-10 patterns in order, the first hit counts", files: project(), ask: []string{"maintainers/ryan", "maintainers/*", "code-quality"}, want: want{hits: []string{
			"maintainers/ryan.toml", "maintainers/jean.md", "code-quality.md",
		}}},

		{name: "KB-11 dir/* is one level", files: project(), ask: []string{"maintainers/*"}, want: want{hits: []string{"maintainers/jean.md", "maintainers/ryan.toml"}}},
		{name: "KB-11 dir/** is every level, and not the name of the folder", files: project(), ask: []string{"maintainers/**"}, want: want{hits: []string{
			"maintainers/jean.md", "maintainers/ryan.toml", "maintainers/team/june.md",
		}}},
		{name: "KB-11 dir/j* is a beginning", files: project(), ask: []string{"maintainers/j*"}, want: want{hits: []string{"maintainers/jean.md"}}},
		{name: "KB-11 dir/**/ is dir/**", files: project(), ask: []string{"maintainers/**/"}, want: want{hits: []string{
			"maintainers/jean.md", "maintainers/ryan.toml", "maintainers/team/june.md",
		}}},
		{name: "KB-11 **/name is every level", files: []string{"rules.md", "a/rules.md", "a/b/rules.md"}, ask: []string{"**/rules"}, want: want{hits: []string{"a/b/rules.md", "a/rules.md", "rules.md"}}},

		{name: "KB-12 A-10 what matches nothing is named", files: project(), ask: []string{"code-qualty"}, want: miss("code-qualty", "")},
		{name: "A-10 what matches is answered all the same", files: project(), ask: []string{"nothing", "README"}, want: want{hits: []string{"README"}, missed: []subjects.Miss{{Pattern: "nothing"}}}},
		{name: "A-10 an empty pattern", files: project(), ask: []string{""}, want: miss("", "")},

		{name: "A-3 visible beats hidden", files: []string{".foo.md", "foo.md"}, ask: []string{"foo"}, want: one("foo.md")},
		{name: "A-3 the hidden one by its path", files: []string{".foo.md", "foo.md"}, ask: []string{".foo.md"}, want: one(".foo.md")},
		{name: "A-3 the hidden one by its path without extension", files: []string{".foo.md", "foo.md"}, ask: []string{".foo"}, want: one(".foo.md")},
		{name: "A-3 several visible: all", files: []string{"foo.toml", "foo.md", ".foo.md"}, ask: []string{"foo"}, want: want{hits: []string{"foo.md", "foo.toml"}}},
		{name: "A-3 one of several by its extension", files: []string{"foo.toml", "foo.md"}, ask: []string{"foo.toml"}, want: one("foo.toml")},
		{name: "A-3 visible in a folder beats hidden folder", files: []string{"a/b.md", "a/.b.md", ".a/b.md"}, ask: []string{"a/b"}, want: one("a/b.md")},
		{name: "A-3 several hidden: all", files: []string{"a/.b.md", ".a/b.md"}, ask: []string{"a/b"}, want: want{hits: []string{".a/b.md", "a/.b.md"}}},
		{name: "A-3 a disabled slug disables all that share it", files: []string{"foo.toml", "foo.md", ".foo.md"}, disabled: []string{"foo"}, ask: []string{".foo.md", "foo.toml", "**"}, want: want{missed: []subjects.Miss{
			{Pattern: ".foo.md"}, {Pattern: "foo.toml"}, {Pattern: "**"},
		}}},
		{name: "A-3 disabled visible lets the hidden one through", files: []string{".foo.md", "foo.md"}, disabled: []string{"foo.md"}, ask: []string{"foo"}, want: one(".foo.md")},

		{name: "A-4 the extension", files: project(), ask: []string{"maintainers/ryan.toml"}, want: one("maintainers/ryan.toml")},
		{name: "A-4 ./", files: project(), ask: []string{"./maintainers/jean"}, want: one("maintainers/jean.md")},
		{name: "A-4 /", files: project(), ask: []string{"/maintainers/jean"}, want: one("maintainers/jean.md")},
		{name: "A-4 the topic's id", files: project(), ask: []string{"project/maintainers/jean"}, want: one("maintainers/jean.md")},
		{name: "A-4 spaces around", files: project(), ask: []string{" maintainers/j* "}, want: want{hits: []string{"maintainers/jean.md"}}},
		{name: "A-4 doubled slashes", files: project(), ask: []string{"maintainers//jean"}, want: one("maintainers/jean.md")},
		{name: "A-4 spaces that are part of a name come first", files: []string{" a.md", "a.md"}, ask: []string{" a"}, want: one(" a.md")},
		{name: "A-5 spaces around a disabled glob", files: project(), disabled: []string{" maintainers/** "}, ask: []string{"maintainers/jean"}, want: miss("maintainers/jean", "")},
		{name: "A-5 doubled slashes in a disabled name", files: project(), disabled: []string{"maintainers//jean"}, ask: []string{"maintainers/j*"}, want: miss("maintainers/j*", "")},
		{name: "A-4 all of them", files: project(), ask: []string{"./project/maintainers/jean.md/"}, want: one("maintainers/jean.md")},
		{name: "A-4 dots of a hidden path", files: project(), ask: []string{"maintainers/.old.md"}, want: one("maintainers/.old.md")},
		{name: "A-4 globs too", files: project(), ask: []string{"./project/maintainers/j*"}, want: want{hits: []string{"maintainers/jean.md"}}},
		{name: "A-4 the name of a listing that is not the path", files: []string{"a\nb.md", "a\nb.toml"}, ask: []string{"a␊b.md"}, want: one("a\nb.md")},
		{name: "A-4 a path is preferred to a name of a listing", files: []string{"a\nb.md", "a\nb.toml", "a␊b.md"}, ask: []string{"a␊b.md"}, want: one("a␊b.md")},
		{name: "A-5 the name of a listing disables", files: []string{"a\nb.md", "a\nb.toml"}, disabled: []string{"a␊b.md"}, ask: []string{"*"}, want: want{hits: []string{"a\nb.toml"}}},
		{name: "A-4 a folder with the topic's id comes first", files: []string{"project/x.md", "x.md"}, ask: []string{"./project/x"}, want: one("project/x.md")},
		{name: "A-4 a way out is a name like others", files: project(), ask: []string{"../project/README", "/etc/passwd", `..\README`}, want: want{missed: []subjects.Miss{
			{Pattern: "../project/README"}, {Pattern: "/etc/passwd"}, {Pattern: `..\README`},
		}}},

		{name: "A-5 a disabled glob covers hidden files", files: project(), disabled: []string{"maintainers/*"}, ask: []string{"maintainers/old"}, want: miss("maintainers/old", "")},
		{name: "A-5 a disabled glob with dots", files: project(), disabled: []string{".*"}, ask: []string{"internal-notes", "README"}, want: want{hits: []string{"README"}, missed: []subjects.Miss{{Pattern: "internal-notes"}}}},
		{name: "A-5 a disabled path", files: []string{"foo.md", "foo.toml"}, disabled: []string{"./project/foo.md"}, ask: []string{"foo"}, want: one("foo.toml")},
		{name: "A-5 a file named like the glob does not take its effect away", files: []string{"**.md", "README"}, disabled: []string{"**"}, ask: []string{"README"}, want: miss("README", "")},

		{name: "A-6 a learned glob skips hidden subjects", files: project(), learned: []string{"**"}, skip: true, ask: []string{"internal-notes"}, want: one(".internal-notes.md")},
		{name: "A-6 a learned slug may be hidden", files: project(), learned: []string{"internal-notes"}, skip: true, ask: []string{"internal-notes"}, want: want{already: []string{".internal-notes.md"}}},

		{name: "A-7 a name in the prompt", files: project(), learned: []string{"README"}, skip: true, ask: []string{"README"}, want: want{already: []string{"README"}}},
		{name: "A-7 a glob skips what is in the prompt", files: project(), learned: []string{"README"}, skip: true, ask: []string{"*"}, want: want{hits: []string{"code-quality.md", "maintainers.md"}}},
		{name: "A-7 a glob of what is in the prompt alone is no miss", files: project(), learned: []string{"maintainers/*"}, skip: true, ask: []string{"maintainers/*"}, want: want{already: []string{"maintainers/jean.md", "maintainers/ryan.toml"}}},
		{name: "A-7 learned is loaded where no prompt holds it", files: project(), learned: []string{"README"}, ask: []string{"README"}, want: one("README")},

		{name: "A-12 a name in a list of two is not literal", files: project(), ask: []string{"README", "README"}, want: want{hits: []string{"README"}}},
		{name: "A-12 a glob of one is not literal", files: project(), ask: []string{"READM?"}, want: want{hits: []string{"README"}}},
		{name: "A-12 an alias is literal", files: project(), ask: []string{"/README"}, want: one("README")},

		{name: "A-29 another case is suggested first", files: []string{"read.md", "reads.md", "README.md"}, ask: []string{"readme"}, want: miss("readme", "")},
		{name: "A-29 another case of a folder", files: project(), ask: []string{"Maintainers/"}, want: miss("Maintainers/", "")},

		{name: "a skill's folder", files: []string{"pdf/SKILL.md", "pdf/forms.md"}, ask: []string{"pdf"}, want: one("pdf/SKILL.md")},
		{name: "a skill's file", files: []string{"pdf/SKILL.md", "pdf/forms.md"}, ask: []string{"pdf/SKILL"}, want: one("pdf/SKILL.md")},
		{name: "a skill in globs of its folder", files: []string{"pdf/SKILL.md", "pdf/forms.md"}, ask: []string{"pdf/*"}, want: want{hits: []string{"pdf/SKILL.md", "pdf/forms.md"}}},
		{name: "a skill in globs of its level", files: []string{"pdf/SKILL.md", "pdf/forms.md"}, ask: []string{"*"}, want: want{hits: []string{"pdf/SKILL.md"}}},

		{name: "a name with plus signs", files: []string{"c++.md"}, ask: []string{"c++"}, want: one("c++.md")},
		{name: "a name that is a class", files: []string{"notes [v2].md", "notes v.md"}, ask: []string{"notes [v2]"}, want: one("notes [v2].md")},
		{name: "a name that is a malformed glob", files: []string{"a{.md"}, ask: []string{"a{"}, want: one("a{.md")},
		{name: "an unclosed class", files: []string{"notes v2"}, ask: []string{"notes [v2"}, want: miss("notes [v2", `is no valid pattern: a [ or { is not closed, or it ends in \ (write \[ for a bracket)`)},
		{name: "an unclosed brace", files: project(), ask: []string{"{a"}, want: miss("{a", `is no valid pattern: a [ or { is not closed, or it ends in \ (write \[ for a bracket)`)},
		{name: "an escape of nothing", files: project(), ask: []string{`a\`}, want: miss(`a\`, `is no valid pattern: a [ or { is not closed, or it ends in \ (write \[ for a bracket)`)},
		{name: "a long pattern", files: project(), ask: []string{strings.Repeat("*", 257)}, want: miss(strings.Repeat("*", 257), "is longer than 256 bytes")},
		{name: "a long name", files: project(), ask: []string{strings.Repeat("a", 10_000)}, want: miss(strings.Repeat("a", 10_000), "")},
		{name: "24 groups of braces", files: project(), ask: []string{strings.Repeat("{a,aa}", 24) + "b"}, want: miss(strings.Repeat("{a,aa}", 24)+"b", "stands for more than 64 patterns: use fewer { } in it, or several patterns")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := subjectsOf(c.files...)
			set := build("project", all, c.disabled, c.learned)
			got, err := set.Resolve(c.ask, c.skip)
			if err != nil {
				t.Fatal(err)
			}
			gotten := want{pathsOf(got.Hits), pathsOf(got.AlreadyLearned), got.Missed, got.Literal}
			if diff := cmp.Diff(c.want, gotten, cmp.AllowUnexported(want{}), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(subjects.Miss{}, "Near")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkSuggestions(t, set, all, got.Missed)
		})
	}
}

// The slug that is like a pattern that matches nothing is named, unless it is hidden or disabled.
func TestNear(t *testing.T) {
	t.Parallel()
	set := build("project", subjectsOf(".secret.md", "secrets.md", "secreta.md", "style.md"), []string{"secreta"}, nil)
	for pattern, want := range map[string]string{"./styel": "style", "STYLE": "style", "secretx": "secrets", "nothing like it": ""} {
		result, err := set.Resolve([]string{pattern}, false)
		if err != nil || len(result.Missed) != 1 || result.Missed[0].Near != want {
			t.Errorf("%q: %+v, %v; want %q", pattern, result, err, want)
		}
	}
}

func TestDead(t *testing.T) {
	t.Parallel()
	set := build("project", subjectsOf(project()...),
		[]string{"internal-notes", "maintainer", "", "nothing/*"},
		[]string{"README", "Code-Quality", "internal-notes", "{a"})
	want := []subjects.Dead{
		{Field: "disabled", Pattern: "maintainer"},
		{Field: "disabled", Pattern: ""},
		{Field: "disabled", Pattern: "nothing/*"},
		{Field: "learned", Pattern: "Code-Quality"},
		{Field: "learned", Pattern: "internal-notes"},
		{Field: "learned", Pattern: "{a"},
	}
	if diff := cmp.Diff(want, set.Dead, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func build(topic string, all []*subjects.Subject, disabled, learned []string) *subjects.Tree {
	tree := &subjects.Tree{Subjects: all}
	tree.Configure(topic, disabled, learned)
	return tree
}

func TestGlobsThatMatchNothing(t *testing.T) {
	t.Parallel()
	set := build("project", subjectsOf(project()...), slices.Repeat([]string{strings.Repeat("{x,y}", 6) + "*"}, 8), nil)
	people := build("project", subjectsOf(project()...), slices.Repeat([]string{"./nothing/**/x*", "**/nothing*"}, 32), nil)
	if len(set.Visible) == 0 || len(people.Visible) == 0 {
		t.Error("globs that match nothing disable everything")
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"a", "notes [v2]", `c\[`, "{a,b}/**", strings.Repeat("a", 10_000), "a}", "\xff", ""} {
		if problem := subjects.Patterns("", []string{pattern})[0].Problem; problem != "" {
			t.Errorf("%q %s", pattern, problem)
		}
	}
	for _, pattern := range []string{"c[", "{a", `a\`, `a\/`, "[]", "\xff*", strings.Repeat("*", 257), strings.Repeat("{a,b}", 7)} {
		if subjects.Patterns("", []string{pattern})[0].Problem == "" {
			t.Errorf("%q is valid", pattern)
		}
	}
}

func TestResolveBoundsACall(t *testing.T) {
	t.Parallel()
	set := build("project", subjectsOf(project()...), nil, nil)
	if _, err := set.Resolve(make([]string, subjects.MaxPatterns+1), false); err == nil || !strings.Contains(err.Error(), "at most 64") {
		t.Errorf("65 patterns: %v", err)
	}
	// As many patterns as a call may have are tried when they are what people write.
	for _, pattern := range []string{"nothing/**/x*", "**/nothing*", "nothing*/*x"} {
		got, err := set.Resolve(slices.Repeat([]string{pattern}, subjects.MaxPatterns), false)
		if last := got.Missed[len(got.Missed)-1]; err != nil || last.Reason != "" {
			t.Errorf("64 of %q: %+v, %v", pattern, last, err)
		}
	}
}

// many returns 20,000 subjects in 400 folders.
func many() []*subjects.Subject {
	all := make([]*subjects.Subject, 0, 20_000)
	for i := range 400 {
		for j := range 50 {
			slug := fmt.Sprintf("folder-%03d/subject-number-%02d", i, j)
			all = append(all, &subjects.Subject{Path: slug + ".md", PathSlug: slug, Slug: slug, Name: slug, Ext: "md"})
		}
	}
	return all
}

// Whatever is asked for, a call ends soon. The bounds are many times what it
// takes, and a small part of what it would take if the work doubled with each
// group or star.
func TestResolveIsNeverSlow(t *testing.T) {
	t.Parallel()
	all := many()[:200]
	for i := range all { // the worst of names for patterns full of stars
		all[i].Slug = strings.Repeat("a", 60) + all[i].Slug
		all[i].PathSlug = all[i].Slug
	}
	for name, patterns := range map[string][]string{
		"10,000 characters":       {strings.Repeat("*a", 5_000)},
		"10,000 times ./":         {strings.Repeat("./", 5_000)},
		"24 groups":               {strings.Repeat("{a,aa}", 24) + "b"},
		"24 groups in each other": {strings.Repeat("{a,", 24) + strings.Repeat("}", 24)},
		"groups of stars":         {strings.Repeat("{a*,*a}", 6) + "b"},
		"many stars":              {strings.Repeat("*a", 127) + "b"},
		"64 misses":               slices.Repeat([]string{strings.Repeat("a", 60) + "folder/subject"}, 64),
		"64 of stars and classes": slices.Repeat([]string{strings.Repeat("*a", 14) + "*[x-z]"}, 64),
		"64 of levels and stars":  slices.Repeat([]string{strings.Repeat("**/", 3) + strings.Repeat("*a", 8) + "*[x-z]"}, 64),
		"64 of groups":            slices.Repeat([]string{strings.Repeat("{a*,*b}", 6)}, 64),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			set := build("project", all, patterns, patterns)
			if _, err := set.Resolve(patterns, false); err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			t.Log(took)
			if took > 2*time.Minute {
				t.Errorf("took %s", took)
			}
		})
	}
}

func FuzzResolve(f *testing.F) {
	for _, pattern := range []string{"**", "maintainers/*", "{a,b}/[!c]*", "notes [v2", `\`, "./project/README/", "maintaner", strings.Repeat("{a,", 30)} {
		f.Add(pattern, "internal-notes", "*")
		f.Add("README", pattern, pattern)
	}
	f.Fuzz(func(t *testing.T, pattern, disabled, learned string) {
		all := subjectsOf(append(project(), "notes [v2].md", "pdf/SKILL.md", "pdf/forms.md", "c++.md", "\xff\n.md", "foo.md", ".foo.md", "foo.toml")...)
		start := time.Now()
		set := build("project", all, []string{disabled}, []string{learned})
		for _, skip := range []bool{false, true} {
			got, err := set.Resolve([]string{pattern}, skip)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Hits)+len(got.AlreadyLearned) == 0 != (len(got.Missed) == 1) {
				t.Fatalf("%q: %+v", pattern, got)
			}
			for _, hit := range slices.Concat(got.Hits, got.AlreadyLearned) {
				if hit.Disabled {
					t.Fatalf("%q stands for %q, which %q disables", pattern, hit.Path, disabled)
				}
			}
			checkSuggestions(t, set, all, got.Missed)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Fatalf("took %s", took)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	all := many()
	set := build("project", all, nil, nil)
	for _, c := range []struct{ name, pattern string }{
		{"all", "**"},
		{"level", "*"},
		{"folder", "folder-200/*"},
		{"exact", "folder-399/subject-number-49"},
		{"path", "./project/folder-399/subject-number-49.md"},
		{"braces", "folder-{1,2,3}*/{*7,*8}"},
		{"miss", "folder-200/sabject-nomber-07x"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := set.Resolve([]string{c.pattern}, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			build("project", all, []string{"folder-1*/**", "nothing"}, []string{"folder-20?/*"})
		}
	})
}
