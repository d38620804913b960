// Package text makes untrusted text safe to show, and cuts and measures it. Safe means that hidden characters are
// visible: those that drive a terminal, reorder text, or are read by a model and seen by nobody.
//
// Everything from outside that people or models are shown (a recorded conversation, an argument, a file, its name, a
// child process) goes through this package. [IsHidden] has the one set of rules; the functions differ in what they
// write for a hidden character, which depends on the place:
//
//	an XML body, a message of several lines, a terminal   Visible                   U+202E is written \u{202E}
//	an XML attribute or body of one line, a message       Line                      the same, on one line
//	a column of a table in a terminal                     Cell                      the same, without tabs
//	JSON that people or models read                       JSON                      \u202e
//	a diagnostic with the source it is about              Source, AppendSource      <U+202E>
//
// The package never drops a character silently, except the carriage return of a CRLF, and never changes or copies
// text without hidden characters.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible returns s with everything hidden made visible, on as many lines as s has. CRLF becomes LF. Other C0
// controls except tab and line feed, and DEL, become their control pictures; C1 controls, noncharacters and bytes
// that are not UTF-8 become U+FFFD; other hidden characters become an escape such as \u{202E}.
//
// The result is valid UTF-8 and XML 1.0 text, and safe for a terminal. Visible does not change it again.
func Visible(s string) string { return convert(s, several) }

// Line is [Visible] on one line: each line feed becomes a space.
func Line(s string) string { return convert(s, line) }

// Cell is [Line] for a column of a table: each tab becomes a space as well.
func Cell(s string) string { return convert(s, cell) }

// Source is [Visible] for a quotation in a diagnostic, where each character matters. Every control except those in
// keep, every space except U+0020 and U+3000, and everything without an agreed shape become an escape such as
// <U+00A0>; a byte that is not UTF-8 becomes <0xFF>.
func Source(s, keep string) string {
	return string(AppendSource(make([]byte, 0, len(s)), s, keep))
}

// JSON returns a JSON text, or a part of one that begins and ends between characters, as JSON of the same
// value: hidden characters, which JSON may have inside strings, become escapes such as \u202e. A carriage return
// between tokens becomes a space. Bytes that are not UTF-8 become U+FFFD.
func JSON[T ~string | ~[]byte](s T) []byte { return appendForm(nil, string(s), jsonText) }

// AppendSource appends s to dst as [Source] returns it: hidden characters that are not in keep become escapes. A joiner
// at the start of s, such as U+200D, stays if it joins the last character of dst to the text after it.
func AppendSource(dst []byte, s, keep string) []byte {
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			dst = fmt.Appendf(dst, "<0x%02X>", s[0])
		case !inSource(r, dst) && !strings.ContainsRune(keep, r):
			dst = fmt.Appendf(dst, "<U+%04X>", r)
		default:
			dst = append(dst, s[:size]...)
		}
		s = s[size:]
	}
	return dst
}

// inSource reports whether [Source] writes r as it is after the text in written. A joiner stays only where it may join.
func inSource(r rune, written []byte) bool {
	if ' ' <= r && r < 0x7f {
		return true
	}
	return (unicode.IsPrint(r) || r == ideographicSpace || isJoiner(r)) && stays(r, written, "") // "" is the text between written and r
}

const ideographicSpace = 0x3000 // used in East Asian prose

// form is the kind of place that a text is for.
type form uint8

const (
	several  form = iota // several lines
	line                 // one line: line feeds become spaces
	cell                 // one line without tabs
	jsonText             // a JSON text
)

// convert returns s as appendForm writes it; s itself if nothing changes.
func convert(s string, f form) string {
	if unchanged(s, nil, f) == len(s) {
		return s
	}
	return string(appendForm(make([]byte, 0, len(s)+len(s)/8), s, f))
}

// appendForm appends s to dst, with a replacement for each character that may not stand in the form.
func appendForm(dst []byte, s string, f form) []byte {
	for i := 0; i < len(s); {
		n := unchanged(s[i:], dst, f)
		dst = append(dst, s[i:i+n]...)
		i += n
		// Replace characters up to the next one that stays. Printable ASCII always stays.
		for i < len(s) && (s[i] < ' ' || s[i] >= 0x7f) {
			r, size := utf8.DecodeRuneInString(s[i:])
			if allows(r, size, f) && stays(r, dst, "") { // the form has r, and r is not hidden after dst and ""
				break
			}
			i += size
			if isCRLF := r == '\r' && strings.HasPrefix(s[i:], "\n"); isCRLF && f != jsonText {
				continue // drop the carriage return: the line feed is next in s
			}
			dst = appendReplacement(dst, r, f)
		}
	}
	return dst
}

// unchanged returns the number of bytes at the start of s that stay as they are in form f, after the text in written.
func unchanged(s string, written []byte, f form) int {
	for i := 0; i < len(s); {
		if c := s[i]; ' ' <= c && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !allows(r, size, f) || !stays(r, written, s[:i]) {
			return i
		}
		i += size
	}
	return len(s)
}

// allows reports whether a form allows r if r is not hidden. A byte that is not UTF-8, of size 1, is not allowed.
func allows(r rune, size int, f form) bool {
	switch {
	case r == '\n':
		return f == several || f == jsonText
	case r == '\t':
		return f != cell
	}
	return r != utf8.RuneError || size > 1
}

// appendReplacement appends what the form has in place of r.
func appendReplacement(dst []byte, r rune, f form) []byte {
	switch {
	case r == '\n' || r == '\t':
		return append(dst, ' ')
	case f == jsonText:
		return appendJSONEscape(dst, r)
	case r < ' ':
		return utf8.AppendRune(dst, 0x2400+r) // the picture of the control
	case r == 0x7f:
		return utf8.AppendRune(dst, '\u2421')
	case r < 0xa0 || r == utf8.RuneError || isNoncharacter(r):
		return utf8.AppendRune(dst, utf8.RuneError)
	default:
		return fmt.Appendf(dst, `\u{%X}`, r)
	}
}

// appendJSONEscape appends the replacement of r in a JSON text: an escape such as \u202e, except in two cases.
func appendJSONEscape(dst []byte, r rune) []byte {
	switch {
	case r == '\r': // between tokens, where a space means the same: a string has it as an escape already
		return append(dst, ' ')
	case r == utf8.RuneError: // a byte that is not UTF-8 becomes U+FFFD
		return utf8.AppendRune(dst, r)
	}
	for _, unit := range utf16.AppendRune(nil, r) {
		dst = fmt.Appendf(dst, `\u%04x`, unit)
	}
	return dst
}

// lastRune returns the last character of s, or of before if s is empty, or -1.
func lastRune(before []byte, s string) rune {
	r, size := utf8.DecodeLastRuneInString(s)
	if size == 0 {
		r, size = utf8.DecodeLastRune(before)
	}
	if size == 0 {
		return -1
	}
	return r
}

// LongestRun returns the length of the longest run of the byte b in s. b must be ASCII.
func LongestRun(s string, b byte) int {
	longest := 0
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return r != rune(b) }) {
		longest = max(longest, len(run))
	}
	return longest
}

// Invalid returns the offset of the first byte that is not UTF-8, or -1.
func Invalid(s string) int {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}
