package gocode

import (
	"bytes"
	"fmt"
	"go/format"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"

	"github.com/convtools/convtools/gen/emit"
)

// code is lines of Go, without their indentation: it follows from the brackets that
// lines begin and end with. A tab in a line parts its columns, which are aligned with
// those of the lines around it. One that ends a line indents those below it, as an open
// bracket at its end does.
//
// The spaces within a line are those that gofmt sets.
type code []string

// block is a statement or a declaration with what is in its braces.
func block(head string, body ...string) code {
	lines := make(code, 0, len(body)+2)
	return append(append(append(lines, head+" {"), body...), "}")
}

// shortFunc is a function of one statement: on one line, where gofmt leaves it there.
func shortFunc(head, statement string) code {
	if line := head + " { " + statement + " }"; width(line) <= 100 {
		return code{line}
	}
	return block(head, statement)
}

// inCase is a clause of a switch statement.
func inCase(condition string, body ...string) code {
	return append(code{"case " + condition + ":"}, body...)
}

func inDefault(body ...string) code { return append(code{"default:"}, body...) }

// otherwise adds an else to an if statement.
func (c code) otherwise(body code) code {
	return slices.Concat(c[:len(c)-1], code{"} else {"}, body, code{"}"})
}

// documented puts a doc comment over a declaration.
func documented(declaration code, paragraphs ...string) code {
	return append(comment(paragraphs...), declaration...)
}

// mark encloses the import path that an identifier is of. No text of a spec has it:
// in comments and literals it is escaped.
const mark = "\x00"

// runtimeModule is the module with the packages that generated code stands on,
// which a project of another module depends on.
const runtimeModule = "github.com/convtools/convtools"

// The packages that generated code uses, as what stands before an identifier.
const (
	pkgContext  = mark + "context" + mark
	pkgRegexp   = mark + "regexp" + mark
	pkgStrconv  = mark + "strconv" + mark
	pkgStrings  = mark + "strings" + mark
	pkgSync     = mark + "sync" + mark
	pkgTime     = mark + "time" + mark
	pkgUTF8     = mark + "unicode/utf8" + mark
	pkgContract = mark + runtimeModule + "/runtime/contract" + mark
	pkgCoerce   = mark + runtimeModule + "/runtime/coerce" + mark
	pkgEnvelope = mark + runtimeModule + "/runtime/envelope" + mark
	pkgFormats  = mark + runtimeModule + "/runtime/coerce/formats" + mark

	pkgCommandline = mark + runtimeModule + "/runtime/commandline" + mark
)

// of is what stands before an identifier of any package.
func of(importPath string) string { return mark + importPath + mark }

// source is a Go file that is being written, as gofmt has it. The declarations in it are
// text, of which there is much; its head, and what packages are called, is left to
// package jen.
type source struct {
	*generator
	importPath, name string
	origin           string // what it is generated from
	doc              code   // of the package
	text             []byte // below the head
	depth            int
	rows             [][]string // lines that wait for the width of their columns
}

// newSource begins a file, which is generated from what origin names.
func (g *generator) newSource(importPath, name, origin string) *source {
	text, _ := g.scratch.Get().(*[]byte)
	if text == nil {
		text = new([]byte)
	}
	return &source{generator: g, importPath: importPath, name: name, origin: oneLine(origin), text: (*text)[:0]}
}

// declare writes a declaration.
func (s *source) declare(lines code) {
	if len(s.text) > 0 {
		s.text = append(s.text, '\n')
	}
	for _, line := range lines {
		for part := range strings.SplitSeq(line, "\n") { // a function may be a value
			s.line(part)
		}
	}
	s.flush()
}

func (s *source) line(line string) {
	isComment := strings.HasPrefix(line, "//")
	line, opens := strings.CutSuffix(line, "\t")
	if !isComment && strings.Contains(line, "\t") {
		s.rows = append(s.rows, strings.Split(line, "\t"))
		return
	}
	s.flush()
	depth := s.depth
	switch {
	case isComment:
		s.write(depth, line)
		return
	case line[0] == '}' || line[0] == ')':
		depth--
		s.depth--
	case strings.HasPrefix(line, "case ") || line == "default:":
		depth--
	}
	s.write(depth, line)
	if last := line[len(line)-1]; opens || last == '{' || last == '(' {
		s.depth++
	}
}

func (s *source) write(depth int, line string) {
	for range depth {
		s.text = append(s.text, '\t')
	}
	s.text = append(append(s.text, line...), '\n')
}

// flush writes the lines that wait, with their columns aligned: gofmt does so where no
// key of a literal has more than 40 characters, and none has here.
func (s *source) flush() {
	if len(s.rows) == 0 {
		return
	}
	widths := make([]int, len(s.rows[0]))
	for _, row := range s.rows {
		for i, column := range row {
			widths[i] = max(widths[i], width(column))
		}
	}
	for _, row := range s.rows {
		var line strings.Builder
		for i, column := range row {
			line.WriteString(column)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-width(column)+1))
			}
		}
		s.write(s.depth, line.String())
	}
	s.rows = s.rows[:0]
}

