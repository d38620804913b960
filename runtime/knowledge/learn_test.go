package knowledge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge"
)

// small is a workspace with one topic of everything that matters for names.
const small = `
-- convtools.toml --
[kb.topic.project]
title = "Project Notes"
subjects = "kb/project"
learned = ["known", "style/*"]
disabled = ["off", "known-but-off"]
-- kb/project/index.md --
Index.
-- kb/project/known.md --
Known.
-- kb/project/style/go.md --
Tabs.
-- kb/project/style/.inner.md --
Inner.
-- kb/project/off.md --
Off.
-- kb/project/maintainers/ada.md --
Ada.
`

func learn(t *testing.T, b *knowledge.Base, topic string, patterns ...string) string {
	t.Helper()
	text, err := b.Learn(t.Context(), topic, patterns, nil)
	if err != nil {
		t.Fatalf("learn %s %q: %v", topic, patterns, err)
	}
	return text
}

func refused(t *testing.T, b *knowledge.Base, topic string, patterns ...string) string {
	t.Helper()
	text, err := b.Learn(t.Context(), topic, patterns, nil)
	if err == nil {
		t.Fatalf("learn %s %q answers %q, want an error", topic, patterns, text)
	}
	return callerError(t, err)
}

func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

func wantsNone(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q must not be in:\n%s", part, text)
		}
	}
}

func TestTopicLookup(t *testing.T) {
	t.Parallel()
	dir := workspace(t, `
-- convtools.toml --
[kb.topic.project]
title = "General Notes"
subjects = "kb/project"
[kb.topic.guides]
title = "project"
subjects = "kb/guides"
[kb.topic.one]
title = "Same"
subjects = "kb/project"
[kb.topic.two]
title = "SAME"
subjects = "kb/guides"
[kb.topic.off]
title = "Off Topic"
enable = false
subjects = "kb/guides"
-- kb/project/p.md --
project
-- kb/guides/g.md --
guides
`)
	b := open(t, dir, knowledge.Options{})
	found := []struct{ name, topic, subject string }{
		{"KB-22 exact id", "project", "p"},
		{"KB-22 title in any case", "general NOTES", "p"},
		{"A-25 an id beats a title that is the same", "project", "p"},
		{"KB-22 spaces around do not count", "  project ", "p"},
	}
	for _, c := range found {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wants(t, learn(t, b, c.topic), "- "+c.subject+"\n")
		})
	}
	failing := []struct {
		name, topic string
		parts       []string
	}{
		{"KB-22 unknown names what there is", "nonsense", []string{"There is no topic \"nonsense\".", "- project (**General Notes**)", "- two (**SAME**)"}},
		{"KB-22 near", "projekt", []string{`Did you mean "project"?`}},
		{"A-25 two topics with one title", "same", []string{"- one (**Same**)", "- two (**SAME**)"}},
		{"A-29 ids count case", "GUIDES", []string{`Did you mean "guides"?`}},
		{"KB-2 disabled topics do not exist", "off", []string{"There is no topic"}},
		{"KB-2 nor does their title", "Off Topic", []string{"There is no topic"}},
		{"a resource", "kb://project/a%20b", []string{`"kb://project/a%20b" is a subject of a topic`, `Call learn with topic "project" and subjects "a b".`}},
		{"a subject behind its topic", "project/p", []string{`Call learn with topic "project" and subjects "p".`}},
		{"a resource of no topic", "kb://nonsense/p", []string{"There is no topic"}},
		{"a long name is cut", strings.Repeat("x", 10_000), []string{"x…"}},
	}
	for _, c := range failing {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			message := refused(t, b, c.topic)
			wants(t, message, c.parts...)
			wantsNone(t, message, "Off Topic (", "- off")
			if len(message) > 1000 {
				t.Errorf("the error has %d bytes", len(message))
			}
		})
	}
}

