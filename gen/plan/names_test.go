package plan_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"path"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/convtools/convtools/gen/emit"
)

// isGo returns an error for syntax or names that Go would refuse; package check must prevent them. It is faster than
// the compiler.
func isGo(files []emit.File) error {
	var problems []error
	taken := map[string]string{} // the position of each declaration, by scope and name
	declare := func(scope, name string, position token.Position) {
		key := scope + "." + name
		if before, ok := taken[key]; ok {
			problems = append(problems, fmt.Errorf("%s: %s is declared at %s too", position, key, before))
		}
		taken[key] = position.String()
	}
	anywhere := build.Context{GOOS: "nowhere", GOARCH: "nothing", Compiler: "gc"}
	for _, file := range files {
		if path.Ext(file.Path) != ".go" {
			continue
		}
		declare("files", strings.ToLower(file.Path), token.Position{Filename: file.Path})
		if want, err := format.Source(file.Data); err != nil || !bytes.Equal(want, file.Data) {
			problems = append(problems, fmt.Errorf("%s: it is not as gofmt has it (%v):\n%s", file.Path, err, diff.Diff("gofmt", want, "emitted", file.Data)))
		}
		if path.Base(file.Path) == "proof_test.go" {
			continue // tests are in a separate package
		}
		anywhere.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Data)), nil }
		if compiled, err := anywhere.MatchFile(path.Dir(file.Path), path.Base(file.Path)); err != nil || !compiled || strings.HasSuffix(file.Path, "_test.go") {
			problems = append(problems, fmt.Errorf("%s: the go command gives that name a meaning of its own (%v)", file.Path, err))
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, file.Path, file.Data, parser.SkipObjectResolution)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		pkg := path.Dir(file.Path)
		for _, spec := range tree.Imports {
			name := path.Base(strings.Trim(spec.Path.Value, `"`))
			if spec.Name != nil {
				name = spec.Name.Name
			}
			declare(file.Path, name, fset.Position(spec.Pos()))
		}
		for _, decl := range tree.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				scope := pkg
				if decl.Recv != nil {
					scope += "." + receiver(decl.Recv.List[0].Type)
				}
				declare(scope, decl.Name.Name, fset.Position(decl.Pos()))
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						declare(pkg, spec.Name.Name, fset.Position(spec.Pos()))
						if structure, ok := spec.Type.(*ast.StructType); ok {
							problems = append(problems, declareFields(structure, func(name string, pos token.Pos) {
								declare(pkg+"."+spec.Name.Name, name, fset.Position(pos))
							})...)
						}
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							declare(pkg, name.Name, fset.Position(name.Pos()))
						}
					}
				}
			}
		}
	}
	return errors.Join(problems...)
}

func receiver(expr ast.Expr) string {
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	return expr.(*ast.Ident).Name
}

// declareFields calls declare for the fields of a struct. It returns an error for each tag that is malformed or has the
// key of another one.
func declareFields(structure *ast.StructType, declare func(name string, pos token.Pos)) []error {
	var problems []error
	keys := map[string]bool{}
	for _, field := range structure.Fields.List {
		for _, name := range field.Names {
			if name.Name == "_" {
				continue
			}
			declare(name.Name, name.Pos())
		}
		if field.Tag == nil {
			continue
		}
		text, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			return []error{err}
		}
		for _, kind := range []string{"json", "attr", "variant"} {
			name, _, _ := strings.Cut(reflect.StructTag(text).Get(kind), ",")
			if key := kind + " " + name; name != "" && name != "-" {
				if keys[key] {
					problems = append(problems, fmt.Errorf("the tag %s names no key of its own", field.Tag.Value))
				}
				keys[key] = true
			}
		}
	}
	return problems
}

func TestIsGo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, source string
		ok           bool
	}{
		{"p/a.go", "package p\n\ntype A struct{ B int }\n\nfunc (a *A) C() {}\n\nfunc C() {}\n", true},
		{"p/a.go", "package p\n\ntype A struct{ B int }\n\nfunc (a *A) B() {}\n", false},
		{"p/a.go", "package p\n\ntype A struct {\n\tB int\n\tB string\n}\n", false},
		{"p/a.go", "package p\n\ntype A struct {\n\tB int `json:\"b\"`\n\tC int `json:\"b\"`\n}\n", false},
		{"p/a.go", "package p\n\ntype A int\n\nvar A int\n", false},
		{"p/a.go", "package p\n\nfunc Find(() {}\n", false},
		{"p/a.go", "package func\n", false},
		{"p/a_windows.go", "package p\n", false},
		{"p/a_test.go", "package p\n", false},
		{"p/_a.go", "package p\n", false},
	} {
		if err := isGo([]emit.File{{Path: tc.name, Data: []byte(tc.source)}}); (err == nil) != tc.ok {
			t.Errorf("%s, %q: %v", tc.name, tc.source, err)
		}
	}
	twice := emit.File{Path: "p/a.go", Data: []byte("package p\n")}
	if isGo([]emit.File{twice, twice}) == nil {
		t.Error("two files of one name are taken")
	}
}
