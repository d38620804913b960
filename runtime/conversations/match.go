package conversations

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/conversations/internal/literal"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// line is a line of a text. Its content ends before the line break.
type line struct {
	start, end int
	next       int // where the next line starts
}

// lineAt returns the line that starts at text[start].
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

// pattern finds lines. It is safe for concurrent use.
type pattern struct {
	// finder finds what every matching line holds: for a literal pattern all of
	// it, for a regular expression a part, if there is one.
	finder *literal.Finder
	// regex is nil for a literal pattern.
	regex *regexp.Regexp
	// resume is regex for text that begins one character before the place to
	// search from: its first match is that character.
	resume *regexp.Regexp
	// stored reports whether a JSON string without \u escapes can only match when the
	// finder finds something in its escaped form.
	stored bool
	// sieve tells the same of strings that may be base64, and calls of whole tool calls as
	// they are recorded; nil where they cannot.
	sieve, calls func() *literal.Sieve
	// part is a part of what every match holds, in any text of an event, that stands in one
	// piece where that is stored as JSON; nil where there is none worth looking for.
	part     *literal.Finder
	partText string
	// units are what escapes stand for that may spell a character of part.
	units []uint16
	// text is a literal pattern, and chars how many characters each match of it has.
	text       string
	chars      int
	ignoreCase bool
}

// require sets the text that every matching line holds.
func (p *pattern) require(text string, ignoreCase bool) {
	p.finder = literal.New(text, ignoreCase)
	p.stored = sameWhenStored(text)
	if part := storedPart(text); part != "" {
		p.part, p.partText, p.units = literal.New(part, ignoreCase), part, unitsOf(part)
	}
	if !strings.ContainsRune(text, utf8.RuneError) { // which stands for bytes that are stored otherwise
		p.sieve = sieveOf(text, ignoreCase)
		p.calls = sieveOf(insideJSON(text), ignoreCase)
	}
}

// sieveOf returns a sieve that is made where something is put through it: a search of an index
// has no use for it. The sieve is nil where the text is too short for one.
func sieveOf(text string, ignoreCase bool) func() *literal.Sieve {
	return sync.OnceValue(func() *literal.Sieve { return literal.NewSieve(text, ignoreCase) })
}

// insideJSON returns the part of text that stands in a single recorded string,
// name or number wherever text occurs in laid out JSON. It is empty for text with
// white space or punctuation of JSON, which may come from the layout. At its
// start, text may begin within an escape, such as the n of \n or the 1b of
// \u001b; that part is left out.
func insideJSON(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool {
		return r < utf8.RuneSelf && r != '_' && r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return ""
	}
	lower := strings.ToLower(text)
	if strings.ContainsRune("bfnrt", rune(lower[0])) {
		return text[1:]
	}
	skip := strings.IndexFunc(lower, func(r rune) bool { return !strings.ContainsRune("u0123456789abcdef", r) })
	if skip < 0 {
		skip = len(text)
	}
	return text[min(skip, len("u001b")):]
}

// Bounds on the part of a pattern that is looked for in stored JSON, in bytes and in
// characters: a shorter one stands everywhere, and a longer one has no room in what parts of
// what is stored have in common.
const minPart, maxPart = 3, 64

// storedPart returns the longest part of text that stands in one piece wherever text
// occurs in what is made of stored JSON. It is empty where there is none worth looking
// for.
func storedPart(text string) string {
	longest := ""
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return r == utf8.RuneError || r < utf8.RuneSelf && !strings.ContainsRune("_-.", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		// At its start it may begin within an escape, where strings are left escaped.
		if part = insideJSON(part); utf8.RuneCountInString(part) > utf8.RuneCountInString(longest) {
			longest = part
		}
	}
	if len(longest) < minPart {
		return ""
	}
	runes := []rune(longest)
	return string(runes[:min(len(runes), maxPart)])
}

// mayMatch reports whether stored JSON, a part of it, may have a match. False means that
// it has none that does not reach into another part.
func (p *pattern) mayMatch(stored []byte) bool {
	if p.part == nil {
		return true
	}
	start, _ := p.part.Find(stored)
	return start >= 0 || hides(stored, p.units)
}

// unitsOf returns the units of UTF-16 of the characters of a text, and of all that fold to
// the same.
func unitsOf(text string) []uint16 {
	var units []uint16
	for _, r := range text {
		units = utf16.AppendRune(units, r)
		for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
			units = utf16.AppendRune(units, v)
		}
	}
	slices.Sort(units)
	return slices.Compact(units)
}

// hides reports whether JSON may have an escape that stands for one of some units of UTF-16.
func hides(stored []byte, units []uint16) bool {
	const digits = 4
	for {
		i := literal.IndexPair(stored, '\\', 'u')
		if i < 0 {
			return false
		}
		if stored = stored[i+2:]; len(stored) < digits {
			return true // the rest is in another part
		}
		var unit [2]byte
		if _, err := hex.Decode(unit[:], stored[:digits]); err != nil {
			continue // it stands for nothing
		}
		if _, found := slices.BinarySearch(units, binary.BigEndian.Uint16(unit[:])); found {
			return true
		}
	}
}

