package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Only package safefile opens files and directories, because it does not wait for a FIFO. Two calls are allowed
// elsewhere: one with [os.O_EXCL], which makes a file that must not exist, and one that opens "." of an open directory.
func TestFilesAreOpenedInOneWay(t *testing.T) {
	t.Parallel()
	skipped := map[string]bool{
		"runtime/base/safefile": true, "cmd/convtools/internal": true, // tools of developers, as the rest
		"runtime/model/modeltest": true, "runtime/store/internal/storetest": true, "runtime/store/jp/jptest": true, "runtime/store/postgres/postgrestest": true,
	}
	opening := map[string]bool{"Open": true, "OpenInRoot": true, "ReadFile": true, "WriteFile": true, "Create": true, "CopyFS": true, "DirFS": true}
	files := 0
	check := func(path string) {
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			function, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			receiver, _ := function.X.(*ast.Ident) // a package or a variable
			isOf := func(name string) bool { return receiver != nil && receiver.Name == name }
			switch name := function.Sel.Name; {
			case isOf("safefile"):
			case name == "OpenRoot", name == "OpenFile" && !mentions(call, "O_EXCL"), isOf("os") && opening[name], isOf("root") && name == "Open" && !mentions(call, `"."`):
				t.Errorf("%s opens a file: package safefile does so", set.Position(call.Pos()))
			}
			return true
		})
	}
	for _, dir := range []string{"runtime", filepath.Join("cmd", "convtools")} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, entry fs.DirEntry, err error) error {
			name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
			switch {
			case err != nil:
				return err
			case entry.IsDir() && skipped[name]:
				return fs.SkipDir
			case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
				check(path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 300 {
		t.Errorf("only %d files were looked at", files)
	}
}

// mentions reports whether a call has a name or a literal among its arguments.
func mentions(call *ast.CallExpr, text string) bool {
	found := false
	for _, argument := range call.Args {
		ast.Inspect(argument, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				found = found || n.Name == text
			case *ast.BasicLit:
				found = found || n.Value == text
			}
			return true
		})
	}
	return found
}
