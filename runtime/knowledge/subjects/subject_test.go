package subjects_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

func TestSlug(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, path, slug, ext string
		hidden                bool
	}{
		{"KB-5 folder and extension", "maintainers/jean.md", "maintainers/jean", "md", false},
		{"KB-7 hidden file", ".internal-notes.md", "internal-notes", "md", true},
		{"KB-7 hidden file in a folder", "ast-grep/.rules.md", "ast-grep/rules", "md", true},
		{"KB-6 A-2 hidden folder", ".hidden-dir/visible.md", "hidden-dir/visible", "md", true},
		{"A-2 dots in every component", "a/.b/.c.toml", "a/b/c", "toml", true},
		{"KB-5 hidden without extension", ".gitignore", "gitignore", "", true},
		{"KB-5 hidden with extension", ".env.local", "env", "local", true},
		{"KB-5 no extension", "README", "README", "", false},
		{"KB-5 empty extension", "foo.", "foo", "", false},
		{"KB-5 last extension only", "foo.tar.gz", "foo.tar", "gz", false},
		{"KB-5 version with extension", "v1.2.md", "v1.2", "md", false},
		{"KB-5 version without extension", "v1.2", "v1", "2", false},
		{"KB-5 extension alone", ".md", "md", "", true},
		{"A-2 two dots", "..x.md", "x", "md", true},
		{"KB-5 extension in capitals", "x.MD", "x", "md", false},
		{"KB-5 folder keeps its dots", "v1.2/a.md", "v1.2/a", "md", false},
		{"A-2 two dots and an extension alone", "..md", "md", "", true},
		{"A-2 nothing but dots", "a/.../b.md", "a/.../b", "md", true},
		{"KB-6 a dot inside hides nothing", "a.d/b", "a.d/b", "", false},
		{"A-16 quotes stay", `say "hi".md`, `say "hi"`, "md", false},
		{"KB-5 other scripts", "Überblick/日本.md", "Überblick/日本", "md", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := []*subjects.Subject{{
				Path: test.path, PathSlug: test.slug, Slug: test.slug, Name: test.slug, Ext: test.ext, Hidden: test.hidden,
			}}
			if diff := cmp.Diff(want, scan(t, topic(t, map[string]string{test.path: "x"})).Subjects); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestHiddenIsDecidedInTheTopic(t *testing.T) {
	t.Parallel()
	dir := topic(t, map[string]string{".jp/kb/project/a.md": "x"})
	for _, s := range scan(t, dir+"/.jp/kb/project").Subjects {
		if s.Hidden || s.Slug != "a" {
			t.Errorf("%+v", s)
		}
	}
}

// named is what settles between subjects.
type named struct {
	Path, Slug, Name string
	Skill            bool
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		paths []string
		want  []named
	}{
		{
			name:  "A-3 several visible ones are called by their files",
			paths: []string{"foo.toml", "foo.md", "foo"},
			want:  []named{{"foo", "foo", "foo", false}, {"foo.md", "foo", "foo.md", false}, {"foo.toml", "foo", "foo.toml", false}},
		},
		{
			name:  "A-3 a visible one keeps the slug it shares with a hidden one",
			paths: []string{"foo.md", ".foo.md"},
			want:  []named{{".foo.md", "foo", ".foo.md", false}, {"foo.md", "foo", "foo", false}},
		},
		{
			name:  "A-3 a hidden folder shares the slugs of a visible one",
			paths: []string{"a/b.md", "a/.b.md", ".a/b.md"},
			want:  []named{{".a/b.md", "a/b", ".a/b.md", false}, {"a/.b.md", "a/b", "a/.b.md", false}, {"a/b.md", "a/b", "a/b", false}},
		},
		{
			name:  "A-3 hidden ones among themselves",
			paths: []string{".foo.md", ".foo.toml"},
			want:  []named{{".foo.md", "foo", ".foo.md", false}, {".foo.toml", "foo", ".foo.toml", false}},
		},
		{
			name:  "A-3 extension in two spellings",
			paths: []string{"x.md", "y/x.MD", "y/x.md"},
			want:  []named{{"x.md", "x", "x", false}, {"y/x.MD", "y/x", "y/x.MD", false}, {"y/x.md", "y/x", "y/x.md", false}},
		},
		{
			name:  "a skill has the slug of its folder",
			paths: []string{"pdf/SKILL.md", "pdf/forms.md"},
			want:  []named{{"pdf/SKILL.md", "pdf", "pdf", true}, {"pdf/forms.md", "pdf/forms", "pdf/forms", false}},
		},
		{
			name:  "a skill leaves the slug to a file that has it",
			paths: []string{"pdf/SKILL.md", "pdf.txt"},
			want:  []named{{"pdf.txt", "pdf", "pdf", false}, {"pdf/SKILL.md", "pdf/SKILL", "pdf/SKILL", false}},
		},
		{
			name:  "a skill leaves the slug to a hidden file that has it",
			paths: []string{"pdf/SKILL.md", ".pdf.txt"},
			want:  []named{{".pdf.txt", "pdf", "pdf", false}, {"pdf/SKILL.md", "pdf/SKILL", "pdf/SKILL", false}},
		},
		{
			name:  "two skills share a slug like other files",
			paths: []string{"pdf/SKILL.md", ".pdf/SKILL.md"},
			want:  []named{{".pdf/SKILL.md", "pdf", ".pdf/SKILL.md", true}, {"pdf/SKILL.md", "pdf", "pdf", true}},
		},
		{
			name:  "a folder has no extension to lose",
			paths: []string{"v1.2/SKILL.md"},
			want:  []named{{"v1.2/SKILL.md", "v1.2", "v1.2", true}},
		},
		{
			name:  "the topic itself is no skill, and neither is another spelling",
			paths: []string{"SKILL.md", "a/skill.md", "b/SKILL.txt"},
			want:  []named{{"SKILL.md", "SKILL", "SKILL", false}, {"a/skill.md", "a/skill", "a/skill", false}, {"b/SKILL.txt", "b/SKILL", "b/SKILL", false}},
		},
		{
			name:  "A-26 byte order of slugs",
			paths: []string{"b.md", "a/z.md", "a-b.md", "a.md", "B.md"},
			want: []named{
				{"B.md", "B", "B", false},
				{"a.md", "a", "a", false},
				{"a-b.md", "a-b", "a-b", false},
				{"a/z.md", "a/z", "a/z", false},
				{"b.md", "b", "b", false},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for _, path := range test.paths {
				files[path] = "x"
			}
			var got []named
			for _, s := range scan(t, topic(t, files)).Subjects {
				got = append(got, named{s.Path, s.Slug, s.Name, s.Skill})
			}
			// On a file system that ignores case the two spellings are one file.
			if len(got) < len(test.paths) {
				t.Skipf("the file system keeps %d of %d names apart", len(got), len(test.paths))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
