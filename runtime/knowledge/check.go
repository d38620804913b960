package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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
	Rule     string `json:"rule"`
	Severity string `json:"severity"` // error, warning or info
	Topic    string `json:"topic,omitempty"`
	// Path is relative to the workspace, with slashes; configuration files are named as in
	// [diag.Diagnostic].
	Path    string `json:"path,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// String returns the finding in one line, and its hint in a second:
//
//	.jp/kb/project/index.md:3: warning: the link "old.md" leads to no subject [KB010]
//	  hint: correct the link, or add the file
func (f Finding) String() string {
	line := fmt.Sprintf("%s%s: %s [%s]", f.place(), f.Severity, f.Message, f.Rule)
	if f.Hint != "" {
		line += "\n  hint: " + f.Hint
	}
	return line
}

// sentence returns the finding without rule and hint.
func (f Finding) sentence() string { return f.place() + f.Message }

func (f Finding) place() string {
	if f.Path == "" {
		return ""
	}
	return text.Cell(diag.Diagnostic{File: f.Path, Span: diag.Span{Line: f.Line, Col: f.Column}}.Place()) + ": "
}

// ConfigFindings returns the problems of a [config.Error] as findings. It reports false for another error.
func ConfigFindings(err error) ([]Finding, bool) {
	var broken *config.Error
	if !errors.As(err, &broken) {
		return nil, false
	}
	return fromConfig(broken.Problems), true
}

func fromConfig(problems []config.Problem) []Finding {
	var found []Finding
	for _, p := range problems {
		found = append(found, Finding{
			Rule: p.Rule, Severity: p.Severity.String(), Path: p.File, Line: p.Span.Line, Column: p.Span.Col, Message: p.Message, Hint: p.Hint,
		})
	}
	return found
}

// Check reads all files and returns the problems that keep subjects from being learned: those of the configuration
// first, then those of each topic. The error is that of the context.
func (b *Base) Check(ctx context.Context) ([]Finding, error) {
	found := fromConfig(b.config.problems())
	for t := range b.scans(ctx) {
		c := checker{topic: t}
		c.check(ctx)
		slices.SortStableFunc(c.list, func(a, b Finding) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Rule, b.Rule))
		})
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
func (c *checker) file(rule, severity, path string, line int, hint, format string, args ...any) {
	full := c.Topic.Subjects
	if path != "." {
		full += "/" + path
	}
	c.list = append(c.list, Finding{rule, severity, c.ID, full, line, 0, fmt.Sprintf(format, args...), hint})
}

func (c *checker) check(ctx context.Context) {
	if e := c.broken; e != nil {
		at := c.SubjectsAt
		c.list = append(c.list, Finding{
			RuleDirectory, "error", c.ID, at.File, at.Span.Line, at.Span.Col, fmt.Sprintf("topic %q cannot be learned: %s", c.ID, e.problem), e.hint,
		})
		return
	}
	for _, w := range c.tree.Warnings {
		what := quoteName(w.Path)
		if w.Path == "." {
			what = "the directory"
		}
		c.file(RuleLeftOut, "warning", w.Path, 0, "", "%s %s", what, oneLine(w.Reason))
	}
	c.list = append(c.list, c.deadEntries("disabled", "learned")...)
	c.collisions()
	known := c.targets()
	for i := range c.tree.Subjects {
		s := &c.tree.Subjects[i]
		if s.Disabled {
			continue
		}
		content, err := c.tree.Read(ctx, s)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			c.file(RuleUnreadable, "error", s.Path, 0, "", "%s could not be read: %s", quoteName(s.Name), cause(err))
		default:
			c.content(s, content)
			c.links(known, s, content.Text)
		}
	}
}

// deadEntries returns a finding for each entry of the topic's lists that matches nothing.
func (t *topic) deadEntries(fields ...string) (found []Finding) {
	for _, d := range t.set.Dead {
		entries, places := t.Learned, t.LearnedAt
		if d.Field == "disabled" {
			entries, places = t.Topic.Disabled, t.DisabledAt
		}
		at := places[slices.Index(entries, d.Pattern)]
		if slices.Contains(fields, d.Field) {
			found = append(found, Finding{
				RuleDeadPattern, "warning", t.ID, at.File, at.Span.Line, at.Span.Col,
				fmt.Sprintf("%s in %s of topic %q matches no subject", text.Quote(d.Pattern), d.Field, t.ID),
				"remove the entry, or correct it: it is relative to " + oneLine(t.Topic.Subjects),
			})
		}
	}
	return found
}

// collisions finds files with the same slug.
func (c *checker) collisions() {
	all := c.tree.Subjects
	for first := 0; first < len(all); {
		var visible, hidden []string
		end := first
		for ; end < len(all) && all[end].Slug == all[first].Slug; end++ {
			switch s := &all[end]; {
			case s.Disabled:
			case s.Hidden:
				hidden = append(hidden, quoteName(s.Path))
			default:
				visible = append(visible, quoteName(s.Path))
			}
		}
		path, slug := all[first].Path, quoteName(all[first].Slug)
		switch {
		case len(visible) > 1:
			c.file(RuleCollision, "warning", path, 0, "rename all but one", "%s files have the slug %s, which loads them together: %s",
				text.Number(len(visible)), slug, listed(visible))
		case len(hidden) > 0 && len(hidden)+len(visible) > 1:
			c.file(RuleCollision, "warning", path, 0, "rename all but one", "hidden files share the slug %s and can be told apart by path only: %s",
				slug, listed(append(visible, hidden...)))
		}
		first = end
	}
}

// content checks whether a subject can be loaded.
func (c *checker) content(s *subjects.Subject, is subjects.Content) {
	switch {
	case is.TooLarge:
		c.file(RuleTooLarge, "error", s.Path, 0, "split the file, or disable it", "%s has %.1f MB, which is over the limit of %s: it cannot be loaded",
			quoteName(s.Name), float64(is.Size)/1e6, largest)
	case is.Binary && s.Learned:
		c.file(RuleUnreadable, "error", s.Path, 0, "remove it from learned", "%s is binary and cannot be loaded", quoteName(s.Name))
	case s.Skill:
		description, err := subjects.DescriptionOf([]byte(is.Text))
		hint, why := "begin the file with front matter that says when to use it: description: …", ""
		if err != nil {
			hint, why = "quote the values in it: description: \"…\"", ": "+err.Error()
		}
		if description == "" {
			c.file(RuleSkill, "warning", s.Path, 0, hint, "skill %s has no description%s", quoteName(s.Name), why)
		}
	}
}