// width is how many characters a column has when packages have their names.
func width(column string) int {
	n := utf8.RuneCountInString(column)
	for rest := column; ; {
		_, after, found := strings.Cut(rest, mark)
		if !found {
			return n
		}
		var pkg string
		pkg, rest, _ = strings.Cut(after, mark)
		n -= len(pkg) - len(path.Base(pkg)) + 1 // a dot for two marks
	}
}

// emit returns the file.
func (s *source) emit(name string) (emit.File, error) {
	head, err := s.head()
	if err != nil {
		return emit.File{}, fmt.Errorf("rendering %s: %w", name, err)
	}
	data := make([]byte, 0, len(s.origin)+len(head.text)+len(s.text)+60) // a name is shorter than an import path
	data = append(data, "// Code generated by convgen from "...)
	data = append(data, s.origin...)
	data = append(data, ". DO NOT EDIT.\n\n"...)
	data = append(data, head.text...)
	for rest := s.text; ; {
		text, after, found := bytes.Cut(rest, []byte(mark))
		data = append(data, text...)
		if !found {
			s.scratch.Put(&s.text)
			formatted, err := format.Source(data)
			return emit.File{Path: name, Data: formatted}, err
		}
		var importPath []byte
		importPath, rest, _ = bytes.Cut(after, []byte(mark))
		data = append(data, head.packages[string(importPath)]...)
	}
}

// head is what stands above declarations, and what stands before identifiers of each
// package below it.
type head struct {
	text     string
	packages map[string]string
}

// head returns the head for the declarations of a file. Most files of a family share one.
func (s *source) head() (*head, error) {
	h := &head{packages: map[string]string{}}
	var imports []string
	for i, importPath := range bytes.Split(s.text, []byte(mark)) {
		if _, known := h.packages[string(importPath)]; i%2 == 0 || known {
			continue
		}
		imports = append(imports, string(importPath))
		h.packages[string(importPath)] = ""
	}
	key := strings.Join(slices.Concat([]string{s.importPath}, s.doc, imports), "\n")
	if made, ok := s.heads.Load(key); ok {
		return made.(*head), nil
	}
	f := jen.NewFilePathName(s.importPath, s.name)
	f.NoFormat = true
	for _, line := range s.doc {
		f.PackageComment(line)
	}
	for _, pkg := range []string{pkgContract, pkgCoerce, pkgEnvelope, pkgFormats, pkgCommandline} {
		pkg = strings.Trim(pkg, mark)
		f.ImportName(pkg, path.Base(pkg))
	}
	for i := range s.contract.Families {
		f.ImportName(s.contract.Families[i].Import, s.contract.Families[i].Package)
	}
	// Package jen gives names to packages as it prints what is of them.
	const identifier = "X"
	f.Op(mark)
	for _, importPath := range imports {
		f.Qual(importPath, identifier).Op(mark)
	}
	var b strings.Builder
	if err := f.Render(&b); err != nil {
		return nil, err
	}
	text, qualified, _ := strings.Cut(b.String(), mark)
	h.text = groupImports(strings.TrimRight(text, "\n") + "\n\n")
	for i, name := range strings.Split(qualified, mark)[:len(imports)] {
		h.packages[imports[i]] = strings.TrimSuffix(strings.TrimSpace(name), identifier)
	}
	s.heads.Store(key, h)
	return h, nil
}

// groupImports puts the standard library's imports before the others, with a
// blank line between, where there are both.
func groupImports(head string) string {
	const open, end = "\nimport (\n", "\n)\n"
	before, after, found := strings.Cut(head, open)
	if !found {
		return head
	}
	list, after, _ := strings.Cut(after, end)
	var standard, others []string
	for line := range strings.SplitSeq(list, "\n") {
		_, name, _ := strings.Cut(line, `"`)
		first, _, _ := strings.Cut(name, "/")
		if strings.Contains(first, ".") {
			others = append(others, "\t"+line)
		} else {
			standard = append(standard, "\t"+line)
		}
	}
	if len(standard) > 0 && len(others) > 0 {
		standard = append(standard, "")
	}
	return before + open + strings.Join(append(standard, others...), "\n") + end + after
}

// quoted is texts as literals, for arguments and values.
func quoted[S ~string](list []S) string {
	var b []byte
	for i, s := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendQuote(b, string(s))
	}
	return string(b)
}

// words is a literal slice of strings.
func words(list []string) string { return "[]string{" + quoted(list) + "}" }

// float is an untyped constant with a fraction.
func float(n float64) string {
	text := fmt.Sprintf("%#v", n)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}