// sift reports whether the events of a conversation, as they are stored, show that none
// of them matches one of some patterns.
func sift(ctx context.Context, events store.Events, patterns []*pattern) (none bool) {
	sifter, ok := events.(store.Sifter)
	if !ok || slices.ContainsFunc(patterns, func(p *pattern) bool { return p.part == nil }) {
		return false
	}
	may, err := sifter.Sift(ctx, anyMayMatch(patterns))
	return err == nil && !may // what cannot be read is said where it is read again
}

// narrows returns what a [store.Narrower] is asked for to find all that one of some patterns
// matches in, or nil.
func narrows(patterns ...*pattern) func(part []byte) bool {
	for _, p := range patterns {
		if p.part == nil || strings.EqualFold(strings.Trim(p.partText, "0123456789"), "x") { // which may be the size of a picture
			return nil
		}
	}
	return anyMayMatch(patterns)
}

// anyMayMatch returns a function that reports whether stored JSON, a part of it, may have a
// match of one of some patterns.
func anyMayMatch(patterns []*pattern) func(part []byte) bool {
	return func(part []byte) bool {
		return slices.ContainsFunc(patterns, func(p *pattern) bool { return p.mayMatch(part) })
	}
}

// parseWord checks and compiles a pattern for a search by event, which is taken
// literally. The error is a [*PatternError].
func parseWord(text string, ignoreCase bool) (*pattern, error) {
	p, err := parsePattern(text, false, ignoreCase)
	if err == nil {
		p.unescaped()
	}
	return p, err
}

// unescaped makes it a pattern for tool calls whose strings are unescaped. The quotes
// of these strings, and the white space, line breaks and the punctuation between them, are
// of the layout or recorded as they are: what stands between these in a literal pattern is
// in one recorded string, name or number, whatever stands around it.
func (p *pattern) unescaped() {
	if p.calls = nil; p.regex != nil || p.sieve == nil {
		return
	}
	longest := ""
	for _, part := range strings.FieldsFunc(p.text, func(r rune) bool { return strings.ContainsRune(" \n\":,{}[]", r) }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	p.calls = sieveOf(longest, p.ignoreCase)
}

// parsePattern checks and compiles a pattern. The error is a [*PatternError].
func parsePattern(text string, isRegex, ignoreCase bool) (*pattern, error) {
	switch {
	case strings.ContainsRune(text, 0):
		return nil, &PatternError{Reason: PatternHasNUL}
	case text == "": // white space is text
		return nil, &PatternError{Reason: PatternEmpty}
	case strings.ContainsAny(text, "\r\n"):
		return nil, &PatternError{Reason: PatternHasLines}
	case !utf8.ValidString(text):
		return nil, &PatternError{Reason: PatternNotUTF8}
	}
	p := &pattern{}
	if !isRegex {
		p.text, p.chars, p.ignoreCase = text, utf8.RuneCountInString(text), ignoreCase
		p.require(text, ignoreCase)
		return p, nil
	}
	expr := text
	if ignoreCase {
		expr = "(?i)" + text
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, &PatternError{Reason: PatternSyntax, Err: err}
	}
	p.regex = re
	// Assertions such as \b look one character back, so the search cannot go on
	// at a bare slice. With the alternative in front that character is consumed
	// first, and expr is tried from the next one on. It stands last and without
	// parentheses because it may end within an open \Q.
	if p.resume, err = regexp.Compile(`\A(?s:.)|` + expr); err != nil {
		return nil, &PatternError{Reason: PatternTooLarge, Err: err}
	}
	if parsed, err := syntax.Parse(expr, syntax.Perl); err == nil {
		if part, fold := requiredLiteral(parsed.Simplify()); part != "" {
			p.require(part, fold)
		}
	}
	return p, nil
}

// sameWhenStored reports whether text reads the same inside a JSON string in
// which nothing is written as \u, whoever wrote it.
func sameWhenStored(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' || r == '"' || r == '\\' || r == '/' || r == utf8.RuneError
	})
}

// requiredLiteral returns the longest text that occurs in everything re matches,
// and whether it occurs in any case; "" when there is none.
func requiredLiteral(re *syntax.Regexp) (text string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune), re.Flags&syntax.FoldCase != 0
	case syntax.OpCapture, syntax.OpPlus:
		return requiredLiteral(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if t, f := requiredLiteral(sub); len(t) > len(text) {
				text, fold = t, f
			}
		}
	}
	return text, fold
}

// cannotMatch reports that the text of an event has no match, judging by how it is
// stored. False says nothing.
func (p *pattern) cannotMatch(stored []byte, form transcript.StoredForm) bool {
	switch form {
	case transcript.StoredBase64:
		return retains(p.sieve, stored)
	case transcript.StoredCall:
		return retains(p.calls, stored)
	case transcript.StoredString:
		if !p.stored {
			return false
		}
		start, _ := p.finder.Find(stored)
		return start < 0 && !bytes.Contains(stored, []byte(`\u`))
	}
	return false
}

