package knowledge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinkTargets(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"[x](a.md)":                    {"a.md"},
		"[x](a.md) and ![y](b.png)":    {"a.md", "b.png"},
		"[x](<a b.md>)":                {"a b.md"},
		"[x](a.md \"title\")":          {"a.md"},
		"[x](a(1).md)":                 {"a(1).md"},
		"[![x](i.png)](a.md)":          {"i.png", "a.md"},
		"`[x](a.md)`":                  nil,
		"``a ` [x](a.md)`` [y](b.md)":  {"b.md"},
		"` [x](a.md)":                  {"a.md"},
		"[x\\](a.md)":                  nil,
		"[x](a.md":                     nil,
		"[x](<a.md":                    nil,
		"[x]()":                        nil,
		"[x] (a.md)":                   nil,
		"f[i](a.md)":                   {"a.md"},
		"](":                           nil,
		strings.Repeat("[", 1000):      nil,
		strings.Repeat("`", 999) + "x": nil,
	} {
		if diff := cmp.Diff(want, linkTargets(line)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestRelative(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"a.md": "a.md", "../a.md#x": "../a.md", "a.md?x": "a.md", "a%20b.md": "a b.md", "a%zz": "a%zz", "x/a:b.md": "x/a:b.md",
		"": "", "#a": "", "/a.md": "", "https://example.com": "", "mailto:x@example.com": "", "//example.com/a": "",
	} {
		got, ok := relative(link)
		if got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v", link, got, ok)
		}
	}
}

func TestProseLines(t *testing.T) {
	t.Parallel()
	text := "a\n```go\nb\n~~~\n```\nc\n````\n```\nd\n`````\ne\n~~~ x\nf"
	var got []string
	for line := range proseLines(text) {
		got = append(got, line)
	}
	want := []string{"a", "", "", "", "", "c", "", "", "", "", "e", "", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a file holds must not keep the check busy, and every target is part of
// its line.
func FuzzLinks(f *testing.F) {
	for _, seed := range []string{"[x](a.md)", "`` ` [x](<a b>) ``", "```\n[x](y)\n```", "[a](b(c(d)e)f)", "\\](x)", "](" + strings.Repeat("(", 50)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := 0
		for line := range proseLines(text) {
			lines++
			for _, target := range linkTargets(line) {
				if target == "" || !strings.Contains(line, target) {
					t.Errorf("target %q of line %q", target, line)
				}
				if path, ok := relative(target); ok && strings.HasPrefix(path, "/") && !strings.Contains(target, "%") {
					t.Errorf("relative path %q of target %q", path, target)
				}
			}
		}
		if want := strings.Count(text, "\n") + 1; lines != want {
			t.Errorf("%d lines, want %d", lines, want)
		}
	})
}
