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

// ProjectFile is the name of the file at the root of a project that names all specs.
const ProjectFile = "tools.toml"

// Limits on one file; people write these files by hand. The decoder takes quadratic time in the nesting and in the
// parts of a dotted key, and finding columns takes quadratic time in a line.
const (
	maxFile    = 256 << 10 // bytes
	maxLine    = 32 << 10  // bytes
	maxNesting = 100       // unclosed brackets
	maxDots    = 1000      // dots on one line
)

// Limits on one file pattern. Every alternative is a search of its own, and every ** is tried in all folders that the
// one before it matches.
const (
	maxAlternatives = 64
	maxDoubleStars  = 3
)

const byteOrderMark = "\ufeff"

// Load reads tools.toml and every spec it names. If the diagnostics contain an error, the project is incomplete:
// package check may check it further, but nothing may be generated from it.
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
		tool  *Tool // nil if the file cannot be read
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

// source reads a regular file. It refuses pipes and devices, on which the generator would wait forever.
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

// unreasonable returns the offset and a description of text that would take the decoder very long to read; the
// description is empty if there is none. It counts brackets and dots in strings too, because hand-written text never
// has that many.
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
			return i, fmt.Sprintf("this line has more than %d dots", maxDots)
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
		start += len(byteOrderMark) // the decoder's offsets do not include it
	}
	at := diag.NewSource(file.Source).Span(start, start+max(1, parse.Position.Len))
	l.report(file, at, RuleSyntax, strings.TrimSuffix(parse.Message, "."), "")
}

// glob returns the names of the spec files. Patterns match slash-separated paths inside the project. The result is
// sorted, so the output does not depend on the order of directory entries.
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

// Reads reports whether a file with that name would be read as a spec.
func (p *Project) Reads(name string) bool {
	return slices.ContainsFunc(p.Specs.Value, func(pattern string) bool {
		return inside(pattern) && doublestar.MatchUnvalidated(pattern, name)
	})
}

// tooMuch describes the limit that a pattern exceeds, or returns "".
func tooMuch(pattern string) string {
	alternatives, groups := 1, []int{} // groups counts the alternatives in each open brace
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

// needsEnvelope reports whether the spec must have an envelope. An envelope is the default answer; only a command
// that prints text can omit its description. An unknown answer is reported elsewhere.
func (t *Tool) needsEnvelope() bool {
	if t.Answer.Set && t.Answer.Value != "envelope" {
		return false
	}
	return t.Command == nil || t.Command.Output != nil && t.Command.Output.Form.Value != "text"
}
