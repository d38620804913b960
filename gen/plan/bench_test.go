package plan_test

import (
	_ "embed"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/convtools/convtools/gen/plan"
)

//go:embed testdata/many_tools.toml
var manyProject string

//go:embed testdata/many_tool.toml
var manyTool string

// manyTools returns a project with 1,000 tools, for all targets. Each tool has parameters of every plain type,
// constraints, defaults, a rule, a command line, an envelope, an example, and text that names it.
func manyTools() fstest.MapFS {
	const toolsInFamily = 25
	files := fstest.MapFS{"tools.toml": {Data: []byte(manyProject)}}
	for i := range 1000 {
		family := fmt.Sprintf("family%d", i/toolsInFamily)
		name := fmt.Sprintf("tool%d", i%toolsInFamily)
		text := strings.NewReplacer("FAMILY", family, "TOOL", family+"_"+name).Replace(manyTool)
		files["specs/"+family+"/"+name+".toml"] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

// BenchmarkGenerate generates all files of a project with 1,000 tools.
func BenchmarkGenerate(b *testing.B) {
	project := manyTools()
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
	result, err := plan.Generate(manyTools())
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
