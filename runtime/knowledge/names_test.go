package knowledge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge"
)

// The same name in two forms of Unicode, which look the same and have other bytes.
const (
	composed   = "caf\u00e9"
	decomposed = "cafe\u0301"
)

// What is disabled in one form of Unicode is disabled in all of them: who writes the
// configuration does not choose the form that a file system keeps names in.
func TestDisabledInAnotherForm(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"%s", "%s.md", "./%s/", "%s*", "%s/**", "*%s", "[c]%s", "{a,%s}", "folder/%s", "folder/%s.md", "project/%s"} {
		for _, forms := range [][2]string{{composed, decomposed}, {decomposed, composed}} {
			t.Run(fmt.Sprintf("%q %q", entry, forms[0]), func(t *testing.T) {
				t.Parallel()
				name, pattern := forms[1], fmt.Sprintf(entry, forms[0])
				switch {
				case strings.HasPrefix(entry, "folder/"):
					name = "folder/" + name
				case strings.HasSuffix(entry, "/**"):
					name += "/inside"
				case strings.HasPrefix(entry, "[c]"):
					pattern = "[c]" + strings.TrimPrefix(forms[0], "c")
				case strings.HasPrefix(entry, "*"):
					pattern = "*" + strings.TrimPrefix(forms[0], "c")
				}
				dir := workspace(t, fmt.Sprintf("-- convtools.toml --\n[kb.topic.project]\nsubjects = \"kb\"\ndisabled = [%q]\n-- kb/other.md --\nOther.\n-- kb/%s.md --\nSECRET\n", pattern, name))
				b := open(t, dir, knowledge.Options{})
				wantsNone(t, learn(t, b, "project"), "caf")
				wantsNone(t, learn(t, b, "project", "**"), "SECRET")
				for _, asked := range []string{name, strings.Replace(name, decomposed, composed, 1), name + ".md"} {
					if text, err := b.Learn(t.Context(), "project", []string{asked}, nil); err == nil {
						t.Errorf("%q is disabled by %q, and loads: %s", asked, pattern, text)
					}
				}
			})
		}
	}
}

// A subject is found in any form of Unicode.
func TestNamesInAnotherForm(t *testing.T) {
	t.Parallel()
	for _, forms := range [][2]string{{composed, decomposed}, {decomposed, composed}} {
		dir := workspace(t, fmt.Sprintf("-- convtools.toml --\n[kb.topic.project]\nsubjects = \"kb\"\n-- kb/%s.md --\nCoffee.\n-- kb/see.md --\n[coffee](%s.md)\n", forms[0], forms[1]))
		b := open(t, dir, knowledge.Options{})
		wants(t, learn(t, b, "project"), "- "+composed+"\n")
		for _, pattern := range []string{composed, decomposed, composed + ".md", decomposed + ".md"} {
			if got := learn(t, b, "project", pattern); got != "Coffee." {
				t.Errorf("%q loads %q", pattern, got)
			}
		}
		wants(t, learn(t, b, "project", decomposed+"*"), "Coffee.")
		if got := findings(t, b); got != "" {
			t.Errorf("findings: %s", got)
		}
	}
}

// Two files whose names look the same are loaded together by their slug.
func TestNamesThatLookTheSame(t *testing.T) {
	t.Parallel()
	dir := workspace(t, fmt.Sprintf("-- convtools.toml --\n[kb.topic.project]\nsubjects = \"kb\"\n-- kb/%s.md --\nFirst.\n-- kb/%s.md --\nSecond.\n", composed, decomposed))
	b := open(t, dir, knowledge.Options{})
	wants(t, learn(t, b, "project"), "- "+composed+".md\n- "+composed+".md\n")
	for _, name := range []string{composed, decomposed} {
		wants(t, learn(t, b, "project", name), "First.", "Second.")
	}
	wants(t, learn(t, b, "project", composed+".md"), "First.")
}

// Blanks at the ends of a name are part of it, and need not be typed.
func TestNamesWithBlanks(t *testing.T) {
	t.Parallel()
	dir := workspace(t, "-- convtools.toml --\n[kb.topic.project]\nsubjects = \"kb\"\n-- kb/x.md --\nX\n")
	names := []string{" before", "behind ", " both ", "\u00a0wide\u00a0", "folder / name "}
	for _, name := range names {
		writeFile(t, dir+"/kb/"+name+".md", "This is "+name+".")
	}
	f := knowledge.Family(host(dir))
	for _, name := range names {
		for _, asked := range []string{name, strings.TrimSpace(name), " " + name + " "} {
			text, err := f.Call(t.Context(), contract.Call{Tool: "learn", Arguments: fmt.Appendf(nil, `{"topic":"project","subjects":%q}`, asked)})
			if err != nil || text != "This is "+name+"." {
				t.Errorf("%q loads as %q, %v", asked, text, err)
			}
		}
	}
	writeFile(t, dir+"/convtools.toml", "[kb.topic.project]\nsubjects = \"kb\"\ndisabled = [\"both\", \"behind \"]\n")
	b := open(t, dir, knowledge.Options{})
	wantsNone(t, learn(t, b, "project"), "both", "behind")
}
