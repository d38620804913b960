package knowledge_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	generated "github.com/convtools/convtools/generated/knowledge"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge"
)

// manyTopics is a workspace with n topics that share a directory.
func manyTopics(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[kb.topic.t%03d]\ntitle = \"Title %d\"\nintroduction = \"What there is to say about ünït %d.\"\nsubjects = \"kb\"\n", i, i, i)
	}
	place(t, dir, "convtools.toml", b.String())
	place(t, dir, "kb/a.md", "A.")
	return dir
}

func chars(tool contract.Tool) int {
	return utf8.RuneCountInString(tool.Summary + ".\n\n" + tool.Description)
}

func TestDescriptionFits(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 20, 30, 60, 200} {
		b := open(t, manyTopics(t, n), knowledge.Options{})
		for _, limit := range []int{knowledge.MCPDescription, 1024, 900, 800, 10} {
			t.Run(fmt.Sprintf("A-9 only the description has %d topics, in %d characters", n, limit), func(t *testing.T) {
				t.Parallel()
				before := generated.LearnTool()
				tool, ok := b.Describe(t.Context(), before, limit)
				if !ok {
					t.Fatal("nothing to learn")
				}
				if tool.InputSchema != before.InputSchema || tool.Name != before.Name || tool.Summary != before.Summary {
					t.Error("something else than the description has changed")
				}
				menu, ok := strings.CutPrefix(tool.Description, before.Description)
				if !ok {
					t.Fatalf("the tool's own description is gone: %q", tool.Description)
				}
				if chars(before) <= limit && chars(tool) > limit {
					t.Errorf("the description has %d characters", chars(tool))
				}
				if chars(before) > limit && menu != "" {
					t.Errorf("a description that is too long already gets %q", menu)
				}
				checkMenu(t, menu, n)
				again, _ := b.Describe(t.Context(), before, limit)
				if again.Description != tool.Description {
					t.Error("the description is not the same every time")
				}
			})
		}
	}
}

// checkMenu holds a menu of n topics against the order in which parts of it may
// be left out.
func checkMenu(t *testing.T, menu string, n int) {
	t.Helper()
	if menu == "" {
		return
	}
	lines := strings.Split(strings.TrimPrefix(menu, "\n\nTopics:\n"), "\n")
	introductions, titles, ids := 0, 0, 0
	for i, line := range lines {
		id := fmt.Sprintf("- t%03d", i)
		title := fmt.Sprintf(" (**Title %d**)", i)
		introduction := fmt.Sprintf(": What there is to say about ünït %d.", i)
		switch line {
		case id + title + introduction:
			if introductions < i {
				t.Errorf("line %d has an introduction, and one before it has not", i)
			}
			introductions++
			titles++
			ids++
		case id + title:
			if titles < i {
				t.Errorf("line %d has a title, and one before it has not", i)
			}
			titles++
			ids++
		case id:
			ids++
		case fmt.Sprintf("- … and %d more; learn with any other name lists all", n-i):
			if titles > 0 {
				t.Error("ids are left out while there are titles")
			}
			ids = n
		default:
			t.Errorf("line %d is %q", i, line)
		}
	}
	if ids != n {
		t.Errorf("%d of %d topics are named or counted", ids, n)
	}
	if titles < n && introductions > 0 {
		t.Error("titles are left out while there are introductions")
	}
}

func TestUnknownTopicListsAll(t *testing.T) {
	t.Parallel()
	b := open(t, manyTopics(t, 200), knowledge.Options{})
	message := refused(t, b, "?")
	wants(t, message, "- t000 (**Title 0**)", "- t199 (**Title 199**)")
	wantsNone(t, message, "more")
}

// Which topics the tool names, and whether there is a tool.
func TestOffered(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, topics      string
		byDefault, inject string // ids
	}{
		{"KB-20 a listed subject", "[kb.topic.a]\nsubjects = \"kb\"", "a", "a"},
		{"KB-20 all learned", "[kb.topic.a]\nsubjects = \"kb\"\nlearned = [\"**\"]", "a", ""},
		{"KB-20 some learned", "[kb.topic.a]\nsubjects = \"kb\"\nlearned = [\"one\"]", "a", "a"},
		{"KB-20 all disabled", "[kb.topic.a]\nsubjects = \"kb\"\ndisabled = [\"**\"]", "", ""},
		{"A-5 disabled in part", "[kb.topic.a]\nsubjects = \"kb\"\ndisabled = [\"one\"]", "a", "a"},
		{"A-27 only hidden", "[kb.topic.a]\nsubjects = \"hidden\"", "", ""},
		{"A-22 missing directory", "[kb.topic.a]\nsubjects = \"gone\"", "", ""},
		{"KB-2 disabled topic", "[kb.topic.a]\nsubjects = \"kb\"\nenable = false", "", ""},
		{"A-26 in the order of the file", "[kb.topic.z]\nsubjects = \"kb\"\n[kb.topic.h]\nsubjects = \"hidden\"\n[kb.topic.a]\nsubjects = \"kb\"", "z a", "z a"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			place(t, dir, "convtools.toml", c.topics)
			place(t, dir, "kb/one.md", "1")
			place(t, dir, "kb/two.md", "2")
			place(t, dir, "hidden/.three.md", "3")
			for _, mode := range []struct {
				injected bool
				want     string
			}{{false, c.byDefault}, {true, c.inject}} {
				b := open(t, dir, knowledge.Options{Injected: mode.injected})
				tool, ok := b.Describe(t.Context(), learnTool(), knowledge.MCPDescription)
				_, menu, _ := strings.Cut(tool.Description, "Topics:\n")
				got := strings.Join(strings.Fields(strings.ReplaceAll(menu, "- ", "")), " ")
				if got != mode.want || ok != (mode.want != "") {
					t.Errorf("injected %v: got %q, %v, want %q", mode.injected, got, ok, mode.want)
				}
			}
		})
	}
	t.Run("A-27 hidden subjects of a topic that is not named", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		place(t, dir, "convtools.toml", "[kb.topic.a]\nsubjects = \"hidden\"")
		place(t, dir, "hidden/.three.md", "3")
		if got := learn(t, open(t, dir, knowledge.Options{}), "a", "three"); got != "3" {
			t.Errorf("got %q", got)
		}
	})
}
