package knowledge

import (
	"slices"
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
		var got []string
		for _, l := range linksIn(line) {
			got = append(got, l.target)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestRelative(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		"a.md": "a.md", "../a.md#x": "../a.md", "a.md?x": "a.md", "a%20b.md": "a b.md", "a%zz": "", "x/a:b.md": "x/a:b.md",
		"": "", "#a": "", "/a.md": "", "https://example.com": "", "mailto:x@example.com": "", "//example.com/a": "",
	} {
		got, ok := relativePath(link)
		if got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v", link, got, ok)
		}
	}
}

func TestLinksInFences(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll("a\n```go\nX\n~~~\nX\n``` x\nX\n```\nb\n````\nX\n```\nX\n`````\nc\n~~~ x\nX", "X", "[x](x)")
	text = strings.NewReplacer("a\n", "[x](a)\n", "b\n", "[x](b)\n", "c\n", "[x](c)\n").Replace(text)
	want := []link{{1, "a"}, {9, "b"}, {15, "c"}}
	if got := linksIn(text); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What a file holds must not keep the check busy, and every target is part of
// its line.
func FuzzLinks(f *testing.F) {
	for _, seed := range []string{"[x](a.md)", "`` ` [x](<a b>) ``", "```\n[x](y)\n```", "[a](b(c(d)e)f)", "\\](x)", "](" + strings.Repeat("(", 50)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		for _, l := range linksIn(text) {
			if l.target == "" || l.line > len(lines) || !strings.Contains(lines[l.line-1], l.target) {
				t.Errorf("target %q of line %d", l.target, l.line)
			}
			if path, ok := relativePath(l.target); ok && strings.HasPrefix(path, "/") && !strings.Contains(l.target, "%") {
				t.Errorf("relative path %q of target %q", path, l.target)
			}
		}
	})
}
