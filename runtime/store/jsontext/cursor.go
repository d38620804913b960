package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// MaxDepth is how many arrays and objects may be open at once, counting those
// around the value that a cursor walks.
const MaxDepth = 256

// Cursor walks JSON text. Strings are skipped without being looked into, so a
// control character or a wrong escape inside a string is not an error; everything
// else of the grammar is checked. Its methods return false where they fail, with Pos
// at what is wrong, or at the end of data that ends too early.
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

// Space moves over white space to the next byte. At the end of the data it
// fails.
func (c *Cursor) Space() bool {
	c.Pos = SkipSpace(c.Data, c.Pos)
	return c.Pos < len(c.Data)
}

// Key reads the key at c.Pos and the colon behind it, and returns what
// stands between the quotes. c.Pos is then at the value.
func (c *Cursor) Key() (key []byte, ok bool) {
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

// string moves behind the string that opens at c.Pos.
func (c *Cursor) string() bool {
	end := StringEnd(c.Data, c.Pos)
	if end < 0 {
		c.Pos = len(c.Data)
		return false
	}
	c.Pos = end
	return true
}

// Value moves behind the value at c.Pos, which stands inside depth containers.
func (c *Cursor) Value(depth int) bool {
	switch c.Data[c.Pos] {
	case '{', '[':
		return c.Each(depth, nil)
	case '"':
		return c.string()
	}
	end := c.Pos
	for end < len(c.Data) && !isDelimiter(c.Data[end]) {
		end++
	}
	ok := isScalar(c.Data[c.Pos:end])
	if ok || end == len(c.Data) && strings.IndexByte("-0123456789tfn", c.Data[c.Pos]) >= 0 { // it may go on
		c.Pos = end
	}
	return ok
}

// isScalar reports whether a word is a number or a literal.
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

// Each moves behind the array or object at c.Pos, which stands inside depth containers. Of each
// value in it, see gets the key, as it stands between the quotes, or nil in an array, and moves
// behind the value, until it returns false. A nil one skips the values.
func (c *Cursor) Each(depth int, see func(key []byte) bool) bool {
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
			key, ok = c.Key()
		}
		switch {
		case !ok, see != nil && !see(key), see == nil && !c.Value(depth+1), !c.Space():
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

// Values is Each for whoever wants the values as they are recorded.
func (c *Cursor) Values(depth int, see func(key, value []byte) bool) bool {
	return c.Each(depth, func(key []byte) bool {
		start := c.Pos
		return c.Value(depth+1) && see(key, c.Data[start:c.Pos])
	})
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

func isDelimiter(c byte) bool {
	switch c {
	case ' ', '\n', '\r', '\t', ',', ':', '{', '}', '[', ']', '"':
		return true
	}
	return false
}
