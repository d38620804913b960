package exports

import (
	"bufio"
	"bytes"
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

	begun   bool
	isArray bool

	number int // of the current value, from 1
	offset int64
	value  []byte // nil where it has more than most bytes
	buf    []byte
	err    error // io.EOF after the last value
}

func newValues(in io.Reader, most int) *values {
	const size = 256 << 10
	return &values{in: bufio.NewReaderSize(in, size), most: most}
}

// Errors of documents.
var (
	errCutOff = errors.New("it ends in the middle: the file is not complete")
	errNoJSON = errors.New("what stands here is no JSON")
)

const utf8BOM = "\ufeff"

// fail returns false, and keeps why there is no value.
func (v *values) fail(err error) bool {
	if v.err == nil {
		v.err = err
	}
	return false
}

func (v *values) skip(n int) {
	n, _ = v.in.Discard(n) // of what is buffered
	v.at += int64(n)
}

// ahead returns what is buffered, at least a byte; nothing at the end.
func (v *values) ahead() []byte {
	if _, err := v.in.Peek(1); err != nil && err != io.EOF {
		v.fail(err)
	}
	ahead, _ := v.in.Peek(v.in.Buffered()) // which there is
	return ahead
}

// peek moves over white space to the next byte, and returns it; 0 at the end.
func (v *values) peek() byte {
	for ahead := v.ahead(); len(ahead) > 0; ahead = v.ahead() {
		left := bytes.TrimLeft(ahead, " \t\r\n")
		v.skip(len(ahead) - len(left))
		if len(left) > 0 {
			return left[0]
		}
	}
	return 0
}

// next advances to the next value. It returns false after the last one, and where the
// document ends early: err is why, and nil where it is complete.
func (v *values) next() bool {
	if v.err != nil {
		return false
	}
	if !v.begun {
		v.begun = true
		if begin, _ := v.in.Peek(len(utf8BOM)); string(begin) == utf8BOM {
			v.skip(len(utf8BOM))
		}
		if v.isArray = v.peek() == '['; v.isArray {
			v.skip(1)
		}
	}
	c := v.peek()
	if v.isArray && v.number > 0 && c == ',' {
		v.skip(1)
		c = v.peek()
	}
	switch {
	case v.isArray && c == ']':
		return v.fail(io.EOF)
	case len(v.ahead()) == 0 && v.isArray:
		return v.fail(errCutOff)
	case len(v.ahead()) == 0:
		return v.fail(io.EOF)
	case strings.IndexByte(`{["tfn-0123456789`, c) < 0:
		return v.fail(errNoJSON)
	}
	v.number++
	v.offset = v.at
	return v.read()
}

// read reads the value that begins here.
func (v *values) read() bool {
	v.buf = v.buf[:0]
	var s scanner
	for done := false; !done; {
		ahead := v.ahead()
		if len(ahead) == 0 {
			if s.depth > 0 || s.inString || v.isArray || v.err != nil {
				return v.fail(errCutOff)
			}
			break // after a number
		}
		n := 0
		n, done = s.scan(ahead)
		if len(v.buf) <= v.most {
			v.buf = append(v.buf, ahead[:n]...)
		}
		v.skip(n)
	}
	if v.value = v.buf; len(v.buf) > v.most {
		v.value = nil
	}
	return true
}

// rest reads what follows the last value, and returns why reading has failed: a checksum is known
// to be right or wrong at the end.
func (v *values) rest() error {
	if v.err == io.EOF {
		_, v.err = io.Copy(io.Discard, v.in)
	}
	return v.err
}

// scanner finds the end of a JSON value in parts of text.
type scanner struct {
	depth             int
	inString, escaped bool
}

// scan looks at the next part, and returns how much of it belongs to the value, and
// whether that ends there.
func (s *scanner) scan(part []byte) (n int, done bool) {
	for i, c := range part {
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString:
			s.escaped, s.inString = c == '\\', c != '"'
			if !s.inString && s.depth == 0 {
				return i + 1, true
			}
		case c == '"':
			s.inString = true
		case c == '{' || c == '[':
			s.depth++
		case s.depth == 0 && strings.IndexByte("}],: \t\r\n", c) >= 0:
			return i, true
		case c == '}' || c == ']':
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(part), false
}
