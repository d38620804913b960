package jp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// number is what a conversation is known by: the moment it was created, in tenths
// of a second since the Unix epoch. The written form "jp-c17800836875" and
// directory names are only spellings of it.
type number int64

// ParseID reads an id in any of the spellings people and tools use:
// "jp-c17800836875", the same with a workspace id behind it
// ("jp-c17800836875-otvo8"), the bare digits, and a directory name
// ("17800836875-some-title"). What follows the digits is accepted and ignored.
// The error is a [*store.BadIDError].
func ParseID(s string) (transcript.ID, error) {
	rest, prefixed := strings.CutPrefix(s, idPrefix)
	digits, suffix, hasSuffix := strings.Cut(rest, "-")
	n, err := strconv.ParseInt(digits, 10, 64)
	why := ""
	switch {
	case s == "":
		why = "it is empty; expected something like jp-c17800836875"
	case digits == "" || !allDigits(digits):
		why = "expected \"jp-c\" and digits, or only the digits, such as jp-c17800836875"
	case prefixed && hasSuffix && (suffix == "" || strings.Trim(suffix, idChars) != ""):
		why = "after the digits only a workspace id (lower-case letters and digits) may follow, such as jp-c17800836875-otvo8"
	case err != nil:
		why = fmt.Sprintf("the number is larger than %d", int64(math.MaxInt64))
	}
	if why != "" {
		return "", history.BadID(s, why)
	}
	return number(n).id(), nil
}

// idChars are the characters of the id of a workspace.
const idChars = "0123456789abcdefghijklmnopqrstuvwxyz"

const idPrefix = "jp-c"

// parseDirName reads the number from the name of a conversation directory: the
// digits before the first '-'. It reports false for every other name; names that
// start with a dot never belong to a conversation.
func parseDirName(name string) (number, bool) {
	digits, _, _ := strings.Cut(name, "-")
	if digits == "" || !allDigits(digits) {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return number(n), err == nil
}

// numberOf returns the number of an id, and false where it is of another store.
func numberOf(id transcript.ID) (number, bool) {
	digits, ok := strings.CutPrefix(string(id), idPrefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	return number(n), ok && err == nil && n >= 0 && number(n).id() == id
}

// id returns the canonical spelling, "jp-c" and the digits.
func (n number) id() transcript.ID {
	return transcript.ID(idPrefix + strconv.FormatInt(int64(n), 10))
}

// CreatedAt returns when a conversation with this id was created, which its id
// tells; zero where it is no id of JP.
func CreatedAt(id transcript.ID) time.Time {
	n, ok := numberOf(id)
	if !ok {
		return time.Time{}
	}
	return n.created()
}

// numberAt returns the number of a moment.
func numberAt(t time.Time) number { return number(t.UnixMilli() / 100) }

// created returns the moment the number stands for, in UTC, exact to 0.1 s; zero
// where that is in no year that can be written.
func (n number) created() time.Time {
	return transcript.InRange(time.Unix(int64(n)/10, int64(n)%10*int64(100*time.Millisecond)).UTC())
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
