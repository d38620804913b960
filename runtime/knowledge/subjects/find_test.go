package subjects_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// What is found by slug is what a scan finds, and only what a scan has to settle
// is not found.
func TestFind(t *testing.T) {
	t.Parallel()
	deep := func(components int, name string) string { return strings.Repeat("d/", components-1) + name }
	files := map[string]string{}
	for _, path := range []string{
		"a.md", "a.toml", ".a.md", "..a", "b/c.md", ".b/c.md", "..b/.c.txt", "a.b.md", "a.b/x.md",
		"pdf/SKILL.md", "pdf/forms.md", ".doc/SKILL.md", "doc/SKILL.md", "xls/SKILL.md", "xls.md", "ppt/skill.md", "rtf/.SKILL.md",
		"SKILL.md", "odt/SKILL/SKILL.md", "odt/SKILL.md", "svg/SKILL/SKILL.md", ".git/config.md", "w/.git", "é x.md",
		deep(16, "last.md"), deep(17, "beyond.md"), deep(15, "skill/SKILL.md"), deep(16, "skill/SKILL.md"),
	} {
		files[path] = path
	}
	dir := topic(t, files)
	tree := scan(t, dir)
	bySlug := map[string][]subjects.Subject{
		"": nil, ".": nil, "/": nil, "..": nil, "../a": nil, "a/": nil, "/a": nil, "./a": nil, "a//a": nil, "b/../a": nil, "git/config": nil, "w/git": nil,
		"b": nil, "*": nil, "A": nil, "a.md": nil, ".a": nil, deep(17, "beyond"): nil, deep(17, "skill"): nil, deep(16, "skill"): nil, strings.Repeat("a/", 1<<20): nil,
	}
	for _, s := range tree.Subjects {
		bySlug[s.Slug] = append(bySlug[s.Slug], s)
	}
	for slug, want := range bySlug {
		found, ok := subjects.Find(soon(t), root(t, dir), []string{slug})
		if !ok {
			if want != nil && slug != "SKILL" && !strings.HasSuffix(slug, "/SKILL") {
				t.Errorf("%q is not found", slug)
			}
			continue
		}
		if diff := cmp.Diff(want, found.Subjects); diff != "" {
			t.Errorf("%q (-scanned +found):\n%s", slug, diff)
		}
		for i := range found.Subjects {
			s := &found.Subjects[i]
			if c, err := found.Read(soon(t), s); err != nil || c.Text != s.Path && !strings.Contains(c.Text, "\n"+s.Path+"\n") {
				t.Errorf("%s: %q, %v", s.Path, c.Text, err)
			}
		}
		found.Close()
	}
	both, ok := subjects.Find(soon(t), root(t, dir), []string{"pdf", "b/c", "pdf"})
	if !ok || len(both.Subjects) != 4 {
		t.Fatalf("%+v, %t", both, ok)
	}
	both.Close()
	for _, slugs := range [][]string{{"a", "nothing"}, {"pdf/SKILL", "a"}} {
		if _, ok := subjects.Find(soon(t), root(t, dir), slugs); ok {
			t.Errorf("%q is found", slugs)
		}
	}
}
