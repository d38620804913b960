package tools

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/toolset"
)

// The workspace of a session is that of the directory, else the directory itself, but never one that has the user's home
// directory: a conversation could be given any file of theirs.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	project, plain := filepath.Join(home, "project"), filepath.Join(home, "plain")
	for _, dir := range []string{filepath.Join(project, ".jp"), filepath.Join(project, "sub"), plain} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	registry, err := toolset.NewRegistry(toolset.Family{
		Name: "test", Declared: func() []contract.Tool { return nil },
		Project: func(id string) (string, error) {
			if id != "by-its-id" {
				t.Errorf("the project of %s is asked for", id)
			}
			return project, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := locate(registry, "by-its-id"); got != project || err != nil {
		t.Errorf("by its id: %s, %v", got, err)
	}
	for dir, want := range map[string]string{
		project: project, filepath.Join(project, "sub"): project, plain: plain,
		home: "", filepath.Dir(home): "",
	} {
		s, err := Open(&toolset.Host{Getenv: func(name string) string {
			return map[string]string{"HOME": home, "USERPROFILE": home}[name]
		}}, dir, registry)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Settings; got.Root != want || got.Dir != dir {
			t.Errorf("in %s: %+v, want the workspace %q", dir, got, want)
		}
	}
}
