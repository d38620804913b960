package ir_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
)

// The generator may not import the runtime, so the two lists of codes are
// compared through the runtime's source.
func TestErrorCodesAreThoseOfTheRuntime(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "../../runtime/contract/problem.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var runtime []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Names) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Code") || len(spec.Values) != 1 {
			return true
		}
		if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
			code, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			runtime = append(runtime, code)
		}
		return true
	})
	var here []string
	for _, code := range ir.ErrorCodes() {
		here = append(here, string(code))
	}
	slices.Sort(runtime)
	slices.Sort(here)
	if diff := cmp.Diff(runtime, here); diff != "" {
		t.Errorf("error codes differ (-runtime +ir):\n%s", diff)
	}
}

func TestErrorCodesOfTools(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"conversation_grep": "malformed_arguments unknown_parameter missing_parameter wrong_type not_allowed below_minimum above_maximum too_short too_long too_few_items too_many_items pattern_mismatch blank not_single_line",
		"conversation_list": "malformed_arguments unknown_parameter wrong_type not_allowed below_minimum above_maximum too_long not_single_line",
		"conversation_read": "malformed_arguments unknown_parameter missing_parameter wrong_type below_minimum pattern_mismatch mutually_exclusive",
		"learn":             "malformed_arguments unknown_parameter missing_parameter wrong_type too_long too_many_items blank",
		"note_add":          "malformed_arguments unknown_parameter missing_parameter wrong_type too_short too_long too_many_items blank not_single_line",
		"note_clear":        "malformed_arguments unknown_parameter",
	}
	got := map[string]string{}
	for _, tool := range irtest.Contract().Tools() {
		var codes []string
		for _, code := range tool.ErrorCodes() {
			codes = append(codes, string(code))
		}
		got[tool.Name] = strings.Join(codes, " ")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error codes (-want +got):\n%s", diff)
	}
}
