package knowledge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	generated "github.com/convtools/convtools/generated/knowledge"
	"github.com/convtools/convtools/runtime/knowledge"
)

// A call reads a bounded number of bytes, whatever is in the files, and names what
// it did not get to.
func TestACallReadsSoMuch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, dir, "convtools.toml", bigTopic)
	// Shown, a control character takes three bytes, and so none of these can be.
	control := strings.Repeat("\x01", 3<<20)
	for n := range 5 {
		place(t, dir, fmt.Sprintf("kb/control-%d.md", n), control)
	}
	place(t, dir, "kb/image.png", "\x00"+strings.Repeat("x", 4<<20-1))
	place(t, dir, "kb/large.md", strings.Repeat("x", 4<<20))
	got := learn(t, open(t, dir, knowledge.Options{}), "big", "**")
	for _, want := range []string{`"control-0"`, `"control-1"`, "cannot be loaded: what is to be shown of it is over the limit", `"control-2"`, `"control-4"`, `"large"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%.600s\ndoes not say %s", got, want)
		}
	}
	got = learn(t, open(t, dir, knowledge.Options{}), "big", "image", "large")
	for _, want := range []string{`"image": skipped: binary`, `"large": fits only into an answer of its own: load it alone`} {
		if !strings.Contains(got, want) {
			t.Errorf("%.600s\ndoes not say %s", got, want)
		}
	}
}

// A host that starts waits no longer than a moment for the description of the
// tool. What could not be decided by then is offered.
func TestDescribingEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Names and patterns for which it takes long to see that they do not match.
	for n := range 400 {
		place(t, dir, fmt.Sprintf("kb/%s%03d.md", strings.Repeat("a", 200), n), "")
	}
	var config strings.Builder
	for n := range 40 {
		fmt.Fprintf(&config, "[kb.topic.t%02d]\nsubjects = \"kb\"\nlearned = [\"**\"]\ndisabled = [", n)
		for p := range 50 {
			fmt.Fprintf(&config, "\"%s*[x-z%c]\", ", strings.Repeat("*a", 8), 'α'+p)
		}
		config.WriteString("]\n")
	}
	place(t, dir, "convtools.toml", config.String())
	for _, injected := range []bool{false, true} {
		b := open(t, dir, knowledge.Options{Injected: injected})
		start := time.Now()
		_, offered := b.Describe(t.Context(), generated.LearnTool(), knowledge.MCPDescription)
		took := time.Since(start)
		t.Log(took)
		if took > 10*time.Second || !injected && !offered {
			t.Errorf("injected %t: %t after %s", injected, offered, took)
		}
	}
}

// Whether a topic is offered is the same whether or not single files tell it.
func TestTopicsThatAreOffered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, config string
		files        []string
		injected     bool
		want         bool
	}{
		{"nothing disabled", "", []string{"a.md"}, false, true},
		{"all disabled", "disabled = ['*']", []string{"a.md", "b.md"}, false, false},
		{"one level disabled", "disabled = ['*']", []string{"a.md", "d/b.md"}, false, true},
		{"disabled by name", "disabled = ['./p/a.md']", []string{"a.md"}, false, false},
		{"disabled by the name that a listing shows", "disabled = ['a\u240ab.md', 'a\u240ab.txt']", []string{"a\nb.md", "a\nb.txt"}, false, false},
		{"a skill disabled by its folder", "disabled = ['pdf']", []string{"pdf/SKILL.md"}, false, false},
		{"a skill whose slug is another file's", "disabled = ['pdf']", []string{"pdf/SKILL.md", "pdf.md"}, false, true},
		{"only hidden", "disabled = ['x']", []string{".a.md"}, false, false},
		{"learned", "learned = ['**']", []string{"a.md"}, false, true},
		{"learned and in the prompt", "learned = ['**']", []string{"a.md", "b/c.md"}, true, false},
		{"learned and in the prompt but one", "learned = ['b/**']", []string{"a.md", "b/c.md"}, true, true},
		{"a name that is a glob for others too", "learned = ['a*']", []string{"a*.md", "ab.md"}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			place(t, dir, "convtools.toml", "[kb.topic.p]\nsubjects = 'kb'\n"+c.config+"\n")
			for _, name := range c.files {
				place(t, dir, "kb/"+name, "x")
			}
			b := open(t, dir, knowledge.Options{Injected: c.injected})
			if _, offered := b.Describe(t.Context(), generated.LearnTool(), knowledge.MCPDescription); offered != c.want {
				t.Errorf("offered: %t, want %t", offered, c.want)
			}
		})
	}
}
