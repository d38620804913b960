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
	// multiplies, so two dozen of them would be millions.
	maxAlternatives = 64

	metaCharacters = `*?[{\`
)

// glob is a pattern in the words of doublestar: without braces, which doublestar
// tries one after the other however many they stand for, and written so that
// doublestar keeps to what this package promises.
type glob struct {
	pattern string
	// head and tail are what a name has to begin and to end with, and slashes how
	// many it has to have, or -1. Most names fail these, at a small part of what
	// doublestar takes: its search costs microseconds where stars are many.
	head, tail string
	slashes    int
}

// newGlob takes a pattern as doublestar has to be given it, and how many slashes
// there are in it outside of classes.
func newGlob(pattern string, slashes int) glob {
	g := glob{pattern: pattern, slashes: slashes}
	if strings.Contains("/"+pattern, "/**/") {
		g.slashes = -1
	}
	g.head = pattern
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		g.head = pattern[:i]
	}
	// A slash that follows ** stands for nothing where ** does.
	g.tail = strings.TrimPrefix(pattern[strings.LastIndexAny(pattern, `*?]\`)+1:], "/")
	return g
}

// match says whether the glob stands for the whole of a slash-separated name.
func (g glob) match(name string) bool {
	if !strings.HasPrefix(name, g.head) || !strings.HasSuffix(name, g.tail) || g.slashes >= 0 && strings.Count(name, "/") != g.slashes {
		return false
	}
	pattern := g.pattern
	for pattern != "**/*" && !doublestar.MatchUnvalidated(pattern, name) {
		// The last component of a slug is empty for a file such as "..b", and there
		// doublestar does not take **/ for nothing.
		dir, ok := strings.CutSuffix(pattern, "**/*")
		if !ok || !strings.HasSuffix(name, "/") {
			return false
		}
		pattern = dir + "*"
	}
	return true
}

// work is what it takes to compare globs with all subjects of a topic. Each glob
// counts, and each * and ** in it: going back to one to let it stand for more is
// what takes long.
func work(globs []glob) int {
	sum := 0
	for _, g := range globs {
		sum += max(1, strings.Count(strings.ReplaceAll(g.pattern, "**", "*"), "*"))
	}
	return sum
}

// hasMeta says whether the pattern can mean anything but the name it spells.
func hasMeta(pattern string) bool { return strings.ContainsAny(pattern, metaCharacters) }

// compile returns the globs that a pattern stands for, without those that match
// nothing. Its errors say what is wrong with the pattern, to stand behind it in a
// sentence.
func compile(pattern string) ([]glob, error) {
	switch {
	case len(pattern) > maxPatternBytes:
		return nil, fmt.Errorf("is longer than %d bytes", maxPatternBytes)
	case !utf8.ValidString(pattern):
		return nil, errors.New("is no valid pattern: it is not UTF-8")
	}
	expanded, err := expandBraces(pattern)
	if err != nil {
		return nil, err
	}
	globs := make([]glob, 0, len(expanded))
	for _, p := range expanded {
		g, matchable, err := translate(p)
		if err != nil {
			return nil, err
		}
		if matchable {
			globs = append(globs, g)
		}
	}
	return globs, nil
}

// translate returns a pattern without braces as doublestar has to be given it,
// and whether it can match anything. Where doublestar would differ:
//
//   - dir/** and dir/**/ match dir too, which is not in dir: these become dir/**/*;
//   - a**/ and a*** are not always the a*/ and a* that they mean;
//   - classes match the slash between two components;
//   - a } that closes nothing is malformed.
func translate(pattern string) (g glob, matchable bool, err error) {
	var b strings.Builder
	slashes := 0
	matchable = true
	for i := 0; i < len(pattern); {
		start := i
		i++
		switch pattern[start] {
		case '*':
			for i < len(pattern) && pattern[i] == '*' {
				i++
			}
			b.WriteByte('*')
			if i-start == 2 && (start == 0 || pattern[start-1] == '/') && (i == len(pattern) || pattern[i] == '/') {
				b.WriteByte('*')
			}
		case '[':
			i = start + classSize(pattern[start:])
			if i == start {
				return glob{}, false, errors.New(`is no valid pattern: a [ is not closed (write \[ for a bracket)`)
			}
			class := pattern[start+1 : i-1]
			if class == "" || class == "!" || class == "^" {
				return glob{}, false, errors.New(`is no valid pattern: a class in [ ] is empty (write \[ for a bracket)`)
			}
			class = withoutSlash(class)
			b.WriteString(class)
			matchable = matchable && class != ""
		case '\\':
			if i == len(pattern) {
				return glob{}, false, errors.New(`is no valid pattern: it ends in \`)
			}
			if pattern[i] != '/' {
				i++
				b.WriteString(pattern[start:i])
			}
		case '}':
			b.WriteString(`\}`)
		case '/':
			slashes++
			b.WriteByte('/')
		default:
			b.WriteByte(pattern[start])
		}
	}
	text := b.String()
	if dir := strings.TrimSuffix(text, "/"); dir == "**" || strings.HasSuffix(dir, "/**") {
		text = dir + "/*"
	}
	return newGlob(text, slashes), matchable, nil
}

// classSize returns the length of the class that pattern begins with, brackets
// included, or 0 when it is not closed.
func classSize(pattern string) int {
	for i := 1; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return 0
}

// withoutSlash returns the class of what stands between two brackets, less the
// slash, or nothing when nothing else is in it.
func withoutSlash(ranges string) string {
	negated := ranges[0] == '!' || ranges[0] == '^'
	var b strings.Builder
	add := func(low, high rune) {
		switch {
		case low == high:
			b.WriteString(`\` + string(low))
		case low < high:
			b.WriteString(`\` + string(low) + `-\` + string(high))
		}
	}
	if negated {
		ranges = ranges[1:]
		add('/', '/')
	}
	for ranges != "" {
		var low, high rune
		low, ranges = classCharacter(ranges)
		high = low
		if len(ranges) > 1 && ranges[0] == '-' {
			high, ranges = classCharacter(ranges[1:])
		}
		if negated || high < '/' || '/' < low {
			add(low, high)
		} else {
			add(low, '/'-1)
			add('/'+1, high)
		}
	}
	switch {
	case b.Len() == 0:
		return ""
	case negated:
		return "[^" + b.String() + "]"
	default:
		return "[" + b.String() + "]"
	}
}

// classCharacter returns the first character of a class and what follows it.
func classCharacter(ranges string) (rune, string) {
	ranges = strings.TrimPrefix(ranges, `\`)
	character, size := utf8.DecodeRuneInString(ranges)
	return character, ranges[size:]
}

// expandBraces returns the patterns without braces that a pattern stands for,
// in the order in which they are written.
func expandBraces(pattern string) ([]string, error) {
	type partial struct {
		pattern string
		from    int // there are no braces before
	}
	var done []string
	todo := []partial{{pattern, 0}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		open, alternatives, end, err := firstBraces(p.pattern, p.from)
		if err != nil {
			return nil, err
		}
		if open < 0 {
			done = append(done, p.pattern)
			continue
		}
		// Each of these becomes one pattern at least.
		if len(done)+len(todo)+len(alternatives) > maxAlternatives {
			return nil, fmt.Errorf("stands for more than %d patterns: use fewer { } in it, or several patterns", maxAlternatives)
		}
		for i := len(alternatives) - 1; i >= 0; i-- {
			todo = append(todo, partial{p.pattern[:open] + alternatives[i] + p.pattern[end:], open})
		}
	}
	return done, nil
}

// firstBraces finds the first { at or after from, what stands between its
// commas, and where its } ends. Without braces, open is -1.
func firstBraces(pattern string, from int) (open int, alternatives []string, end int, err error) {
	open = -1
	depth, start := 0, 0
	for i := from; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			i += max(classSize(pattern[i:]), 1) - 1
		case '{':
			if depth == 0 {
				open, start = i, i+1
			}
			depth++
		case ',':
			if depth == 1 {
				alternatives = append(alternatives, pattern[start:i])
				start = i + 1
			}
		case '}':
			if depth == 0 {
				continue // one that closes nothing stands for itself
			}
			if depth--; depth == 0 {
				return open, append(alternatives, pattern[start:i]), i + 1, nil
			}
		}
	}
	if depth > 0 {
		return 0, nil, 0, errors.New(`is no valid pattern: a { is not closed (write \{ for a brace)`)
	}
	return -1, nil, 0, nil
}

// QuoteMeta returns a pattern that stands for the name alone.
func QuoteMeta(name string) string {
	if !hasMeta(name) {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		if strings.IndexByte(metaCharacters, name[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
