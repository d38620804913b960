package process

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SplitCommand splits a command line from a configuration into a program and its arguments. It follows the quoting
// rules of the POSIX shell (Shell Command Language, §2.2): white space separates words, a backslash takes the next
// character literally, single quotes take everything literally, and within double quotes a backslash only escapes $ `
// " \ and a line end.
//
// It never expands or runs anything. A line that a shell would expand (variables, patterns, pipes, comments and so
// on) is an error, because its author did not mean it literally. So are unclosed quotes, NUL bytes, and a line
// without a program. Every error is a [BadArgument]. Paths of Windows need single quotes: 'C:\tools\jp.exe'.
func SplitCommand(line string) ([]string, error) {
	if i := strings.IndexByte(line, 0); i >= 0 {
		return nil, badLine(line, i, "is a NUL byte", "remove it")
	}
	var words []string
	var word strings.Builder
	inWord := false // true also for a word that is still empty, as after ""
	for i := 0; i < len(line); i++ {
		c := line[i]
		if strings.IndexByte(" \t\r\n", c) >= 0 {
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
			continue
		}
		if strings.IndexByte(active, c) >= 0 || !inWord && strings.IndexByte(activeAtStart, c) >= 0 {
			return nil, badLine(line, i, fmt.Sprintf("is an unquoted %c, which only means something to a shell, and none is involved", c),
				"write out what you mean, or put it in single quotes to pass it on as it is")
		}
		switch c {
		case '\\':
			if i++; i == len(line) {
				return nil, badLine(line, i-1, "is a backslash with nothing after it", "remove it, or double it to pass on a backslash")
			}
			if line[i] == '\n' {
				continue // a backslash and a line end join two lines
			}
			word.WriteByte(line[i])
		case '\'':
			length := strings.IndexByte(line[i+1:], '\'')
			if length < 0 {
				return nil, badLine(line, i, "opens a single quote that is never closed", "close it, or escape it with a backslash")
			}
			word.WriteString(line[i+1 : i+1+length])
			i += length + 1
		case '"':
			end, err := addQuoted(&word, line, i)
			if err != nil {
				return nil, err
			}
			i = end
		default:
			word.WriteByte(c)
		}
		inWord = true
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, &Error{
			Kind: BadArgument, Command: "command line", Detail: "names no program",
			Hint: "write the program's name or path, then its arguments",
		}
	}
	return words, nil
}

// The characters in active have a meaning for a shell anywhere in a word, those in activeAtStart only at its start.
// Within double quotes only $ and ` have a meaning.
const (
	active        = "|&;<>()$`*?["
	activeAtStart = "~#"
)

// addQuoted adds the text in double quotes to a word. start is the opening quote's offset, end the closing one's.
func addQuoted(word *strings.Builder, line string, start int) (end int, err error) {
	for i := start + 1; i < len(line); i++ {
		switch c := line[i]; c {
		case '"':
			return i, nil
		case '$', '`':
			return 0, badLine(line, i, fmt.Sprintf("is a %c within double quotes, which only means something to a shell, and none is involved", c),
				"write out what you mean, or use single quotes to pass it on as it is")
		case '\\':
			next := line[i+1:]
			isEscape := next != "" && strings.IndexByte("$`\"\\\n", next[0]) >= 0
			if !isEscape {
				word.WriteByte(c)
				continue
			}
			if next[0] != '\n' { // a backslash and a line end join two lines
				word.WriteByte(next[0])
			}
			i++
		default:
			word.WriteByte(c)
		}
	}
	return 0, badLine(line, start, "opens a double quote that is never closed", "close it, or escape it with a backslash")
}

// badLine returns the error for the character at an offset.
func badLine(line string, offset int, problem, hint string) error {
	return &Error{
		Kind: BadArgument, Command: "command line " + inline(line, maxWord),
		Detail: fmt.Sprintf("character %d %s", utf8.RuneCountInString(line[:offset])+1, problem),
		Hint:   hint,
	}
}
