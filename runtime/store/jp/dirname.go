package jp

import (
	"strconv"
	"strings"
	"unicode"
)

const (
	maxSlug     = 60  // characters of a title in the name of its directory
	maxNameSize = 255 // bytes that file systems take
)

// dirName is the name JP gives to the directory of a conversation: the number and
// what of the title can stand in a file name. Nothing reads the title back from it.
func dirName(n number, title string) string {
	digits := strconv.FormatInt(int64(n), 10)
	var slug strings.Builder
	chars := 0
	for _, r := range strings.TrimSpace(title) {
		if chars++; chars > maxSlug {
			break
		}
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Other_Alphabetic, r) {
			slug.WriteRune(r)
		} else {
			slug.WriteByte('-')
		}
	}
	text := strings.ToLower(strings.TrimRight(slug.String(), "-"))
	if text == "" {
		return digits
	}
	name := digits + "-" + text
	if len(title) > maxSlug { // JP compares bytes here
		name = name[:strings.LastIndexByte(name, '-')]
	}
	if len(name) > maxNameSize {
		return digits
	}
	return name
}
