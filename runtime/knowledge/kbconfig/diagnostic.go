package kbconfig

import (
	"fmt"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/config"
)

// The rules a configuration can break. The ids are stable.
const (
	RuleConfig    = config.Rule // a file that cannot be read, an unknown key, a wrong type
	RuleMissing   = "KC005"     // a topic without subjects; a warning where only the user's file has it
	RuleSubjects  = "KC006"     // subjects that are no path below the root
	RuleID        = "KC007"     // a topic id with other characters than allowed
	RulePattern   = "KC008"     // an empty or malformed pattern
	RuleLimit     = "KC009"     // patterns that take too long to be tried
	RuleTitle     = "KC010"     // a title that does not tell topics apart; a warning
	RuleFlag      = "KC011"     // a flag that is not TOPIC/GLOB
	RuleFlagTopic = "KC012"     // a flag for a topic that there is not
)

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
