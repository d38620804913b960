package plan_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/convtools/convtools/gen/check"
	"github.com/convtools/convtools/gen/diagprint"
	"github.com/convtools/convtools/gen/plan"
)

const (
	corpusDir   = "../../testdata/specs"
	positiveDir = "../../testdata/specs/positive/notes"
)

// TestCorpus runs one archive for each mistake in a spec. An archive is named after the rule it breaks. It has the
// project, the output of convgen (stderr), and under fixed/ the files that differ in a correct project; an empty file
// there does not exist in that project.
//
// UPDATE_GOLDEN=1 writes the output into the archives; read the difference before you commit it.
func TestCorpus(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(corpusDir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	broken := map[string]bool{}
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".txtar")
		rule, _, _ := strings.Cut(base, "-")
		broken[rule] = true
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			corpusCase(t, name, rule)
		})
	}
	for _, rule := range check.Rules() {
		if !broken[rule.ID] {
			t.Errorf("no archive in %s breaks %s: %s", corpusDir, rule.ID, rule.Doc)
		}
		delete(broken, rule.ID)
	}
	for id := range broken {
		t.Errorf("an archive breaks %s, which is no rule", id)
	}
}

// corpusCase generates the project of an archive. It fails unless the output is that of the archive, with a diagnostic
// of the rule, and unless the fixed project has no diagnostics.
func corpusCase(t *testing.T, name, rule string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	project, fixed := fstest.MapFS{}, fstest.MapFS{}
	var want *txtar.File
	for i := range archive.Files {
		file := &archive.Files[i]
		if file.Name == "stderr" {
			want = file
		} else if !strings.HasPrefix(file.Name, "fixed/") {
			project[file.Name] = &fstest.MapFile{Data: file.Data}
			fixed[file.Name] = project[file.Name]
		}
	}
	for _, file := range archive.Files {
		if fixedName, ok := strings.CutPrefix(file.Name, "fixed/"); ok {
			fixed[fixedName] = &fstest.MapFile{Data: file.Data}
			if len(file.Data) == 0 { // the fixed project does not have the file
				delete(fixed, fixedName)
			}
		}
	}
	if want == nil {
		t.Fatal("the archive has no stderr")
	}

	result, got := diagnose(t, project)
	rules := map[string]bool{}
	for _, d := range result.Diags {
		rules[d.Rule] = true
	}
	if !rules[rule] {
		t.Errorf("nothing that is reported is of the rule %s:\n%s", rule, got)
	}
	if result.Diags.HasErrors() && result.Files != nil {
		t.Error("files are made in spite of errors")
	}
	if os.Getenv("UPDATE_GOLDEN") == "1" && !bytes.Equal(want.Data, []byte(got)) {
		want.Data = []byte(got)
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(want.Data), got); diff != "" {
		t.Errorf("what is printed differs (-want +got):\n%s", diff)
	}

	result, got = diagnose(t, fixed)
	if got != "" || len(result.Files) == 0 {
		t.Errorf("the fixed project is not clean:\n%s", got)
	}
}

// diagnose generates a project and returns the result, and the diagnostics as convgen prints them.
func diagnose(t *testing.T, project fstest.MapFS) (*plan.Result, string) {
	t.Helper()
	result, err := plan.Generate(project)
	if err != nil {
		t.Fatalf("the checker let something pass that an emitter refuses: %v", err)
	}
	var out strings.Builder
	if err := diagprint.Text(&out, result.Diags, result.Source); err != nil {
		t.Fatal(err)
	}
	return result, out.String()
}
