package transcript

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ID identifies a conversation: the moment it was created, in tenths of a
// second since the Unix epoch. Ids compare as numbers; the written form
// "jp-c17800836875" and directory names are only spellings of it.
type ID int64

// maxIDLen bounds what ParseID looks at.
const maxIDLen = 128

// IDError says why a text is not a conversation id.
type IDError struct {
	Text   string // as given, shortened when long
	Reason string // what is wrong and what was expected
}

func (e *IDError) Error() string {
	return fmt.Sprintf("invalid conversation id %q: %s", e.Text, e.Reason)
}

// ParseID reads an id in any of the spellings people and tools use:
// "jp-c17800836875", the same with a workspace id behind it
// ("jp-c17800836875-otvo8"), the bare digits, and a directory name
// ("17800836875-some-title"). What follows the digits is accepted and ignored.
// The error is an *IDError.
func ParseID(s string) (ID, error) {
	if s == "" {
		return 0, idError(s, "it is empty; expected something like jp-c17800836875")
	}
	if len(s) > maxIDLen {
		return 0, idError(s, fmt.Sprintf("it is %d bytes long; an id has at most %d", len(s), maxIDLen))
	}
	for i := 0; i < len(s); i++ {
		if !isIDByte(s[i]) {
			return 0, idError(s, fmt.Sprintf("the character at byte %d is not a letter, a digit, '.', '_' or '-'; expected something like jp-c17800836875", i))
		}
	}
	rest, prefixed := strings.CutPrefix(s, "jp-c")
	digits, suffix, hasSuffix := strings.Cut(rest, "-")
	if digits == "" || !allDigits(digits) {
		return 0, idError(s, "expected \"jp-c\" and digits, or only the digits, such as jp-c17800836875")
	}
	if prefixed && hasSuffix && !isWorkspaceSuffix(suffix) {
		return 0, idError(s, "after the digits only a workspace id (lower-case letters and digits) may follow, such as jp-c17800836875-otvo8")
	}
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, idError(s, fmt.Sprintf("the number is larger than %d", int64(math.MaxInt64)))
	}
	return ID(id), nil
}

// ParseDirName reads the id from the name of a conversation directory: the
// digits before the first '-'. It reports false for every other name; names
// that start with a dot never belong to a conversation.
func ParseDirName(name string) (ID, bool) {
	digits, _, _ := strings.Cut(name, "-")
	if digits == "" || !allDigits(digits) {
		return 0, false
	}
	id, err := strconv.ParseInt(digits, 10, 64)
	return ID(id), err == nil
}

// String returns the canonical spelling, "jp-c" and the digits.
func (id ID) String() string { return "jp-c" + strconv.FormatInt(int64(id), 10) }

// Created returns the moment the id stands for, in UTC, exact to 0.1 s.
func (id ID) Created() time.Time {
	return time.Unix(int64(id)/10, int64(id)%10*int64(100*time.Millisecond)).UTC()
}

func idError(s, reason string) error {
	if len(s) > maxIDLen {
		s = strings.ToValidUTF8(s[:maxIDLen], "") + "…"
	}
	return &IDError{Text: s, Reason: reason}
}

func isIDByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || '9' < s[i] {
			return false
		}
	}
	return true
}

func isWorkspaceSuffix(s string) bool {
	for i := 0; i < len(s); i++ {
		if !('0' <= s[i] && s[i] <= '9' || 'a' <= s[i] && s[i] <= 'z') {
			return false
		}
	}
	return s != ""
}