func TestLearnRequests(t *testing.T) {
	t.Parallel()
	b := open(t, workspace(t, small), knowledge.Options{})
	injected := open(t, b.Root(), knowledge.Options{Injected: true})
	index := "Index."
	cases := []struct {
		name     string
		base     *knowledge.Base
		patterns []string
		want     string
	}{
		{"KB-24 one name is bare", b, []string{"index"}, index},
		{"KB-24 a glob is wrapped, even with one match", b, []string{"in*"}, "<subject \"index\">\nIndex.\n</subject>"},
		{"A-12 two names of one subject are wrapped", b, []string{"index", "index.md"}, "<subject \"index\">\nIndex.\n</subject>"},
		{"A-12 an alias is bare", b, []string{"./index.md"}, index},
		{"A-11 blanks around count for nothing", b, []string{" index ", "", " "}, index},
		{"KB-10 in the order asked for", b, []string{"maintainers/*", "index"}, "<subject \"maintainers/ada\">\nAda.\n</subject>\n\n<subject \"index\">\nIndex.\n</subject>"},
		{"KB-8 hidden by its exact slug", b, []string{"style/inner"}, "Inner."},
		{"A-21 learned stays loadable", b, []string{"known"}, "Known."},
		{"A-7 learned is in the prompt", injected, []string{"known"}, `(subject "known": already in your system prompt)`},
		{"A-7 globs skip learned", injected, []string{"*"}, "<subject \"index\">\nIndex.\n</subject>"},
		{"A-6 learned globs skip hidden", injected, []string{"style/inner"}, "Inner."},
		{"A-10 some matched", b, []string{"index", "nope"}, "<subject \"index\">\nIndex.\n</subject>\n\nNo subjects matched: \"nope\"."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, learn(t, c.base, "project", c.patterns...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("KB-23 no subjects asked for lists them", func(t *testing.T) {
		t.Parallel()
		want := "# Topic: Project Notes\n\n## Available subjects:\n\n- index\n- maintainers/ada\n\nUse the `learn` tool with the `subjects` argument to learn specific subjects.\n\n## Already learned (in system prompt):\n\n- known\n- style/go"
		if diff := cmp.Diff(want, learn(t, injected, "project")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("A-11 only blanks list", func(t *testing.T) {
		t.Parallel()
		if got := learn(t, b, "project", "", " "); got != learn(t, b, "project") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("KB-9 disabled is nowhere", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"off", "off.md", "project/off", "of?"} {
			message := refused(t, b, "project", name)
			wantsNone(t, message, "disabled", "Did you mean \"off")
		}
		wantsNone(t, learn(t, b, "project"), "off")
	})
	t.Run("A-10 none matched", func(t *testing.T) {
		t.Parallel()
		wants(t, refused(t, b, "project", "Index"), `"Index"`, `did you mean "index"?`, `learn with topic "project" alone`)
	})
	t.Run("too many patterns", func(t *testing.T) {
		t.Parallel()
		wants(t, refused(t, b, "project", make65()...), "65", "at most 64")
	})
	t.Run("KB-26 learning again is legal", func(t *testing.T) {
		t.Parallel()
		for range 2 {
			if got := learn(t, b, "project", "index"); got != index {
				t.Errorf("got %q", got)
			}
		}
	})
	t.Run("A-6 a hidden subject that is learned by name is named", func(t *testing.T) {
		t.Parallel()
		opts := knowledge.Options{Patterns: []string{"project/style/inner"}}
		wants(t, learn(t, open(t, b.Root(), opts), "project"), "## Recommended (learn these first):\n\n- known\n- style/go\n- style/inner\n\n")
		opts.Injected = true
		wants(t, learn(t, open(t, b.Root(), opts), "project"), "## Already learned (in system prompt):\n\n- known\n- style/go\n- style/inner")
	})
	t.Run("KB-25 what could not be put into the prompt is not said to be there", func(t *testing.T) {
		t.Parallel()
		dir := workspace(t, "-- convtools.toml --\n[kb.topic.x]\nsubjects = \"kb\"\nlearned = [\"*\"]\n-- kb/logo.gif --\n\\binary\n-- kb/a.md --\nA.\n")
		got := learn(t, open(t, dir, knowledge.Options{Injected: true}), "x", "*")
		want := "(subject \"a\": already in your system prompt)\n(subject \"logo\": skipped: binary)"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func make65() []string {
	var patterns []string
	for i := range 65 {
		patterns = append(patterns, fmt.Sprint("p", i))
	}
	return patterns
}

func TestEditedFilesAreSeenAtOnce(t *testing.T) {
	t.Parallel()
	dir := workspace(t, small)
	b := open(t, dir, knowledge.Options{})
	path := filepath.Join(dir, "kb", "project", "index.md")
	if err := os.WriteFile(path, []byte("Changed.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := learn(t, b, "project", "index"); got != "Changed." {
		t.Errorf("got %q", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wantsNone(t, learn(t, b, "project"), "- index")
}

func TestFlagsAreLearned(t *testing.T) {
	t.Parallel()
	dir := workspace(t, small)
	b := open(t, dir, knowledge.Options{Patterns: []string{"project/maintainers/*", "project/maintaner/ada"}})
	text, warnings, err := b.Section(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("KB-32 patterns of flags add to what is learned", func(t *testing.T) {
		t.Parallel()
		wants(t, text, "<subject \"known\">", "<subject \"maintainers/ada\">", "<subject \"style/go\">")
	})
	t.Run("KB-32 one that matches nothing is said", func(t *testing.T) {
		t.Parallel()
		want := []string{`-k: "maintaner/ada" in learned of topic "project" matches no subject`}
		if diff := cmp.Diff(want, warnings); diff != "" {
			t.Errorf("section (-want +got):\n%s", diff)
		}
		topic, err := b.Topic(t.Context(), "project")
		if err != nil {
			t.Fatal(err)
		}
		wants(t, strings.Join(topic.Warnings, "\n"), want[0], `convtools.toml:5:20: "known-but-off" in disabled of topic "project" matches no subject`)
	})
	t.Run("A-30 they hold for one process only", func(t *testing.T) {
		t.Parallel()
		text, _, err := open(t, dir, knowledge.Options{}).Section(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wantsNone(t, text, "maintainers/ada")
	})
}

// A model is never told where the workspace is.
func TestNoAnswerHasTheRootInIt(t *testing.T) {
	t.Parallel()
	dir := workspace(t, `
-- convtools.toml --
[kb.topic.missing]
subjects = "kb/missing"
[kb.topic.file]
subjects = "kb/file"
[kb.topic.closed]
subjects = "kb/file/below"
-- kb/file --
`)
	b := open(t, dir, knowledge.Options{})
	for topic, want := range map[string]string{"missing": "kb/missing does not exist", "file": "kb/file cannot be read", "closed": "kb/file/below"} {
		_, err := b.Learn(t.Context(), topic, nil, nil)
		var e *contract.Error
		if !errors.As(err, &e) || e.Caller {
			t.Fatalf("topic %s: got %v, want an error that is not the caller's", topic, err)
		}
		wants(t, err.Error(), want, "convtools.toml:")
		wantsNone(t, err.Error(), dir)
	}
	_, warnings, err := b.Section(t.Context())
	if err != nil || len(warnings) != 3 {
		t.Fatalf("got warnings %v, error %v", warnings, err)
	}
	for _, w := range warnings {
		wantsNone(t, w, dir)
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	dir := workspace(t, small)
	f := knowledge.Family(host(""))
	ask := func(dir, args string) (string, error) {
		return f.Call(t.Context(), contract.Call{Tool: "learn", Arguments: []byte(args), Context: contract.Context{Dir: dir}})
	}
	for _, args := range []string{`{"topic":"project","subjects":"index"}`, `{"topic":"project","subjects":["index"]}`, `{"topic":"project","subjects":"[\"index\"]"}`} {
		t.Run("A-11 "+args, func(t *testing.T) {
			t.Parallel()
			if text, err := ask(dir, args); err != nil || text != "Index." {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
	for _, subjects := range []string{`""`, `[]`, `[""]`, `null`, `"null"`} {
		t.Run("A-11 empty subjects "+subjects, func(t *testing.T) {
			t.Parallel()
			text, err := ask(dir, `{"topic":"project","subjects":`+subjects+`}`)
			if err != nil || !strings.HasPrefix(text, "# Topic: Project Notes\n") {
				t.Errorf("got %q, %v", text, err)
			}
		})
	}
	t.Run("a broken configuration is named with its place", func(t *testing.T) {
		t.Parallel()
		broken := workspace(t, "-- convtools.toml --\n[kb.topic.project]\ntitel = \"x\"\nsubjects = \"kb\"\n")
		_, err := ask(broken, `{"topic":"project"}`)
		var e *contract.Error
		var config *config.Error
		if !errors.As(err, &e) || e.Caller || !errors.As(err, &config) {
			t.Fatalf("got %v", err)
		}
		wants(t, err.Error(), "convtools.toml:2:1", "titel")
		wantsNone(t, err.Error(), broken)
		findings := knowledge.ConfigFindings(config)
		if len(findings) != 1 || findings[0].Span.Line != 2 || findings[0].Severity != diag.Error {
			t.Errorf("got findings %+v", findings)
		}
	})
	t.Run("no workspace", func(t *testing.T) {
		t.Parallel()
		_, err := ask(t.TempDir(), `{"topic":"project"}`)
		wants(t, callerError(t, err), "nothing to learn")
	})
	t.Run("no directory", func(t *testing.T) {
		t.Parallel()
		gone := filepath.Join(t.TempDir(), "gone")
		_, err := ask(gone, `{"topic":"project"}`)
		if err == nil || strings.Contains(err.Error(), gone) {
			t.Errorf("got %v", err)
		}
	})
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	b := open(t, workspace(t, small), knowledge.Options{Injected: true})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calls := map[string]func() error{
		"learn":   func() error { _, err := b.Learn(ctx, "project", []string{"**"}, nil); return err },
		"list":    func() error { _, err := b.Learn(ctx, "project", nil, nil); return err },
		"section": func() error { _, _, err := b.Section(ctx); return err },
		"topics":  func() error { _, err := b.Topics(ctx); return err },
		"check":   func() error { _, err := b.Check(ctx); return err },
		"resources": func() error {
			_, _, err := knowledge.Family(host(b.Root())).Resources[0].List(ctx, "", 100)
			return err
		},
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want that of the context", name, err)
		}
	}
}
