package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/gen/internal/parallel"
	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/tomlpos"
)

// ProjectFile is the file that names all others, at the top of a project.
const ProjectFile = "tools.toml"

// Bounds on one file, which is written by hand. The decoder takes time in the
// square of the nesting and of the parts of a dotted key, and finding columns in
// the square of a line.
const (
	maxFile    = 256 << 10 // bytes
	maxLine    = 32 << 10  // bytes
	maxNesting = 100       // brackets that are open at once
	maxDots    = 1000      // dots on one line
)

// Bounds on one pattern for files. Every alternative is looked for on its own,
// and every ** in all folders that the one before it leads to.
const (
	maxAlternatives = 64
	maxDoubleStars  = 3
)

const byteOrderMark = "\ufeff"

// Load reads tools.toml and every spec it names. Where there are errors among
// the diagnostics the project is incomplete: it can be judged further, to report
// everything at once, but nothing may be made from it.
func Load(fsys fs.FS) (*Project, diag.List) {
	l := &loader{}
	file, root := l.read(fsys, ProjectFile)
	if root == nil {
		return &Project{File: file, Sources: []*File{file}}, l.diags
	}
	p := l.project(file, root)
	p.Sources = append(p.Sources, file)
	names := l.glob(fsys, p.Specs)
	type loaded struct {
		file  *File
		tool  *Tool // nil where the file cannot be read
		diags diag.List
	}
	all := make([]loaded, len(names))
	parallel.Each(len(names), func(i int) {
		l := &loader{}
		file, root := l.read(fsys, names[i])
		all[i].file = file
		if root != nil {
			all[i].tool = l.tool(file, root)
		}
		all[i].diags = l.diags
	})
	for _, one := range all {
		p.Sources = append(p.Sources, one.file)
		if one.tool != nil {
			p.Tools = append(p.Tools, one.tool)
		}
		l.diags = append(l.diags, one.diags...)
	}
	return p, l.diags
}

func (l *loader) read(fsys fs.FS, name string) (*File, map[string]any) {
	file := &File{Name: name}
	file.Unread = true
	source, ok := l.source(fsys, file)
	if !ok {
		return file, nil
	}
	file.Source = source
	file.index = tomlpos.Scan(source)
	if at, what := unreasonable(source); what != "" {
		l.report(file, diag.NewSource(source).Span(at, at+1), RuleSyntax, what, "")
		return file, nil
	}
	root := map[string]any{}
	if _, err := toml.Decode(string(source), &root); err != nil {
		l.syntax(file, err)
		return file, nil
	}
	file.Unread = false
	return file, root
}

// source reads a file, if it is one that can be: a pipe or a device would keep
// the generator waiting.
func (l *loader) source(fsys fs.FS, file *File) ([]byte, bool) {
	refuse := func(rule, message, hint string) ([]byte, bool) {
		l.report(file, diag.Span{}, rule, message, hint)
		return nil, false
	}
	info, err := fs.Stat(fsys, file.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && file.Name == ProjectFile:
		return refuse(RuleFiles, "there is no "+file.Name, "run this at the top of the project, where tools.toml is, or name that folder with -C")
	case err != nil:
		return refuse(RuleFiles, fmt.Sprintf("the file cannot be read: %v", err), "")
	case !info.Mode().IsRegular():
		return refuse(RuleFiles, "this is not a file", "")
	case info.Size() > maxFile:
		return refuse(RuleFiles, fmt.Sprintf("the file has %d bytes; %d are allowed", info.Size(), maxFile), "")
	}
	source, err := fs.ReadFile(fsys, file.Name)
	switch {
	case err != nil:
		return refuse(RuleFiles, fmt.Sprintf("the file cannot be read: %v", err), "")
	case !utf8.Valid(source):
		return refuse(RuleSyntax, "the file is not valid UTF-8", "")
	}
	return source, true
}

// unreasonable finds text that would keep the decoder busy, and returns what it is.
// It counts brackets and dots within strings too, which no hand-written text has
// so many of.
func unreasonable(source []byte) (at int, what string) {
	open, dots, line := 0, 0, 0
	for i, b := range source {
		switch b {
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		case '.':
			dots++
		case '\n':
			dots, line = 0, i+1
		}
		if i-line > maxLine {
			return line, fmt.Sprintf("the line has more than %d bytes", maxLine)
		}
		if open > maxNesting {
			return i, fmt.Sprintf("more than %d brackets are open here", maxNesting)
		}
		if dots > maxDots {
			return i, fmt.Sprintf("more than %d dots stand on this line", maxDots)
		}
	}
	return 0, ""
}

