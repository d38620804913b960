package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/gen/internal/parallel"
	"github.com/convtools/convtools/gen/ir"
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
	for _, use := range file.index.TOML11() {
		l.diags = append(l.diags, diag.Diagnostic{
			File: name, Span: use.Span, Rule: RuleTOML11, Severity: diag.Warning,
			Message: string(use.Syntax) + " is new in TOML 1.1", Hint: "other readers of this file may refuse it; write it in TOML 1.0",
		})
	}
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
	t := l.table(Place{File: file}, ProjectKind, ProjectFile, root)
	p := &Project{File: file, Module: t.text("module"), Specs: t.mustTexts("specs")}
	for _, c := range t.named("cli", "the command line") {
		p.CLIs = append(p.CLIs, CLI{
			Name: c.name, At: c.at,
			Command: c.mustTexts("command"), EndOfOptions: c.words("end_of_options"), Env: c.text("env"), PassEnv: c.texts("pass_env"),
		})
		c.close()
	}
	sort.Slice(p.CLIs, func(i, j int) bool { return p.CLIs[i].Name < p.CLIs[j].Name })
	for _, a := range t.subs("accepted", "an accepted change", false) {
		p.Accepted = append(p.Accepted, Accepted{
			At: a.at, Rule: a.mustText("rule"), Subject: a.mustText("subject"), Reason: a.mustText("reason"), Version: a.mustText("version"),
		})
		a.close()
	}
	if targets := t.sub("targets", "targets", false); targets != nil {
		if g := targets.sub("go", "targets.go", false); g != nil {
			p.Go.Dir = g.mustText("dir")
			if !p.Module.Set {
				t.raw("module", true)
			}
			g.close()
		}
		p.Only = targets.texts("only")
		if jp := targets.sub("jp", "targets.jp", false); jp != nil {
			p.JP = JPTarget{Set: true, Tools: jp.mustText("tools"), Command: jp.mustText("command")}
			for _, s := range jp.subs("skills", "a skill", false) {
				p.JP.Skills = append(p.JP.Skills, Skill{
					At: s.at, File: s.mustText("file"), Tag: s.mustText("tag"), Title: s.mustText("title"),
					Content: s.mustText("content"), Tools: s.mustTexts("tools"),
				})
				s.close()
			}
			jp.close()
		}
		targets.close()
	}
	t.close()
	return p
}

func (l *loader) tool(file *File, root map[string]any) *Tool {
	t := l.table(Place{File: file}, ToolKind, "a tool", root)
	tool := &Tool{
		File: file,
		Name: t.mustText("name"), Summary: t.mustText("summary"), Description: t.mustText("description"),
		Effect: t.mustText("effect"), Handler: t.text("handler"),
		OpenWorld: t.boolean("open_world"), Answer: t.text("answer"), Structured: t.boolean("structured"),
		MaxChars: t.integer("max_chars"), Narrow: t.text("narrow"),
	}
	if targets := t.sub("targets", "targets", false); targets != nil {
		if jp := targets.sub("jp", "targets.jp", false); jp != nil {
			tool.JP = JPTool{Enable: jp.text("enable"), Run: jp.text("run")}
			jp.close()
		}
		targets.close()
	}
	for _, a := range t.subs("aliases", "an alias", false) {
		tool.Aliases = append(tool.Aliases, Alias{At: a.at, Name: a.mustText("name"), Until: a.mustText("until")})
		a.close()
	}
	params := t.named("parameters", "the parameter")
	tool.Params = make([]Param, len(params))
	for i, p := range params {
		tool.Params[i] = l.param(p)
	}
	for _, r := range t.subs("rules", "a rule", false) {
		tool.Rules = append(tool.Rules, Rule{
			At: r.at, Exclusive: r.texts("exclusive"), AtLeastOne: r.texts("at_least_one"), ExactlyOne: r.texts("exactly_one"),
			Given: r.text("given"), Requires: r.texts("requires"),
		})
		r.close()
	}
	if c := t.sub("command", "command", false); c != nil {
		tool.Command = l.command(c)
	}
	if e := t.sub("envelope", "envelope", tool.needsEnvelope()); e != nil {
		tool.Envelope = l.envelope(e)
	}
	if r := t.sub("result", "result", tool.Answer.Value == "json" && tool.Command == nil); r != nil {
		tool.Result = &Result{At: r.at, Plain: r.boolean("plain"), Codes: r.texts("codes")}
		for _, f := range r.named("fields", "the field") {
			tool.Result.Fields = append(tool.Result.Fields, l.param(f))
		}
		r.close()
	}
	for _, e := range t.subs("examples", "an example", false) {
		example := Example{At: e.at, Summary: e.mustText("summary")}
		if v, at, ok := e.raw("arguments", true); ok {
			m, right := v.(map[string]any)
			if !right {
				e.wrong(at, "arguments", "a table", v)
			}
			example.Arguments = Field[map[string]any]{Value: m, Set: right, At: at}
		}
		e.close()
		tool.Examples = append(tool.Examples, example)
	}
	t.close()
	return tool
}

