package gocode_test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/gocode"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
)

// TestGeneratedCodeWorks runs the tests in testdata with the output.
func TestGeneratedCodeWorks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		contract *ir.Contract
		tests    map[string]string // file under testdata to its destination
	}{
		{library(), map[string]string{
			"library/library_test.go":  "fixture/library/library_test.go",
			"library/study_test.go":    "fixture/library/study_test.go",
			"library/dispatch_test.go": "fixture/dispatch_test.go",
		}},
	} {
		t.Run(tc.contract.Families[0].Name, func(t *testing.T) {
			t.Parallel()
			files := emitFixture(t, tc.contract)
			for name, destination := range tc.tests {
				data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(name)))
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, emit.File{Path: destination, Data: data})
			}
			dir := writeModule(t, files)
			runGo(t, dir, "test", "-vet=all", "./...")
		})
	}
}

// TestGeneratedCodeCompiles type-checks the output for a contract like a real project's, and for contracts with texts
// that try to become code.
func TestGeneratedCodeCompiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*ir.Contract{"project": irtest.Contract(), "hostile project": irtest.Hostile(), "hostile library": hostileLibrary()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runGo(t, writeModule(t, emitFixture(t, c)), "vet", "./...")
		})
	}
}

// emitFixture emits a contract into the folder fixture of its module.
func emitFixture(t *testing.T, c *ir.Contract) []emit.File {
	t.Helper()
	c.Targets.Generated = "fixture"
	for i := range c.Families {
		family := &c.Families[i]
		family.Dir = path.Join("fixture", family.Package)
		family.Import = path.Join(c.Targets.Module, family.Dir)
	}
	files, err := gocode.Emit(c, schema.Compact)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// writeModule writes the folder fixture as a separate module that uses the rest of this module in place, and returns
// its folder.
func writeModule(t *testing.T, files []emit.File) string {
	t.Helper()
	root, err := filepath.Abs(filepath.FromSlash("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, data []byte) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		write(strings.TrimPrefix(file.Path, "fixture/"), file.Data)
	}
	const module = "github.com/convtools/convtools"
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write("go.mod", fmt.Appendf(nil, "%s\nrequire %s v0.0.0\nreplace %s => %s\n",
		strings.Replace(string(mod), "module "+module, "module "+module+"/fixture", 1), module, module, strconv.Quote(root)))
	write("go.sum", sum)
	return dir
}

// runGo runs the go command offline in a directory. With -trimpath, it compiles no package again because the
// directory is another in each run.
func runGo(t *testing.T, dir string, arguments ...string) {
	t.Helper()
	cmd := exec.Command("go", arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "GOWORK=off")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
}
