package jp

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// number is the time at which a conversation was created, in tenths of a second since 1970. Its id "jp-c17800836875" and
// the names of its directories are spellings of it.
type number int64

const (
	idPrefix = "jp-c"
	digits   = "0123456789"
	idChars  = digits + "abcdefghijklmnopqrstuvwxyz" // of a workspace id
)

// ParseID returns the id in a text: "jp-c17800836875", the same with a workspace id ("jp-c17800836875-otvo8"), the
// digits alone, or the name of a directory ("17800836875-some-title"). The title can be any text. A workspace id can be
// that of any workspace, but must have only idChars. The error is a [*store.BadIDError].
func ParseID(s string) (transcript.ID, error) {
	rest, prefixed := strings.CutPrefix(s, idPrefix)
	n, ok := parseDirName(rest)
	if _, workspace, hasWorkspace := strings.Cut(rest, "-"); prefixed && hasWorkspace {
		ok = ok && workspace != "" && strings.Trim(workspace, idChars) == "" // nothing is left: all are idChars
	}
	if !ok {
		return "", history.BadID(s, "expected \"jp-c\" and digits, or only the digits, such as jp-c17800836875")
	}
	return n.id(), nil
}

// parseDirName reads the number before the first '-' in the name of a conversation's directory; false for another name.
func parseDirName(name string) (number, bool) {
	text, _, _ := strings.Cut(name, "-")
	n, err := strconv.ParseUint(text, 10, 63)
	return number(n), err == nil //nolint:gosec // of 63 bits
}

// numberOf returns the number of an id, and false for an id of another store.
func numberOf(id transcript.ID) (number, bool) {
	n, ok := parseDirName(strings.TrimPrefix(string(id), idPrefix))
	return n, ok && n.id() == id
}

func (n number) id() transcript.ID {
	return transcript.ID(idPrefix + strconv.FormatInt(int64(n), 10))
}

// CreatedAt returns the time at which the conversation with an id was created; zero for an id of another store.
func CreatedAt(id transcript.ID) time.Time {
	n, ok := numberOf(id)
	if !ok {
		return time.Time{}
	}
	return n.created()
}

func numberAt(t time.Time) number { return number(t.UnixMilli() / 100) }

// created returns the time of the number in UTC; zero if its year cannot be written.
func (n number) created() time.Time {
	return transcript.InRange(time.Unix(int64(n)/10, int64(n)%10*int64(100*time.Millisecond)).UTC())
}

// dirName returns the name that JP gives to the directory of a conversation: the number and a part of the title.
func dirName(n number, title string) string {
	const maxSlug, maxSize = 60, 255 // characters of a title; bytes of a file name
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
	if len(title) > maxSlug { // JP compares bytes here, and leaves out the last word, which may be cut
		name = name[:strings.LastIndexByte(name, '-')]
	}
	if len(name) > maxSize {
		return id
	}
	return name
}
