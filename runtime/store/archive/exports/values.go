package exports

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// values reads the objects in a document: the elements of an array, or JSON lines. Only one is in memory
// at a time. A mistake in an object costs only this object, as long as brackets and quotes come in pairs.
type values struct {
	in      *bufio.Reader
	most    int   // the largest value, in bytes
	at      int64 // offset of the next byte
	inArray bool

	number int // of the current value, from 1
	offset int64
	value  []byte // nil if it is too large
	buf    []byte
	err    error // io.EOF after the last value
}

// Errors of documents.
var (
	errCutOff  = errors.New("it ends in the middle: the file is not complete")
	errNotJSON = errors.New("it is not JSON from here on")
)

func newValues(in io.Reader, most int) *values {
	const size, mark = 256 << 10, "\ufeff"
	v := &values{in: bufio.NewReaderSize(in, size), most: most}
	if begin, _ := v.in.Peek(len(mark)); string(begin) == mark {
		n, _ := v.in.Discard(len(mark)) // which is in the buffer
		v.at = int64(n)
	}
	return v
}

// byte returns the next byte. At the end of the file it sets the error.
func (v *values) byte() byte {
	c, err := v.in.ReadByte()
	v.err = err
	v.at++
	return c
}

// next advances to the next value. It returns false after the last one, and if the document cannot be read
// further.
func (v *values) next() bool {
	for v.err == nil {
		switch c := v.byte(); {
		case v.err == io.EOF && v.inArray:
			v.err = errCutOff
		case v.err != nil:
		case c == '{':
			v.number++
			v.offset = v.at - 1
			return v.object()
		case c == '[':
			v.inArray = true
		case c == ']':
			v.err = io.EOF
		case strings.IndexByte(" \t\r\n,", c) < 0:
			v.at--
			v.err = errNotJSON
		}
	}
	return false
}

// object reads the rest of an object.
func (v *values) object() bool {
	v.buf = append(v.buf[:0], '{')
	inString, escaped := false, false
	for depth := 1; depth > 0; {
		c := v.byte()
		switch {
		case v.err == io.EOF:
			v.err = errCutOff
			return false
		case v.err != nil:
			return false
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
		if len(v.buf) <= v.most {
			v.buf = append(v.buf, c)
		}
	}
	if v.value = v.buf; len(v.buf) > v.most {
		v.value = nil
	}
	return true
}
