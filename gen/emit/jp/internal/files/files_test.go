package files_test

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/jp/internal/files"
	"github.com/convtools/convtools/gen/emit/jp/internal/skill"
	"github.com/convtools/convtools/gen/emit/jp/internal/tools"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	c := irtest.Contract()
	irtest.Golden(t, []emit.File{files.Emit(c, held(t, c))})
}

// TestHoldsTheFiles reads the emitted source back as a compiler does, also when
// the contract's text is made to break out of string literals.
func TestHoldsTheFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*ir.Contract{"plain": irtest.Contract(), "hostile": irtest.Hostile()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := held(t, c)
			code := files.Emit(c, want)
			slices.SortFunc(want, func(a, b emit.File) int { return strings.Compare(a.Path, b.Path) })
			if diff := cmp.Diff(want, literals(t, code.Data)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// held is the files that the package holds.
func held(t *testing.T, c *ir.Contract) []emit.File {
	t.Helper()
	definitions, err := tools.Emit(c)
	if err != nil {
		t.Fatal(err)
	}
	return append(definitions, skill.Emit(c)...)
}

// literals type-checks a source and returns the File values in it.
func literals(t *testing.T, source []byte) []emit.File {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "jpfiles.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := config.Check("jpfiles", fset, []*ast.File{file}, info); err != nil {
		t.Fatal(err)
	}
	var files []emit.File
	ast.Inspect(file, func(n ast.Node) bool {
		composite, ok := n.(*ast.CompositeLit)
		if !ok || len(composite.Elts) != 2 {
			return true
		}
		text := func(i int) string {
			pair, ok := composite.Elts[i].(*ast.KeyValueExpr)
			if !ok {
				t.Fatalf("element %d of a file is not a field", i)
			}
			return constant.StringVal(info.Types[pair.Value].Value)
		}
		files = append(files, emit.File{Path: text(0), Data: []byte(text(1))})
		return true
	})
	return files
}
