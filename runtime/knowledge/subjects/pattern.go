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
	// maxAlternatives bounds what the braces of one pattern stand for: each group
	// multiplies, and the library tries one after the other. maxTogether is for all
	// patterns of a list.
	maxAlternatives, maxTogether = 64, 512
	// maxWildcards bounds how often the library has to begin anew in one name.
	maxWildcards   = 16
	metaCharacters = `*?[{\`
)

// Pattern is what somebody asks for, or an entry of a topic's configuration.
type Pattern struct {
	Text string // as it came
	// Problem says why it is no glob, to stand behind it in a sentence ("is longer than
	// 256 bytes"). It may be a name all the same.
	Problem string

	forms []string // the names that it may be
	globs []string // those of the forms that can mean more, as the library takes them
}

// Patterns reads a list of patterns about a topic. What has no character of globs in it
// is a name, and every name is valid.
func Patterns(topic string, texts []string) []Pattern {
	all := make([]Pattern, len(texts))
	left := maxTogether
	for i, text := range texts {
		p := Pattern{Text: text, forms: spellings(topic, text)}
		for _, form := range p.forms {
			if !strings.ContainsAny(form, metaCharacters) {
				continue
			}
			left -= alternatives(form)
			glob, problem := compile(form)
			if problem == "" && left < 0 {
				problem = "stands for too much together with the others, with their { }: use fewer of them"
			}
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

// spellings returns the pattern in NFC, and what is left of it without what people put
// around names: spaces, "./", "/" and the topic's id before it, "/" behind it, and
// of what they type twice: "//". None is empty.
func spellings(topic, pattern string) []string {
	pattern = NFC(pattern)
	forms := []string{pattern, bare(pattern)}
	if below, ok := strings.CutPrefix(forms[1], topic+"/"); ok {
		forms = append(forms, below)
	}
	return slices.DeleteFunc(slices.Compact(forms), func(form string) bool { return form == "" })
}

// bare is the pattern without all that but the topic's id.
func bare(pattern string) string {
	// A space behind a backslash is part of a name.
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

// compile returns a pattern as the library takes it, or what is wrong with it. What is in
// dir is what dir/** stands for, and dir itself is not.
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

// alternatives returns how many patterns without braces a pattern stands for at most, and
// no further than it matters.
func alternatives(pattern string) int {
	n := 1
	var groups []int // those that are open: how many parts they have so far
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

// matches reports whether one of the globs stands for one of the names.
func matches(globs, names []string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return doublestar.MatchUnvalidated(glob, name) })
	})
}

// covers reports whether the pattern may be meant for a subject, taken as widely as it can
// be: for any of its names, hidden or not.
func (p *Pattern) covers(s *Subject) bool {
	names := s.Names()
	return slices.ContainsFunc(p.forms, func(form string) bool { return slices.Contains(names[:], form) }) || matches(p.globs, names[:])
}

// QuoteMeta returns a pattern that stands for the name alone.
func QuoteMeta(name string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `}`, `\}`, `]`, `\]`, `\`, `\\`).Replace(name)
}
