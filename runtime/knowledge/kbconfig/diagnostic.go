package kbconfig

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/envelope"
)

// The rules a configuration can break. The ids are stable.
const (
	RuleFile      = "KC001" // a file cannot be read; a warning for JP's own
	RuleSyntax    = "KC002" // a file is not TOML in UTF-8; a warning for JP's own if it seems to have no topics
	RuleUnknown   = "KC003" // a key that nothing reads
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
)

// maxDiagnostics is how many findings are listed; the others are counted. Who has
// more of them has one cause for all, and a hostile file must not fill the memory
// with its errors.
const maxDiagnostics = 100

// Severity says what a diagnostic means for the configuration.
type Severity string

const (
	SeverityError   Severity = "error"   // nothing is loaded
	SeverityWarning Severity = "warning" // loaded, but somebody should look
)

// Position is a place in a file, or the file as a whole when Line is 0.
type Position struct {
	// File is relative to the root, with slashes. The user's file begins with "~/"
	// when it is in the home directory and is absolute otherwise. "-k" stands for
	// the flags. It is empty for what no file is to blame for.
	File string `json:"file,omitempty"`
	// Line and Column count from 1. A column is one code point; a byte order mark
	// has none.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
}

// String returns the position the way compilers write it.
func (p Position) String() string {
	file := envelope.SanitizeLine(p.File)
	if p.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Column)
}

// Diagnostic is one finding about the configuration.
type Diagnostic struct {
	Position
	Severity Severity `json:"severity"`
	Rule     string   `json:"rule"`
	Message  string   `json:"message"`        // one sentence without a period: what is wrong and what was expected
	Hint     string   `json:"hint,omitempty"` // how to fix it
}

// String returns the finding on one line, and its hint on a second:
//
//	convtools.toml:3:1: error: unknown key "titel" in topic "project" [KC003]
//	  hint: did you mean "title"?
func (d Diagnostic) String() string {
	text := fmt.Sprintf("%s: %s [%s]", d.Severity, d.Message, d.Rule)
	if d.File != "" {
		text = d.Position.String() + ": " + text
	}
	if d.Hint != "" {
		text += "\n  hint: " + d.Hint
	}
	return text
}

// Error says why a configuration cannot be used.
type Error struct {
	// Diagnostics has every finding, warnings too, ordered by file in the order the
	// files are read, by position, and the flags last. At least one is an error.
	Diagnostics []Diagnostic
}

// Error returns the findings, one below the other.
func (e *Error) Error() string {
	if len(e.Diagnostics) == 1 {
		return e.Diagnostics[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the configuration of the knowledge base has %d problems:", len(e.Diagnostics))
	for _, d := range e.Diagnostics {
		b.WriteString("\n" + d.String())
	}
	return b.String()
}

// diagnostics collects findings.
type diagnostics struct {
	list   []Diagnostic
	more   int  // how many are not in the list
	failed bool // one of all is an error
}

func (ds *diagnostics) error(at Position, rule, hint, format string, args ...any) {
	ds.add(Diagnostic{Position: at, Severity: SeverityError, Rule: rule, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (ds *diagnostics) warning(at Position, rule, hint, format string, args ...any) {
	ds.add(Diagnostic{Position: at, Severity: SeverityWarning, Rule: rule, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (ds *diagnostics) add(d Diagnostic) {
	ds.failed = ds.failed || d.Severity == SeverityError
	if len(ds.list) == maxDiagnostics {
		ds.more++
		return
	}
	ds.list = append(ds.list, d)
}

// sorted returns the findings ordered by their file's place in files, then by
// position. What is in none of the files comes last.
func (ds *diagnostics) sorted(files []string) []Diagnostic {
	place := func(d Diagnostic) int {
		if i := slices.Index(files, d.File); i >= 0 {
			return i
		}
		return len(files)
	}
	slices.SortStableFunc(ds.list, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if ds.more > 0 {
		severity := SeverityWarning
		if ds.failed {
			severity = SeverityError
		}
		return append(ds.list, Diagnostic{
			Severity: severity, Rule: RuleLimit,
			Message: fmt.Sprintf("%d more problems are not listed", ds.more), Hint: "fix the others first",
		})
	}
	return ds.list
}

// quote makes text from a file or a flag fit for a message: visible, on one line
// and short.
func quote(text string) string {
	const longest = 80
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest-1]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
