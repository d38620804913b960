package exports

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// values reads the elements of a document that is a JSON array, or else its values, such as
// JSON lines, one after the other: only one is in memory at a time. What is wrong inside of a value
// is found by who reads that, and costs only this value, as long as brackets and quotes are in pairs.
type values struct {
	in   *bufio.Reader
	most int   // bytes of a value that is handed over
	at   int64 // offset of the next byte

	begun, isArray bool

	number int // of the current value, from 1
	offset int64
	value  []byte // nil where it has more than most bytes
	buf    []byte
	err    error // io.EOF after the last value
}

func newValues(in io.Reader, most int) *values {
	const size = 256 << 10
	v := &values{in: bufio.NewReaderSize(in, size), most: most}
	if begin, _ := v.in.Peek(len(utf8BOM)); string(begin) == utf8BOM {
		n, _ := v.in.Discard(len(utf8BOM)) // which is there
		v.at = int64(n)
	}
	return v
}

// Errors of documents.
var (
	errCutOff = errors.New("it ends in the middle: the file is not complete")
	errNoJSON = errors.New("what stands here is no JSON")
)

const utf8BOM, space = "\ufeff", " \t\r\n"

// byte returns the next byte, and false at the end.
func (v *values) byte() (c byte, ok bool) {
	if c, v.err = v.in.ReadByte(); v.err != nil {
		return 0, false
	}
	v.at++
	return c, true
}

// token returns the next byte that is no white space; 0 at the end.
func (v *values) token() byte {
	for {
		if c, ok := v.byte(); !ok || strings.IndexByte(space, c) < 0 {
			return c
		}
	}
}

// next advances to the next value. It returns false after the last one, and where the
// document ends early: err is why, and io.EOF where it is complete.
func (v *values) next() bool {
	if v.err != nil {
		return false
	}
	c := v.token()
	if !v.begun && c == '[' || v.isArray && v.number > 0 && c == ',' {
		v.isArray = true
		c = v.token()
	}
	v.begun = true
	switch {
	case v.err != nil:
		return v.cutOff(v.isArray)
	case v.isArray && c == ']':
		v.err = io.EOF
		return false
	case strings.IndexByte(`{["tfn-0123456789`, c) < 0:
		v.at--
		v.err = errNoJSON
		return false
	}
	v.number++
	v.offset = v.at - 1
	return v.read(c)
}

// cutOff returns false. At the end of the file, it notes whether that is too early.
func (v *values) cutOff(tooEarly bool) bool {
	if v.err == io.EOF && tooEarly {
		v.err = errCutOff
	}
	return false
}

// read reads the value that begins with a byte.
func (v *values) read(c byte) bool {
	v.buf = v.buf[:0]
	depth, inString, escaped := 0, false, false
	for ok := true; ok; c, ok = v.byte() {
		if len(v.buf) <= v.most {
			v.buf = append(v.buf, c)
		}
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth == 0 && !inString && v.ends(c) {
			if v.value = v.buf; len(v.buf) > v.most {
				v.value = nil
			}
			return true
		}
	}
	return v.cutOff(true)
}

// ends reports whether a value outside of which no bracket or quote is open ends with a byte.
func (v *values) ends(c byte) bool {
	if strings.IndexByte(`"}]`, c) >= 0 {
		return true
	}
	ahead, err := v.in.Peek(1)
	return err == io.EOF && !v.isArray || err == nil && strings.IndexByte(`}],:"{[`+space, ahead[0]) >= 0
}

// rest reads what follows the last value, and returns why reading has failed: a checksum is known
// to be right or wrong at the end.
func (v *values) rest() error {
	if v.err == io.EOF {
		_, v.err = io.Copy(io.Discard, v.in)
	}
	return v.err
}
