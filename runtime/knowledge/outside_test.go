package knowledge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge"
)

// clone is a project that somebody else made, with a link to a directory of the
// user's where its own knowledge should be.
func clone(t *testing.T) (project, home string) {
	t.Helper()
	project = workspace(t, "-- convtools.toml --\n[kb.topic.project]\nsubjects = \"docs/kb\"\n-- docs/x --\n")
	home = workspace(t, "-- .ssh/id_ed25519 --\nPRIVATE KEY\n")
	if err := os.Symlink(filepath.Join(home, ".ssh"), filepath.Join(project, "docs", "kb")); err != nil {
		t.Skip(err)
	}
	return project, home
}

func getenv(home string) func(string) string {
	return func(name string) string {
		switch name {
		case "HOME", "USERPROFILE":
			return home
		case "AppData":
			return filepath.Join(home, ".config")
		}
		return ""
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A project cannot have a directory outside of it read, however it is asked for.
func TestLinkOutOfTheProject(t *testing.T) {
	t.Parallel()
	project, home := clone(t)
	h := host(project)
	h.Getenv = getenv(home)
	f := knowledge.Family(h)
	const setting = "directories in [trust] of ~/.config/convtools/convtools.toml"
	for _, args := range []string{`{"topic":"project"}`, `{"topic":"project","subjects":"id_ed25519"}`, `{"topic":"project","subjects":"**"}`} {
		text, err := f.Call(t.Context(), contract.Call{Tool: "learn", Arguments: []byte(args)})
		if err == nil {
			t.Fatalf("%s: %s", args, text)
		}
		wants(t, err.Error(), "docs/kb is a link out of the project", "convtools.toml:2:1", setting)
		wantsNone(t, err.Error(), home, project)
	}
	b := open(t, project, knowledge.Options{Getenv: getenv(home)})
	section, warnings, err := b.Section(t.Context())
	if err != nil || section != "" || len(warnings) != 1 {
		t.Errorf("section %q, %v, %v", section, warnings, err)
	}
	if _, _, err := b.ReadResource(t.Context(), "project", "id_ed25519"); err == nil {
		t.Error("the key is a resource")
	}
	topics, err := b.Topics(t.Context())
	if err != nil || len(topics[0].Subjects) != 0 {
		t.Errorf("topics %+v, %v", topics, err)
	}
	wants(t, topics[0].Problem, setting)
	// Whoever is not offered the tool does not hear of the setting either.
	if tools := f.Offered(t.Context()); len(tools) != 1 {
		t.Errorf("offered: %+v", tools)
	}
	found, err := b.Check(t.Context())
	if err != nil || len(found) != 1 || found[0].Rule != knowledge.RuleDirectory {
		t.Fatalf("findings %+v, %v", found, err)
	}
	wants(t, findings(t, b), "docs/kb is a link out of the project", "hint: ", setting)
}

// Users decide which directories projects may lead to.
func TestTrustedDirectory(t *testing.T) {
	t.Parallel()
	project, home := clone(t)
	writeFile(t, filepath.Join(home, ".config/convtools/convtools.toml"), "[trust]\ndirectories = [\"~/.ssh\"]\n")
	b := open(t, project, knowledge.Options{Getenv: getenv(home)})
	text, err := b.Learn(t.Context(), "project", []string{"id_ed25519"}, nil)
	if diff := cmp.Diff("PRIVATE KEY", text); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s%v", diff, err)
	}
	found, err := b.Check(t.Context())
	if err != nil || len(found) != 0 {
		t.Errorf("findings %+v, %v", found, err)
	}
}

// Users may have topics anywhere, in their own configuration.
func TestTopicOfTheUsers(t *testing.T) {
	t.Parallel()
	project, home := clone(t)
	writeFile(t, filepath.Join(home, ".config/convtools/convtools.toml"), "[kb.topic.mine]\nsubjects = \"~/notes\"\n")
	writeFile(t, filepath.Join(home, "notes/do/SKILL.md"), "---\ndescription: Does it.\n---\nDo it.\n")
	b := open(t, project, knowledge.Options{Getenv: getenv(home)})
	text, err := b.Learn(t.Context(), "mine", []string{"do"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, text, "Do it.", `"do" is in "~/notes/do"`)
	if strings.Contains(text, home) || strings.Contains(text, "in this project") {
		t.Errorf("answer: %s", text)
	}
}
