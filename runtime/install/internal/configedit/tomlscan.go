package configedit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// statement is a table header, or a key and its value, with its place in the
// text. Comments and empty lines are between statements.
type statement struct {
	start, end         int // whole lines, with the line end of the last
	from               int // the first byte that is no blank
	header             bool
	array              bool     // a [[header]]
	path               []string // as written: relative to the last header for a key
	valueFrom, valueTo int
}

// scanTOML finds the statements of a document that a parser has accepted. It
// must not be relied on to find mistakes, but it survives them.
func scanTOML(src []byte) ([]statement, error) {
	s := &tomlScanner{src: src}
	var list []statement
	for {
		s.skip(" \t\r\n")
		switch {
		case s.at >= len(src):
			return list, nil
		case src[s.at] == '#':
			s.toLineEnd()
		default:
			st, err := s.statement()
			if err != nil {
				line, column := position(src, s.at)
				return nil, &SyntaxError{line, column, err.Error()}
			}
			list = append(list, st)
		}
	}
}

type tomlScanner struct {
	src []byte
	at  int
}

func (s *tomlScanner) skip(set string) {
	for s.at < len(s.src) && strings.IndexByte(set, s.src[s.at]) >= 0 {
		s.at++
	}
}

// take moves behind text if it stands here.
func (s *tomlScanner) take(text string) bool {
	if !bytes.HasPrefix(s.src[s.at:], []byte(text)) {
		return false
	}
	s.at += len(text)
	return true
}

// toLineEnd moves behind the end of this line.
func (s *tomlScanner) toLineEnd() {
	if i := bytes.IndexByte(s.src[s.at:], '\n'); i >= 0 {
		s.at += i + 1
	} else {
		s.at = len(s.src)
	}
}

func (s *tomlScanner) statement() (statement, error) {
	st := statement{start: bytes.LastIndexByte(s.src[:s.at], '\n') + 1, from: s.at}
	if s.take("[") {
		st.header, st.array = true, s.take("[")
	}
	var err error
	if st.path, err = s.key(); err != nil {
		return st, err
	}
	switch {
	case st.header:
		if !s.take("]") || st.array && !s.take("]") {
			return st, fmt.Errorf("a table header is not closed")
		}
	case !s.take("="):
		return st, fmt.Errorf("a key has no value")
	default:
		s.skip(" \t")
		st.valueFrom = s.at
		if err := s.value(); err != nil {
			return st, err
		}
		st.valueTo = s.at
	}
	s.toLineEnd()
	st.end = s.at
	return st, nil
}

func (s *tomlScanner) key() ([]string, error) {
	var path []string
	for {
		s.skip(" \t")
		from := s.at
		switch {
		case s.take(`"`):
			s.stringEnd('"', 1)
			part, err := strconv.Unquote(string(s.src[from:s.at]))
			if err != nil {
				return nil, fmt.Errorf("a quoted key cannot be read")
			}
			path = append(path, part)
		case s.take(`'`):
			s.stringEnd('\'', 1)
			path = append(path, strings.Trim(string(s.src[from:s.at]), "'"))
		default:
			for s.at < len(s.src) && isBareKey(s.src[s.at]) {
				s.at++
			}
			if s.at == from {
				return nil, fmt.Errorf("a key is missing")
			}
			path = append(path, string(s.src[from:s.at]))
		}
		s.skip(" \t")
		if !s.take(".") {
			return path, nil
		}
	}
}

func isBareKey(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// stringEnd moves behind the end of a string whose opening quotes have been
// taken. Several quotes more may stand before the closing three.
func (s *tomlScanner) stringEnd(quote byte, quotes int) {
	closing := strings.Repeat(string(quote), quotes)
	for s.at < len(s.src) {
		switch {
		case s.take(closing):
			for quotes == 3 && s.at < len(s.src) && s.src[s.at] == quote {
				s.at++
			}
			return
		case s.src[s.at] == '\\' && quote == '"':
			s.at = min(s.at+2, len(s.src))
		default:
			s.at++
		}
	}
}

// quoted moves behind a string, if one begins here.
func (s *tomlScanner) quoted() bool {
	for _, q := range []string{`"""`, `'''`, `"`, `'`} {
		if s.take(q) {
			s.stringEnd(q[0], len(q))
			return true
		}
	}
	return false
}

// value moves behind a value. It counts brackets and calls nothing for them, so
// that nothing can be nested too deeply for it.
func (s *tomlScanner) value() error {
	if s.quoted() {
		return nil
	}
	if s.at < len(s.src) && s.src[s.at] != '[' && s.src[s.at] != '{' {
		from := s.at
		for s.at < len(s.src) && strings.IndexByte("#\r\n", s.src[s.at]) < 0 {
			s.at++
		}
		s.at = from + len(bytes.TrimRight(s.src[from:s.at], " \t"))
		return nil
	}
	for depth := 0; s.at < len(s.src); {
		if s.quoted() {
			continue
		}
		c := s.src[s.at]
		if c == '#' {
			s.toLineEnd()
			continue
		}
		s.at++
		switch c {
		case '[', '{':
			if depth++; depth > maxDepth {
				return fmt.Errorf("nested more than %d levels deep", maxDepth)
			}
		case ']', '}':
			if depth--; depth == 0 {
				return nil
			}
		}
	}
	return fmt.Errorf("a bracket is not closed")
}
