package secret

import (
	"slices"
	"strings"
)

// isPlaceholder reports whether a text that has the form of a secret is an example in a documentation, or repeats
// characters in more than a third of its bytes.
func isPlaceholder(s string) bool {
	const jwtIO = "IkpvaG4gRG9l" // "John Doe" in the example of jwt.io, which has the form of a real one
	const longest = 200          // a longer secret may have any word in it
	if len(s) > longest {
		return false
	}
	lower := strings.ToLower(s)
	isIn := func(word string) bool { return strings.Contains(lower, word) }
	words := []string{"example", "your", "placeholder", "redacted", "changeme", "xxxxxxxx", "....", "****"}
	return strings.Contains(s, jwtIO) || slices.ContainsFunc(words, isIn) || repeated(s) > len(s)/3
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

// isNoPassword reports whether s, in the place of a password in an address, is a variable, a password of examples, the
// name of the user, or a port. before is the text between the scheme and s: the user and a colon.
func isNoPassword(before, s string) bool {
	isVariable := strings.ContainsAny(s[:1], "$<[(*#%") || strings.ContainsAny(s, "{}")
	isName := func(r rune) bool { return r == '_' || 'A' <= r && r <= 'Z' }
	isDigit := func(r rune) bool { return '0' <= r && r <= '9' }
	all := func(is func(rune) bool) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return !is(r) })
	}
	isPort := len(s) <= len("65535") && all(isDigit)
	return isVariable || isPort || all(isName) || s+":" == before || slices.Contains(examplePasswords(), strings.ToLower(s))
}

func examplePasswords() []string {
	return []string{
		"admin", "bar", "foo", "guest", "mysql", "pass", "passw0rd", "passwd", "password", "postgres", "pwd", "root",
		"secret", "test", "token", "user", "username",
	}
}
