// Package check turns loaded specs into the model the emitters read, and
// reports everything that is wrong with them at once. It decides all names.
//
// It must never let anything pass that an emitter would have to guess about:
// what leaves this package without an error is a complete, consistent contract.
package check

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/diag"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/spec"
)

// Check judges a project. The contract is complete only where there are no
// errors among the diagnostics.
func Check(p *spec.Project) (*ir.Contract, diag.List) {
	c := &checker{project: p}
	contract := &ir.Contract{Targets: c.targets()}
	contract.CLIs = c.clis()
	c.families(contract)
	for _, tool := range contract.Tools() {
		c.judge(tool)
	}
	c.skills(contract)
	return contract, c.diags
}

type checker struct {
	project *spec.Project
	diags   diag.List
	specs   map[string]*spec.Tool // by tool name
}

func (c *checker) report(at spec.Place, rule, message, hint string) {
	c.diags = append(c.diags, diag.Diagnostic{File: at.FileName(), Span: at.Span(), Rule: rule, Message: message, Hint: hint})
}

func (c *checker) reportf(at spec.Place, rule, hint, format string, args ...any) {
	c.report(at, rule, fmt.Sprintf(format, args...), hint)
}

// choice checks a key that takes one of a list of values.
func (c *checker) choice(f spec.Field[string], key string, allowed ...string) string {
	if !f.Set || slices.Contains(allowed, f.Value) {
		return f.Value
	}
	hint := "one of: " + strings.Join(allowed, ", ")
	if near, ok := diag.Nearest(f.Value, allowed); ok {
		hint = fmt.Sprintf("did you mean %q? (%s)", near, hint)
	}
	c.reportf(f.At, "CT002", hint, "%s cannot be %q", key, f.Value)
	return f.Value
}

