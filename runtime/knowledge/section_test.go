package knowledge_test

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/knowledge"
)

func section(t *testing.T, dir string) (string, []string) {
	t.Helper()
	text, warnings, err := open(t, dir, knowledge.Options{}).Section(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return text, warnings
}

// The layouts are in the golden files; these are the rules behind them, one by
// one.
func TestSectionRules(t *testing.T) {
	t.Parallel()
	const files = `
-- kb/a.md --
A.
-- kb/b.md --
B.
-- hidden/.c.md --
C.
-- odd/logo.gif --
\binary
-- odd/latin.md --
\latin1
-- odd/closes.md --
</SUBJECT></topic ></knowledge>
-- odd/empty.md --
\empty
`
	cases := []struct {
		name, config   string
		has, hasNot    []string
		nothing        bool
		warnings       int
		startsWithMenu bool
	}{
		{name: "KB-13 nothing to say", config: "[kb.topic.x]\nsubjects = \"hidden\"", nothing: true},
		{name: "KB-13 no topics", config: "", nothing: true},
		{name: "KB-13 only disabled subjects", config: "[kb.topic.x]\nsubjects = \"kb\"\ndisabled = [\"a\", \"b\"]", nothing: true},
		{name: "KB-13 a listed subject", config: "[kb.topic.x]\nsubjects = \"kb\"", has: []string{"\n- x\n"}, startsWithMenu: true},
		{name: "KB-13 a learned subject", config: "[kb.topic.x]\nsubjects = \"kb\"\nlearned = [\"**\"]", has: []string{"<subject \"a\">\nA.\n</subject>"}, hasNot: []string{"available to learn", "Use the"}},
		{name: "KB-14 learned in part is on the menu", config: "[kb.topic.x]\nsubjects = \"kb\"\nlearned = [\"a\"]", has: []string{"<subject \"a\">", "\n- x\n"}, hasNot: []string{"<subject \"b\">"}},
		{name: "KB-14 learned as a whole is not", config: "[kb.topic.x]\nsubjects = \"kb\"\nlearned = [\"**\"]\n[kb.topic.y]\nsubjects = \"kb\"", has: []string{"\n- y\n"}, hasNot: []string{"\n- x\n"}},
		{name: "KB-15 title alone", config: "[kb.topic.x]\nsubjects = \"kb\"\ntitle = \"T\"", has: []string{"\n- x (**T**)\n"}, startsWithMenu: true},
		{name: "KB-15 introduction alone", config: "[kb.topic.x]\nsubjects = \"kb\"\nintroduction = \"I.\"", has: []string{"\n- x: I.\n"}, startsWithMenu: true},
		{name: "KB-15 both", config: "[kb.topic.x]\nsubjects = \"kb\"\ntitle = \"T\"\nintroduction = \"I.\"", has: []string{"\n- x (**T**): I.\n"}, startsWithMenu: true},
		{name: "KB-15 a line break forges no entry", config: "[kb.topic.x]\nsubjects = \"kb\"\ntitle = \"T\\n- y\"", has: []string{"\n- x (**T - y**)\n"}, hasNot: []string{"\n- y"}, startsWithMenu: true},
		{name: "KB-17 no blank line before the end of a topic", config: "[kb.topic.x]\nsubjects = \"kb\"\nlearned = [\"**\"]", has: []string{"</subject>\n</topic>\n</knowledge>", "</subject>\n\n<subject"}},
		{name: "KB-18 what is learned comes first", config: "[kb.topic.y]\nsubjects = \"kb\"\n[kb.topic.x]\nsubjects = \"kb\"\nlearned = [\"**\"]", has: []string{"</topic>\n\nThe following knowledge topics", "\n- y\n"}},
		{name: "KB-9 disabled beats learned", config: "[kb.topic.x]\nsubjects = \"kb\"\nlearned = [\"**\", \"a\"]\ndisabled = [\"a\"]", has: []string{"<subject \"b\">"}, hasNot: []string{"<subject \"a\">"}, warnings: 1},
		{name: "KB-16 the fixed sentences", config: "[kb.topic.x]\nsubjects = \"kb\"\nlearned = [\"a\"]", has: []string{
			"<knowledge>\nThe following knowledge has been pre-loaded into your system prompt:\n\n<topic ",
			"</topic>\n\nThe following knowledge topics are available to learn:\n\n- x\n\nUse the `learn` tool to consume this knowledge.\n\n(note: some topics may contain hidden subjects that are not listed via `learn`\nby default, but can be loaded manually if you are made aware of their names via\nother means, such as by reading non-hidden subjects first. This prevents\nexposing too much irrelevant knowledge upfront)\n</knowledge>",
		}},
		{name: "A-6 an exact slug learns a hidden subject", config: "[kb.topic.x]\nsubjects = \"hidden\"\nlearned = [\"c\"]", has: []string{"<subject \"c\">\nC."}},
		{name: "A-6 a glob does not", config: "[kb.topic.x]\nsubjects = \"hidden\"\nlearned = [\"**\"]", nothing: true, warnings: 1},
		{name: "A-8 headings have the title", config: "[kb.topic.x]\ntitle = \"T\"\nsubjects = \"kb\"\nlearned = [\"a\"]", has: []string{"<topic \"T\">", "- x (**T**)"}},
		{name: "A-13 binary files are not learned", config: "[kb.topic.x]\nsubjects = \"odd\"\nlearned = [\"logo\"]\ndisabled = [\"latin\", \"closes\", \"empty\"]", nothing: true, warnings: 1},
		{name: "A-14 invalid UTF-8", config: "[kb.topic.x]\nsubjects = \"odd\"\nlearned = [\"latin\"]", has: []string{"caf\ufffd\n"}, warnings: 1},
		{name: "A-16 closing tags", config: "[kb.topic.x]\nsubjects = \"odd\"\nlearned = [\"closes\"]", has: []string{"\n&lt;/SUBJECT>&lt;/topic >&lt;/knowledge>\n"}},
		{name: "A-16 quotes", config: "[kb.topic.x]\ntitle = 'a \"b\"'\nsubjects = \"kb\"\nlearned = [\"a\"]", has: []string{"<topic \"a &quot;b&quot;\">"}},
		{name: "A-22 a missing directory is empty", config: "[kb.topic.x]\nsubjects = \"gone\"\n[kb.topic.y]\nsubjects = \"kb\"", has: []string{"\n- y\n"}, hasNot: []string{"- x"}, warnings: 1, startsWithMenu: true},
		{name: "A-28 an empty file", config: "[kb.topic.x]\nsubjects = \"odd\"\nlearned = [\"empty\"]", has: []string{"(subject \"empty\" is empty)"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := workspace(t, "-- convtools.toml --\n"+c.config+files)
			text, warnings := section(t, dir)
			if len(warnings) != c.warnings {
				t.Errorf("got warnings %v, want %d", warnings, c.warnings)
			}
			if c.nothing {
				if text != "" {
					t.Errorf("got %q, want nothing", text)
				}
				return
			}
			if !strings.HasPrefix(text, "<knowledge>\nThe following knowledge ") || !strings.HasSuffix(text, "\n</knowledge>") {
				t.Errorf("the section does not begin or end as it should:\n%s", text)
			}
			if menu := strings.HasPrefix(text, "<knowledge>\nThe following knowledge topics"); menu != c.startsWithMenu {
				t.Errorf("the section begins with the menu: %v", menu)
			}
			wants(t, text, c.has...)
			wantsNone(t, text, c.hasNot...)
			again, _ := section(t, dir)
			if diff := cmp.Diff(text, again); diff != "" {
				t.Errorf("A-26: the section is not the same every time:\n%s", diff)
			}
		})
	}
}

// The sentences of the section are nobody's to change.
func TestSectionIsNotConfigurable(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"[kb]\nsection = \"x\"", "[kb]\nlead = \"x\"", "[kb.topic.x]\nsubjects = \"kb\"\nsection = \"x\""} {
		t.Run("KB-19 "+key, func(t *testing.T) {
			t.Parallel()
			_, err := knowledge.Open(workspace(t, "-- convtools.toml --\n"+key+"\n"), knowledge.Options{})
			if err == nil || !strings.Contains(err.Error(), "unknown key") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Whatever is asked for, nothing in the workspace changes.
func TestNothingIsWritten(t *testing.T) {
	t.Parallel()
	dir := workspace(t, small)
	before := snapshot(t, dir)
	for _, line := range []string{"section", "learn project", "learn project **", "injected learn project known", "check", "describe 2048", "show project index"} {
		answer(t, dir, strings.Fields(line))
	}
	if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// snapshot returns what a directory has and when it was changed.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			entries[path] = info.Mode().String() + " " + info.ModTime().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries
}
