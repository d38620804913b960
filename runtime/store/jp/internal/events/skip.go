package events

import "bytes"

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

// skipValue moves behind the value at s.pos. Objects and arrays are walked with
// an explicit stack: one bit per level says whether it is an object.
func (s *Scanner) skipValue() bool {
	if c := s.data[s.pos]; c != '{' && c != '[' {
		return s.skipScalar()
	}
	var stack nesting
	for {
		// s.pos is at a value.
		switch c := s.data[s.pos]; c {
		case '{', '[':
			// The outermost array and the event itself are two levels.
			if stack.depth+2 == MaxDepth {
				return s.fail(DamageTooDeep, s.pos, "nested deeper than any event JP writes")
			}
			stack.push(c == '{')
			s.pos++
			if !s.skipSpace() {
				return false
			}
			if s.data[s.pos] != c+2 { // '{' and '}', '[' and ']' are two apart
				if stack.inObject() && !s.nestedKey() {
					return false
				}
				continue
			}
		default:
			if !s.skipScalar() {
				return false
			}
			if !s.skipSpace() {
				return false
			}
		}
		// s.pos is behind a value, at what should be ',' or a closing bracket.
		for {
			c := s.data[s.pos]
			closing, name := byte(']'), "']'"
			if stack.inObject() {
				closing, name = '}', "'}'"
			}
			if c == ',' {
				s.pos++
				if !s.skipSpace() || stack.inObject() && !s.nestedKey() {
					return false
				}
				break
			}
			if c != closing {
				return s.fail(DamageSyntax, s.pos, "expected ',' or "+name+", found "+describe(c))
			}
			s.pos++
			if stack.pop(); stack.depth == 0 {
				return true
			}
			if !s.skipSpace() {
				return false
			}
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

// nesting is a stack of open objects and arrays, at most MaxDepth deep.
type nesting struct {
	depth  int
	object [MaxDepth / 64]uint64
}

func (n *nesting) push(object bool) {
	word, bit := &n.object[n.depth/64], uint64(1)<<(n.depth%64)
	if object {
		*word |= bit
	} else {
		*word &^= bit
	}
	n.depth++
}

func (n *nesting) pop() { n.depth-- }

// inObject reports whether the innermost open value is an object.
func (n *nesting) inObject() bool {
	top := n.depth - 1
	return top >= 0 && n.object[top/64]>>(top%64)&1 == 1
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
