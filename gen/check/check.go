// Package check turns loaded specs into the model of the emitters, with every generated name, and reports all problems.
//
// It must never accept a spec that leaves an emitter to guess: without errors, the contract is complete and consistent.
package check

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/convtools/convtools/gen/emit/targets"
	"github.com/convtools/convtools/gen/internal/parallel"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lock"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/commandline"
)

// Check returns the contract of a project and every problem in it. The contract is complete only if neither these
// diagnostics nor those from loading contain an error.
//
// A file with loading errors is checked as far as it could be read. Check does not report an unknown name that may be
// defined in a part that could not be read.
func Check(p *spec.Project) (*ir.Contract, diag.List) {
	c := &checker{project: p, specs: map[string]*spec.Tool{}, names: map[string]map[string]string{}}
	contract := &ir.Contract{Targets: c.targets(), CLIs: c.commandLines(), Accepted: c.accepted()}
	c.families(contract)
	c.toolNames(contract)
	c.skills(contract)
	return contract, c.diags
}

// checker holds a project and its diagnostics. A method that is named after a part of a project, such as command or
// param, reports the problems of that part, and returns or sets the same part of the contract.
type checker struct {
	project *spec.Project
	diags   diag.List
	specs   map[string]*spec.Tool        // by file name; set by families
	names   map[string]map[string]string // by file name: the field declared after its tool was checked; set by families

	// Set while one tool is checked:
	spec     *spec.Tool
	declared map[string]string // by Go name: what the tool declares under it, in words
	unsound  map[string]bool   // parameters whose possible values are unknown because of an error
}

func (c *checker) report(place spec.Place, rule, message, hint string) {
	c.reportAt(place, place.Span(), rule, message, hint)
}

func (c *checker) reportf(place spec.Place, rule, hint, format string, args ...any) {
	c.report(place, rule, fmt.Sprintf(format, args...), hint)
}

// reportName reports a problem at the key of a place, such as NAME of [cli.NAME], instead of at its value.
func (c *checker) reportName(place spec.Place, rule, hint, format string, args ...any) {
	c.reportAt(place, place.KeySpan(), rule, fmt.Sprintf(format, args...), hint)
}

func (c *checker) reportAt(place spec.Place, span diag.Span, rule, message, hint string) {
	c.diags = append(c.diags, diag.Diagnostic{File: place.FileName(), Span: span, Rule: rule, Message: message, Hint: hint})
}

// knownParam returns the parameter of t with the given name, or nil if t has none. It reports an unknown name under the
// given rule, unless the parameter may be in a part of the spec that could not be read. For an unknown name in braces,
// the hint also says how to write braces as text, because the author may have meant text.
func (c *checker) knownParam(t *ir.Tool, place spec.Place, rule, name string) *ir.Param {
	p := t.Param(name)
	if p != nil || c.spec.At.Key("parameters").Doubtful() {
		return p
	}
	hint := nameSuggestion(name, "parameters", paramNames(t))
	inBraces := rule == "CT015" // the rule for placeholders such as {limit}
	if inBraces && near.Name(name, paramNames(t)) == "" {
		hint = strings.TrimPrefix(hint+"; text in braces is written {{"+name+"}}", "; ") // no semicolon if hint was ""
	}
	c.reportf(place, rule, hint, "there is no parameter %q", name)
	return nil
}

// nameSuggestion returns the hint for a name that is not in allowed: the allowed name that was probably meant, or else
// the list of all allowed names after the given title. It returns "" if no name is allowed.
func nameSuggestion(name, title string, allowed []string) string {
	if meant := near.Name(name, allowed); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	if len(allowed) == 0 {
		return ""
	}
	return title + ": " + strings.Join(allowed, ", ")
}

// choice returns the value of a key that takes one of the allowed values, or "" if the key is not set. It reports any
// other value and returns "" for it, so that later checks skip the key.
func (c *checker) choice(f spec.Field[string], key string, allowed ...string) string {
	if !f.Set {
		return ""
	}
	if !slices.Contains(allowed, f.Value) {
		hint := "one of: " + strings.Join(allowed, ", ")
		if meant := near.Name(f.Value, allowed); meant != "" {
			hint = fmt.Sprintf("did you mean %q? (%s)", meant, hint)
		}
		c.reportf(f.At, "CT002", hint, "%s cannot be %q", key, f.Value)
		return ""
	}
	return f.Value
}

