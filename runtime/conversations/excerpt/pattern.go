// Package excerpt selects the parts of a text that are shown: the lines that match a pattern with the lines around
// them, windows of long lines, and passages that answer a question.
//
// It reads nothing and writes no sentences: it returns positions in a text, or the text there, and its caller says
// what is left out.
package excerpt

import (
	"bytes"
	"fmt"
	"iter"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/fold"
)

// Span is a range of bytes.
type Span struct{ Start, End int }

// Pattern finds a text or the matches of a regular expression, line by line. It is safe for concurrent use.
type Pattern struct {
	// required is a text in every matching line: the whole literal, or a literal part of the regular expression. If the
	// expression has no such part, required is empty and finder is nil.
	required string
	finder   *finder
	regex    *regexp.Regexp // nil for a literal pattern
}

// PatternError is the error for an invalid pattern: for a regular expression, that of its parser.
type PatternError struct {
	Problem string // the predicate of a sentence about the pattern, such as "is empty"; empty with Err
	Err     error
}

func (e *PatternError) Error() string {
	if e.Err == nil {
		return "the pattern " + e.Problem
	}
	return fmt.Sprintf("invalid pattern: %v", e.Err)
}

func (e *PatternError) Unwrap() error { return e.Err }

// Literal returns the pattern that matches text, which may have line breaks; nil for the empty text. It takes bytes of
// text that are not UTF-8 as U+FFFD. With ignoreCase, it ignores case by the simple folding of Unicode.
func Literal(text string, ignoreCase bool) *Pattern {
	if text == "" {
		return nil
	}
	p := &Pattern{}
	p.require(strings.ToValidUTF8(text, "\ufffd"), ignoreCase)
	return p
}

// Compile returns the pattern for one line: a literal text, or RE2 syntax. The error is a [*PatternError].
func Compile(text string, isRegex, ignoreCase bool) (*Pattern, error) {
	switch {
	case strings.ContainsRune(text, 0):
		return nil, &PatternError{Problem: "contains a NUL byte"}
	case text == "": // a pattern of white space is valid
		return nil, &PatternError{Problem: "is empty"}
	case strings.ContainsAny(text, "\r\n"):
		return nil, &PatternError{Problem: "has more than one line, and the search goes line by line"}
	case !utf8.ValidString(text):
		return nil, &PatternError{Problem: "is not valid UTF-8"}
	case !isRegex:
		return Literal(text, ignoreCase), nil
	}
	expr := text
	if ignoreCase {
		expr = "(?i)" + text
	}
	p := &Pattern{}
	var err error
	if p.regex, err = regexp.Compile(expr); err != nil {
		return nil, &PatternError{Err: err}
	}
	if parsed, err := syntax.Parse(expr, syntax.Perl); err == nil {
		if part, fold := requiredIn(parsed.Simplify()); part != "" { // only lines with this part are tried, which is faster
			p.require(part, fold)
		}
	}
	return p, nil
}

// require sets required and the finder for it.
func (p *Pattern) require(text string, ignoreCase bool) {
	p.required, p.finder = text, newFinder(text, ignoreCase)
}

// requiredIn returns a literal that every match of re contains, and whether its case is ignored; "" if there is none. It
// returns the longest literal in sequences, groups and repetitions of at least once, and looks into no other operator.
func requiredIn(re *syntax.Regexp) (text string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune), re.Flags&syntax.FoldCase != 0
	case syntax.OpCapture, syntax.OpPlus:
		return requiredIn(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if t, f := requiredIn(sub); len(t) > len(text) {
				text, fold = t, f
			}
		}
	}
	return text, fold
}

// Required returns a text that is in every match; empty if there is none.
func (p *Pattern) Required() string { return p.required }

// HasRequired reports whether [Pattern.Required] is in a text. It must not be called if that is empty.
func (p *Pattern) HasRequired(text []byte) bool {
	_, at := p.finder.place(text)
	return at >= 0
}

// IsIn reports whether a line of a text matches.
func (p *Pattern) IsIn(text []byte) bool {
	_, _, ok := p.nextMatch(text, 0)
	return ok
}

// Count returns the number of matching lines of a text.
func (p *Pattern) Count(text []byte) int {
	n := 0
	for from := 0; ; n++ {
		l, _, ok := p.nextMatch(text, from)
		if !ok {
			return n
		}
		from = l.next
	}
}

// line is a line of a text. Its content ends before the line break.
type line struct {
	start, end int
	next       int // the beginning of the next line
}

