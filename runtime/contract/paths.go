package contract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// WithoutPaths leaves of each absolute path in s only its last element. Whoever
// reads an answer needs to tell one directory from another, but where they are
// on the user's machine is nothing for a model, nor for what it passes on.
// Relative paths and addresses with a host, such as https://example.com/a/b,
// stay; an address of a file does not.
//
// Text does not say where a path ends, so there are limits. In quotes right
// around it, it goes to the closing one. Else it ends at white space, save that
// a next word with a separator in its middle belongs to it: of "/a/jane doe/x"
// stays "x". What follows a name with more spaces than one is taken for prose
// and stays, and so does the path of an address that has a host.
func WithoutPaths(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		root := rootLength(s, i)
		switch {
		case root > 0:
			end := pathEnd(s, i, root)
			path := strings.TrimRight(s[i:end], separators)
			b.WriteString(path[strings.LastIndexAny(path, separators)+1:])
			i = end
		case isSeparator(s[i]):
			end := relativeEnd(s, i)
			b.WriteString(s[i:end])
			i = end
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String()
}

const (
	separators = `/\`
	// opening may stand before a path of one element too.
	opening = " \t\n\"'`([="
	// wordEnds end every word, beside white space.
	wordEnds = "\"`<>|”»"
	// listing ends a path where another begins right behind it.
	listing = ":;,=@("
	// trailing belongs to the sentence where a word ends with it.
	trailing = ":;,.!?)]}'"
)

// rootLength is the length of what an absolute path of any system begins with at
// s[i:], the separators and the drive before its first element, and 0 where none
// begins.
func rootLength(s string, i int) int {
	rest := s[i:]
	root := driveLength(rest)
	if root == 0 && rest[0] != '/' && !strings.HasPrefix(rest, `\\`) {
		return 0
	}
	before := s[:i]
	if inName(before) || isAddress(before, rest) {
		return 0
	}
	root = len(rest) - len(strings.TrimLeft(rest[root:], separators))
	if drive := driveLength(rest[root:]); drive > 0 { // file:///C:/
		root += drive
	}
	elements := rest[root:]
	if first, _ := utf8.DecodeRuneInString(elements); elements == "" || endsWord(first) || strings.ContainsRune(trailing, first) && first != '.' {
		return 0
	}
	if before != "" && strings.IndexByte(opening, before[len(before)-1]) < 0 {
		// Behind other characters, a single element is a closing tag, a media
		// type or the like, and tells nothing about where it is.
		if word := elements[:wordLength(elements)]; !strings.ContainsAny(strings.TrimRight(word, separators), separators) {
			return 0
		}
	}
	return root
}

// driveLength is the length of a drive and the separator behind it.
func driveLength(s string) int {
	if len(s) > 2 && isLetter(rune(s[0])) && s[1] == ':' && isSeparator(s[2]) {
		return len("C:/")
	}
	return 0
}

// inName says that before ends in the name of a file, so that a separator behind
// it goes on with a relative path. The name of a flag, as of -I, is none; nor is
// text in other scripts, which may be a sentence without spaces.
func inName(before string) bool {
	name := before[len(strings.TrimRightFunc(before, isNameCharacter)):]
	return name != "" && !isFlag(name)
}

func isFlag(word string) bool {
	name := strings.TrimLeft(word, "-")
	return len(name) < len(word) && !strings.ContainsFunc(name, func(r rune) bool { return !isLetter(r) })
}

// isAddress says that rest goes on with the host of an address whose scheme
// before ends with.
func isAddress(before, rest string) bool {
	scheme, isScheme := strings.CutSuffix(before, ":")
	if !isScheme || !strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "///") {
		return false
	}
	return inName(scheme) && !strings.EqualFold(scheme[max(0, len(scheme)-len("file")):], "file")
}

// pathEnd is where in s the absolute path at s[i:] ends.
func pathEnd(s string, i, root int) int {
	if i > 0 && strings.IndexByte("\"'`", s[i-1]) >= 0 {
		if n := strings.IndexAny(s[i:], s[i-1:i]+"\n"); n >= 0 && s[i+n] == s[i-1] {
			return i + n
		}
	}
	end := i + root
	for {
		end += wordLength(s[end:])
		if end == len(s) || s[end] != ' ' || !continues(s, end+1) {
			return end
		}
		end++
	}
}

// continues says that the word at s[i:] goes on with a path whose last element
// has a space in it.
func continues(s string, i int) bool {
	n := strings.IndexAny(s[i:], separators)
	if n <= 0 {
		return false
	}
	name := s[i : i+n]
	return !isFlag(name) && !strings.ContainsFunc(name, func(r rune) bool {
		return !isNameCharacter(r) && !(r >= utf8.RuneSelf && unicode.IsLetter(r))
	})
}

// relativeEnd is where the relative path, the address or the mere separators end
// that s[i:] is in.
func relativeEnd(s string, i int) int {
	if isAddress(s[:i], s[i:]) {
		if n := strings.IndexFunc(s[i:], endsWord); n >= 0 {
			return i + n
		}
		return len(s)
	}
	if !inName(s[:i]) {
		return len(s) - len(strings.TrimLeft(s[i:], separators))
	}
	return i + max(1, wordLength(s[i:]))
}

// wordLength is how much of s is one path that ends at white space, without the
// punctuation that is the sentence's.
func wordLength(s string) int {
	for i, r := range s {
		another := strings.ContainsRune(listing, r) && i+1 < len(s) && (isSeparator(s[i+1]) || driveLength(s[i+1:]) > 0)
		if another || endsWord(r) {
			s = s[:i]
			break
		}
	}
	return len(strings.TrimRight(s, trailing))
}

func endsWord(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(wordEnds, r) }

func isSeparator(c byte) bool { return c == '/' || c == '\\' }

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func isNameCharacter(r rune) bool {
	return isLetter(r) || '0' <= r && r <= '9' || strings.ContainsRune("._~+-", r)
}
