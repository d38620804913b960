package knowledge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
)

// The rules of [Base.Check]. The ids are stable; those of the configuration are
// in package kbconfig.
const (
	RuleDirectory   = "KB001" // a topic's directory cannot be read
	RuleLeftOut     = "KB002" // something in it is no subject: links, pipes, what is beyond the limits
	RuleCollision   = "KB003" // files that share a slug
	RuleDeadPattern = "KB004" // an entry of learned or disabled that nothing matches
	RuleTooLarge    = "KB008" // a file over the limit
	RuleBrokenLink  = "KB010" // a link to a subject that there is not
	RuleSkill       = "KB013" // a skill without a description
	RuleUnreadable  = "KB014" // a file that cannot be read
	RuleMore        = "KB099" // findings that are counted only
)

// Finding is something about a knowledge base that its authors should know. Errors
// are what the assistant cannot get and somebody wanted it to have.
//
// File is relative to the workspace, with slashes; configuration files are named as
// in [kbconfig.Position]. Columns may be missing.
type Finding struct {
	diag.Diagnostic
	Topic string // id
}

// String returns the finding on one line, and its hint on a second:
//
//	.jp/kb/project/index.md:3: warning: the link "old.md" leads to no subject [KB010]
//	  hint: correct the link, or add the file
func (f Finding) String() string { return kbconfig.Text(f.Diagnostic) }

// ConfigFindings returns what an error of [Open] says is wrong with the
// configuration, and false for an error that is about something else.
func ConfigFindings(err error) ([]Finding, bool) {
	var broken *kbconfig.Error
	if !errors.As(err, &broken) {
		return nil, false
	}
	return fromConfig(broken.Found), true
}

func fromConfig(list diag.List) []Finding {
	var findings []Finding
	for _, d := range list {
		findings = append(findings, Finding{Diagnostic: d})
	}
	return findings
}

// maxFindings is how many findings of one rule a topic has before they are
// counted.
const maxFindings = 100

// findings collects what is found in one topic.
type findings struct {
	topic *kbconfig.Topic
	list  []Finding
	count map[string]int // of all findings, by rule
}

// file adds a finding about a file by its path in the topic's directory.
func (fs *findings) file(rule string, severity diag.Severity, path string, line int, hint, format string, args ...any) {
	full := fs.topic.Subjects
	if path != "." {
		full += "/" + path
	}
	fs.config(rule, severity, kbconfig.Position{File: full, Span: diag.Span{Line: line}}, hint, format, args...)
}

// config adds a finding about a place in the configuration.
func (fs *findings) config(rule string, severity diag.Severity, at kbconfig.Position, hint, format string, args ...any) {
	if fs.count[rule]++; fs.count[rule] <= maxFindings {
		fs.list = append(fs.list, Finding{
			diag.Diagnostic{File: at.File, Span: at.Span, Rule: rule, Severity: severity, Message: fmt.Sprintf(format, args...), Hint: hint},
			fs.topic.ID,
		})
	}
}

// sorted returns the findings by path and line, and behind them how many there
// were no room for.
func (fs *findings) sorted() []Finding {
	slices.SortStableFunc(fs.list, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Col, b.Span.Col), strings.Compare(a.Rule, b.Rule))
	})
	for _, rule := range slices.Sorted(maps.Keys(fs.count)) {
		more := fs.count[rule] - maxFindings
		if more <= 0 {
			continue
		}
		fs.list = append(fs.list, Finding{diag.Diagnostic{
			Rule: RuleMore, Severity: diag.Note, File: fs.topic.Subjects,
			Message: fmt.Sprintf("there are %s more findings of %s in this topic", text.Number(more), rule),
			Hint:    "correct these and look again",
		}, fs.topic.ID})
	}
	return fs.list
}
