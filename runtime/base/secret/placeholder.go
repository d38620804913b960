package secret

import (
	"slices"
	"strings"
)

// isPlaceholder reports whether a text of the form of a secret is an example of a documentation, or little else than
// one character again and again.
func isPlaceholder(s string) bool {
	const jwtIO = "IkpvaG4gRG9l" // "John Doe" in the example of jwt.io, which has the form of a real one
	const longest = 200          // a longer secret may have any word in it
	if strings.Contains(s, jwtIO) || len(s) > longest {
		return len(s) <= longest
	}
	lower := strings.ToLower(s)
	isIn := func(word string) bool { return strings.Contains(lower, word) }
	words := []string{"example", "your", "placeholder", "redacted", "changeme", "xxxxxxxx", "....", "****"}
	return slices.ContainsFunc(words, isIn) || repeated(s) > len(s)/3
}

// repeated returns the number of bytes that are equal to the one before.
func repeated(s string) (n int) {
	for i := 1; i < len(s); i++ {
		if s[i] == s[i-1] {
			n++
		}
	}
	return n
}

// isNoPassword reports whether the text in place of a password is a variable, a word for passwords, the name of the
// user, or a port. before is the text from the scheme of the address to it.
func isNoPassword(before, s string) bool {
	isVariable := strings.ContainsAny(s[:1], "$<[(*#%") || strings.ContainsAny(s, "{}")
	isName := func(r rune) bool { return r == '_' || 'A' <= r && r <= 'Z' }
	isDigit := func(r rune) bool { return '0' <= r && r <= '9' }
	has := func(other func(rune) bool) bool {
		return strings.IndexFunc(s, func(r rune) bool { return !other(r) }) >= 0
	}
	isPort := len(s) <= len("65535") && !has(isDigit)
	return isVariable || isPort || !has(isName) || s+":" == before || slices.Contains(words(), strings.ToLower(s))
}

// words are passwords of examples.
func words() []string {
	return []string{
		"admin", "bar", "foo", "guest", "mysql", "pass", "passw0rd", "passwd", "password", "postgres", "pwd", "root",
		"secret", "test", "token", "user", "username",
	}
}
