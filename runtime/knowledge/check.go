package knowledge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// The rules of [Base.Check]. The ids are stable. The rules of the configuration are beside [RuleMissing].
const (
	RuleDirectory   = "KB001" // a topic's directory cannot be read
	RuleLeftOut     = "KB002" // something in a topic's directory is no subject: a link, a pipe, a file beyond the limits
	RuleCollision   = "KB003" // files that share a slug
	RuleDeadPattern = "KB004" // an entry of learned or disabled that matches nothing
	RuleTooLarge    = "KB008" // a file over the limit
	RuleBrokenLink  = "KB010" // a link to a subject that does not exist
	RuleSkill       = "KB013" // a skill without a description
	RuleUnreadable  = "KB014" // a file that cannot be read
)

// Finding is a problem of a knowledge base, for its authors: an error if the assistant lacks a subject or a topic.
type Finding struct {
	Topic string // the id of a topic; empty if the problem is of the configuration
	// File is relative to the workspace, with slashes. The user's configuration file is named as in [config.Problem].
	diag.Diagnostic
}

// MarshalJSON returns the finding as one flat object.
func (f Finding) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Rule     string `json:"rule"`
		Severity string `json:"severity"`
		Topic    string `json:"topic,omitempty"`
		Path     string `json:"path,omitempty"`
		Line     int    `json:"line,omitempty"`
		Column   int    `json:"column,omitempty"`
		Message  string `json:"message"`
		Hint     string `json:"hint,omitempty"`
	}{f.Rule, f.Severity.String(), f.Topic, f.File, f.Span.Line, f.Span.Col, f.Message, f.Hint})
}

// ConfigFindings returns the problems of a [config.Error] as findings. It returns none for another error.
func ConfigFindings(err error) (found []Finding) {
	if broken, ok := errors.AsType[*config.Error](err); ok {
		for _, p := range broken.Problems {
			found = append(found, Finding{Diagnostic: p.Diagnostic})
		}
	}
	return found
}

// Check reads all files of enabled topics. It returns the problems of the configuration, and then the findings about
// each topic, sorted by file and position. The error is that of the context.
func (b *Base) Check(ctx context.Context) ([]Finding, error) {
	findings := ConfigFindings(&config.Error{Problems: b.problems()})
	for t := range b.scans(ctx) {
		c := checker{topic: t}
		c.checkTopic(ctx)
		slices.SortStableFunc(c.findings, func(a, b Finding) int { return cmp.Or(strings.Compare(a.File, b.File), a.Span.Compare(b.Span)) })
		findings = append(findings, c.findings...)
	}
	return findings, ctx.Err()
}

// checker collects the findings about one topic.
type checker struct {
	*topic
	findings []Finding
}

// addFinding adds a finding about the file at a path in the topic's directory. line is 0 for the whole file.
func (c *checker) addFinding(rule string, severity diag.Severity, file string, line int, hint, format string, args ...any) {
	c.findings = append(c.findings, Finding{c.ID, diag.Diagnostic{
		File: path.Join(c.Subjects, file), Span: diag.Span{Line: line}, Rule: rule, Severity: severity, Message: fmt.Sprintf(format, args...), Hint: hint,
	}})
}

// checkTopic adds the findings about the topic, or only that its directory cannot be read. It stops with the context.
func (c *checker) checkTopic(ctx context.Context) {
	if e := c.broken; e != nil {
		diagnostic := c.SubjectsAt
		diagnostic.Rule, diagnostic.Hint = RuleDirectory, e.hint
		diagnostic.Message = fmt.Sprintf("topic %q cannot be learned: %s", c.ID, e.problem)
		c.findings = append(c.findings, Finding{c.ID, diagnostic})
		return
	}
	for _, w := range c.tree.Warnings {
		file := quoteName(w.Path)
		if w.Path == subjects.TopicDir {
			file = "the directory"
		}
		c.addFinding(RuleLeftOut, diag.Warning, w.Path, 0, "", "%s %s", file, oneLine(w.Reason))
	}
	c.findings = append(c.findings, c.deadEntries("disabled", "learned")...)
	c.checkCollisions()
	targets := c.linkTargets()
	for _, s := range c.tree.Subjects {
		if s.Disabled {
			continue
		}
		content, err := c.tree.Read(ctx, s)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			c.addFinding(RuleUnreadable, diag.Error, s.Path, 0, "", "%s could not be read: %s", quoteName(s.Name), cause(err))
		default:
			c.checkContent(s, content)
			c.checkLinks(targets, s, content.Text)
		}
	}
}

// deadEntries returns a finding for each entry of the given lists, learned or disabled, that matches nothing.
func (t *topic) deadEntries(lists ...string) (findings []Finding) {
	for _, d := range t.tree.Dead {
		if !slices.Contains(lists, d.Field) {
			continue
		}
		diagnostic := t.PatternAt[[2]string{d.Field, d.Pattern}]
		diagnostic.Rule, diagnostic.Severity = RuleDeadPattern, diag.Warning
		diagnostic.Hint = "remove the entry, or correct it: it is relative to " + oneLine(t.Subjects)
		diagnostic.Message = fmt.Sprintf("%s in %s of topic %q matches no subject", text.Quote(d.Pattern), d.Field, t.ID)
		findings = append(findings, Finding{t.ID, diagnostic})
	}
	return findings
}

// checkCollisions adds a finding for each slug that several enabled subjects have.
func (c *checker) checkCollisions() {
	files, hidden := map[string][]string{}, map[string]bool{}
	for _, s := range c.tree.Subjects {
		if !s.Disabled {
			files[s.Slug] = append(files[s.Slug], s.Path)
			hidden[s.Slug] = hidden[s.Slug] || s.Hidden
		}
	}
	for slug, paths := range files {
		if len(paths) == 1 {
			continue
		}
		effect := ", which loads them together"
		if hidden[slug] { // a hidden subject is not loaded together with a visible one
			effect = ""
		}
		var names []string
		for _, file := range paths {
			names = append(names, quoteName(file))
		}
		c.addFinding(RuleCollision, diag.Warning, paths[0], 0, "rename all but one", "%s files have the slug %s%s: %s",
			text.Number(len(paths)), quoteName(slug), effect, joinNames(names))
	}
}

// checkContent adds a finding for a file over the limit, a learned binary file, or a skill without a description.
func (c *checker) checkContent(s *subjects.Subject, content subjects.Content) {
	switch {
	case content.TooLarge:
		c.addFinding(RuleTooLarge, diag.Error, s.Path, 0, "split the file, or disable it", "%s has %.1f MB, which is over the limit of %s: it cannot be loaded",
			quoteName(s.Name), float64(content.Size)/1e6, largest)
	case content.Binary && s.Learned:
		c.addFinding(RuleUnreadable, diag.Error, s.Path, 0, "remove it from learned", "%s is binary and cannot be loaded", quoteName(s.Name))
	case s.Skill:
		description, err := subjects.DescriptionOf([]byte(content.Text))
		hint, why := "begin the file with front matter that says when to use it: description: …", ""
		if err != nil {
			hint, why = "quote the values in it: description: \"…\"", ": "+err.Error()
		}
		if description == "" {
			c.addFinding(RuleSkill, diag.Warning, s.Path, 0, hint, "skill %s has no description%s", quoteName(s.Name), why)
		}
	}
}
