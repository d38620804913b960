// Package diag has the type for problems in files.
//
// The generator, the configuration of a knowledge base and the checks of an installation report a [List] of
// [Diagnostic] values, with positions from [Source]. Commands print them.
//
// The package must never read or write files, look at the environment or the clock, or depend on what a file means.
package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
)

// Span is a part of a text file. Lines and columns count from 1.
//
// A column is one Unicode code point: a tab, a wide character and a combining mark are one column each, and so is
// each byte that is not valid UTF-8. A line ends before its LF or CRLF; a UTF-8 byte order mark at the start of the
// file has no column. The end is exclusive: EndCol is the column just after the last character, and an empty span
// (a position) has EndLine == Line and EndCol == Col.
//
// The zero Span means the whole file.
type Span struct {
	Line, Col       int
	EndLine, EndCol int
}

// IsZero reports whether s means the whole file.
func (s Span) IsZero() bool { return s == Span{} }

// Compare orders spans by their beginnings, then by their ends.
func (s Span) Compare(t Span) int {
	return cmp.Or(
		cmp.Compare(s.Line, t.Line), cmp.Compare(s.Col, t.Col),
		cmp.Compare(s.EndLine, t.EndLine), cmp.Compare(s.EndCol, t.EndCol),
	)
}

// Severity is the severity of a diagnostic. The zero value is Error, so that a diagnostic without one stops generation.
type Severity int

const (
	Error   Severity = iota // what it is about cannot be used, and nothing may be generated
	Warning                 // it can be used, but somebody should look
	Note                    // for information
)

// String returns the word for text and JSON.
func (s Severity) String() string {
	return [...]string{Error: "error", Warning: "warning", Note: "note"}[s]
}

// Diagnostic is a problem at a place in a file.
type Diagnostic struct {
	File     string // its name for people, with slashes; empty when no file is to blame
	Span     Span   // zero: the whole file
	Rule     string // stable rule id; may be empty
	Severity Severity
	Message  string // one sentence without a final period: what is wrong, and what was expected
	Hint     string // how to fix it; may be empty, may have several lines
}

// String returns the diagnostic on one line, as compilers write it and editors parse it:
//
//	specs/list.toml:12:9: error: unknown key "requird" [SP003]
//
// Characters that could drive a terminal are written out, as in <U+001B>.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(text.Source(d.Place(), "") + ": ")
	}
	fmt.Fprintf(&b, "%s: %s", d.Severity, text.Source(d.Message, ""))
	if d.Rule != "" {
		fmt.Fprintf(&b, " [%s]", text.Source(d.Rule, ""))
	}
	return b.String()
}

// Place returns FILE:LINE:COL, as far as they are known. The name of the file is not made safe to show.
func (d Diagnostic) Place() string {
	place := d.File
	for _, n := range []int{d.Span.Line, d.Span.Col} {
		if n > 0 {
			place += ":" + strconv.Itoa(n)
		}
	}
	return place
}

func (d Diagnostic) compare(e Diagnostic) int {
	return cmp.Or(
		cmp.Compare(d.File, e.File), d.Span.Compare(e.Span),
		cmp.Compare(d.Rule, e.Rule), cmp.Compare(d.Message, e.Message),
		cmp.Compare(d.Severity, e.Severity), cmp.Compare(d.Hint, e.Hint),
	)
}

// List is a list of diagnostics in any order; printers show [List.Sorted].
type List []Diagnostic

// Sorted returns the distinct diagnostics in the order of file, position, rule and message. The list does not change.
func (l List) Sorted() List {
	return slices.Compact(slices.SortedFunc(slices.Values(l), Diagnostic.compare))
}

// HasErrors reports whether any diagnostic is an Error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}
