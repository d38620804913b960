package match

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxPatternBytes = 256
	// maxAlternatives bounds what the braces of one pattern stand for: each group
	// multiplies, so two dozen of them would be millions.
	maxAlternatives = 64

	metaCharacters = `*?[{\`
)

// glob is a pattern without braces.
type glob []token

// token is what one part of a pattern stands for.
type token struct {
	kind    kind
	text    string // of a literal
	ranges  []rune // of a class: the first and the last character of each range
	negated bool   // the class stands for all other characters
}

type kind int

const (
	literal kind = iota
	class        // a character, but no slash
	star         // any characters but slashes
	deep         // any number of components, each with the slash behind it
)

// match reports whether the glob stands for the whole of a slash-separated name.
//
// What was tried for a star before the last one need not be tried again, and the
// same goes for what spans levels: so this takes no longer than the product of the
// two lengths.
func (g glob) match(name string) bool {
	if !g.endsLike(name) {
		return false // Most names fail this, which takes no time.
	}
	starAt, starEnd, deepAt, deepEnd := -1, 0, -1, 0 // the tokens behind the last ones, and where those end
	for t, n := 0, 0; t < len(g) || n < len(name); {
		if t < len(g) {
			switch g[t].kind {
			case star:
				t++
				starAt, starEnd = t, n
				continue
			case deep:
				t++
				deepAt, deepEnd, starAt = t, n, -1
				continue
			}
			if size := g[t].prefix(name[n:]); size > 0 {
				t, n = t+1, n+size
				continue
			}
		}
		if starAt >= 0 && starEnd < len(name) && name[starEnd] != '/' {
			_, size := utf8.DecodeRuneInString(name[starEnd:])
			starEnd += size
			t, n = starAt, starEnd
			continue
		}
		slash := -1
		if deepAt >= 0 {
			slash = strings.IndexByte(name[deepEnd:], '/')
		}
		if slash < 0 {
			return false
		}
		deepEnd += slash + 1
		t, n, starAt = deepAt, deepEnd, -1
	}
	return true
}

// endsLike reports whether a name ends in what the last token stands for.
func (g glob) endsLike(name string) bool {
	if len(g) == 0 {
		return name == ""
	}
	switch last := &g[len(g)-1]; last.kind {
	case literal:
		return strings.HasSuffix(name, last.text)
	case class:
		_, size := utf8.DecodeLastRuneInString(name)
		return last.prefix(name[len(name)-size:]) > 0
	}
	return true
}

// prefix returns how many bytes at the beginning of a name the token stands for, and
// 0 where it does not.
func (t *token) prefix(name string) int {
	if t.kind == literal {
		if strings.HasPrefix(name, t.text) {
			return len(t.text)
		}
		return 0
	}
	r, size := utf8.DecodeRuneInString(name)
	if size == 0 || r == '/' {
		return 0
	}
	in := false
	for i := 0; i < len(t.ranges); i += 2 {
		in = in || t.ranges[i] <= r && r <= t.ranges[i+1]
	}
	if in == t.negated {
		return 0
	}
	return size
}

// hasMeta reports whether the pattern can mean anything but the name it spells.
func hasMeta(pattern string) bool { return strings.ContainsAny(pattern, metaCharacters) }

// globsOf is [compile] for a pattern that may be a name, which stands for none.
func globsOf(pattern string) ([]glob, error) {
	if !hasMeta(pattern) {
		return nil, nil
	}
	return compile(pattern)
}

// compile returns the globs that a pattern stands for. Its errors say what is wrong
// with the pattern, to stand behind it in a sentence.
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
	globs := make([]glob, len(expanded))
	for i, p := range expanded {
		if globs[i], err = parse(p); err != nil {
			return nil, err
		}
	}
	return globs, nil
}

// parse reads a pattern without braces. What is in dir is what dir/** stands for,
// and dir itself is not.
func parse(pattern string) (glob, error) {
	var g glob
	text := func(s string) {
		if last := len(g) - 1; last >= 0 && g[last].kind == literal {
			g[last].text += s
		} else {
			g = append(g, token{kind: literal, text: s})
		}
	}
	for i := 0; i < len(pattern); {
		start := i
		i++
		switch pattern[start] {
		case '*':
			for i < len(pattern) && pattern[i] == '*' {
				i++
			}
			whole := i-start == 2 && (start == 0 || pattern[start-1] == '/') && (i == len(pattern) || pattern[i] == '/')
			if !whole {
				g = append(g, token{kind: star})
				continue
			}
			g = append(g, token{kind: deep})
			if i++; i >= len(pattern) {
				g = append(g, token{kind: star})
			}
		case '?':
			g = append(g, token{kind: class, negated: true})
		case '[':
			i = start + classSize(pattern[start:])
			if i == start {
				return nil, errors.New(`is no valid pattern: a [ is not closed (write \[ for a bracket)`)
			}
			c := classOf(pattern[start+1 : i-1])
			if c.ranges == nil {
				return nil, errors.New(`is no valid pattern: a class in [ ] is empty (write \[ for a bracket)`)
			}
			g = append(g, c)
		case '\\':
			if i == len(pattern) {
				return nil, errors.New(`is no valid pattern: it ends in \`)
			}
			i++
			text(pattern[start+1 : i])
		default:
			text(pattern[start:i])
		}
	}
	return g, nil
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

// classOf reads what stands between two brackets. Without ranges there is nothing.
func classOf(text string) token {
	c := token{kind: class}
	if text != "" && (text[0] == '!' || text[0] == '^') {
		c.negated, text = true, text[1:]
	}
	for text != "" {
		var low, high rune
		low, text = classCharacter(text)
		high = low
		if len(text) > 1 && text[0] == '-' {
			high, text = classCharacter(text[1:])
		}
		c.ranges = append(c.ranges, low, high)
	}
	return c
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
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `\`, `\\`).Replace(name)
}
