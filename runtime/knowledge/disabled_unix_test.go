//go:build unix

package knowledge_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/knowledge"
)

// A link inside a topic is no way to what is disabled, and makes nothing visible
// that is hidden.
func TestLinksToWhatIsDisabled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, dir, "convtools.toml", "[kb.topic.p]\nsubjects = 'kb'\nlearned = ['learned']\ndisabled = ['drafts/**', 'pdf', '.keys/*']\n")
	for _, name := range []string{"drafts/a.md", "pdf/SKILL.md", ".keys/k.md", ".hidden.md", "open.md", ".git/config"} {
		place(t, dir, "kb/"+name, "content of "+name)
	}
	for name, target := range map[string]string{
		"a.md": "drafts/a.md", "b.md": "a.md", "c.md": "pdf/SKILL.md", "d.md": "pdf/../.keys/k.md", "learned.md": "drafts/a.md",
		"e.md": ".git/config", "f.md": ".hidden.md", "g.md": "open.md",
	} {
		if err := os.Symlink(target, filepath.Join(dir, "kb", name)); err != nil {
			t.Fatal(err)
		}
	}
	b := open(t, dir, knowledge.Options{})
	list := learn(t, b, "p")
	for name, listed := range map[string]bool{"a": false, "b": false, "c": false, "d": false, "e": false, "f": false, "g": true, "open": true, "learned": false} {
		if strings.Contains(list, "\n- "+name+"\n") != listed {
			t.Errorf("%s is listed, or is not:\n%s", name, list)
		}
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "learned", "a.md", "p/a", "[a]"} {
		if text, err := b.Learn(t.Context(), "p", []string{name}, nil); err == nil {
			t.Errorf("A-5 %s is learned: %s", name, text)
		}
		if text, _, err := b.ReadResource(t.Context(), "p", name); err == nil {
			t.Errorf("A-5 %s is a resource: %s", name, text)
		}
	}
	if text := learn(t, b, "p", "**"); strings.Contains(text, "drafts") || strings.Contains(text, "SKILL") || strings.Contains(text, "keys") || strings.Contains(text, "config") || strings.Contains(text, "hidden") {
		t.Errorf("all is %s", text)
	}
	for name, want := range map[string]string{"f": "content of .hidden.md", "g": "content of open.md"} {
		if text := learn(t, b, "p", name); text != want {
			t.Errorf("%s is %q", name, text)
		}
	}
}

// Files whose names cannot be told apart where they are shown are loaded together,
// and disabled together.
func TestNamesThatLookAlikeCanBeLearned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, dir, "convtools.toml", "[kb.topic.p]\nsubjects = 'kb'\n")
	for _, name := range []string{"a\xff.md", "a\xfe.md"} {
		if err := os.MkdirAll(filepath.Join(dir, "kb"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kb", name), []byte("content "+strconv.Quote(name)), 0o600); err != nil {
			t.Skipf("the file system refuses the name: %v", err)
		}
	}
	const shown = "a\ufffd.md"
	b := open(t, dir, knowledge.Options{})
	if list := learn(t, b, "p"); strings.Count(list, "- "+shown+"\n") != 2 {
		t.Errorf("they are listed as:\n%s", list)
	}
	wants(t, learn(t, b, "p", shown), `content "a\xff.md"`, `content "a\xfe.md"`)
	place(t, dir, "convtools.toml", "[kb.topic.p]\nsubjects = 'kb'\ndisabled = ['"+shown+"']\n")
	refused(t, open(t, dir, knowledge.Options{}), "p", "**")
}

// They have one address, under which all of them are read: a list of addresses goes on
// behind the last one of a page, and would not get past several that are the same.
func TestNamesThatLookAlikeHaveOneAddress(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, dir, "convtools.toml", "[kb.topic.p]\nsubjects = 'kb'\n")
	place(t, dir, "kb/other.md", "other")
	contents := []string{"first", "second", "third"}
	for i, name := range []string{"a\xfd.md", "a\xfe.md", "a\xff.md"} {
		if err := os.WriteFile(filepath.Join(dir, "kb", name), []byte(contents[i]), 0o600); err != nil {
			t.Skipf("the file system refuses the name: %v", err)
		}
	}
	b := open(t, dir, knowledge.Options{})
	resources, _, err := knowledge.Family(host(dir)).Resources[0].List(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range resources {
		names = append(names, r.Name)
	}
	if want := []string{"p/a\ufffd.md", "p/other"}; !slices.Equal(names, want) {
		t.Errorf("listed are %q; want %q", names, want)
	}
	text, _, err := b.ReadResource(t.Context(), "p", "a\ufffd.md")
	if err != nil {
		t.Fatal(err)
	}
	wants(t, text, contents...)
}
