package subjects

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
)

// format returns the content of a file from its bytes and its extension.
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
	if language, ok := fenceLanguage(ext); ok {
		longest, run := 0, 0 // of backquotes in the text: the fence has more
		for _, char := range []byte(text) {
			run++
			if char != '`' {
				run = 0
			}
			longest = max(longest, run)
		}
		marks := strings.Repeat("`", max(3, longest+1))
		text = marks + language + "\n" + text + "\n" + marks
	}
	c.Text = text
	return c
}

// fenceLanguage returns the language, or "", for the fence around a file. The extension ext of the file is in lower case.
// ok is false for prose, which has no fence.
func fenceLanguage(ext string) (language string, ok bool) {
	switch ext {
	case "", "md", "markdown", "txt", "text":
		return "", false
	}
	// A file name may have any characters: an extension that is no word could end the first line of the fence.
	if len(ext) > 32 || strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz0123456789+-_#") != "" {
		return "", true
	}
	languages := map[string]string{"yml": "yaml", "rs": "rust", "py": "python", "js": "javascript", "ts": "typescript"}
	return cmp.Or(languages[ext], ext), true
}

// CloseTags returns a text that cannot end the elements <subject>, <topic> and <knowledge> around it. In their closing
// tags, in upper or lower case, it replaces the first character by an entity.
func CloseTags(text string) string {
	if !strings.Contains(text, "</") {
		return text
	}
	return regexp.MustCompile(`(?i)<(/(?:subject|topic|knowledge))`).ReplaceAllString(text, "&lt;$1")
}
