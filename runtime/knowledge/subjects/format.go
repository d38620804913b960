package subjects

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

// format makes the bytes of a file into what is shown of it.
func format(data []byte, ext string) Content {
	c := Content{Size: int64(len(data))}
	if isBinary(data) {
		c.Binary = true
		return c
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		c.Note = "the file is not valid UTF-8; what could not be decoded is shown as \ufffd"
	}
	text := strings.TrimSuffix(text.Visible(string(data)), "\n")
	if text == "" {
		c.Empty = true
		return c
	}
	if language, fenced := fence(ext); fenced {
		marks := strings.Repeat("`", max(3, longestRun(text)+1))
		text = marks + language + "\n" + text + "\n" + marks
	}
	c.Text = text
	return c
}

// fence reports whether files with an extension in lower case are shown in a fence,
// and in which language. Prose is not.
func fence(ext string) (language string, fenced bool) {
	switch ext {
	case "", "md", "markdown", "txt", "text":
		return "", false
	case "yml":
		return "yaml", true
	case "rs":
		return "rust", true
	case "py":
		return "python", true
	case "js":
		return "javascript", true
	case "ts":
		return "typescript", true
	}
	// A name on disk may hold anything; what is no word would end the fence's
	// first line, or be shown as if it were content.
	if len(ext) > 32 || strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz0123456789+-_#") != "" {
		return "", true
	}
	return ext, true
}

// longestRun returns the length of the longest run of backticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, c := range []byte(text) {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// CloseTags makes a text unable to end the elements that subjects and topics are
// wrapped in: the first character of what closes one of them, in any case, is
// written as an entity. All else stays.
func CloseTags(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "</") {
		switch {
		case i == 0: // Nothing is closed before it.
		case closes(part):
			b.WriteString("&lt;/")
		default:
			b.WriteString("</")
		}
		b.WriteString(part)
	}
	return b.String()
}

func closes(name string) bool {
	for _, element := range [...]string{"subject", "topic", "knowledge"} {
		if len(name) >= len(element) && strings.EqualFold(name[:len(element)], element) {
			return true
		}
	}
	return false
}
