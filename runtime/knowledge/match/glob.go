package match

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

const (
	maxPatternBytes = 256
	// maxAlternatives bounds what the braces of one pattern stand for: each group
	// multiplies, and the library tries one after the other.
	maxAlternatives = 64
	// maxWildcards bounds how often the library has to begin anew in one name.
	maxWildcards   = 16
	metaCharacters = `*?[{\`
)

// glob is a pattern as the library takes it, and how many its braces stand for.
type glob struct {
	pattern      string
	tail         string // what every name that it matches ends in
	alternatives int
}

// match reports whether the glob stands for the whole of a slash-separated name.
func (g *glob) match(name string) bool {
	return strings.HasSuffix(name, g.tail) && doublestar.MatchUnvalidated(g.pattern, name)
}

// matchAny reports whether the glob matches one of the names. Most often a name is the
// same as the one before it.
func (g *glob) matchAny(names ...string) bool {
	for n, name := range names {
		if (n == 0 || name != names[n-1]) && g.match(name) {
			return true
		}
	}
	return false
}

// hasMeta reports whether the pattern can mean anything but the name it spells.
func hasMeta(pattern string) bool { return strings.ContainsAny(pattern, metaCharacters) }

// compile reads a pattern. What is in dir is what dir/** stands for, and dir itself
// is not. Its errors say what is wrong with the pattern, to stand behind it in a sentence.
func compile(pattern string) (glob, error) {
	pattern = strings.TrimRight(pattern, "/")
	switch {
	case len(pattern) > maxPatternBytes:
		return glob{}, fmt.Errorf("is longer than %d bytes", maxPatternBytes)
	case !utf8.ValidString(pattern):
		return glob{}, errors.New("is no valid pattern: it is not UTF-8")
	case !doublestar.ValidatePattern(pattern):
		return glob{}, errors.New("is no valid pattern: " + likelyMistake(pattern))
	}
	if wildcards := strings.Count(pattern, "*") + strings.Count(pattern, "?") + strings.Count(pattern, "["); wildcards > maxWildcards {
		return glob{}, fmt.Errorf("has more than %d of the characters * ? [", maxWildcards)
	}
	g := glob{alternatives: alternatives(pattern)}
	if g.alternatives > maxAlternatives {
		return glob{}, fmt.Errorf("stands for more than %d patterns: use fewer { } in it, or several patterns", maxAlternatives)
	}
	g.pattern = strings.NewReplacer("/**,", "/**/*,", "/**}", "/**/*}").Replace(pattern)
	if strings.HasSuffix(pattern, "/**") {
		g.pattern += "/*"
	}
	g.tail = strings.TrimPrefix(g.pattern[strings.LastIndexAny(g.pattern, metaCharacters+"]}")+1:], "/") // **/ may be nothing
	return g, nil
}

// likelyMistake is what is wrong with a pattern most probably: the library does not say.
func likelyMistake(pattern string) string {
	switch {
	case strings.HasSuffix(pattern, `\`):
		return `it ends in \`
	case strings.Count(pattern, "{") > strings.Count(pattern, "}"):
		return `a { is not closed (write \{ for a brace)`
	case strings.Contains(pattern, "["):
		return `a [ is not closed (write \[ for a bracket)`
	}
	return `a } closes nothing (write \} for a brace)`
}

// alternatives counts the patterns without braces that a valid pattern stands for, and no
// further than it matters.
func alternatives(pattern string) int {
	type group struct{ before, current int } // the alternatives before the last comma, and those behind it
	open := []group{{0, 1}}
	for i := 0; i < len(pattern); i++ {
		last := &open[len(open)-1]
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			open = append(open, group{0, 1})
		case ',':
			if len(open) > 1 {
				last.before, last.current = min(last.before+last.current, maxAlternatives+1), 1
			}
		case '}':
			if n := len(open) - 2; n >= 0 {
				open[n].current = min(open[n].current*(last.before+last.current), maxAlternatives+1)
				open = open[:n+1]
			}
		}
	}
	return open[0].current
}

// QuoteMeta returns a pattern that stands for the name alone.
func QuoteMeta(name string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `}`, `\}`, `]`, `\]`, `\`, `\\`).Replace(name)
}
