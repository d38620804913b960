package process

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// SplitCommand splits a command line, as a person writes it into a
// configuration value, into a program and its arguments. It follows the quoting
// rules of the POSIX shell (Shell Command Language, §2.2): white space separates
// words, a backslash takes the next character literally, single quotes take
// everything literally, and within double quotes a backslash only escapes
// $ ` " \ and a line end.
//
// Nothing is ever expanded or executed. Where a shell would do so (variables,
// patterns, pipes, comments and so on), the line is an error instead of passing
// text on that its author did not mean literally. The same goes for unclosed
// quotes, NUL bytes, and a line without a program. Every error is a
// [BadArgument]. Paths of Windows need single quotes: 'C:\tools\jp.exe'.
func SplitCommand(line string) ([]string, error) {
	s := splitter{line: line}
	if i := strings.IndexByte(line, 0); i >= 0 {
		return nil, s.fail(i, "is a NUL byte", "remove it")
	}
	for s.pos < len(line) {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.endWord()
	if len(s.words) == 0 || s.words[0] == "" {
		return nil, &Error{
			Kind: BadArgument, Command: "command line", Detail: "names no program",
			Hint: "write the program's name or path, then its arguments",
		}
	}
	return s.words, nil
}

const (
	separators = " \t\r\n"
	// What a shell would act on, anywhere in a word and at the start of one.
	// Within double quotes only $ and ` still count.
	active        = "|&;<>()$`*?["
	activeAtStart = "~#"
)

type splitter struct {
	line   string
	pos    int
	words  []string
	word   strings.Builder
	inWord bool // also for a word that is empty so far: ""
}

// next consumes a separator, a character, or a quoted part of a word.
func (s *splitter) next() error {
	c := s.line[s.pos]
	switch {
	case strings.IndexByte(separators, c) >= 0:
		s.endWord()
		s.pos++
	case c == '\\':
		return s.escape()
	case c == '\'':
		return s.singleQuoted()
	case c == '"':
		return s.doubleQuoted()
	case strings.IndexByte(active, c) >= 0, !s.inWord && strings.IndexByte(activeAtStart, c) >= 0:
		return s.fail(s.pos, fmt.Sprintf("is an unquoted %c, which only means something to a shell, and none is involved", c),
			"write out what you mean, or put it in single quotes to pass it on as it is")
	default:
		s.add(c)
		s.pos++
	}
	return nil
}

func (s *splitter) escape() error {
	if s.pos+1 == len(s.line) {
		return s.fail(s.pos, "is a backslash with nothing after it", "remove it, or double it to pass on a backslash")
	}
	if c := s.line[s.pos+1]; c != '\n' { // a backslash and a line end join two lines
		s.add(c)
	}
	s.pos += 2
	return nil
}

func (s *splitter) singleQuoted() error {
	length := strings.IndexByte(s.line[s.pos+1:], '\'')
	if length < 0 {
		return s.fail(s.pos, "opens a single quote that is never closed", "close it, or escape it with a backslash")
	}
	s.inWord = true
	s.word.WriteString(s.line[s.pos+1 : s.pos+1+length])
	s.pos += length + 2
	return nil
}

func (s *splitter) doubleQuoted() error {
	s.inWord = true
	for i := s.pos + 1; i < len(s.line); i++ {
		switch c := s.line[i]; {
		case c == '"':
			s.pos = i + 1
			return nil
		case c == '$' || c == '`':
			return s.fail(i, fmt.Sprintf("is a %c within double quotes, which only means something to a shell, and none is involved", c),
				"write out what you mean, or use single quotes to pass it on as it is")
		case c == '\\' && i+1 < len(s.line) && strings.IndexByte("$`\"\\\n", s.line[i+1]) >= 0:
			i++
			if s.line[i] != '\n' {
				s.add(s.line[i])
			}
		default:
			s.add(c)
		}
	}
	return s.fail(s.pos, "opens a double quote that is never closed", "close it, or escape it with a backslash")
}

func (s *splitter) add(c byte) {
	s.inWord = true
	s.word.WriteByte(c)
}

func (s *splitter) endWord() {
	if s.inWord {
		s.words = append(s.words, s.word.String())
		s.word.Reset()
		s.inWord = false
	}
}

// fail describes what is wrong with the character at offset pos.
func (s *splitter) fail(pos int, problem, hint string) error {
	return &Error{
		Kind:    BadArgument,
		Command: "command line " + inline(s.line, maxWord),
		Detail:  fmt.Sprintf("character %d %s", utf8.RuneCountInString(s.line[:pos])+1, problem),
		Hint:    hint,
	}
}
