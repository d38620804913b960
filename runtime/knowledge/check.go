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
	RuleLeftOut     = "KB002" // something in it is no subject: a link, a pipe, a file beyond the limits
	RuleCollision   = "KB003" // files that share a slug
	RuleDeadPattern = "KB004" // an entry of learned or disabled that matches nothing
	RuleTooLarge    = "KB008" // a file over the limit
	RuleBrokenLink  = "KB010" // a link to a subject that does not exist
	RuleSkill       = "KB013" // a skill without a description
	RuleUnreadable  = "KB014" // a file that cannot be read
)

// Finding is a problem of a knowledge base, for its authors. An error is a subject or a topic that the assistant
// should have and cannot get.
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

// ConfigFindings returns the problems of a [config.Error]. It returns nothing for another error.
func ConfigFindings(err error) (found []Finding) {
	if broken, ok := errors.AsType[*config.Error](err); ok {
		for _, p := range broken.Problems {
			found = append(found, Finding{Diagnostic: p.Diagnostic})
		}
	}
	return found
}

// Check reads all files and returns the problems that keep subjects from being learned: those of the configuration
// first, then those of each topic. The error is that of the context.
func (b *Base) Check(ctx context.Context) ([]Finding, error) {
	found := ConfigFindings(&config.Error{Problems: b.problems()})
	for t := range b.scans(ctx) {
		c := checker{topic: t}
		c.check(ctx)
		slices.SortStableFunc(c.list, func(a, b Finding) int { return cmp.Or(strings.Compare(a.File, b.File), a.Span.Compare(b.Span)) })
		found = append(found, c.list...)
	}
	return found, ctx.Err()
}

// checker collects the findings about one topic.
type checker struct {
	*topic
	list []Finding
}

// file adds a finding about a file, by its path in the topic's directory.
func (c *checker) file(rule string, severity diag.Severity, at string, line int, hint, format string, args ...any) {
	c.list = append(c.list, Finding{c.ID, diag.Diagnostic{
		File: path.Join(c.Subjects, at), Span: diag.Span{Line: line}, Rule: rule, Severity: severity, Message: fmt.Sprintf(format, args...), Hint: hint,
	}})
}

func (c *checker) check(ctx context.Context) {
	if e := c.broken; e != nil {
		at := c.SubjectsAt
		at.Rule, at.Hint, at.Message = RuleDirectory, e.hint, fmt.Sprintf("topic %q cannot be learned: %s", c.ID, e.problem)
		c.list = append(c.list, Finding{c.ID, at})
		return
	}
	for _, w := range c.tree.Warnings {
		what := quoteName(w.Path)
		if w.Path == "." {
			what = "the directory"
		}
		c.file(RuleLeftOut, diag.Warning, w.Path, 0, "", "%s %s", what, oneLine(w.Reason))
	}
	c.list = append(c.list, c.deadEntries("disabled", "learned")...)
	c.collisions()
	known := c.targets()
	for _, s := range c.tree.Subjects {
		if s.Disabled {
			continue
		}
		content, err := c.tree.Read(ctx, s)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			c.file(RuleUnreadable, diag.Error, s.Path, 0, "", "%s could not be read: %s", quoteName(s.Name), cause(err))
		default:
			c.content(s, content)
			c.links(known, s, content.Text)
		}
	}
}

// deadEntries returns a finding for each entry of the topic's lists that matches nothing.
func (t *topic) deadEntries(fields ...string) (found []Finding) {
	for _, d := range t.tree.Dead {
		at := t.PatternAt[[2]string{d.Field, d.Pattern}]
		at.Rule, at.Severity, at.Hint = RuleDeadPattern, diag.Warning, "remove the entry, or correct it: it is relative to "+oneLine(t.Subjects)
		at.Message = fmt.Sprintf("%s in %s of topic %q matches no subject", text.Quote(d.Pattern), d.Field, t.ID)
		if slices.Contains(fields, d.Field) {
			found = append(found, Finding{t.ID, at})
		}
	}
	return found
}

// collisions finds files with the same slug.
func (c *checker) collisions() {
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
		which := ", which loads them together"
		if hidden[slug] {
			which = ""
		}
		at, n := paths[0], text.Number(len(paths))
		for i := range paths {
			paths[i] = quoteName(paths[i])
		}
		c.file(RuleCollision, diag.Warning, at, 0, "rename all but one", "%s files have the slug %s%s: %s", n, quoteName(slug), which, listed(paths))
	}
}

// content checks whether a subject can be loaded.
func (c *checker) content(s *subjects.Subject, content subjects.Content) {
	switch {
	case content.TooLarge:
		c.file(RuleTooLarge, diag.Error, s.Path, 0, "split the file, or disable it", "%s has %.1f MB, which is over the limit of %s: it cannot be loaded",
			quoteName(s.Name), float64(content.Size)/1e6, largest)
	case content.Binary && s.Learned:
		c.file(RuleUnreadable, diag.Error, s.Path, 0, "remove it from learned", "%s is binary and cannot be loaded", quoteName(s.Name))
	case s.Skill:
		description, err := subjects.DescriptionOf([]byte(content.Text))
		hint, why := "begin the file with front matter that says when to use it: description: …", ""
		if err != nil {
			hint, why = "quote the values in it: description: \"…\"", ": "+err.Error()
		}
		if description == "" {
			c.file(RuleSkill, diag.Warning, s.Path, 0, hint, "skill %s has no description%s", quoteName(s.Name), why)
		}
	}
}
