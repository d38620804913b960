package subjects

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxPatternBytes = 256
	maxAlternatives = 64 // in the braces of one pattern: alternatives multiply, and are tried one after the other
	maxWildcards    = 16 // in one pattern: they bound the backtracking of the library
	metaCharacters  = `*?[{\`
)

// Pattern is a pattern of a call or an entry of a topic's configuration.
type Pattern struct {
	Text string // unchanged
	// Problem is the reason why Text, which has characters of globs, is no valid glob, such as "is longer than 256 bytes".
	// Text may be a name all the same.
	Problem string

	forms []string // the names that Text may stand for, see [spellings]
	globs []string // the forms that are globs, for the library; none if one of them has a problem
}

// Patterns returns the patterns for the texts of a list; topic is the id of the topic. A text without characters of
// globs is only a name, and has no problem.
func Patterns(topic string, texts []string) []Pattern {
	patterns := make([]Pattern, len(texts))
	for i, text := range texts {
		p := Pattern{Text: text, forms: spellings(topic, text)}
		for _, form := range p.forms {
			if !strings.ContainsAny(form, metaCharacters) {
				continue
			}
			glob, problem := compile(form)
			if problem != "" {
				p.Problem, p.globs = problem, nil
				break
			}
			p.globs = append(p.globs, glob)
		}
		patterns[i] = p
	}
	return patterns
}

// spellings returns the names that a pattern may stand for, in the order in which they are tried: the pattern in NFC, the
// same in the form of [bare], and the bare form without the id of the topic before it. Empty names are left out.
func spellings(topic, pattern string) []string {
	written := NFC(pattern)
	trimmed := bare(written)
	forms := []string{written, trimmed}
	if below, ok := strings.CutPrefix(trimmed, topic+"/"); ok {
		forms = append(forms, below)
	}
	return slices.DeleteFunc(slices.Compact(forms), func(form string) bool { return form == "" })
}

// bare returns a pattern without blanks and slashes around it and "./" before it, and with one slash for several.
func bare(pattern string) string {
	if trimmed := strings.TrimSpace(pattern); !strings.HasSuffix(trimmed, `\`) { // a space after \ is part of a name
		pattern = trimmed
	}
	for strings.Contains(pattern, "//") {
		pattern = strings.ReplaceAll(pattern, "//", "/")
	}
	for strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "./") {
		_, pattern, _ = strings.Cut(pattern, "/")
	}
	return strings.TrimRight(pattern, "/")
}

// compile returns a pattern as a glob for package doublestar, or the problem with the pattern. In the package, dir/**
// also matches dir itself; compile adds /*, and the glob matches only what is in dir.
func compile(pattern string) (glob, problem string) {
	pattern = strings.TrimRight(pattern, "/")
	wildcards := strings.Count(pattern, "*") + strings.Count(pattern, "?") + strings.Count(pattern, "[")
	switch {
	case len(pattern) > maxPatternBytes:
		return "", fmt.Sprintf("is longer than %d bytes", maxPatternBytes)
	case !utf8.ValidString(pattern):
		return "", "is no valid pattern: it is not UTF-8"
	case !doublestar.ValidatePattern(pattern):
		return "", `is no valid pattern: a [ or { is not closed, or it ends in \ (write \[ for a bracket)`
	case wildcards > maxWildcards:
		return "", fmt.Sprintf("has more than %d of the characters * ? [", maxWildcards)
	case alternatives(pattern) > maxAlternatives:
		return "", fmt.Sprintf("stands for more than %d patterns: use fewer { } in it, or several patterns", maxAlternatives)
	}
	glob = strings.NewReplacer("/**,", "/**/*,", "/**}", "/**/*}").Replace(pattern) // dir/** in braces
	if strings.HasSuffix(pattern, "/**") {
		glob += "/*"
	}
	return glob, ""
}

// alternatives returns an upper bound for the number of patterns without braces that a pattern stands for. Bounds above
// maxAlternatives are maxAlternatives+1.
func alternatives(pattern string) int {
	n := 1
	var groups []int // the number of parts of each open group
	for i := 0; i < len(pattern); i++ {
		last := len(groups) - 1
		switch c := pattern[i]; {
		case c == '\\': // the next character is not special
			i++
		case c == '{':
			groups = append(groups, 1)
		case c == ',' && last >= 0:
			groups[last]++
		case c == '}' && last >= 0:
			n = min(n*groups[last], maxAlternatives+1)
			groups = groups[:last]
		}
	}
	return n
}

// matches reports whether one of the globs matches one of the names.
func matches(globs, names []string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return doublestar.MatchUnvalidated(glob, name) })
	})
}

// covers reports whether the pattern matches a name of a subject, as a name or as a glob. The subject may be hidden.
func (p *Pattern) covers(s *Subject) bool {
	names := s.Names()
	return slices.ContainsFunc(p.forms, func(form string) bool { return slices.Contains(names[:], form) }) || matches(p.globs, names[:])
}
