package subjects_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

func TestScanErrors(t *testing.T) {
	t.Parallel()
	dir := topic(t, map[string]string{"file.md": "x"})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := subjects.Scan(canceled, root(t, dir)); !errors.Is(err, context.Canceled) {
		t.Errorf("a scan that is not wanted any more: %v", err)
	}
	tree := scan(t, dir)
	if err := tree.Look(canceled, []*subjects.Subject{tree.Subjects[0]}); !errors.Is(err, context.Canceled) {
		t.Errorf("facts that are not wanted any more: %v", err)
	}
	if _, err := tree.Read(canceled, tree.Subjects[0]); !errors.Is(err, context.Canceled) {
		t.Errorf("a file that is not wanted any more: %v", err)
	}
}

func TestScanFindsFilesOnly(t *testing.T) {
	t.Parallel()
	dir := topic(t, map[string]string{
		"a.md": "x", "b/c/d.md": "x", ".git/HEAD": "x", "b/.git/config": "x", "sub/.git": "gitdir: elsewhere",
		".github/x.yml": "x", ".gitignore": "x", "logo.png": "\x00",
	})
	if err := os.Mkdir(filepath.Join(dir, "nothing"), 0o755); err != nil {
		t.Fatal(err)
	}
	tree := scan(t, dir)
	want := []string{"a.md", "b/c/d.md", ".github/x.yml", ".gitignore", "logo.png"}
	if diff := cmp.Diff(want, paths(tree)); diff != "" {
		t.Errorf("A-13 binary ones are listed, .git is not: -want +got:\n%s", diff)
	}
	if len(tree.Warnings) > 0 {
		t.Errorf("%v", tree.Warnings)
	}
}

func TestDepth(t *testing.T) {
	t.Parallel()
	const deepest = "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/"
	fifty := strings.Repeat("d/", 50)
	tree := scan(t, topic(t, map[string]string{deepest + "16.md": "x", deepest + "16/17.md": "x", fifty + "x.md": "x"}))
	if diff := cmp.Diff([]string{deepest + "16.md"}, paths(tree)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var warned []string
	for _, w := range tree.Warnings {
		warned = append(warned, w.Path)
	}
	if diff := cmp.Diff([]string{deepest + "16", strings.TrimSuffix(fifty[:32], "/")}, warned); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	front := "---\nname: x\ndescription: does %s\n---\n"
	tree := scan(t, topic(t, map[string]string{
		"pdf/SKILL.md":    fmt.Sprintf(front, "pdf"),
		"xls/SKILL.md":    fmt.Sprintf(front, "xls"),
		"xls.md":          fmt.Sprintf(front, "nothing"),
		"SKILL.md":        fmt.Sprintf(front, "all"),
		"plain/SKILL.md":  "# Plain",
		"other/README.md": fmt.Sprintf(front, "nothing"),
	}))
	if err := tree.Look(soon(t), tree.Subjects); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range tree.Subjects {
		got[s.Path] = s.Description
	}
	want := map[string]string{
		"pdf/SKILL.md": "does pdf", "xls/SKILL.md": "does xls", "SKILL.md": "does all",
		"xls.md": "", "plain/SKILL.md": "", "other/README.md": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
