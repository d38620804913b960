package gocode_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit"
	"github.com/convtools/convtools/gen/emit/gocode"
	"github.com/convtools/convtools/gen/ir"
)

func TestSameContractSameBytes(t *testing.T) {
	t.Parallel()
	first, err := gocode.Emit(library(), schemaOf)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, err := gocode.Emit(library(), schemaOf)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(first, again) { // much faster than computing a difference
			t.Fatalf("output changed (-first +again):\n%s", cmp.Diff(first, again))
		}
	}
	if !slices.IsSortedFunc(first, func(a, b emit.File) int { return strings.Compare(a.Path, b.Path) }) {
		t.Error("files are not sorted by path")
	}
}

func TestNoFamilies(t *testing.T) {
	t.Parallel()
	files, err := gocode.Emit(&ir.Contract{Targets: ir.Targets{Module: "example.com/m", Generated: "generated"}}, schemaOf)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Path != "generated/dispatch.go" {
		t.Errorf("files: %v", files)
	}
}
