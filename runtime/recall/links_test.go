package recall_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/recall"
)

// A link is named as what it is: a directory that is one is not read wherever it
// leads, and of a file it is said which.
func TestLinks(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := func(name string) string {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stored := filepath.Join("p", ".jp", "conversations")
	other, file := dir(filepath.Join(stored, "other")), filepath.Join(base, "metadata.json")
	if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		filepath.Join(dir(stored), "17700000001-inside"):                               filepath.Base(other),
		filepath.Join(dir(stored), "17700000002-dangling"):                             "gone",
		filepath.Join(dir(stored), "17700000003-outside"):                              base,
		filepath.Join(dir(filepath.Join(stored, "17700000004-file")), "metadata.json"): file,
	} {
		if err := os.Symlink(target, name); err != nil {
			t.Skipf("no symbolic links: %v", err)
		}
	}
	tools := recall.New(func(string) (conversations.Source, error) {
		return conversations.Open(conversations.Options{Dir: filepath.Join(base, "p"), Getenv: func(string) string { return "" }})
	})
	answer, err := conversation.Call(t.Context(), tools, contract.Call{Tool: "conversation_list", Arguments: []byte("{}")})
	if err != nil {
		t.Fatal(err)
	}
	const directory = " (it is a link; only directories are read)"
	for _, want := range []string{
		"jp-c17700000001" + directory, "jp-c17700000002" + directory, "jp-c17700000003" + directory,
		"jp-c17700000004 (its metadata cannot be used",
	} {
		if !strings.Contains(answer, want) {
			t.Errorf("%s is not in\n%s", want, answer)
		}
	}
}
