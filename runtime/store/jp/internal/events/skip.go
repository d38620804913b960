package events

import (
	"bytes"
	"fmt"
)

const cutOff = "the file ends in the middle of the array"

// skipSpace moves over white space to the next byte. At the end of the data it
// fails, because the array is still open.
func (s *Scanner) skipSpace() bool {
	s.pos = skipSpace(s.data, s.pos)
	if s.pos == len(s.data) {
		return s.fail(DamageCutOff, s.pos, cutOff)
	}
	return true
}

// scanKey reads the key at s.pos and the colon behind it, and returns what
// stands between the quotes. s.pos is then at the value.
func (s *Scanner) scanKey() (key []byte, ok bool) {
	start := s.pos + 1
	if !s.skipString() {
		return nil, false
	}
	end := s.pos - 1
	if !s.skipSpace() {
		return nil, false
	}
	if c := s.data[s.pos]; c != ':' {
		return nil, s.fail(DamageSyntax, s.pos, "expected ':' after a key, found "+describe(c))
	}
	s.pos++
	return s.data[start:end], s.skipSpace()
}

// skipString moves behind the string that opens at s.pos.
func (s *Scanner) skipString() bool {
	end := stringEnd(s.data, s.pos)
	if end < 0 {
		return s.fail(DamageCutOff, len(s.data), "the file ends inside a string")
	}
	s.pos = end
	return true
}

// skipValue moves behind the value at s.pos, which stands inside depth containers.
func (s *Scanner) skipValue(depth int) bool {
	opening := s.data[s.pos]
	if opening != '{' && opening != '[' {
		return s.skipScalar()
	}
	if depth == MaxDepth {
		return s.fail(DamageTooDeep, s.pos, "nested deeper than any event JP writes")
	}
	closing := opening + 2 // '{' and '}', '[' and ']' are two apart
	s.pos++
	if !s.skipSpace() {
		return false
	}
	if s.data[s.pos] == closing {
		s.pos++
		return true
	}
	for {
		if opening == '{' && !s.nestedKey() || !s.skipValue(depth+1) || !s.skipSpace() {
			return false
		}
		switch c := s.data[s.pos]; c {
		case closing:
			s.pos++
			return true
		case ',':
			s.pos++
			if !s.skipSpace() {
				return false
			}
		default:
			return s.fail(DamageSyntax, s.pos, fmt.Sprintf("expected ',' or '%c', found %s", closing, describe(c)))
		}
	}
}

// nestedKey moves over a key and its colon to the value.
func (s *Scanner) nestedKey() bool {
	if c := s.data[s.pos]; c != '"' {
		return s.fail(DamageSyntax, s.pos, "expected a key in quotes, found "+describe(c))
	}
	_, ok := s.scanKey()
	return ok
}

// skipScalar moves behind a string, number or literal.
func (s *Scanner) skipScalar() bool {
	switch c := s.data[s.pos]; {
	case c == '"':
		return s.skipString()
	case c == 't':
		return s.skipLiteral("true")
	case c == 'f':
		return s.skipLiteral("false")
	case c == 'n':
		return s.skipLiteral("null")
	case c == '-' || '0' <= c && c <= '9':
		return s.skipNumber()
	default:
		return s.fail(DamageSyntax, s.pos, "expected a JSON value, found "+describe(c))
	}
}

func (s *Scanner) skipLiteral(word string) bool {
	rest := s.data[s.pos:]
	for i := 0; i < len(word); i++ {
		if i == len(rest) {
			return s.fail(DamageCutOff, len(s.data), cutOff)
		}
		if rest[i] != word[i] {
			return s.fail(DamageSyntax, s.pos+i, "expected "+word+", found "+describe(rest[i]))
		}
	}
	s.pos += len(word)
	return true
}

func (s *Scanner) skipNumber() bool {
	i := s.pos
	if s.data[i] == '-' {
		i++
	}
	start := i
	if i = skipDigits(s.data, i); i == start {
		return s.failNumber(i)
	}
	if s.data[start] == '0' {
		i = start + 1 // no digits may follow; what does is found by the caller
	}
	if i < len(s.data) && s.data[i] == '.' {
		start = i + 1
		if i = skipDigits(s.data, start); i == start {
			return s.failNumber(i)
		}
	}
	if i < len(s.data) && (s.data[i] == 'e' || s.data[i] == 'E') {
		if i++; i < len(s.data) && (s.data[i] == '+' || s.data[i] == '-') {
			i++
		}
		start = i
		if i = skipDigits(s.data, start); i == start {
			return s.failNumber(i)
		}
	}
	s.pos = i
	return true
}

func (s *Scanner) failNumber(i int) bool {
	if i == len(s.data) {
		return s.fail(DamageCutOff, i, cutOff)
	}
	return s.fail(DamageSyntax, i, "expected a digit, found "+describe(s.data[i]))
}

// stringEnd returns the index behind the string that opens at data[open], or -1
// when it does not end. It looks only at quotes and the backslashes before them,
// so that long strings are crossed at the speed of bytes.IndexByte.
func stringEnd(data []byte, open int) int {
	i := open + 1
	for {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return -1
		}
		quote := i + n
		slashes := quote
		for data[slashes-1] == '\\' { // stops at the opening quote at the latest
			slashes--
		}
		i = quote + 1
		if (quote-slashes)%2 == 0 {
			return i
		}
	}
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	return i
}
