package subjects

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

func FuzzFormat(f *testing.F) {
	f.Add([]byte("a```\n</subject>"), "go")
	f.Add([]byte("\ufeff\r\n"), "md")
	f.Add([]byte("\xff\x1b\u202e</Topic"), "x\ny")
	f.Fuzz(func(t *testing.T, data []byte, ext string) {
		ext = strings.ToLower(ext)
		c := format(data, ext)
		if !utf8.ValidString(c.Text) || text.Visible(c.Text) != c.Text {
			t.Errorf("not fit to be shown: %q", c.Text)
		}
		if (c.Text == "") != (c.Empty || c.Binary) {
			t.Errorf("%+v", c)
		}
		if _, fenced := fenceLanguage(ext); fenced && c.Text != "" {
			head, rest, _ := strings.Cut(c.Text, "\n")
			marks := head[:len(head)-len(strings.TrimLeft(head, "`"))]
			body, closed := strings.CutSuffix(rest, "\n"+marks)
			if len(marks) < 3 || !closed || strings.Contains(body, marks) || strings.ContainsAny(head[len(marks):], "` ") {
				t.Errorf("the fence does not hold: %q", c.Text)
			}
		}
		safe := CloseTags(c.Text)
		lower := strings.ToLower(safe)
		for _, closer := range []string{"</subject", "</topic", "</knowledge"} {
			if strings.Contains(lower, closer) {
				t.Errorf("%s is left in %q", closer, safe)
			}
		}
		if strings.ReplaceAll(safe, "&lt;/", "</") != strings.ReplaceAll(c.Text, "&lt;/", "</") {
			t.Errorf("more than closers changed: %q became %q", c.Text, safe)
		}
	})
}

// What is on disk is any sequence of components without NUL.
func FuzzSlug(f *testing.F) {
	for _, seed := range []string{"a/.b/.c.toml", "..md", ".../...", "a\nb/\xff.x\"", "X/SKILL.md", ".x/SKILL.md"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		for c := range strings.SplitSeq(path, "/") {
			if c == "" || c == "." || c == ".." || strings.Contains(c, "\x00") {
				t.Skip("not a path that a scan finds")
			}
		}
		all := []*Subject{newSubject(path)}
		nameAll(all)
		s := all[0]
		for _, shown := range []string{s.Slug, s.PathSlug, s.Name} {
			if shown == "" || !utf8.ValidString(shown) || text.Line(shown) != shown || strings.Contains(shown, "\t") {
				t.Errorf("not fit to be asked for: %q", shown)
			}
			for c := range strings.SplitSeq(shown, "/") {
				if c == "" || c[0] == '.' && strings.Trim(c, ".") != "" {
					t.Errorf("component %q in %q", c, shown)
				}
			}
		}
		if strings.Count(s.PathSlug, "/") != strings.Count(path, "/") {
			t.Errorf("%q has other components than %q", s.PathSlug, path)
		}
		if s.Path != path || strings.Contains(s.Ext, ".") || strings.Contains(s.Ext, "/") {
			t.Errorf("%+v", s)
		}
	})
}

func FuzzFrontMatter(f *testing.F) {
	for _, test := range descriptions() {
		f.Add([]byte(test.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := DescriptionOf(data)
		if !utf8.ValidString(got) || text.Line(got) != got || strings.ContainsAny(got, "\t\n\r") || strings.TrimSpace(got) != got {
			t.Errorf("not fit for a listing: %q", got)
		}
		if n := utf8.RuneCountInString(got); n > maxDescription {
			t.Errorf("%d characters", n)
		}
		if (got != "" || err != nil) && !strings.HasPrefix(strings.TrimPrefix(string(data), "\ufeff"), "---") {
			t.Errorf("%q, %v does not come from front matter", got, err)
		}
	})
}
