// Package sessionid reads the ids of conversations that consist of a prefix, which
// names the program, and the uuid of a session.
package sessionid

import (
	"strings"

	"github.com/convtools/convtools/runtime/store"
)

// CutPrefix returns an id without its prefix, in any case, and reports whether it has
// that.
func CutPrefix(text, prefix string) (string, bool) {
	if len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
		return text[len(prefix):], true
	}
	return text, false
}

// IsUUID reports whether s is a uuid in lower case.
func IsUUID(s string) bool {
	if len(s) != len("5afd8764-1e4a-4af6-951b-d71a909fd1bc") {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case !('0' <= c && c <= '9' || 'a' <= c && c <= 'f'):
			return false
		}
	}
	return true
}

// IsName reports whether s can be a part of an id, and the name of a file: up to 64
// letters, digits, '_' and '-'.
func IsName(s string) bool {
	const most = 64
	if s == "" || len(s) > most {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// IsTimed reports whether a uuid is of version 7, which begins with a time: those of
// Codex are, and those of Claude Code are not.
func IsTimed(uuid string) bool { return uuid[14] == '7' }

// Bad returns the error for a text that is no id.
func Bad(text, reason string) error {
	const shown = 128
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "…"
	}
	return &store.BadIDError{Text: text, Reason: reason}
}
