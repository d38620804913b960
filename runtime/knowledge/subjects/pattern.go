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
	// maxAlternatives bounds the alternatives in braces of one pattern, which multiply and are tried one after the
	// other.
	maxAlternatives = 64
	// maxWildcards bounds the backtracking of the library in one name.
	maxWildcards   = 16
	metaCharacters = `*?[{\`
)

// Pattern is a pattern of a call or an entry of a topic's configuration.
type Pattern struct {
	Text string // unchanged
	// Problem is the reason if it is no glob, such as "is longer than 256 bytes". It may be a name all the same.
	Problem string

	forms []string // its spellings as a name
	globs []string // the spellings that are globs, for the library
}

// Patterns returns the patterns of a list for a topic. A text without characters of globs is a name, and every name
// is valid.
func Patterns(topic string, texts []string) []Pattern {
	all := make([]Pattern, len(texts))
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
		all[i] = p
	}
	return all
}

// spellings returns the pattern in NFC; then without the spaces and slashes that people write around names; then also
// without the topic's id before it. None is empty.
func spellings(topic, pattern string) []string {
	pattern = NFC(pattern)
	forms := []string{pattern, bare(pattern)}
	if below, ok := strings.CutPrefix(forms[1], topic+"/"); ok {
		forms = append(forms, below)
	}
	return slices.DeleteFunc(slices.Compact(forms), func(form string) bool { return form == "" })
}

// bare returns the pattern without the spaces and slashes around it.
func bare(pattern string) string {
	// A space after a backslash is part of a name.
	if trimmed := strings.TrimSpace(pattern); !strings.HasSuffix(trimmed, `\`) {
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

// compile returns a pattern for the library, or the problem with it. dir/** matches everything in dir, and not dir
// itself.
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
	glob = strings.NewReplacer("/**,", "/**/*,", "/**}", "/**/*}").Replace(pattern)
	if strings.HasSuffix(pattern, "/**") {
		glob += "/*"
	}
	return glob, ""
}

// alternatives returns the number of patterns without braces that a pattern has at most. It stops counting above the
// limit.
func alternatives(pattern string) int {
	n := 1
	var groups []int // the number of parts of each open group
	for i := 0; i < len(pattern); i++ {
		last := len(groups) - 1
		switch c := pattern[i]; {
		case c == '\\':
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

// covers reports whether the pattern may be meant for a subject, by any of its names, hidden or not.
func (p *Pattern) covers(s *Subject) bool {
	names := s.Names()
	return slices.ContainsFunc(p.forms, func(form string) bool { return slices.Contains(names[:], form) }) || matches(p.globs, names[:])
}
