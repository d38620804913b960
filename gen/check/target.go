package check

import (
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/gen/emit/targets"
	"github.com/convtools/convtools/gen/ir"
	"github.com/convtools/convtools/gen/lower"
	"github.com/convtools/convtools/gen/spec"
	"github.com/convtools/convtools/runtime/base/diag"
)

// longestWhen is the maximum length, in characters, of the text by which a host picks a skill. It is in every prompt.
const longestWhen = 300

// longestSkill is the maximum length, in characters, of a skill's text. A model sees it during the whole conversation.
const longestSkill = 8192

// targets checks the module and the [targets] of tools.toml and returns the targets.
func (c *checker) targets() ir.Targets {
	p := c.project
	out := ir.Targets{Module: p.Module.Value, Generated: p.Go.Dir.Value, JPTools: p.JP.Tools.Value, JPCommand: p.JP.Command.Value}
	isModule := isClean(p.Module.Value) && isImportPath(p.Module.Value)
	if p.Module.Set && !isModule {
		c.reportf(p.Module.At, "CT027", "the module line of go.mod says it", "%q is not a Go module path", p.Module.Value)
	}
	if isValid := c.checkOutputPath(p.Go.Dir); isValid {
		namesPackage := isImportPath(p.Go.Dir.Value) && token.IsIdentifier(path.Base(p.Go.Dir.Value))
		if !namesPackage {
			c.reportf(p.Go.Dir.At, "CT027", "its last folder names a Go package, such as generated", "%q cannot be a folder of Go packages", p.Go.Dir.Value)
		}
	}
	hasSpecs := slices.ContainsFunc(p.Tools, func(t *spec.Tool) bool { return strings.HasPrefix(t.File.Name, p.Go.Dir.Value+"/") })
	if hasSpecs {
		c.reportf(p.Go.Dir.At, "CT027", "generated files need a folder of their own, such as generated", "%q contains specs; generated files would be among them", p.Go.Dir.Value)
	}
	out.Made = c.madeTargets()
	c.checkOutputPath(p.JP.Tools)
	passesCall := oneLine(out.JPCommand) && strings.Contains(out.JPCommand, "{{context}}") && strings.Contains(out.JPCommand, "{{tool}}")
	if p.JP.Command.Set && !passesCall {
		c.report(p.JP.Command.At, "CT030", "the command does not pass on the call", `such as "convtools jp-tool {{context}} {{tool}}"`)
	}
	out.Skills = c.skillFiles()
	out.Plugin = c.plugin()
	return out
}

// skillFiles checks the skills for JP in tools.toml and returns the skills.
func (c *checker) skillFiles() []ir.Skill {
	var skills []ir.Skill
	files := map[string]bool{}
	for _, s := range c.project.JP.Skills {
		if c.checkOutputPath(s.File) {
			name := strings.ToLower(s.File.Value) // some file systems ignore case
			switch {
			case path.Ext(name) != ".toml":
				c.reportf(s.File.At, "CT027", "", "JP reads no configuration from %q: its name does not end in .toml", s.File.Value)
			case files[name]:
				c.reportf(s.File.At, "CT027", "", "two skills have the file %q", s.File.Value)
			}
			files[name] = true
		}
		if s.Tag.Set && !isTag(s.Tag.Value) {
			c.reportf(s.Tag.At, "CT020", "use letters, digits, - and _, beginning with a letter", "%q is not a tag", s.Tag.Value)
		}
		skills = append(skills, ir.Skill{
			File: s.File.Value, Tag: s.Tag.Value, Title: c.summary(s.Title, toolSummary),
			Content: c.prose(s.Content, "content", longestSkill, "say when to use the tools, and how"), Tools: s.Tools.Value,
		})
	}
	return skills
}

// plugin checks [targets.plugin] and returns the plugin, or nil if the project has none.
func (c *checker) plugin() *ir.Plugin {
	p := c.project.Plugin
	if p.At.File == nil { // no file has the table
		return nil
	}
	c.checkOutputPath(p.Dir)
	if p.Skill.Set && !isSkillName(p.Skill.Value) {
		c.reportf(p.Skill.At, "CT020", "use lower-case letters, digits and single hyphens, at most 64", "%q is not the name of a skill", p.Skill.Value)
	}
	if p.Version.Set && !isSemver(p.Version.Value) {
		c.reportf(p.Version.At, "CT020", "write three numbers, such as 1.2.0", "%q is not a version", p.Version.Value)
	}
	return &ir.Plugin{
		Dir: p.Dir.Value, Version: p.Version.Value, Summary: c.summary(p.Summary, toolSummary), Skill: p.Skill.Value,
		When: c.summary(p.When, longestWhen), Content: c.prose(p.Content, "content", longestSkill, "say how to use the tools"),
	}
}