func isSnake(s string, longest int) bool {
	if s == "" || len(s) > longest || s[0] < 'a' || s[0] > 'z' || s[len(s)-1] == '_' || strings.Contains(s, "__") {
		return false
	}
	for i := range len(s) {
		if b := s[i]; (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '_' {
			return false
		}
	}
	return true
}

func (c *checker) summary(f spec.Field[string], longest int) string {
	switch s := f.Value; {
	case !f.Set:
	case strings.TrimSpace(s) == "":
		c.report(f.At, "CT003", "the summary is empty", "say in one line what it is")
	case strings.ContainsAny(s, "\n\r"):
		c.report(f.At, "CT003", "the summary has more than one line", "")
	case utf8.RuneCountInString(s) > longest:
		c.reportf(f.At, "CT003", "move the detail into the description", "the summary has %d characters; %d are allowed", utf8.RuneCountInString(s), longest)
	case strings.HasSuffix(s, "."):
		c.report(f.At, "CT003", "the summary ends with a period", "leave it out: summaries are put into lists and sentences")
	}
	return f.Value
}

func (c *checker) targets() ir.Targets {
	p := c.project
	t := ir.Targets{Module: p.Module.Value, Generated: p.Go.Dir.Value, JPTools: p.JP.Tools.Value, JPCommand: p.JP.Command.Value}
	c.inside(p.Go.Dir)
	c.inside(p.JP.Tools)
	for _, s := range p.JP.Skills {
		c.inside(s.File)
		t.Skills = append(t.Skills, ir.Skill{
			File: s.File.Value, Tag: s.Tag.Value, Title: s.Title.Value,
			Content: paragraphs(s.Content.Value), Tools: s.Tools.Value,
		})
	}
	if p.Module.Set && !regexp.MustCompile(`^[A-Za-z0-9._~/-]+$`).MatchString(p.Module.Value) {
		c.reportf(p.Module.At, "CT027", "", "%q is not a Go module path", p.Module.Value)
	}
	return t
}

// inside demands a path the generator may write to.
func (c *checker) inside(f spec.Field[string]) {
	if !f.Set {
		return
	}
	p := f.Value
	if p == "" || path.IsAbs(p) || path.Clean(p) != p || p == "." || strings.HasPrefix(p, "..") || strings.ContainsAny(p, "\\:*?\"<>|\x00\n\r") {
		c.reportf(f.At, "CT027", "write it relative to tools.toml, with slashes, such as generated/conversation", "%q does not name a place inside the project", p)
	}
}

func (c *checker) skills(contract *ir.Contract) {
	var names []string
	for _, t := range contract.Tools() {
		names = append(names, t.Name)
	}
	for _, s := range c.project.JP.Skills {
		for i, name := range s.Tools.Value {
			if slices.Contains(names, name) {
				continue
			}
			hint := "tools: " + strings.Join(names, ", ")
			if near, ok := diag.Nearest(name, names); ok {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			c.reportf(s.Tools.At.Elem(i), "CT028", hint, "there is no tool %q", name)
		}
	}
}

func (c *checker) clis() []ir.CLI {
	var clis []ir.CLI
	for _, s := range c.project.CLIs {
		if !isSnake(s.Name, 40) {
			c.reportf(s.At, "CT020", "use lower-case letters, digits and _", "%q is not a name for a command line", s.Name)
		}
		if s.Command.Set && len(s.Command.Value) == 0 {
			c.report(s.Command.At, "CT007", "the command has no program", "")
		}
		for i, word := range s.Command.Value {
			if word == "" || strings.ContainsRune(word, 0) {
				c.report(s.Command.At.Elem(i), "CT007", "a word of a command cannot be empty or hold a NUL", "")
			}
		}
		clis = append(clis, ir.CLI{Name: s.Name, GoName: goName(s.Name), Command: s.Command.Value, Builtin: s.Builtin.Value, Env: s.Env.Value})
	}
	return clis
}

// families groups tools by the folder their spec stands in.
func (c *checker) families(contract *ir.Contract) {
	c.specs = map[string]*spec.Tool{}
	byFamily := map[string]*ir.Family{}
	for _, t := range c.project.Tools {
		name := path.Base(path.Dir(t.File.Name))
		if !isSnake(name, 40) {
			c.reportf(t.Name.At, "CT020", "the folder names the Go package", "the folder %q of this spec is not a snake_case name", name)
			continue
		}
		if before, twice := c.specs[t.Name.Value]; twice {
			c.reportf(t.Name.At, "CT001", "", "%s declares a tool %q already", before.File.Name, t.Name.Value)
			continue
		}
		c.specs[t.Name.Value] = t
		family := byFamily[name]
		if family == nil {
			pkg := strings.ReplaceAll(name, "_", "")
			dir := contract.Targets.Generated + "/" + pkg
			family = &ir.Family{Name: name, Package: pkg, Dir: dir, Import: contract.Targets.Module + "/" + dir}
			byFamily[name] = family
		}
		family.Tools = append(family.Tools, c.tool(t, name))
	}
	for _, family := range byFamily {
		sort.Slice(family.Tools, func(i, j int) bool { return family.Tools[i].Name < family.Tools[j].Name })
		c.familyNames(family)
		contract.Families = append(contract.Families, *family)
	}
	sort.Slice(contract.Families, func(i, j int) bool { return contract.Families[i].Name < contract.Families[j].Name })
}

// familyNames demands that the Go names of one package differ.
func (c *checker) familyNames(family *ir.Family) {
	owner := map[string]string{"Handler": "the handler interface", "Call": "the dispatcher"}
	claim := func(t *ir.Tool, name, what string) {
		if before, taken := owner[name]; taken {
			c.reportf(c.specs[t.Name].Name.At, "CT026", "rename one of them", "%s needs the Go name %s, which is %s's already", what, name, before)
			return
		}
		owner[name] = what
	}
	for i := range family.Tools {
		t := &family.Tools[i]
		claim(t, t.GoName+"Params", "the parameters of "+t.Name)
		for j := range t.Envelope.Elements {
			e := &t.Envelope.Elements[j]
			if !e.Bare() {
				claim(t, e.GoName, "the element "+e.Name+" of "+t.Name)
			}
		}
	}
}

// paragraphs undoes the wrapping of a text in a spec: lines of one paragraph
// are joined, list items and indented lines stay on their own.
func paragraphs(text string) string {
	var out strings.Builder
	previousBlank := true
	for line := range strings.Lines(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))) {
		line = strings.TrimRight(line, " \t\n")
		switch {
		case line == "":
			out.WriteString("\n\n")
			previousBlank = true
			continue
		case previousBlank:
		case startsItem(line):
			out.WriteByte('\n')
		default:
			out.WriteByte(' ')
			line = strings.TrimLeft(line, " \t")
		}
		out.WriteString(line)
		previousBlank = false
	}
	return out.String()
}

func startsItem(line string) bool {
	if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") {
		return true
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	return digits > 0 && strings.HasPrefix(line[digits:], ". ")
}