// commandLines returns all command lines of the project, also those with problems, and reports the problems.
func (c *checker) commandLines() commandline.Lines {
	var lines commandline.Lines
	for _, s := range c.project.CLIs {
		if !isSnake(s.Name, longestOther) {
			c.reportName(s.At, "CT020", nameHint(s.Name, longestOther), "%q is not a name for a command line", s.Name)
		}
		if s.Command.Set && len(s.Command.Value) == 0 {
			c.report(s.Command.At, "CT014", "the command has no program", "")
		}
		for i, word := range s.Command.Value {
			if word == "" || strings.ContainsRune(word, 0) {
				c.report(s.Command.At.Elem(i), "CT014", "a word of a command cannot be empty or hold a NUL", "")
			}
		}
		if s.Env.Set && !isVariable(s.Env.Value) {
			c.reportf(s.Env.At, "CT014", "use upper-case letters, digits and _, such as NOTES_CLI", "%q is not a name for an environment variable", s.Env.Value)
		}
		for i, name := range s.PassEnv.Value {
			if !isEnvName(strings.TrimSuffix(name, "*")) {
				c.reportf(s.PassEnv.At.Elem(i), "CT014", "such as GH_TOKEN, or AWS_* for all names that begin with AWS_", "%q names no environment variables", name)
			}
		}
		for _, word := range s.EndOfOptions.Value {
			if !strings.HasPrefix(word, "-") || !oneLine(word) {
				c.reportf(s.EndOfOptions.At, "CT014", "write --, as most programs read it; leave the key out if the program reads no such argument", "%q is no argument that ends options", word)
			}
		}
		lines = append(lines, commandline.Line{Name: s.Name, Command: s.Command.Value, Env: s.Env.Value, PassEnv: s.PassEnv.Value})
	}
	return lines
}

// accepted returns the [[accepted]] tables of the project. Each table accepts one breaking change. accepted reports the
// problems of the tables, and returns tables with problems too.
func (c *checker) accepted() []ir.Accepted {
	var rules []string // of breaking changes
	for _, r := range lock.Rules() {
		if r.Class == lock.Breaking {
			rules = append(rules, r.ID)
		}
	}
	var accepted []ir.Accepted
	for _, a := range c.project.Accepted {
		if a.Rule.Set && !slices.Contains(rules, a.Rule.Value) {
			hint := "convgen breaking shows the rule of every change"
			if meant := near.Name(a.Rule.Value, rules); meant != "" {
				hint = fmt.Sprintf("did you mean %q?", meant)
			}
			c.reportf(a.Rule.At, "CT037", hint, "%q is no rule of a change that breaks callers", a.Rule.Value)
		}
		for key, f := range map[string]spec.Field[string]{"subject": a.Subject, "reason": a.Reason, "version": a.Version} {
			if f.Set && (strings.TrimSpace(f.Value) == "" || !oneLine(f.Value)) {
				c.reportf(f.At, "CT037", "", "the %s of an accepted change is one line of text", key)
			}
		}
		accepted = append(accepted, ir.Accepted{Rule: a.Rule.Value, Subject: a.Subject.Value, Reason: a.Reason.Value, Version: a.Version.Value})
	}
	return accepted
}

// families checks every tool, and adds to the contract a family for each folder of specs. A family leaves out tools
// without a name, tools in a folder with an invalid name, and a tool whose name another one has already. Last, families
// reports families with the same Go package, or with the Go package of a target.
func (c *checker) families(contract *ir.Contract) {
	declaredBy := map[string]string{} // by tool name: the file that declares it
	byName := map[string]*ir.Family{}
	type checkedTool struct {
		checker   // of this tool alone, because tools are checked in parallel
		family    string
		validName bool // of the family
		tool      ir.Tool
	}
	checked := make([]checkedTool, len(c.project.Tools))
	parallel.Each(len(checked), func(i int) {
		one, t := &checked[i], c.project.Tools[i]
		one.checker = checker{project: c.project, spec: t, unsound: map[string]bool{}}
		one.family, one.validName = one.checker.family(t)
		one.tool = one.checker.tool(t, one.family)
		one.deliverable(&contract.Targets, &one.tool)
	})
	for i, t := range c.project.Tools {
		one := &checked[i]
		c.specs[t.File.Name], c.names[t.File.Name] = t, one.declared
		c.diags = append(c.diags, one.diags...)
		name, tool := one.family, one.tool
		if !t.Name.Set || !one.validName {
			continue
		}
		if before, taken := declaredBy[tool.Name]; taken {
			c.reportf(t.Name.At, "CT001", "", "%s declares a tool %q already", before, tool.Name)
			continue
		}
		declaredBy[tool.Name] = t.File.Name
		family := byName[name]
		if family == nil {
			pkg := strings.ReplaceAll(name, "_", "")
			dir := contract.Targets.Generated + "/" + pkg
			family = &ir.Family{Name: name, Package: pkg, Dir: dir, Import: contract.Targets.Module + "/" + dir}
			byName[name] = family
		}
		family.Tools = append(family.Tools, tool)
	}
	for _, family := range byName {
		sort.Slice(family.Tools, func(i, j int) bool { return family.Tools[i].Name < family.Tools[j].Name })
		contract.Families = append(contract.Families, *family)
	}
	sort.Slice(contract.Families, func(i, j int) bool { return contract.Families[i].Name < contract.Families[j].Name })
	packages := map[string]string{} // by Go package: the name of its family
	for i := range contract.Families {
		family := &contract.Families[i]
		if before, taken := packages[family.Package]; taken {
			c.reportf(c.specs[family.Tools[0].Source].Name.At, "CT026", "rename one of the folders", "the folders %q and %q have the same Go package %s", before, family.Name, family.Package)
			continue
		}
		packages[family.Package] = family.Name
		for _, target := range targets.All() {
			if target.Package == family.Package && contract.Targets.Makes(target.Name) {
				c.reportf(c.specs[family.Tools[0].Source].Name.At, "CT026", "rename the folder", "the target %s writes the Go package %s, which the folder %q is too", target.Name, target.Package, family.Name)
			}
		}
		c.familyNames(family)
	}
}

