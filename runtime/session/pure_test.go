package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The core is pure: no goroutine, no channel, no clock, no chance and no input or output, so that a state and an input are
// all that a step depends on.
func TestPure(t *testing.T) {
	t.Parallel()
	allowed := []string{
		"bytes", "cmp", "crypto/sha256", "encoding/hex", "encoding/json", "errors", "fmt", "iter", "maps", "slices", "strconv", "strings", "time",
		"github.com/convtools/convtools/generated/conv", "github.com/convtools/convtools/runtime/base/text", "github.com/convtools/convtools/runtime/model",
	}
	types := []string{"Duration", "Time", "Millisecond", "UTC"} // of package time
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		read++
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err != nil || !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s: %v", name, spec.Path.Value, err)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt:
				t.Errorf("%s has a %T", name, n)
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && !slices.Contains(types, n.Sel.Name) {
					t.Errorf("%s uses time.%s", name, n.Sel.Name)
				}
			}
			return true
		})
	}
	if read == 0 {
		t.Error("no file was read")
	}
}
