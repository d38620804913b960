package check

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// notPortable returns why a pattern is refused, as the end of a sentence about the pattern, or "". A pattern must mean
// the same in RE2 and in ECMA-262 with the flag u, which JSON Schema uses. So it has no shorthand classes, flags,
// lookaround or named groups, and no dot: in ECMA-262, a dot excludes more characters than in RE2.
func notPortable(pattern string) string {
	if pattern == "" {
		return "is empty, and matches everything"
	}
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return "is not a regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	repetition := regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)
	inClass := false // between [ and ]
	anchor := false  // the last token was ^ or $
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i:]
		b := pattern[i]
		wasAnchor := anchor
		anchor = false
		switch {
		case b < 0x20 || b >= 0x7f:
			return "has characters outside printable ASCII"
		case b == '\\':
			i++
			escaped := pattern[i] // there is one, as the pattern was parsed
			isPortable := strings.ContainsRune(`\/.*+?()[]{}|^$nrt`, rune(escaped)) || inClass && escaped == '-'
			if !isPortable {
				return fmt.Sprintf("uses \\%c, which regular expression dialects read differently", escaped)
			}
		case inClass:
			if strings.HasPrefix(rest, "[:") {
				return "uses a POSIX class, which ECMA-262 does not have"
			}
			inClass = b != ']'
		case strings.HasPrefix(rest, "[]"), strings.HasPrefix(rest, "[^]"):
			return `begins a class with "]", which ECMA-262 reads as its end`
		case b == '[':
			inClass = true
		case b == ']', b == '}':
			return fmt.Sprintf("has a %q that closes nothing", b)
		case strings.HasPrefix(rest, "(?") && !strings.HasPrefix(rest, "(?:"):
			return "uses a (?…) construct, which regular expression dialects read differently"
		case b == '.':
			return `uses ".", which leaves out different characters in different dialects; write a class such as [^\n\r]`
		case wasAnchor && strings.IndexByte("*+?{", b) >= 0:
			return "repeats an anchor"
		case b == '{':
			match := repetition.FindString(rest)
			if match == "" {
				return `has a "{" that is no repetition; write \{`
			}
			i += len(match) - 1
		case b == '^', b == '$':
			anchor = true
		}
	}
	return ""
}