// toolNames reports a name that can call two tools on some target. A tool's names are its name, the name without its
// dot, the name of its group, and its former names in both forms.
func (c *checker) toolNames(contract *ir.Contract) {
	owner := map[string]string{} // by name: the tool or group that the name calls
	for _, t := range contract.Tools() {
		owner[t.Name] = t.Name
	}
	// claim makes name a name of tool, or reports that another tool has it. why completes "NAME, which is …".
	claim := func(place spec.Place, name, tool, why string) {
		if before, taken := owner[name]; taken && before != tool {
			c.reportf(place, "CT034", "rename one of them", "%s, which is %s, is a name of %s already", name, why, before)
			return
		}
		owner[name] = tool
	}
	groups := map[string]bool{}
	for _, t := range contract.Tools() {
		s := c.specs[t.Source]
		if flat := ir.Flat(t.Name); flat != t.Name {
			claim(s.Name.At, flat, t.Name, "what hosts without dots call "+t.Name)
		}
		for i, a := range t.Aliases {
			if a.Name == "" { // reported already
				continue
			}
			place := s.Aliases[i].Name.At
			if a.Name == t.Name || slices.ContainsFunc(t.Aliases[:i], func(b ir.Alias) bool { return b.Name == a.Name }) {
				c.reportf(place, "CT034", "leave it out", "%s is a name of the tool already", a.Name)
				continue
			}
			why := "a former name of " + t.Name
			claim(place, a.Name, t.Name, why)
			if flat := ir.Flat(a.Name); flat != a.Name {
				claim(place, flat, t.Name, why+" without its dot")
			}
		}
		if group, _, dotted := strings.Cut(t.Name, "."); dotted && !groups[group] {
			groups[group] = true
			claim(s.Name.At, group, "the group "+group, "the group that some hosts put "+t.Name+" into")
		}
	}
}

// skills checks the skills of JP, which list tools. It reports a skill whose file is also the file for the definition of
// a tool, and a listed tool that does not exist or is listed twice. If the name of some tool could not be read, a listed
// tool may have that name, and skills does not report that it does not exist.
func (c *checker) skills(contract *ir.Contract) {
	fileUnread := slices.ContainsFunc(c.project.Sources, func(f *spec.File) bool { return f.Unread })
	someNameUnread := fileUnread || !c.project.At.Key("specs").Sound()
	var names []string
	for _, t := range c.project.Tools {
		names = append(names, t.Name.Value)
		someNameUnread = someNameUnread || !t.Name.Set
	}
	definitions := map[string]string{} // by file, in lower case because some file systems ignore case: the tool
	for _, t := range contract.Tools() {
		definitions[strings.ToLower(path.Join(contract.Targets.JPTools, t.Family, t.Short+".toml"))] = t.Name
	}
	for _, s := range c.project.JP.Skills {
		if tool, taken := definitions[strings.ToLower(s.File.Value)]; taken && s.File.Set {
			c.reportf(s.File.At, "CT027", "give the skill a folder of its own, such as .jp/config/skill", "the definition of %s is written to %q", tool, s.File.Value)
		}
		for i, name := range s.Tools.Value {
			place := s.Tools.At.Elem(i)
			switch exists := slices.Contains(names, name); {
			case !exists && someNameUnread: // the unread name may be this one
			case !exists:
				c.reportf(place, "CT028", nameSuggestion(name, "tools", names), "there is no tool %q", name)
			case slices.Contains(s.Tools.Value[:i], name):
				c.reportf(place, "CT028", "", "%s is named twice", name)
			}
		}
	}
}