func (l *loader) syntax(file *File, err error) {
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		l.report(file, diag.Span{}, RuleSyntax, strings.TrimPrefix(err.Error(), "toml: "), "")
		return
	}
	start := parse.Position.Start
	if strings.HasPrefix(string(file.Source), byteOrderMark) {
		start += len(byteOrderMark) // the decoder does not count it
	}
	at := diag.NewSource(file.Source).Span(start, start+max(1, parse.Position.Len))
	l.report(file, at, RuleSyntax, strings.TrimSuffix(parse.Message, "."), "")
}

// glob finds the spec files. Patterns match slash-separated paths inside the
// project; the result is sorted, so that generation never depends on the order
// a file system lists things in.
func (l *loader) glob(fsys fs.FS, patterns Field[[]string]) []string {
	seen := map[string]bool{}
	var names []string
	for i, pattern := range patterns.Value {
		at := patterns.At.Elem(i)
		if !inside(pattern) || !doublestar.ValidatePattern(pattern) {
			l.report(at.File, at.Span(), RuleFiles, fmt.Sprintf("%q is not a pattern for files of this project", pattern), `write it relative, with slashes and without "..", such as "specs/**/*.toml"`)
			continue
		}
		if what := tooMuch(pattern); what != "" {
			l.report(at.File, at.Span(), RuleFiles, fmt.Sprintf("the pattern %s has %s", text.Quote(pattern), what), "write several patterns")
			continue
		}
		matches, err := doublestar.Glob(fsys, pattern, doublestar.WithFailOnIOErrors(), doublestar.WithFilesOnly(), doublestar.WithNoFollow())
		if err != nil {
			l.report(at.File, at.Span(), RuleFiles, fmt.Sprintf("looking for %q: %v", pattern, err), "")
			continue
		}
		if len(matches) == 0 {
			l.report(at.File, at.Span(), RuleFiles, fmt.Sprintf("no file matches %q", pattern), "")
		}
		for _, name := range matches {
			switch {
			case name == ProjectFile:
				l.report(at.File, at.Span(), RuleFiles, fmt.Sprintf("%q matches %s, which is no spec", pattern, ProjectFile), `keep specs in folders, such as "specs/**/*.toml"`)
			case !seen[name]:
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	sort.Strings(names)
	return names
}

// Reads reports whether a file of that name would be read as a spec.
func (p *Project) Reads(name string) bool {
	return slices.ContainsFunc(p.Specs.Value, func(pattern string) bool {
		return inside(pattern) && doublestar.MatchUnvalidated(pattern, name)
	})
}

// tooMuch returns what a pattern has too much of, or nothing.
func tooMuch(pattern string) string {
	alternatives, groups := 1, []int{} // groups: alternatives of the braces that are open
	for _, c := range pattern {
		switch last := len(groups) - 1; {
		case c == '{':
			groups = append(groups, 1)
		case c == ',' && last >= 0:
			groups[last]++
		case c == '}' && last >= 0:
			alternatives *= groups[last]
			groups = groups[:last]
		}
		if alternatives > maxAlternatives {
			return fmt.Sprintf("more than %d alternatives", maxAlternatives)
		}
	}
	if strings.Count(pattern, "**") > maxDoubleStars {
		return fmt.Sprintf("** more than %d times", maxDoubleStars)
	}
	return ""
}

// inside reports whether a pattern stays within the project.
func inside(pattern string) bool {
	return pattern != "" && !path.IsAbs(pattern) && !strings.Contains(pattern, `\`) &&
		!slices.Contains(strings.Split(pattern, "/"), "..")
}

func (l *loader) project(file *File, root map[string]any) *Project {
	p := &Project{File: file}
	at := Place{File: file}
	l.table(at, ProjectKind, ProjectFile, root, reflect.ValueOf(p).Elem())
	slices.SortFunc(p.CLIs, func(a, b CLI) int { return strings.Compare(a.Name, b.Name) })
	if p.Go.At.File != nil && !p.Module.Set {
		l.missing(at, ProjectFile, "module")
	}
	return p
}

func (l *loader) tool(file *File, root map[string]any) *Tool {
	t := &Tool{File: file}
	at := Place{File: file}
	l.table(at, ToolKind, "a tool", root, reflect.ValueOf(t).Elem())
	if t.Envelope == nil && t.needsEnvelope() && !at.Key("answer").Doubtful() {
		l.missing(at, "a tool", "envelope")
	}
	if t.Result == nil && t.Answer.Value == "json" && t.Command == nil {
		l.missing(at, "a tool", "result")
	}
	return t
}

// needsEnvelope reports whether a spec has to say what its answer looks like. Whoever says
// nothing means an envelope; that of a command that prints a text goes without saying.
// What is wrong with any other word is told where that stands.
func (t *Tool) needsEnvelope() bool {
	if t.Answer.Set && t.Answer.Value != "envelope" {
		return false
	}
	return t.Command == nil || t.Command.Output != nil && t.Command.Output.Form.Value != "text"
}
