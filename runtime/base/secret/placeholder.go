package secret

import (
	"slices"
	"strings"
)

// isPlaceholder reports whether s only stands for a secret: s contains a word of examples, such as "your", or many
// bytes that repeat the byte before. The caller has checked that s has the form of a secret.
func isPlaceholder(s string) bool {
	const jwtIO = "IkpvaG4gRG9l" // "John Doe" in the example of jwt.io, which has the form of a real one
	const longest = 200          // a longer s is a secret, which may have any word in it by chance
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
	isVariableName := strings.Trim(s, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	isPort := len(s) <= len("65535") && strings.Trim(s, "0123456789") == ""
	isUser := s+":" == before
	return isVariable || isVariableName || isPort || isUser || slices.Contains(examplePasswords(), strings.ToLower(s))
}

func examplePasswords() []string {
	return []string{
		"admin", "bar", "foo", "guest", "mysql", "pass", "passw0rd", "passwd", "password", "postgres", "pwd", "root",
		"secret", "test", "token", "user", "username",
	}
}
