package kbconfig

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
)

// The rules a configuration can break. The ids are stable.
const (
	RuleFile      = "KC001" // a file cannot be read; a warning for JP's own
	RuleSyntax    = "KC002" // a file is not TOML in UTF-8; a warning for JP's own if it seems to have no topics
	RuleUnknown   = "KC003" // a key that nothing reads; a warning where it is no matter for topics
	RuleType      = "KC004" // a value of the wrong type
	RuleMissing   = "KC005" // a topic without subjects; a warning where only the user's file has it
	RuleSubjects  = "KC006" // subjects that are no path below the root
	RuleID        = "KC007" // a topic id with other characters than allowed
	RulePattern   = "KC008" // an empty or malformed pattern
	RuleLimit     = "KC009" // more topics, patterns or problems than are read
	RuleTitle     = "KC010" // a title that does not tell topics apart; a warning
	RuleFlag      = "KC011" // a flag that is not TOPIC/GLOB
	RuleFlagTopic = "KC012" // a flag for a topic that there is not
	RulePlace     = "KC013" // topics where JP does not accept them, or nothing reads them; a warning
	RuleTrust     = "KC014" // [trust] that cannot be used, or in a file that is not the user's
)

// maxDiagnostics is how many findings are listed; the others are counted. Who has
// more of them has one cause for all, and a hostile file must not fill the memory
// with its errors.
const maxDiagnostics = 100

// Position is a place in a file, or the file as a whole when Line is 0.
type Position struct {
	// File is relative to the root, with slashes. The user's file begins with "~/"
	// when it is in the home directory and is absolute otherwise. "-k" stands for
	// the flags. It is empty for what no file is to blame for.
	File string
	diag.Span
}

// String returns the position the way compilers write it, on one line.
func (p Position) String() string {
	return text.Cell(diag.Diagnostic{File: p.File, Span: p.Span}.Place())
}

// Text returns a finding on one line, and its hint on a second:
//
//	convtools.toml:3:1: error: unknown key "titel" in topic "project" [KC003]
//	  hint: did you mean "title"?
func Text(d diag.Diagnostic) string {
	text := fmt.Sprintf("%s: %s [%s]", SeverityName(d.Severity), d.Message, d.Rule)
	if d.File != "" {
		text = Position{d.File, d.Span}.String() + ": " + text
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
	list   diag.List
	more   int  // how many are not in the list
	failed bool // one of all is an error
}

func (ds *diagnostics) error(at Position, rule, hint, format string, args ...any) {
	ds.add(diag.Error, at, rule, hint, fmt.Sprintf(format, args...))
}

func (ds *diagnostics) warning(at Position, rule, hint, format string, args ...any) {
	ds.add(diag.Warning, at, rule, hint, fmt.Sprintf(format, args...))
}

func (ds *diagnostics) add(severity diag.Severity, at Position, rule, hint, message string) {
	ds.failed = ds.failed || severity == diag.Error
	if len(ds.list) == maxDiagnostics {
		ds.more++
		return
	}
	ds.list = append(ds.list, diag.Diagnostic{File: at.File, Span: at.Span, Severity: severity, Rule: rule, Message: message, Hint: hint})
}

// sorted returns the findings ordered by their file's place in files, then by
// position. What is in none of the files comes last.
func (ds *diagnostics) sorted(files []string) diag.List {
	place := func(d diag.Diagnostic) int {
		if i := slices.Index(files, d.File); i >= 0 {
			return i
		}
		return len(files)
	}
	slices.SortStableFunc(ds.list, func(a, b diag.Diagnostic) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Col, b.Span.Col))
	})
	if ds.more > 0 {
		severity := diag.Warning
		if ds.failed {
			severity = diag.Error
		}
		return append(ds.list, diag.Diagnostic{
			Severity: severity, Rule: RuleLimit,
			Message: fmt.Sprintf("%d more problems are not listed", ds.more), Hint: "fix the others first",
		})
	}
	return ds.list
}
