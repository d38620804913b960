package subjects

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
)

const (
	// maxFrontMatter is how many bytes of a file front matter may take.
	maxFrontMatter = 64 << 10
	// maxDescription is the length of a description in characters that the Agent
	// Skills specification allows.
	maxDescription = 1024
)

// FrontMatter is what the front matter that a SKILL.md begins with says.
type FrontMatter struct {
	// Name is the skill's name, on one line.
	Name string
	// NameLine is the line of the file that begins the name, from 1.
	NameLine int
	// Description is what the skill is for, on one line of at most 1,024 characters.
	Description string
}

// ReadFrontMatter returns what the front matter says that a file begins with.
// Without front matter that is nothing.
//
// Front matter is YAML, but people write descriptions that YAML refuses: plain
// ones with a colon in them, quotes that do not end. A reader of these two keys
// understands those too, and no YAML library has to be linked and started.
func ReadFrontMatter(data []byte) FrontMatter {
	var f FrontMatter
	named, described := false, false
	lines := frontMatter(data)
	for i, line := range lines {
		key, value, ok := strings.Cut(line, ":")
		if !ok || value != "" && value[0] != ' ' && value[0] != '\t' {
			continue // As in YAML, "name:x" is no key.
		}
		read := func() string { return shorten(scalar(strings.TrimSpace(value), continuation(lines[i+1:]))) }
		// Only keys of the first level begin where the line does.
		switch key = strings.Trim(strings.TrimRight(key, " \t"), `"'`); {
		case key == "name" && !named:
			// The line before the first is the one that begins the front matter.
			f.Name, f.NameLine, named = read(), i+2, true
		case key == "description" && !described:
			f.Description, described = read(), true
		}
	}
	return f
}

// frontMatter returns the lines between one of "---" at the beginning and the
// next, or one of "...". There is none where the second is missing.
func frontMatter(data []byte) []string {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !bytes.HasPrefix(data, []byte("---")) {
		return nil
	}
	var lines []string
	for line := range strings.SplitSeq(string(data[:min(len(data), maxFrontMatter)]), "\n") {
		line = strings.TrimRight(line, " \t\r")
		switch {
		case lines == nil && line != "---":
			return nil
		case lines != nil && (line == "---" || line == "..."):
			return lines[1:]
		}
		lines = append(lines, line)
	}
	return nil
}

// continuation returns the lines that belong to the value of the key before them:
// those that are indented or empty.
func continuation(lines []string) []string {
	for i, line := range lines {
		if line != "" && line[0] != ' ' && line[0] != '\t' {
			return lines[:i]
		}
	}
	return lines
}

// scalar reads a value that begins behind its key and goes on in more lines. All
// line breaks become spaces: what is asked for is one line.
func scalar(first string, more []string) string {
	if isBlock(first) {
		return strings.Join(more, " ")
	}
	text := strings.Join(append([]string{first}, more...), " ")
	switch {
	case strings.HasPrefix(text, `"`):
		return doubleQuoted(text)
	case strings.HasPrefix(text, "'"):
		return singleQuoted(text)
	case first == "~" || first == "null":
		return ""
	}
	// A comment ends a line, not the value.
	parts := []string{uncomment(first)}
	for _, line := range more {
		parts = append(parts, uncomment(line))
	}
	return strings.Join(parts, " ")
}

// isBlock recognises the header of a block scalar: | or >, followed by how it is
// indented and how it ends.
func isBlock(header string) bool {
	header = uncomment(header)
	return header != "" && (header[0] == '|' || header[0] == '>') && strings.Trim(header[1:], "+-123456789") == ""
}

func uncomment(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") {
		return ""
	}
	before, _, _ := strings.Cut(line, " #")
	return strings.TrimSpace(before)
}

// singleQuoted reads up to the closing quote, or all where there is none.
func singleQuoted(text string) string {
	const two = "\x00" // which no text has
	text, _, _ = strings.Cut(strings.ReplaceAll(text[1:], "''", two), "'")
	return strings.ReplaceAll(text, two, "'")
}

// doubleQuoted reads up to the closing quote, or all where there is none. What is
// no escape stays as it is. Those of Go are those of YAML, but for two.
func doubleQuoted(text string) string {
	var b strings.Builder
	for text = text[1:]; text != "" && text[0] != '"'; {
		if strings.HasPrefix(text, `\/`) || strings.HasPrefix(text, `\ `) {
			text = text[1:]
		}
		r, _, rest, err := strconv.UnquoteChar(text, '"')
		if err != nil {
			r, rest = rune(text[0]), text[1:]
		}
		b.WriteRune(r)
		text = rest
	}
	return b.String()
}

// shorten makes a value fit for one line of a listing.
func shorten(value string) string {
	return text.Cut(strings.Join(strings.Fields(text.Line(value)), " "), maxDescription)
}
