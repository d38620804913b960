package knowledge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
)

// The rules of [Base.Check]. The ids are stable; those of the configuration are
// in package kbconfig.
const (
	RuleDirectory    = "KB001" // a topic's directory cannot be read
	RuleLeftOut      = "KB002" // something in it is no subject: links, pipes, what is beyond the limits
	RuleCollision    = "KB003" // files that share a slug
	RuleDeadPattern  = "KB004" // an entry of learned or disabled that nothing matches
	RuleBadPattern   = "KB005" // one that is malformed
	RuleBinary       = "KB006" // a file that is no text
	RuleEncoding     = "KB007" // a text that is not UTF-8
	RuleTooLarge     = "KB008" // a file over the limit
	RuleLarge        = "KB009" // a subject that takes much of a context window
	RuleBrokenLink   = "KB010" // a link to a subject that there is not
	RuleUnmentioned  = "KB011" // a hidden subject that nobody can know of
	RuleBudget       = "KB012" // a menu of topics that has to be shortened
	RuleSkill        = "KB013" // a skill whose front matter is not as it should be
	RuleUnreadable   = "KB014" // a file that cannot be read
	RuleExtension    = "KB015" // a version number that is taken for an extension
	RuleOutside      = "KB016" // a topic's directory that is a link out of the workspace
	RuleAmbiguous    = "KB017" // a file that has a pattern for its name
	RuleHiddenTarget = "KB018" // a link that leads to a hidden or disabled subject
	RuleMore         = "KB099" // findings that are counted only
)

// Severity says how bad a finding is.
type Severity string

// The severities. Errors are what the assistant cannot get and somebody wanted it
// to have.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityInfo    Severity = "info"
)

// Finding is something about a knowledge base that its authors should know.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	Topic    string   `json:"topic,omitempty"` // id
	// Path is relative to the workspace, with slashes. A configuration file of the
	// user's is named as in [kbconfig.Position].
	Path string `json:"path,omitempty"`
	// Line and Column count from 1, and are 0 where the whole file is meant.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Message is one sentence without a period.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"` // how to put it right
}

// String returns the finding on one line, and its hint on a second:
//
//	.jp/kb/project/index.md:3: warning: the link "old.md" leads to no subject [KB010]
//	  hint: correct the link, or add the file
func (f Finding) String() string {
	var b strings.Builder
	if f.Path != "" {
		b.WriteString(oneLine(f.Path))
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d", f.Line)
		}
		if f.Column > 0 {
			fmt.Fprintf(&b, ":%d", f.Column)
		}
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s: %s [%s]", f.Severity, f.Message, f.Rule)
	if f.Hint != "" {
		b.WriteString("\n  hint: " + f.Hint)
	}
	return b.String()
}

// ConfigFindings returns what an error of [Open] says is wrong with the
// configuration, and false for an error that is about something else.
func ConfigFindings(err error) ([]Finding, bool) {
	var broken *kbconfig.Error
	if !errors.As(err, &broken) {
		return nil, false
	}
	return fromConfig(broken.Diagnostics), true
}

func fromConfig(diagnostics []kbconfig.Diagnostic) []Finding {
	var findings []Finding
	for _, d := range diagnostics {
		findings = append(findings, Finding{
			Rule: d.Rule, Severity: Severity(d.Severity), Path: d.File, Line: d.Line, Column: d.Column, Message: d.Message, Hint: d.Hint,
		})
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
	count map[string]int
}

// file adds a finding about a file by its path in the topic's directory.
func (fs *findings) file(rule string, severity Severity, path string, line int, hint, format string, args ...any) {
	full := fs.topic.Subjects
	if path != "." {
		full += "/" + path
	}
	fs.add(Finding{Rule: rule, Severity: severity, Path: full, Line: line, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// config adds a finding about a place in the configuration.
func (fs *findings) config(rule string, severity Severity, at kbconfig.Position, hint, format string, args ...any) {
	fs.add(Finding{Rule: rule, Severity: severity, Path: at.File, Line: at.Line, Column: at.Column, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (fs *findings) add(f Finding) {
	if fs.count == nil {
		fs.count = map[string]int{}
	}
	if fs.count[f.Rule]++; fs.count[f.Rule] <= maxFindings {
		f.Topic = fs.topic.ID
		fs.list = append(fs.list, f)
	}
}

// sorted returns the findings by path and line, and behind them how many there
// were no room for.
func (fs *findings) sorted() []Finding {
	slices.SortStableFunc(fs.list, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Rule, b.Rule))
	})
	rules := make([]string, 0, len(fs.count))
	for rule, n := range fs.count {
		if n > maxFindings {
			rules = append(rules, rule)
		}
	}
	slices.Sort(rules)
	for _, rule := range rules {
		fs.list = append(fs.list, Finding{
			Rule: RuleMore, Severity: SeverityInfo, Topic: fs.topic.ID, Path: fs.topic.Subjects,
			Message: fmt.Sprintf("there are %s more findings of %s in this topic", thousands(fs.count[rule]-maxFindings), rule),
			Hint:    "correct these and look again",
		})
	}
	return fs.list
}
