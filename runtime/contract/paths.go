package contract

import "strings"

// WithoutPaths leaves of each absolute path in s only its last element. Whoever
// reads an answer needs to tell one directory from another, but where they are
// on the user's machine is nothing for a model, nor for what it passes on.
func WithoutPaths(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if !startsPath(s, i) {
			b.WriteByte(s[i])
			i++
			continue
		}
		end := i + pathLength(s[i:], quoteBefore(s, i))
		b.WriteString(lastElement(s[i:end]))
		i = end
	}
	return b.String()
}

const separators = `/\`

// startsPath says that an absolute path of any system begins at s[i:], with at
// least one element.
func startsPath(s string, i int) bool {
	if i > 0 && !strings.ContainsRune(" \t\n\"'`([=", rune(s[i-1])) {
		return false // the middle of a word, of an address or of a relative path
	}
	s = s[i:]
	if len(s) > 2 && isLetter(s[0]) && s[1] == ':' && strings.IndexByte(separators, s[2]) >= 0 {
		s = s[2:]
	} else if !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, `\\`) {
		return false
	}
	s = strings.TrimLeft(s, separators)
	return s != "" && strings.IndexByte(" \t\n\"'`)],;:", s[0]) < 0
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// quoteBefore returns the quotation mark that s[i:] is in, or 0.
func quoteBefore(s string, i int) byte {
	if i > 0 && strings.IndexByte("\"'`", s[i-1]) >= 0 {
		return s[i-1]
	}
	return 0
}

// pathLength is how much of s is the path it begins with. In quotes that is all
// up to the closing one. Otherwise names with spaces leave it open: what is
// before a later separator counts as part of the path, what is behind the last
// one only up to the next space.
func pathLength(s string, quote byte) int {
	if quote != 0 {
		if n := strings.IndexByte(s, quote); n >= 0 {
			return n
		}
	}
	end := len(s)
	for i := 2; i < len(s); i++ { // behind the colon of a drive
		if strings.IndexByte("\"`)];,\n", s[i]) >= 0 || s[i] == ':' && (i+1 == len(s) || s[i+1] == ' ') {
			end = i
			break
		}
	}
	trimmed := strings.TrimRight(s[:end], separators)
	last := strings.LastIndexAny(trimmed, separators) + 1
	if n := strings.IndexAny(s[last:end], " \t"); n >= 0 {
		return last + n
	}
	return end
}

// lastElement is what a path ends with.
func lastElement(path string) string {
	path = strings.TrimRight(path, separators)
	return path[strings.LastIndexAny(path, separators)+1:]
}
