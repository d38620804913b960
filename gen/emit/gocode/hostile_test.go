package gocode_test

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/gen/emit/gocode"
	"github.com/convtools/convtools/gen/emit/schema"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/ir/irtest"
)

// Each of hostileTexts tries to end a comment or a string in another way.
var hostileTexts = []string{
	"*/ func init() { panic(1) } /*",
	"//go:embed secret",
	"go:build ignore",
	"+build ignore",
	"/* unclosed",
	"line one\nfunc init() { panic(1) }",
	"line one\r\nfunc init() { panic(1) }\rvar x = 1",
	"first\n\n//go:generate rm -rf /\n//go:linkname a b",
	"`; func init() { panic(1) }; const x = `",
	"\"; func init() { panic(1) }; const x = \"",
	"a\u2028func init() { panic(1) }\u2029b\u0085c\vd\fe",
	"nul \x00, bom \ufeff, bytes \xff\xfe, bidi \u202e\u2066, tag \U000e0041, del \x7f",
	"\\n\\u0041\\x00 %s %d %%!",
	"export C\nline /etc/passwd:1",
	"nolint:all lint:ignore",
	"[x]: http://example.com\n# heading\n- item\n\t1. code",
	strings.Repeat("long ", 500) + strings.Repeat("x", 500),
	"",
	" \n \t ",
}

// hostileLibrary returns a contract with a hostile text in every free text of a spec.
func hostileLibrary() *ir.Contract {
	c := library()
	poison(c, strings.Join(hostileTexts, " "))
	return c
}

// poison sets every free text of a spec in a contract to text.
func poison(c *ir.Contract, text string) {
	for _, tool := range c.Tools() {
		tool.Summary, tool.Description = text, text
		tool.Source = "specs/" + text
		for i := range tool.Params {
			p := &tool.Params[i]
			p.Summary = text
			for _, list := range append(p.Inner(), p) {
				if list.Enum != nil {
					list.Enum = []string{text}
				}
				if list.Pattern != "" {
					list.PatternSays = text
				}
			}
			switch p.Default.(type) {
			case string:
				p.Default = text
			case []string:
				p.Default = []string{text, text}
			}
		}
		if tool.Command != nil {
			tool.Command.Line = text
			for i := range tool.Command.Args {
				tool.Command.Args[i].Value[0].Text = text
			}
			for i := range tool.Command.Env {
				tool.Command.Env[i].Name = text
			}
			for i := range tool.Command.Failures {
				tool.Command.Failures[i].Reason = text
			}
			if tool.Command.Stdin != nil {
				tool.Command.Stdin[0].Text, tool.Command.Dir = text, text
			}
		}
		for i := range tool.Envelope.Elements {
			e := &tool.Envelope.Elements[i]
			e.Summary = text
			for j := range e.Attributes {
				e.Attributes[j].Summary = text
				if e.Attributes[j].Fixed != "" {
					e.Attributes[j].Fixed = text
				}
			}
		}
	}
	for i := range c.CLIs {
		c.CLIs[i].Name, c.CLIs[i].Env, c.CLIs[i].Command = text+c.CLIs[i].Name, text, []string{text}
	}
}

// TestHostileTextStaysText checks, for each hostile text, that the output has the same declarations as for harmless
// text.
func TestHostileTextStaysText(t *testing.T) {
	t.Parallel()
	harmless := library()
	poison(harmless, "harmless")
	want := declarations(t, harmless)
	for _, text := range hostileTexts {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			c := library()
			poison(c, text)
			if diff := cmp.Diff(want, declarations(t, c)); diff != "" {
				t.Errorf("declarations for %q (-harmless +hostile):\n%s", text, diff)
			}
		})
	}
}

// declarations returns every declaration of the output with its file, and checks the properties that every file must
// have.
func declarations(t *testing.T, c *ir.Contract) []string {
	t.Helper()
	files, err := gocode.Emit(c, schema.Compact)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file.Path, file.Data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				receiver := ""
				if d.Recv != nil {
					receiver = "method "
				}
				names = append(names, file.Path+": func "+receiver+d.Name.Name)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.ImportSpec:
						names = append(names, file.Path+": import "+s.Path.Value)
					case *ast.TypeSpec:
						names = append(names, file.Path+": type "+s.Name.Name)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							names = append(names, file.Path+": "+d.Tok.String()+" "+name.Name)
						}
					}
				}
			}
		}
		checkComments(t, file.Path, parsed)
		if formatted, err := format.Source(file.Data); err != nil {
			t.Errorf("%s: %v", file.Path, err)
		} else if diff := cmp.Diff(string(formatted), string(file.Data)); diff != "" {
			t.Errorf("%s is not as gofmt writes it (-gofmt +is):\n%s", file.Path, diff)
		}
		for _, r := range string(file.Data) {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\u202e' || r == '\ufeff' || r == '\u2028' {
				t.Errorf("%s has the character %U", file.Path, r)
			}
		}
		if !ast.IsGenerated(parsed) {
			t.Errorf("%s does not say that it is generated", file.Path)
		}
	}
	return names
}

// checkComments reports comments that tools would take for instructions.
func checkComments(t *testing.T, name string, file *ast.File) {
	t.Helper()
	for _, group := range file.Comments {
		for _, comment := range group.List {
			text, isLine := strings.CutPrefix(comment.Text, "//")
			switch {
			case !isLine:
				t.Errorf("%s has a comment of the other kind: %q", name, comment.Text)
			case text != "" && !strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "\t"):
				t.Errorf("%s has a directive: %q", name, comment.Text)
			}
			if strings.Contains(text, "+build") {
				t.Errorf("%s has a build constraint: %q", name, comment.Text)
			}
		}
	}
}

// TestHostileProject runs the shared hostile contract through the same checks.
func TestHostileProject(t *testing.T) {
	t.Parallel()
	declarations(t, irtest.Hostile())
	declarations(t, hostileLibrary())
}
