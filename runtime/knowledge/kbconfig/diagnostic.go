package kbconfig

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/config"
)

// The rules a configuration can break. The ids are stable.
const (
	RuleConfig    = "KC001" // what package config finds: a file that cannot be read, an unknown key, a wrong type
	RuleMissing   = "KC005" // a topic without subjects; a warning where only the user's file has it
	RuleSubjects  = "KC006" // subjects that are no path below the root
	RuleID        = "KC007" // a topic id with other characters than allowed
	RulePattern   = "KC008" // an empty or malformed pattern
	RuleLimit     = "KC009" // patterns that take too long to be tried
	RuleTitle     = "KC010" // a title that does not tell topics apart; a warning
	RuleFlag      = "KC011" // a flag that is not TOPIC/GLOB
	RuleFlagTopic = "KC012" // a flag for a topic that there is not
)

// maxDiagnostics is how many findings are listed; the others are counted. Who has
// more of them has one cause for all, and a hostile file must not fill the memory
// with its errors.
const maxDiagnostics = 100

// Position is a place in a file. "-k" stands for the flags.
type Position = config.Position

// Text returns a finding on one line, and its hint on a second:
//
//	convtools.toml:3:1: error: unknown key "titel" in topic "project" [KC003]
//	  hint: did you mean "title"?
func Text(d diag.Diagnostic) string {
	text := fmt.Sprintf("%s: %s [%s]", SeverityName(d.Severity), d.Message, d.Rule)
	if d.File != "" {
		text = Position{File: d.File, Span: d.Span}.String() + ": " + text
	}
	if d.Hint != "" {
		text += "\n  hint: " + d.Hint
	}
	return text
}

// SeverityName is what a severity is called in findings about a knowledge base.
func SeverityName(s diag.Severity) string {
	if s == diag.Note {
		return "info"
	}
	return s.String()
}

// Error says why a configuration cannot be used.
type Error struct {
	// Found has every finding, warnings too, ordered by file in the order the files
	// are read, by position, and the flags last. At least one is an error.
	Found diag.List
}

// Diagnostics returns every finding.
func (e *Error) Diagnostics() diag.List { return e.Found }

// Error returns the findings, one below the other.
func (e *Error) Error() string {
	if len(e.Found) == 1 {
		return Text(e.Found[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the configuration of the knowledge base has %d problems:", len(e.Found))
	for _, d := range e.Found {
		b.WriteString("\n" + Text(d))
	}
	return b.String()
}

// diagnostics collects findings.
type diagnostics struct {
	list   []finding
	more   int  // how many are not in the list
	failed bool // nothing can be learned
}

// finding is a finding, and the id of the topic that it is about, if any.
type finding struct {
	topic string
	diag.Diagnostic
}

// error reports what keeps everything from being learned.
func (ds *diagnostics) error(at Position, rule, hint, format string, args ...any) {
	ds.failed = true
	ds.topicError("", at, rule, hint, format, args...)
}

func (ds *diagnostics) topicError(topic string, at Position, rule, hint, format string, args ...any) {
	ds.add(topic, diag.Diagnostic{File: at.File, Span: at.Span, Rule: rule, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (ds *diagnostics) warning(at Position, rule, hint, format string, args ...any) {
	ds.add("", diag.Diagnostic{File: at.File, Span: at.Span, Severity: diag.Warning, Rule: rule, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (ds *diagnostics) add(topic string, d diag.Diagnostic) {
	if len(ds.list) == maxDiagnostics {
		ds.more++
		return
	}
	ds.list = append(ds.list, finding{topic, d})
}

// about returns what was found of a topic.
func (ds *diagnostics) about(topic string) *Error {
	e := &Error{}
	for _, f := range ds.list {
		if f.topic == topic {
			e.Found = append(e.Found, f.Diagnostic)
		}
	}
	return e
}

// sorted returns the findings ordered by their file's place in files, then by
// position. What is in none of the files comes last.
func (ds *diagnostics) sorted(files []string) diag.List {
	place := func(d finding) int {
		if i := slices.Index(files, d.File); i >= 0 {
			return i
		}
		return len(files)
	}
	slices.SortStableFunc(ds.list, func(a, b finding) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Col, b.Span.Col))
	})
	var list diag.List
	for _, f := range ds.list {
		list = append(list, f.Diagnostic)
	}
	if ds.more > 0 {
		severity := diag.Warning
		if ds.failed {
			severity = diag.Error
		}
		return append(list, diag.Diagnostic{
			Severity: severity, Rule: RuleLimit,
			Message: fmt.Sprintf("%d more problems are not listed", ds.more), Hint: "fix the others first",
		})
	}
	return list
}
