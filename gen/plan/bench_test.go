package plan_test

import (
	"os"
	"testing"

	"github.com/convtools/convtools/gen/plan"
	"github.com/convtools/convtools/gen/plan/plantest"
)

// BenchmarkGenerate generates all files of a project with 1,000 tools.
func BenchmarkGenerate(b *testing.B) {
	project := plantest.Project(1000)
	b.ReportAllocs()
	for b.Loop() {
		result, err := plan.Generate(project)
		if err != nil {
			b.Fatal(err)
		}
		if result.Diags.HasErrors() {
			for _, d := range result.Diags[:min(9, len(result.Diags))] {
				b.Log(d)
			}
			b.FailNow()
		}
	}
}

// BenchmarkCompare compares unchanged files on disk.
func BenchmarkCompare(b *testing.B) {
	root, err := os.OpenRoot(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	result, err := plan.Generate(plantest.Project(1000))
	if err != nil {
		b.Fatal(err)
	}
	differences, err := plan.Compare(root.FS(), result)
	if err == nil {
		err = plan.Write(root, result, differences)
	}
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if differences, err = plan.Compare(root.FS(), result); err != nil || len(differences) > 0 {
			b.Fatal(err, differences)
		}
	}
}
