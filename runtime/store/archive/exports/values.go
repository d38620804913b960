package exports

import (
	"bytes"
	"errors"
	"io"

	"github.com/convtools/convtools/runtime/store/jsontext"
)

// values reads the elements of a document that is a JSON array, or else its values, such as
// JSON lines, one after the other: only one is in memory at a time. What is wrong inside of a value is found by who
// reads that, and costs only this value, as long as brackets and quotes are in pairs.
type values struct {
	in   io.Reader
	most int // bytes of a value that is handed over

	buf     []byte
	pos     int   // of the next byte in buf
	base    int64 // offset in the document of the first byte of buf
	begun   bool
	ended   bool // nothing follows
	isArray bool

	number int // of the current value, from 1
	offset int64
	value  []byte // nil where it has more than most bytes
	err    error
}

func newValues(in io.Reader, most int) *values { return &values{in: in, most: most} }

// Errors of documents.
var (
	errCutOff = errors.New("it ends in the middle: the file is not complete")
	errNoJSON = errors.New("what stands here is no JSON")
)

const (
	chunkSize = 256 << 10
	utf8BOM   = "\ufeff"
)

// fill reads more into the buffer, of which nothing before keep is needed any more. It
// returns false at the end, and where reading fails.
func (v *values) fill(keep int) bool {
	n := copy(v.buf, v.buf[keep:])
	v.buf, v.pos, v.base = v.buf[:n], v.pos-keep, v.base+int64(keep)
	if cap(v.buf)-n < chunkSize {
		grown := make([]byte, n, max(4*chunkSize, min(2*cap(v.buf), v.most+2*chunkSize)))
		copy(grown, v.buf)
		v.buf = grown
	}
	for range 100 { // readings of nothing, as package bufio has it
		n, err := v.in.Read(v.buf[len(v.buf):cap(v.buf)])
		v.buf = v.buf[:len(v.buf)+n]
		switch {
		case n > 0:
			return true
		case err == io.EOF:
			return false
		case err != nil:
			v.err = err
			return false
		}
	}
	v.err = io.ErrNoProgress
	return false
}

// rest reads what follows the last value: a checksum is known to be right or wrong at the end.
func (v *values) rest() {
	for v.err == nil && v.fill(len(v.buf)) {
		v.pos = len(v.buf)
	}
}

// space moves over white space to the next byte, and returns false where there is none.
func (v *values) space() bool {
	for {
		if v.pos = jsontext.SkipSpace(v.buf, v.pos); v.pos < len(v.buf) {
			return true
		}
		if !v.fill(v.pos) {
			return false
		}
	}
}

func (v *values) fail(err error) bool {
	if v.err == nil {
		v.err = err
	}
	return false
}

// begin looks at the beginning of the document. It returns false where there is nothing.
func (v *values) begin() bool {
	v.begun = true
	for len(v.buf) < len(utf8BOM) && v.fill(0) {
	}
	if bytes.HasPrefix(v.buf, []byte(utf8BOM)) {
		v.pos = len(utf8BOM)
	}
	if !v.space() {
		return false
	}
	if v.isArray = v.buf[v.pos] == '['; v.isArray {
		v.pos++
	}
	return true
}

// next advances to the next value. It returns false behind the last one, and where the
// document ends early: err is why.
func (v *values) next() bool {
	switch {
	case v.ended || v.err != nil:
		return false
	case !v.begun && !v.begin():
		v.ended = true
		return false
	case !v.isArray && !v.space():
		v.ended = true
		return false
	case v.isArray:
		for separated := false; ; separated = true {
			if !v.space() {
				return v.fail(errCutOff)
			}
			if c := v.buf[v.pos]; c == ']' {
				v.ended = true
				return false
			} else if c != ',' || separated {
				break
			}
			v.pos++
		}
	}
	v.number++
	v.offset = v.base + int64(v.pos)
	return v.read()
}

// read reads the value at v.pos.
func (v *values) read() bool {
	start, tooLarge := v.pos, false
	v.value = nil
	if bytes.IndexByte([]byte(`{["tfn-0123456789`), v.buf[start]) < 0 {
		return v.fail(errNoJSON)
	}
	var s scanner
	for {
		n, done := s.scan(v.buf[v.pos:])
		v.pos += n
		if done {
			break
		}
		keep := start
		if tooLarge = tooLarge || v.pos-start > v.most; tooLarge {
			keep = v.pos
		}
		more := v.fill(keep)
		if start -= keep; tooLarge {
			start = v.pos
		}
		if !more && (v.err != nil || s.depth > 0 || s.inString || v.isArray) {
			return v.fail(errCutOff)
		}
		if !more {
			break // behind a number
		}
	}
	if tooLarge = tooLarge || v.pos-start > v.most; !tooLarge {
		v.value = v.buf[start:v.pos]
	}
	return true
}

// scanner finds the end of a JSON value in parts of text.
type scanner struct {
	depth             int
	inString, escaped bool
}

// scan looks at the next part, and returns how much of it belongs to the value, and
// whether that ends there.
func (s *scanner) scan(part []byte) (n int, done bool) {
	for i := 0; i < len(part); i++ {
		switch {
		case s.escaped:
			s.escaped = false
			continue
		case s.inString:
			end := len(part)
			if quote := bytes.IndexByte(part[i:], '"'); quote >= 0 {
				end = i + quote
			}
			slashes := end
			for slashes > i && part[slashes-1] == '\\' {
				slashes--
			}
			s.escaped = (end-slashes)%2 == 1
			if i = end; i == len(part) {
				return i, false
			}
			if s.escaped {
				s.escaped = false // the quote
				continue
			}
			if s.inString = false; s.depth == 0 {
				return i + 1, true
			}
			continue
		}
		switch part[i] {
		case '"':
			s.inString = true
		case '{', '[':
			s.depth++
		case '}', ']':
			if s.depth == 0 {
				return i, true
			}
			if s.depth--; s.depth == 0 {
				return i + 1, true
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if s.depth == 0 {
				return i, true
			}
		}
	}
	return len(part), false
}