// retains reports whether a sieve shows that something stored has no match.
func retains(sieve func() *literal.Sieve, stored []byte) bool {
	if sieve == nil || bytes.IndexByte(stored, '\\') >= 0 {
		return false
	}
	s := sieve()
	return s != nil && !s.MayHold(stored)
}

// next returns the first matching line that starts at or after from, which is
// the start of a line, and the first match in it.
func (p *pattern) next(text []byte, from int) (l line, m Span, ok bool) {
	for from < len(text) {
		if p.finder == nil {
			l = lineAt(text, from)
		} else {
			start, end := p.finder.Find(text[from:])
			if start < 0 {
				return l, m, false
			}
			m = Span{from + start, from + end}
			l = lineAt(text, from+bytes.LastIndexByte(text[from:m.Start], '\n')+1)
			if p.regex == nil {
				return l, m, true
			}
		}
		if loc := p.regex.FindIndex(text[l.start:l.end]); loc != nil {
			return l, Span{l.start + loc[0], l.start + loc[1]}, true
		}
		from = l.next
	}
	return l, m, false
}

// maxLocations is how many matches of a regular expression are looked for at a
// time: a line of many megabytes may hold millions.
const maxLocations = 4096

// each calls yield with the matches in a line that are not empty, from left to
// right, until it returns false. A regular expression is tried at most limit
// times; below 0 there is no limit.
func (p *pattern) each(content []byte, limit int, yield func(Span) bool) {
	if p.regex == nil {
		for at := 0; at < len(content); {
			start, end := p.finder.Find(content[at:])
			if start < 0 || !yield(Span{at + start, at + end}) {
				return
			}
			at += end
		}
		return
	}
	re, base, skip := p.regex, 0, 0
	for limit != 0 {
		n := maxLocations
		if limit > 0 {
			n = min(n, limit)
			limit -= n
		}
		locations := re.FindAllIndex(content[base:], n+skip)
		if len(locations) <= skip {
			return
		}
		end := 0
		for _, loc := range locations[skip:] {
			if loc[0] < loc[1] && !yield(Span{base + loc[0], base + loc[1]}) {
				return
			}
			if end = loc[1]; loc[0] == loc[1] {
				_, size := utf8.DecodeRune(content[base+end:])
				end += size
			}
		}
		if end += base; len(locations) < n+skip || end >= len(content) {
			return
		}
		_, size := utf8.DecodeLastRune(content[:end])
		re, base, skip = p.resume, end-size, 1
	}
}

const ellipsis = "…"

// window is a part of a long line.
type window struct {
	text       []byte // with an ellipsis at each end that is cut
	submatches []Span // in text
}

// MinWindow is the fewest characters that [SearchQuery.MaxLine] may allow.
const MinWindow = 10

// cutLine returns the part of n characters around a match, ellipses included. It
// must be shorter than the line, which has total characters. For a line of
// context the match is empty, and no submatches are returned.
func (p *pattern) cutLine(content []byte, m Span, total, n int, isMatch bool) window {
	before := utf8.RuneCount(content[:m.Start])
	width := utf8.RuneCount(content[m.Start:m.End])
	first := before - max((n-width)/2, 1) // one character for the ellipsis
	first = max(min(first, total-n), 0)
	cutLeft, cutRight := first > 0, first+n < total
	if cutLeft {
		first++
		n--
	}
	if cutRight {
		n--
	}
	low := moveRunes(content, m.Start, first-before)
	high := moveRunes(content, low, n)

	var w window
	if cutLeft {
		w.text = append(w.text, ellipsis...)
	}
	shift := len(w.text) - low
	w.text = append(w.text, content[low:high]...)
	if cutRight {
		w.text = append(w.text, ellipsis...)
	}
	if !isMatch {
		return w
	}
	// The first match is in the window, and each of them starts at a character of
	// its own, also when it is empty.
	p.each(content, len(w.text)+2, func(s Span) bool {
		if s.Start >= high {
			return false
		}
		if s.End > low {
			w.submatches = append(w.submatches, Span{max(s.Start, low) + shift, min(s.End, high) + shift})
		}
		return true
	})
	return w
}

// moveRunes returns the offset of the character n characters after the one at
// offset, or before it for a negative n.
func moveRunes(text []byte, offset, n int) int {
	for ; n > 0 && offset < len(text); n-- {
		_, size := utf8.DecodeRune(text[offset:])
		offset += size
	}
	for ; n < 0 && offset > 0; n++ {
		_, size := utf8.DecodeLastRune(text[:offset])
		offset -= size
	}
	return offset
}

// CheckPattern reports why a pattern cannot be searched for, as a [*PatternError],
// or nil where it can.
func CheckPattern(text string, isRegexp, ignoreCase bool) error {
	_, err := parsePattern(text, isRegexp, ignoreCase)
	return err
}