// isSkillName reports whether a text is the name of a skill by https://agentskills.io/specification.
func isSkillName(s string) bool {
	return len(s) <= 64 && regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`).MatchString(s)
}

// isSemver reports whether a text is a version of three numbers, which may have a pre-release.
func isSemver(s string) bool {
	return regexp.MustCompile(`^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$`).MatchString(s)
}

// madeTargets returns the names of the targets that the project generates. The targets jp and plugin need settings, and
// are made if tools.toml has a table for them. The other targets are optional: without the key "only" in tools.toml all
// are made, and with it those in its list. madeTargets reports a name in this list that is no optional target.
func (c *checker) madeTargets() []string {
	hasTable := map[string]bool{"jp": c.project.JP.At.File != nil, "plugin": c.project.Plugin.At.File != nil}
	var made, optional []string
	for _, target := range targets.All() {
		if !target.Settings {
			optional = append(optional, target.Name)
		} else if hasTable[target.Name] {
			made = append(made, target.Name)
		}
	}
	only := c.project.Only
	if !only.Set {
		return append(made, optional...)
	}
	for i, name := range only.Value {
		field := spec.Field[string]{Value: name, Set: true, At: only.At.Elem(i)}
		if c.choice(field, "a target", optional...) != "" {
			made = append(made, name)
		}
	}
	return made
}

// checkOutputPath reports the path f if the generator may not write to it. It returns true only if f is set to a path to
// which the generator may write.
func (c *checker) checkOutputPath(f spec.Field[string]) bool {
	if !f.Set {
		return false
	}
	if device := windowsDevice(f.Value); device != "" {
		c.reportf(f.At, "CT027", "give it another name", "Windows keeps the name %q for a device", device)
		return false
	}
	if isClean(f.Value) && strings.IndexFunc(f.Value, isUnusual) < 0 {
		return true
	}
	c.reportf(f.At, "CT027", "write it relative to tools.toml, with slashes, such as generated/conversation", "%q does not name a place inside the project", f.Value)
	return false
}

// windowsDevice returns the first part of a path that Windows takes for a device, or "" if there is none. Windows
// ignores what follows the first dot of a part. Source: https://learn.microsoft.com/windows/win32/fileio/naming-a-file
func windowsDevice(p string) string {
	for part := range strings.SplitSeq(p, "/") {
		name, _, _ := strings.Cut(strings.ToLower(part), ".")
		number, size := utf8.DecodeLastRuneInString(name)
		port := name[:len(name)-size] // in com1, number is 1 and port is com
		isPort := slices.Contains([]string{"com", "lpt"}, port) && strings.ContainsRune("0123456789¹²³", number)
		if isPort || slices.Contains([]string{"con", "prn", "aux", "nul"}, name) {
			return part
		}
	}
	return ""
}

// isUnusual reports whether a character is special to a shell, a file system or a file pattern, or is quoted in TOML.
func isUnusual(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-", r)
}

// isClean reports whether a path is relative, has no part . and none that begins with .., and is outside .git.
func isClean(p string) bool {
	isForbidden := func(part string) bool { return strings.HasPrefix(part, "..") || part == ".git" }
	return fs.ValidPath(p) && p != "." && !slices.ContainsFunc(strings.Split(strings.ToLower(p), "/"), isForbidden)
}

// isImportPath reports whether the go command finds packages in a folder with the clean path p.
func isImportPath(p string) bool {
	if !regexp.MustCompile(`^[A-Za-z0-9._~/-]+$`).MatchString(p) {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part[0] == '.' || part[0] == '_' || part == "testdata" || part == "vendor" {
			return false
		}
	}
	return true
}

// deliverable reports the problems that the wanted targets would have with a tool's name, description and parameters.
// It leaves out a problem at a place that another rule has reported. If a parameter has a mistake, it leaves out all
// problems with parameters.
func (c *checker) deliverable(wanted *ir.Targets, t *ir.Tool) {
	if !c.spec.Name.Set || !c.spec.Description.Set {
		return
	}
	for _, target := range targets.All() {
		if target.Lower == nil || !wanted.Makes(target.Name) {
			continue
		}
		for _, problem := range lower.Brief(*target.Lower, t).Problems {
			place := c.spec.Name.At
			if problem.Description {
				place = c.spec.Description.At
			}
			// CT029 is the rule of this function. Several targets may have a problem at one place.
			reported := slices.ContainsFunc(c.diags, func(d diag.Diagnostic) bool { return d.Span == place.Span() && d.Rule != "CT029" })
			mayFollow := len(c.unsound) > 0 && problem.Parameter != "" // from a mistake in a parameter
			if !reported && !mayFollow {
				c.report(place, "CT029", problem.Text, "")
			}
		}
	}
}
