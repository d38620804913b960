package jsontext

import (
	"bytes"
	"fmt"
)

// MaxDepth is how many arrays and objects may be open at once, counting those
// around the value that a cursor walks.
const MaxDepth = 256

// Cursor walks JSON text. Strings are skipped without being looked into, so a
// control character or a wrong escape inside a string is not an error; everything
// else of the grammar is checked. Its methods return false where they fail.
type Cursor struct {
	Data    []byte
	Pos     int
	Failure *Failure // why a method returned false
}

// Failure is where a text stops being JSON.
type Failure struct {
	Kind   FailureKind
	Offset int    // in the data
	Detail string // what was found and what was expected; only of Syntax
}

// FailureKind classifies what is wrong.
type FailureKind uint8

// The kinds of failures.
const (
	Syntax      FailureKind = iota // not JSON at this place
	CutOff                         // the data ends too early
	CutInString                    // the same, inside a string
	TooDeep                        // nested deeper than MaxDepth
)

// Space moves over white space to the next byte. At the end of the data it
// fails.
func (c *Cursor) Space() bool {
	c.Pos = SkipSpace(c.Data, c.Pos)
	if c.Pos == len(c.Data) {
		return c.fail(CutOff, c.Pos, "")
	}
	return true
}

// Key reads the key at c.Pos and the colon behind it, and returns what
// stands between the quotes. c.Pos is then at the value.
func (c *Cursor) Key() (key []byte, ok bool) {
	start := c.Pos + 1
	if !c.skipString() {
		return nil, false
	}
	end := c.Pos - 1
	if !c.Space() {
		return nil, false
	}
	if b := c.Data[c.Pos]; b != ':' {
		return nil, c.fail(Syntax, c.Pos, "expected ':' after a key, found "+Describe(b))
	}
	c.Pos++
	return c.Data[start:end], c.Space()
}

// skipString moves behind the string that opens at c.Pos.
func (c *Cursor) skipString() bool {
	end := StringEnd(c.Data, c.Pos)
	if end < 0 {
		return c.fail(CutInString, len(c.Data), "")
	}
	c.Pos = end
	return true
}

// Value moves behind the value at c.Pos, which stands inside depth containers.
func (c *Cursor) Value(depth int) bool {
	opening := c.Data[c.Pos]
	if opening != '{' && opening != '[' {
		return c.skipScalar()
	}
	if depth == MaxDepth {
		return c.fail(TooDeep, c.Pos, "")
	}
	closing := opening + 2 // '{' and '}', '[' and ']' are two apart
	c.Pos++
	if !c.Space() {
		return false
	}
	if c.Data[c.Pos] == closing {
		c.Pos++
		return true
	}
	for {
		if opening == '{' && !c.nestedKey() || !c.Value(depth+1) || !c.Space() {
			return false
		}
		switch b := c.Data[c.Pos]; b {
		case closing:
			c.Pos++
			return true
		case ',':
			c.Pos++
			if !c.Space() {
				return false
			}
		default:
			return c.fail(Syntax, c.Pos, fmt.Sprintf("expected ',' or '%c', found %s", closing, Describe(b)))
		}
	}
}

// nestedKey moves over a key and its colon to the value.
func (c *Cursor) nestedKey() bool {
	if b := c.Data[c.Pos]; b != '"' {
		return c.fail(Syntax, c.Pos, "expected a key in quotes, found "+Describe(b))
	}
	_, ok := c.Key()
	return ok
}

// skipScalar moves behind a string, number or literal.
func (c *Cursor) skipScalar() bool {
	switch b := c.Data[c.Pos]; {
	case b == '"':
		return c.skipString()
	case b == 't':
		return c.skipLiteral("true")
	case b == 'f':
		return c.skipLiteral("false")
	case b == 'n':
		return c.skipLiteral("null")
	case b == '-' || '0' <= b && b <= '9':
		return c.skipNumber()
	default:
		return c.fail(Syntax, c.Pos, "expected a JSON value, found "+Describe(b))
	}
}

func (c *Cursor) skipLiteral(word string) bool {
	rest := c.Data[c.Pos:]
	for i := 0; i < len(word); i++ {
		if i == len(rest) {
			return c.fail(CutOff, len(c.Data), "")
		}
		if rest[i] != word[i] {
			return c.fail(Syntax, c.Pos+i, "expected "+word+", found "+Describe(rest[i]))
		}
	}
	c.Pos += len(word)
	return true
}

func (c *Cursor) skipNumber() bool {
	i := c.Pos
	if c.Data[i] == '-' {
		i++
	}
	start := i
	if i = skipDigits(c.Data, i); i == start {
		return c.failNumber(i)
	}
	if c.Data[start] == '0' {
		i = start + 1 // no digits may follow; what does is found by the caller
	}
	if i < len(c.Data) && c.Data[i] == '.' {
		start = i + 1
		if i = skipDigits(c.Data, start); i == start {
			return c.failNumber(i)
		}
	}
	if i < len(c.Data) && (c.Data[i] == 'e' || c.Data[i] == 'E') {
		if i++; i < len(c.Data) && (c.Data[i] == '+' || c.Data[i] == '-') {
			i++
		}
		start = i
		if i = skipDigits(c.Data, start); i == start {
			return c.failNumber(i)
		}
	}
	c.Pos = i
	return true
}

func (c *Cursor) failNumber(i int) bool {
	if i == len(c.Data) {
		return c.fail(CutOff, i, "")
	}
	return c.fail(Syntax, i, "expected a digit, found "+Describe(c.Data[i]))
}

// StringEnd returns the index behind the string that opens at data[open], or -1
// when it does not end. It looks only at quotes and the backslashes before them,
// so that long strings are crossed at the speed of bytes.IndexByte.
func StringEnd(data []byte, open int) int {
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

// SkipSpace returns the index of the next byte, from i, that is no white space, or
// the length of the data.
func SkipSpace(data []byte, i int) int {
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

// fail records the failure and returns false, so that callers can return it.
func (c *Cursor) fail(kind FailureKind, offset int, detail string) bool {
	c.Failure = &Failure{Kind: kind, Offset: offset, Detail: detail}
	return false
}

// Describe names a byte that does not belong where it is.
func Describe(c byte) string {
	if ' ' < c && c < 0x7f {
		return fmt.Sprintf("%q", rune(c))
	}
	return fmt.Sprintf("byte 0x%02x", c)
}
