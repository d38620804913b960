// Package jsontext reads and rewrites recorded JSON without decoding all of it: a decoder for the members
// of structs, a cursor, and a writer that indents a value and replaces its strings.
//
// Its input is untrusted. It never panics on any input, never recurses deeper than [MaxDepth], and
// never changes its input. Strings are skipped without validation, which makes it several times as
// fast as encoding/json: a wrong escape in a string is not an error.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// MaxDepth is the largest number of open arrays and objects, with those around the value of a cursor.
const MaxDepth = 256

// Cursor walks JSON text. Its methods return false if they fail: Pos is then the place of the mistake, or
// the end of data that ends too early.
type Cursor struct {
	Data []byte
	Pos  int
	deep bool // it failed at a value that is nested too deeply
}

// ErrCutOff and ErrTooDeep are two of the errors of [Cursor.Err].
var (
	ErrCutOff  = errors.New("it ends in the middle of a JSON value")
	ErrTooDeep = errors.New("it is nested too deeply")
)

// Err returns why a method returned false.
func (c *Cursor) Err() error {
	switch {
	case c.deep:
		return ErrTooDeep
	case c.Pos == len(c.Data):
		return ErrCutOff
	}
	if b := c.Data[c.Pos]; ' ' < b && b < 0x7f {
		return fmt.Errorf("it is not JSON: unexpected %q", rune(b))
	}
	return fmt.Errorf("it is not JSON: unexpected byte 0x%02x", c.Data[c.Pos])
}

// Space moves past white space to the next byte. It fails at the end of the data.
func (c *Cursor) Space() bool {
	c.Pos = skipSpace(c.Data, c.Pos)
	return c.Pos < len(c.Data)
}

// key moves past the key at c.Pos and its colon, to the value, and returns the key between its quotes, with escapes.
func (c *Cursor) key() (key []byte, ok bool) {
	start := c.Pos + 1
	if c.Data[c.Pos] != '"' || !c.string() {
		return nil, false
	}
	key = c.Data[start : c.Pos-1]
	if !c.Space() || c.Data[c.Pos] != ':' {
		return nil, false
	}
	c.Pos++
	return key, c.Space()
}

// string moves past the string at c.Pos.
func (c *Cursor) string() bool {
	end := stringEnd(c.Data, c.Pos)
	if end < 0 {
		c.Pos = len(c.Data)
		return false
	}
	c.Pos = end
	return true
}

// Value moves past the value at c.Pos, which is inside depth arrays and objects. It returns false if the value has a
// mistake, with c.Pos at the mistake, or if the data ends in the value, with c.Pos at the end of the data.
func (c *Cursor) Value(depth int) bool {
	switch c.Data[c.Pos] {
	case '{', '[':
		return c.Values(depth, nil)
	case '"':
		return c.string()
	}
	word := c.Data[c.Pos:]
	if end := bytes.IndexAny(word, " \n\r\t,:{}[]\""); end >= 0 {
		word = word[:end]
	}
	ok := isScalar(word)
	isLast := c.Pos+len(word) == len(c.Data)
	isCut := !ok && isLast && strings.IndexByte("-0123456789tfn", c.Data[c.Pos]) >= 0 // it begins as a number or a literal
	if ok || isCut {
		c.Pos += len(word)
	}
	return ok
}

// isScalar reports whether a word is a number or a literal. Whole numbers are the most frequent words.
func isScalar(word []byte) bool {
	switch string(word) {
	case "true", "false", "null":
		return true
	}
	const digits = "0123456789"
	if len(word) > 0 && word[0] > '0' && len(bytes.TrimLeft(word, digits)) == 0 {
		return true
	}
	return json.Valid(word)
}

// Values moves past the array or object at c.Pos. depth is the number of arrays and objects around it. For each value
// it calls see, unless see is nil, with the text between the quotes of the key; the key is nil in an array. Values
// fails as soon as see returns false.
func (c *Cursor) Values(depth int, see func(key, value []byte) bool) bool {
	opening := c.Data[c.Pos]
	closing := opening + 2 // '{' and '}', '[' and ']' are two apart
	if c.deep = depth >= MaxDepth; c.deep {
		return false
	}
	c.Pos++
	if !c.Space() {
		return false
	}
	if c.Data[c.Pos] == closing {
		c.Pos++
		return true
	}
	for {
		var key []byte
		ok := true
		if opening == '{' {
			key, ok = c.key()
		}
		start := c.Pos
		goesOn := ok && c.Value(depth+1) && (see == nil || see(key, c.Data[start:c.Pos]))
		if !goesOn || !c.Space() {
			return false
		}
		b := c.Data[c.Pos]
		if b != closing && b != ',' {
			return false
		}
		c.Pos++
		if b == closing {
			return true
		}
		if !c.Space() {
			return false
		}
	}
}

// stringEnd returns the index after the string that opens at data[open], or -1 if it does not end.
func stringEnd(data []byte, open int) int {
	i := open + 1
	for {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return -1
		}
		quote := i + n
		firstSlash := quote              // of the backslashes before the quote
		for data[firstSlash-1] == '\\' { // the opening quote ends the loop
			firstSlash--
		}
		i = quote + 1
		if isEscaped := (quote-firstSlash)%2 == 1; !isEscaped {
			return i
		}
	}
}

// skipSpace returns the index of the next byte after white space, or the length of the data.
func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}