// lineAt returns the line that begins at text[start].
func lineAt(text []byte, start int) line {
	l := line{start: start, end: len(text), next: len(text)}
	if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
		l.end, l.next = start+i, start+i+1
	}
	if l.end > start && text[l.end-1] == '\r' {
		l.end--
	}
	return l
}

// nextMatch returns the first matching line that begins at text[from] or later, and the first match in the line; false
// if there is none. A line has to begin at text[from].
func (p *Pattern) nextMatch(text []byte, from int) (l line, m Span, ok bool) {
	for from < len(text) {
		lineStart := from
		if p.finder != nil { // otherwise every line is tried
			start, end := p.finder.find(text[from:])
			if start < 0 {
				return l, m, false
			}
			m = Span{from + start, from + end}
			lineStart += bytes.LastIndexByte(text[from:m.Start], '\n') + 1
		}
		l = lineAt(text, lineStart)
		if p.regex == nil { // the text that the finder found is all of the pattern
			return l, m, true
		}
		if loc := p.regex.FindIndex(text[l.start:l.end]); loc != nil {
			return l, Span{l.start + loc[0], l.start + loc[1]}, true
		}
		from = l.next
	}
	return l, m, false
}

// maxSpans is the maximum number of matches of a regular expression in a line: a very long line may have millions.
const maxSpans = 10_000

// Spans yields the matches in a line, from left to right, except empty ones. A literal pattern can be given any text.
func (p *Pattern) Spans(content []byte) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		if p.regex != nil {
			for _, loc := range p.regex.FindAllIndex(content, maxSpans) {
				if loc[0] < loc[1] && !yield(Span{loc[0], loc[1]}) {
					return
				}
			}
			return
		}
		for at := 0; at < len(content); {
			start, end := p.finder.find(content[at:])
			if start < 0 || !yield(Span{at + start, at + end}) {
				return
			}
			at += end
		}
	}
}

// Occurrences yields the places of a text in s from left to right, without overlaps, ignoring case; none for "".
func Occurrences(s, text string) iter.Seq[Span] {
	p := Literal(text, true)
	if p == nil {
		return func(func(Span) bool) {}
	}
	return p.Spans([]byte(s))
}

// finder finds a text, with or without case as package fold has it. It is safe for concurrent use.
type finder struct {
	pattern []byte // folded if case is ignored
	folds   bool   // case is ignored
	longest int    // at least as many bytes as a match can have; 0 if case is not ignored
}

// window is the number of bytes that are folded at a time.
const window = 1 << 10

// newFinder returns a finder for a text, which must be valid UTF-8 and not empty.
func newFinder(text string, ignoreCase bool) *finder {
	f := &finder{pattern: []byte(text), folds: ignoreCase}
	if ignoreCase {
		f.pattern = fold.Append(nil, f.pattern)
		f.longest = utf8.UTFMax * utf8.RuneCount(f.pattern)
	}
	return f
}

// find returns where the first match in a text starts and ends; -1 and -1 if there is none.
func (f *finder) find(text []byte) (start, end int) {
	piece, at := f.place(text) // the match is at bytes after text[piece], counted in the folded text if case is ignored
	switch {
	case at < 0:
		return -1, -1
	case !f.folds:
		return at, at + len(f.pattern)
	}
	start = piece + unfolded(text[piece:], at) // unfolded returns how many bytes of the text are so many folded bytes
	return start, start + unfolded(text[start:], len(f.pattern))
}

// place returns where the first match in a text is. If case is ignored, it folds the text piece by piece: piece is the
// offset of the piece with the match, and at the offset in that folded piece. Otherwise piece is 0, and at the offset
// in the text. at is -1 if there is no match. A piece goes on for f.longest bytes, the most of a match, so that a match
// that begins in its first size bytes is whole.
func (f *finder) place(text []byte) (piece, at int) {
	if !f.folds {
		return 0, bytes.Index(text, f.pattern)
	}
	var buffer [2 * window]byte
	size, folded := max(window, f.longest), buffer[:0]
	for low := 0; low < len(text); low += size {
		folded = fold.Append(folded[:0], text[low:min(low+size+f.longest, len(text))])
		if at := bytes.Index(folded, f.pattern); at >= 0 {
			return low, at
		}
	}
	return 0, -1
}

// unfolded returns how many bytes at the beginning of a text become n bytes when they are folded.
func unfolded(text []byte, n int) int {
	var letter [utf8.UTFMax]byte
	at := 0
	for n > 0 {
		if isASCII := text[at] < utf8.RuneSelf; isASCII { // one byte also when it is folded
			n, at = n-1, at+1
			continue
		}
		_, size := utf8.DecodeRune(text[at:])
		n -= len(fold.Append(letter[:0], text[at:at+size]))
		at += size
	}
	return at
}
