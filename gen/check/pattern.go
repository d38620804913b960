package check

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// notPortable says why a pattern is refused. Only what RE2 and ECMA-262 (with
// the flag u, as JSON Schema reads patterns) take alike passes: classes spelt
// out, no flags, no lookaround, no named groups, no dot, which leaves out one
// character here and four there.
func notPortable(pattern string) string {
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return "is not a regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	counted := regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)
	inClass := false
	anchor := false // the last token was ^ or $
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
			escaped := pattern[i]
			if !strings.ContainsRune(`\/.*+?()[]{}|^$nrt`, rune(escaped)) && (escaped != '-' || !inClass) {
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
			match := counted.FindString(rest)
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

// excludesNUL reports whether no text a pattern accepts holds a NUL: it has to match
// the whole text, and nothing in it matches that character.
func excludesNUL(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if pattern == "" || err != nil || re.Op != syntax.OpConcat || len(re.Sub) < 2 {
		return false
	}
	last := len(re.Sub) - 1
	if re.Sub[0].Op != syntax.OpBeginText || re.Sub[last].Op != syntax.OpEndText {
		return false
	}
	for _, sub := range re.Sub[1:last] {
		if matchesNUL(sub) {
			return false
		}
	}
	return true
}

// matchesNUL reports whether some text re matches may hold a NUL. A ^ or $ within is
// no trouble: it makes re match less.
func matchesNUL(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r == 0 {
				return true
			}
		}
	case syntax.OpCharClass:
		return len(re.Rune) > 0 && re.Rune[0] == 0
	}
	for _, sub := range re.Sub {
		if matchesNUL(sub) {
			return true
		}
	}
	return false
}
