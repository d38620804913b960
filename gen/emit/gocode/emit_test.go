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
		if !reflect.DeepEqual(first, again) { // much sooner than a difference
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

// TestRefused has a case for everything that would not do what the contract says.
// Names are gen/check's business; gen/plan tests that what it accepts is Go.
func TestRefused(t *testing.T) {
	t.Parallel()
	find := func(c *ir.Contract) *ir.Tool { return &c.Families[0].Tools[0] }
	ls := func(c *ir.Contract) *ir.Tool { return &c.Families[0].Tools[1] }
	for _, tc := range []struct {
		name string
		harm func(*ir.Contract)
		want string
	}{
		{"pattern is no pattern", func(c *ir.Contract) { find(c).Params[7].Pattern = "(" }, "library_find.shelf: compiling the pattern"},
		{"default of no type", func(c *ir.Contract) { find(c).Params[1].Default = struct{}{} }, "library_find.limit: a default cannot be a struct {}"},
		{"argument of no parameter", func(c *ir.Contract) { find(c).Command.Args[4].Value.Param = "nothing" }, `argument "--limit=" of its command: there is no parameter "nothing"`},
		{"argument of an array", func(c *ir.Contract) { find(c).Command.Args[9].Repeat = false }, `argument "--scope=" of its command: scopes is of type array`},
		{"argument of no context", func(c *ir.Contract) { find(c).Command.Args[11].Value.Context = "secret" }, `a call's context has no field "secret"`},
		{"gate is no boolean", func(c *ir.Contract) { find(c).Command.Args[2].When = "limit" }, `"limit" is no boolean parameter`},
		{"attribute of no parameter", func(c *ir.Contract) { find(c).Envelope.Elements[0].Attributes[2].Param = "nothing" }, `attribute limit: there is no parameter "nothing"`},
		{"attribute of another type", func(c *ir.Contract) { find(c).Envelope.Elements[0].Attributes[2].Param = "word" }, "an attribute of type integer cannot repeat a parameter of type string"},
		{"command without a command", func(c *ir.Contract) { ls(c).Command = nil }, "library_ls: its handler is a command, and it has none"},
		{"command without records", func(c *ir.Contract) { ls(c).Envelope.Elements[0].Children[0].From = "" }, "library_ls: no repeated child of its root is filled from the records"},
		{"command without notes", func(c *ir.Contract) { ls(c).Envelope.Elements[0].Children = ls(c).Envelope.Elements[0].Children[:1] }, "library_ls: its root has no repeated child note"},
		{"attribute nobody fills", func(c *ir.Contract) { ls(c).Envelope.Elements[0].Attributes[1].From = "" }, "library_ls: nothing fills the attribute count"},
		{"unknown handler", func(c *ir.Contract) { find(c).Handler = "magic" }, `library_find: unknown handler "magic"`},
		{"example is no JSON", func(c *ir.Contract) { find(c).Examples[0].Arguments = "{" }, "library_find: reading the arguments of an example"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := library()
			tc.harm(c)
			files, err := gocode.Emit(c, schemaOf)
			if tc.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
			if len(files) > 0 {
				t.Errorf("%d files all the same", len(files))
			}
		})
	}
}
