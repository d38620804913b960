package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
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
	p := l.decodeProject(file, root)
	p.Sources = append(p.Sources, file)
	names := l.glob(fsys, p.Specs)
	files, tools, loaders := make([]*File, len(names)), make([]*Tool, len(names)), make([]loader, len(names))
	parallel.Each(len(names), func(i int) {
		file, root := loaders[i].read(fsys, names[i])
		files[i] = file
		if root != nil {
			tools[i] = loaders[i].decodeTool(file, root)
		}
	})
	for i := range names {
		p.Sources = append(p.Sources, files[i])
		if tools[i] != nil { // the file could be read and parsed
			p.Tools = append(p.Tools, tools[i])
		}
		l.diags = append(l.diags, loaders[i].diags...)
	}
	return p, l.diags
}

// read reads and parses a TOML file, and returns it with its root table. If it cannot, it reports why, and the table
// is nil.
func (l *loader) read(fsys fs.FS, name string) (*File, map[string]any) {
	file := &File{Name: name, Unread: true}
	source, ok := l.source(fsys, file)
	if !ok {
		return file, nil
	}
	file.Source = source
	file.index = tomlpos.Scan(source)
	if offset, problem := slowText(source); problem != "" {
		l.report(file, diag.NewSource(source).Span(offset, offset+1), RuleSyntax, problem, "")
		return file, nil
	}
	root := map[string]any{}
	if _, err := toml.Decode(string(source), &root); err != nil {
		l.reportSyntax(file, err)
		return file, nil
	}
	file.Unread = false
	return file, root
}

// source returns the text of a file. It reports a file that is missing, not regular, too large or not UTF-8, and then
// returns false. On a pipe or a device the generator would wait forever.
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

// slowText finds the first text that would take the decoder very long to read. It returns the offset of this text and
// the limit that it exceeds, or 0 and "". It counts brackets and dots in strings too, because hand-written text never
// has that many.
func slowText(source []byte) (offset int, problem string) {
	open, dots, lineStart := 0, 0, 0
	for i, b := range source {
		switch b {
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0) // a string can have closing brackets only
		case '.':
			dots++
		case '\n':
			dots, lineStart = 0, i+1
		}
		if i-lineStart > maxLine {
			return lineStart, fmt.Sprintf("the line has more than %d bytes", maxLine)
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

// reportSyntax reports an error of the decoder at its position, or for the whole file if it has none.
func (l *loader) reportSyntax(file *File, err error) {
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		l.report(file, diag.Span{}, RuleSyntax, strings.TrimPrefix(err.Error(), "toml: "), "")
		return
	}
	start := parse.Position.Start
	if strings.HasPrefix(string(file.Source), byteOrderMark) {
		start += len(byteOrderMark) // the decoder's offsets do not include it
	}
	span := diag.NewSource(file.Source).Span(start, start+max(1, parse.Position.Len))
	l.report(file, span, RuleSyntax, strings.TrimSuffix(parse.Message, "."), "")
}

// glob returns the names of all files that match one of the patterns, sorted and each once. It reports a pattern that is
// invalid, exceeds a limit, matches no file or matches [ProjectFile], which is never in the result.
func (l *loader) glob(fsys fs.FS, patterns Field[[]string]) []string {
	found := map[string]bool{}
	for i, pattern := range patterns.Value {
		place := patterns.At.Elem(i)
		refuse := func(message, hint string) { l.report(place.File, place.Span(), RuleFiles, message, hint) }
		if !inside(pattern) || !doublestar.ValidatePattern(pattern) {
			refuse(fmt.Sprintf("%q is not a pattern for files of this project", pattern), `write it relative, with slashes and without "..", such as "specs/**/*.toml"`)
			continue
		}
		if excess := excessIn(pattern); excess != "" {
			refuse(fmt.Sprintf("the pattern %s has %s", text.Quote(pattern), excess), "write several patterns")
			continue
		}
		matches, err := doublestar.Glob(fsys, pattern, doublestar.WithFailOnIOErrors(), doublestar.WithFilesOnly(), doublestar.WithNoFollow())
		switch {
		case err != nil:
			refuse(fmt.Sprintf("looking for %q: %v", pattern, err), "")
			continue
		case len(matches) == 0:
			refuse(fmt.Sprintf("no file matches %q", pattern), "")
		case slices.Contains(matches, ProjectFile):
			refuse(fmt.Sprintf("%q matches %s, which is no spec", pattern, ProjectFile), `keep specs in folders, such as "specs/**/*.toml"`)
		}
		for _, name := range matches {
			found[name] = true
		}
	}
	delete(found, ProjectFile)
	return slices.Sorted(maps.Keys(found))
}

// Reads reports whether a pattern of the project matches the name of a file, so that [Load] would read it as a spec.
func (p *Project) Reads(name string) bool {
	return slices.ContainsFunc(p.Specs.Value, func(pattern string) bool {
		return inside(pattern) && doublestar.MatchUnvalidated(pattern, name)
	})
}

// excessIn describes the limit on patterns that a pattern exceeds. It returns "" if the pattern exceeds none.
func excessIn(pattern string) string {
	alternatives := 1 // the product over all closed groups {a,b}
	groups := []int{} // the number of alternatives in each open group
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

// inside reports whether a pattern matches only files of the project. Such a pattern is not empty, is relative, and has
// no backslash and no "..".
func inside(pattern string) bool {
	return pattern != "" && !path.IsAbs(pattern) && !strings.Contains(pattern, `\`) &&
		!slices.Contains(strings.Split(pattern, "/"), "..")
}

// decodeProject decodes the root table of tools.toml into a Project, and reports its problems.
func (l *loader) decodeProject(file *File, root map[string]any) *Project {
	p := &Project{File: file}
	place := Place{File: file}
	l.decodeTable(place, ProjectKind, ProjectFile, root, reflect.ValueOf(p).Elem())
	slices.SortFunc(p.CLIs, func(a, b CLI) int { return strings.Compare(a.Name, b.Name) })
	if p.Go.At.File != nil && !p.Module.Set { // there is a [targets.go]
		l.reportMissing(place, ProjectFile, "module")
	}
	return p
}

// decodeTool decodes the root table of a spec into a Tool, and reports its problems. It also reports a missing table
// [envelope] if needsEnvelope is true, and a missing table [result] if the answer is JSON and no command prints the JSON.
func (l *loader) decodeTool(file *File, root map[string]any) *Tool {
	t := &Tool{File: file}
	place := Place{File: file}
	l.decodeTable(place, ToolKind, "a tool", root, reflect.ValueOf(t).Elem())
	if t.Envelope == nil && t.needsEnvelope() && !place.Key("answer").Doubtful() {
		l.reportMissing(place, "a tool", "envelope")
	}
	if needsResult := t.Answer.Value == "json" && t.Command == nil; needsResult && t.Result == nil {
		l.reportMissing(place, "a tool", "result")
	}
	return t
}

// needsEnvelope reports whether the spec must have an [envelope] table. It must if its answer is an envelope, unless a
// command prints the answer as text. An envelope is the default answer, and text is the default output of a command.
func (t *Tool) needsEnvelope() bool {
	if t.Answer.Set && t.Answer.Value != "envelope" {
		return false // package check reports an unknown answer
	}
	printsText := t.Command != nil && (t.Command.Output == nil || t.Command.Output.Form.Value == "text")
	return !printsText
}