func (l *loader) param(t *table) Param {
	p := Param{Name: t.name, Summary: t.mustText("summary"), Type: t.mustText("type"), OfResult: t.ofResult()}
	if t.ofResult() {
		p.Presence = t.text("presence")
	} else {
		p.Required, p.Default, p.Repairs, p.OneOrMany = t.boolean("required"), t.value("default"), t.texts("repairs"), t.boolean("one_or_many")
		p.Nullable, p.Clamp = t.boolean("nullable"), t.integers("clamp")
	}
	l.inside(t, &p)
	return p
}

// items reads what every item of an array is: a string, unless it says otherwise.
func (l *loader) items(t *table) *Param {
	p := Param{Type: t.text("type"), Summary: t.text("summary"), Nullable: t.boolean("nullable"), OfResult: t.ofResult()}
	l.inside(t, &p)
	return &p
}

// inside reads what narrows a value and what it holds.
func (l *loader) inside(t *table, p *Param) {
	p.At, p.Key = t.at, t.text("key")
	p.Constraints = map[string]Field[any]{}
	if !t.ofResult() {
		for _, c := range ir.ConstraintTable() {
			if f := t.constraint(c); f.Set {
				p.Constraints[c.Key] = f
			}
		}
	}
	if items := t.sub("items", "items", false); items != nil {
		p.Items = l.items(items)
	}
	p.Members, p.MembersAt = l.members(t), t.at.Key("members")
	for _, v := range t.named("variants", "the variant") {
		p.Variants = append(p.Variants, Variant{Value: v.name, At: v.at, Summary: v.mustText("summary"), Members: l.members(v)})
		v.close()
	}
	t.close()
}

func (l *loader) members(t *table) []Param {
	var members []Param
	for _, m := range t.named("members", "the member") {
		members = append(members, l.param(m))
	}
	return members
}

// constraint reads one of the constraints, as what [ir.Constraint.Set] takes.
func (t *table) constraint(c ir.Constraint) Field[any] {
	opened := func(value any, set bool, at Place) Field[any] { return Field[any]{Value: value, Set: set, At: at} }
	switch {
	case c.Form == ir.Flag:
		f := t.boolean(c.Key)
		return opened(f.Value, f.Set, f.At)
	case c.Form == ir.List:
		f := t.texts(c.Key)
		return opened(f.Value, f.Set, f.At)
	case c.Form == ir.Text, c.Form == ir.Remark:
		f := t.text(c.Key)
		return opened(f.Value, f.Set, f.At)
	case c.Unit != "":
		f := t.integer(c.Key)
		return opened(float64(f.Value), f.Set, f.At)
	default:
		return t.number(c.Key)
	}
}

func (l *loader) command(t *table) *Command {
	c := &Command{
		At: t.at, CLI: t.mustText("cli"), OKExit: t.integers("ok_exit"), EmptyExit: t.integers("empty_exit"),
		Stdin: t.text("stdin"), Env: t.variables("env"), Dir: t.text("dir"), Timeout: t.integer("timeout"),
	}
	for _, f := range t.subs("failures", "a failure", false) {
		c.Failures = append(c.Failures, ExitFailure{
			At: f.at, Exit: f.mustIntegers("exit"), Reason: f.mustText("reason"), Caller: f.boolean("caller"), Transient: f.boolean("transient"),
		})
		f.close()
	}
	if o := t.sub("output", "output", false); o != nil {
		c.Output = &Output{
			At: o.at, Form: o.mustText("form"), Path: o.text("path"), MayBeAbsent: o.boolean("may_be_absent"), Fields: o.texts("fields"),
			Separator: o.text("separator"), End: o.text("end"), Pattern: o.text("pattern"), Skip: o.text("skip"),
		}
		o.close()
	}
	v, at, ok := t.raw("args", true)
	c.ArgsAt = at
	list, right := items(v)
	if ok && !right {
		t.wrong(at, "args", "an array", v)
	}
	for i, item := range list {
		place := at.Elem(i)
		switch item := item.(type) {
		case string:
			c.Args = append(c.Args, Arg{At: place, Value: Field[string]{Value: item, Set: true, At: place}})
		case map[string]any:
			a := l.table(place, "args", "an argument", item)
			c.Args = append(c.Args, Arg{At: place, Option: a.words("option"), Value: a.text("value"), When: a.text("when"), Unless: a.text("unless"), Empty: a.boolean("empty")})
			a.close()
		default:
			t.wrong(place, fmt.Sprintf("args[%d]", i), "a string or a table", item)
		}
	}
	t.close()
	return c
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

func (l *loader) envelope(t *table) *Envelope {
	e := &Envelope{At: t.at, Root: t.mustText("root"), MaxChars: t.integer("max_chars")}
	for _, el := range t.subs("elements", "an element", true) {
		element := Element{
			At: el.at, Name: el.mustText("name"), Summary: el.text("summary"), Body: el.text("body"),
			From: el.text("from"), TextFrom: el.text("text_from"), Separator: el.text("separator"), Children: el.texts("children"),
			Beside: el.boolean("beside"),
		}
		for _, a := range el.subs("attributes", "an attribute", false) {
			element.Attributes = append(element.Attributes, Attribute{
				At: a.at, Name: a.mustText("name"), Type: a.mustText("type"), Presence: a.text("presence"),
				Summary: a.mustText("summary"), From: a.text("from"), Param: a.text("param"), Fixed: a.text("fixed"),
			})
			a.close()
		}
		el.close()
		e.Elements = append(e.Elements, element)
	}
	t.close()
	return e
}
