package gocode

import (
	"errors"
	"fmt"
	"go/build"
	"go/token"
	"io"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/ir"
)

// scope is the names declared in one block of Go.
type scope struct {
	where  string
	names  map[string]string // name to what declared it
	errors []error
}

func newScope(where string) *scope { return &scope{where: where, names: map[string]string{}} }

// declare takes a name, which must be an exported identifier nobody else took.
func (s *scope) declare(name, what string) {
	if !token.IsIdentifier(name) || !token.IsExported(name) {
		s.errors = append(s.errors, fmt.Errorf("%s: %q, the Go name of %s, is no exported Go identifier", s.where, name, what))
		return
	}
	if taken, ok := s.names[name]; ok {
		s.errors = append(s.errors, fmt.Errorf("%s: %s and %s have the same Go name %s", s.where, taken, what, name))
		return
	}
	s.names[name] = what
}

func (s *scope) fail(format string, args ...any) {
	s.errors = append(s.errors, fmt.Errorf("%s: %s", s.where, fmt.Sprintf(format, args...)))
}

// checkFamily finds every name of a family that Go would refuse, before any
// code is built from it.
func checkFamily(family *ir.Family) error {
	if !token.IsIdentifier(family.Package) || family.Package == "_" || family.Package == "main" {
		return fmt.Errorf("family %s: %q cannot be the name of its Go package", family.Name, family.Package)
	}
	all := newScope("family " + family.Name)
	all.declare("Handler", "the handler interface")
	all.declare("Call", "the dispatcher")
	files := map[string]string{family.Package + ".go": "the family itself"}
	for i := range family.Tools {
		tool := &family.Tools[i]
		file := tool.Short + ".go"
		if other, taken := files[file]; taken {
			all.fail("%s and %s have the same file %s", other, tool.Name, file)
		}
		files[file] = tool.Name
		if !plainGoFile(file) {
			all.fail("%s cannot have the file %s: the go command gives that name a meaning of its own", tool.Name, file)
		}
		declareTool(all, tool)
	}
	return errors.Join(all.errors...)
}

// plainGoFile says that the go command compiles a file of that name everywhere,
// and not for tests or some platforms alone.
func plainGoFile(name string) bool {
	if path.Base(name) != name || strings.HasSuffix(name, "_test.go") {
		return false
	}
	nowhere := build.Context{GOOS: "nowhere", GOARCH: "nothing", Compiler: "gc", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("package p\n")), nil
	}}
	matches, err := nowhere.MatchFile(".", name)
	return err == nil && matches
}

func declareTool(all *scope, tool *ir.Tool) {
	if !token.IsIdentifier(tool.GoName) || !token.IsExported(tool.GoName) {
		all.fail("%q, the Go name of %s, is no exported Go identifier", tool.GoName, tool.Name)
		return
	}
	for _, name := range []string{
		paramsName(tool), toolFunc(tool), maxCharsName(tool), "Coerce" + tool.GoName, "Validate" + tool.GoName,
	} {
		all.declare(name, tool.Name)
	}
	if tool.Command != nil {
		for _, suffix := range []string{"Args", "CLI", "ExitOK"} {
			all.declare(tool.GoName+suffix, tool.Name)
		}
	}
	params := newScope(tool.Name)
	for i := range tool.Params {
		p := &tool.Params[i]
		params.declare(p.GoName, "parameter "+p.Name)
		for _, c := range enumConstants(tool, p) {
			all.declare(c.name, tool.Name+"."+p.Name)
		}
		if p.Maximum != nil {
			all.declare(maximumName(tool, p), tool.Name+"."+p.Name)
		}
	}
	all.errors = append(all.errors, params.errors...)
	if tool.Answer != ir.TextAnswer {
		declareEnvelope(all, tool)
	}
}

func declareEnvelope(all *scope, tool *ir.Tool) {
	for i := range tool.Envelope.Elements {
		e := &tool.Envelope.Elements[i]
		where := fmt.Sprintf("%s: element %s", tool.Name, e.Name)
		if e.Name == tool.Envelope.Root {
			all.declare("New"+rootName(tool), where)
		}
		if name, ok := structName(tool, e); ok {
			all.declare(name, where)
		}
		fields := newScope(where)
		fields.declare("Append", "the method Append")
		fields.declare("Bytes", "the method Bytes")
		if e.Body != ir.NoBody {
			fields.declare("Text", "the body")
			if len(e.Children) > 0 {
				fields.fail("it has a body and children")
			}
		}
		if e.Separator != "" {
			fields.declare(separatorField(e), "the separator "+e.Separator)
		}
		for _, a := range e.Attributes {
			if a.Fixed == "" {
				fields.declare(a.GoName, "attribute "+a.Name)
			}
			fields.markup(a.Name)
			fields.key(a.From)
		}
		for _, c := range e.Children {
			fields.declare(c.GoName, "child "+c.Element)
			fields.key(c.From)
			if tool.Envelope.Element(c.Element) == nil {
				fields.fail("its child %s is not declared", c.Element)
			}
		}
		fields.markup(e.Name)
		fields.key(e.From)
		all.errors = append(all.errors, fields.errors...)
	}
	if tool.Envelope.Element(tool.Envelope.Root) == nil {
		all.fail("%s: the root element %q is not declared", tool.Name, tool.Envelope.Root)
	}
}

// markup checks the name of an element or attribute: the envelope writer trusts
// these.
func (s *scope) markup(name string) {
	if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`).MatchString(name) {
		s.fail("%q cannot be the name of an element or attribute", name)
	}
}

// key checks a key of a command's JSON: struct tags give commas and quotes a
// meaning of their own.
func (s *scope) key(name string) {
	if name != "" && !regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`).MatchString(name) {
		s.fail("%q cannot be a key of the command's JSON", name)
	}
}

// rootName is the type of a tool's envelope.
func rootName(tool *ir.Tool) string { return tool.GoName + "Envelope" }

// structName is the type of an element, if it has one: an element that is only
// a body is a string of its parent.
func structName(tool *ir.Tool, e *ir.Element) (string, bool) {
	if e.Name == tool.Envelope.Root {
		return rootName(tool), true
	}
	return e.GoName, !e.Bare()
}

func separatorField(e *ir.Element) string { return camel(e.Separator) + "Before" }

// camel turns a word of a contract, such as tool-result, into a Go name. It
// keeps ASCII letters and digits and begins a new word at everything else; the
// result still has to be checked.
func camel(word string) string {
	var b strings.Builder
	upper := true
	for _, r := range word {
		if r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			upper = true
			continue
		}
		if upper {
			r = unicode.ToUpper(r)
			upper = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// field is the dispatcher's field for a family's handler.
func field(family *ir.Family) string { return camel(family.Package) }

// checkDispatch finds the names of the dispatcher that Go would refuse.
func (g *generator) checkDispatch() error {
	fields := newScope("the dispatcher")
	fields.declare("CLI", "the command lines")
	imports := map[string]string{}
	for i := range g.contract.Families {
		family := &g.contract.Families[i]
		fields.declare(field(family), "family "+family.Name)
		if other, taken := imports[family.Import]; taken {
			fields.fail("%s and %s have the same import path %q", other, family.Name, family.Import)
		}
		imports[family.Import] = family.Name
	}
	if name := path.Base(g.contract.Targets.Generated); !token.IsIdentifier(name) {
		fields.fail("%q cannot be the name of its Go package", name)
	}
	return errors.Join(fields.errors...)
}
