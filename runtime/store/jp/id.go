package jp

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// number is what a conversation is known by: the moment it was created, in tenths
// of a second since the Unix epoch. The written form "jp-c17800836875" and
// directory names are only spellings of it.
type number int64

const (
	idPrefix = "jp-c"
	digits   = "0123456789"
	idChars  = digits + "abcdefghijklmnopqrstuvwxyz" // of the id of a workspace
)

// ParseID reads an id in any of the spellings people and tools use:
// "jp-c17800836875", the same with a workspace id behind it
// ("jp-c17800836875-otvo8"), the bare digits, and a directory name
// ("17800836875-some-title"). What follows the digits is accepted and ignored.
// The error is a [*store.BadIDError].
func ParseID(s string) (transcript.ID, error) {
	rest, prefixed := strings.CutPrefix(s, idPrefix)
	n, ok := parseDirName(rest)
	if _, workspace, isNamed := strings.Cut(rest, "-"); prefixed && isNamed {
		ok = ok && workspace != "" && strings.Trim(workspace, idChars) == ""
	}
	if !ok {
		return "", history.BadID(s, "expected \"jp-c\" and digits, or only the digits, such as jp-c17800836875")
	}
	return n.id(), nil
}

// parseDirName reads the number from the name of a conversation directory: the
// digits before the first '-'. It reports false for every other name; names that
// start with a dot never belong to a conversation.
func parseDirName(name string) (number, bool) {
	text, _, _ := strings.Cut(name, "-")
	n, err := strconv.ParseUint(text, 10, 63)
	return number(n), err == nil //nolint:gosec // of 63 bits
}

// numberOf returns the number of an id, and false where it is of another store.
func numberOf(id transcript.ID) (number, bool) {
	n, ok := parseDirName(strings.TrimPrefix(string(id), idPrefix))
	return n, ok && n.id() == id
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

// dirName is the name JP gives to the directory of a conversation: the number and
// what of the title can stand in a file name. Nothing reads the title back from it.
func dirName(n number, title string) string {
	const maxSlug, maxSize = 60, 255 // characters of a title; bytes that file systems take
	id := strconv.FormatInt(int64(n), 10)
	runes := []rune(strings.TrimSpace(title))
	slug := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Other_Alphabetic, r) {
			return r
		}
		return '-'
	}, string(runes[:min(len(runes), maxSlug)]))
	slug = strings.ToLower(strings.TrimRight(slug, "-"))
	if slug == "" {
		return id
	}
	name := id + "-" + slug
	if len(title) > maxSlug { // JP compares bytes here
		name = name[:strings.LastIndexByte(name, '-')]
	}
	if len(name) > maxSize {
		return id
	}
	return name
}
