package gocode_test

import (
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
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("output changed (-first +again):\n%s", diff)
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

// TestRefused has a case for everything that would not be Go, or would not do
// what the contract says.
func TestRefused(t *testing.T) {
	t.Parallel()
	find := func(c *ir.Contract) *ir.Tool { return &c.Families[0].Tools[0] }
	ls := func(c *ir.Contract) *ir.Tool { return &c.Families[0].Tools[1] }
	for _, tc := range []struct {
		name string
		harm func(*ir.Contract)
		want string
	}{
		{"tool is no identifier", func(c *ir.Contract) { find(c).GoName = "Find(" }, `"Find(", the Go name of library_find, is no exported Go identifier`},
		{"tool is not exported", func(c *ir.Contract) { find(c).GoName = "func" }, `"func", the Go name of library_find`},
		{"parameter is a keyword", func(c *ir.Contract) { find(c).Params[0].GoName = "type" }, `"type", the Go name of parameter word`},
		{"parameter is code", func(c *ir.Contract) { find(c).Params[0].GoName = "A int }; func init() {" }, `the Go name of parameter word`},
		{"two parameters", func(c *ir.Contract) { find(c).Params[1].GoName = "Word" }, "parameter word and parameter limit have the same Go name Word"},
		{"two tools", func(c *ir.Contract) { ls(c).GoName = "Find" }, "library_find and library_ls have the same Go name FindParams"},
		{"tool and element", func(c *ir.Contract) { find(c).Envelope.Elements[1].GoName = "FindParams" }, "library_find and library_find: element book have the same Go name FindParams"},
		{"handler", func(c *ir.Contract) { find(c).Envelope.Elements[1].GoName = "Handler" }, "the handler interface and library_find: element book"},
		{"attribute and child", func(c *ir.Contract) { find(c).Envelope.Elements[1].Attributes[0].GoName = "Title" }, "attribute id and child title have the same Go name Title"},
		{"attribute and method", func(c *ir.Contract) { find(c).Envelope.Elements[1].Attributes[0].GoName = "Append" }, "the method Append and attribute id"},
		{"package is a keyword", func(c *ir.Contract) { c.Families[0].Package = "func" }, `"func"`},
		{"package is code", func(c *ir.Contract) { c.Families[0].Package = "a; import \"os\"" }, `"a; import \"os\""`},
		{"generated package", func(c *ir.Contract) { c.Targets.Generated = "a-b" }, `"a-b" cannot be the name`},
		{"file of tests", func(c *ir.Contract) { find(c).Short = "find_test" }, "library_find cannot have the file find_test.go"},
		{"file of one system", func(c *ir.Contract) { find(c).Short = "find_windows" }, "library_find cannot have the file find_windows.go"},
		{"file of one processor", func(c *ir.Contract) { find(c).Short = "arm64" }, ""},
		{"file elsewhere", func(c *ir.Contract) { find(c).Short = "../find" }, "library_find cannot have the file ../find.go"},
		{"hidden file", func(c *ir.Contract) { find(c).Short = "_find" }, "library_find cannot have the file _find.go"},
		{"file of the family", func(c *ir.Contract) { find(c).Short = "library" }, "the family itself and library_find have the same file library.go"},
		{"element is no name", func(c *ir.Contract) { find(c).Envelope.Elements[1].Name = "a b" }, `"a b" cannot be the name of an element`},
		{"attribute is no name", func(c *ir.Contract) { find(c).Envelope.Elements[1].Attributes[0].Name = `a="` }, `"a=\"" cannot be the name`},
		{"key is a tag of its own", func(c *ir.Contract) { find(c).Envelope.Elements[1].Attributes[0].From = "id,string" }, `"id,string" cannot be a key`},
		{"no such child", func(c *ir.Contract) { find(c).Envelope.Elements[1].Children[0].Element = "nothing" }, "its child nothing is not declared"},
		{"no root", func(c *ir.Contract) { find(c).Envelope.Root = "nothing" }, `the root element "nothing" is not declared`},
		{"body and children", func(c *ir.Contract) { find(c).Envelope.Elements[1].Body = ir.InlineBody }, "it has a body and children"},
		{"repair does not fit", func(c *ir.Contract) { find(c).Params[0].Repairs = []ir.Repair{ir.RepairClamp} }, `library_find.word: the repair "clamp" does not fit`},
		{"pattern is no pattern", func(c *ir.Contract) { find(c).Params[7].Pattern = "(" }, "library_find.shelf: compiling the pattern"},
		{"default of no type", func(c *ir.Contract) { find(c).Params[1].Default = 1.5 }, "library_find.limit: a default cannot be a float64"},
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
		{"same import path", func(c *ir.Contract) { c.Families = append(c.Families, c.Families[0]) }, "library and library have the same import path"},
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
