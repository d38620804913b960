package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// readBuffer holds what most messages need, in bytes.
const readBuffer = 64 << 10

// errFrameTooLong is the error for a frame of more bytes than its reader allows.
var errFrameTooLong = errors.New("message too long")

// frameReader splits a stream into lines, one message each. It never holds more
// than one line of at most max bytes.
type frameReader struct {
	r    *bufio.Reader
	max  int
	line []byte // of a frame longer than the buffer of r
}

func newFrameReader(r io.Reader, limit int) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, readBuffer), max: limit}
}

// next returns the next line that is not blank, without the white space around
// it. It is valid until the next call. A line that is too long is skipped: its
// beginning comes with errFrameTooLong, and the line after it is next. The last line
// does not have to end.
func (f *frameReader) next() ([]byte, error) {
	if cap(f.line) > readBuffer {
		f.line = nil // one large message must not cost its size for the whole session
	}
	for {
		f.line = f.line[:0]
		line, err := f.read()
		if err == nil || errors.Is(err, io.EOF) {
			// Some editors and shells put a byte order mark before what they send.
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
			if line = bytes.Trim(line, " \t\r\n"); len(line) > 0 {
				return line, nil
			}
		}
		if err != nil {
			return line, err
		}
	}
}

// read returns one line without its line feed, io.EOF along with the last one.
func (f *frameReader) read() ([]byte, error) {
	tooLong := false
	for {
		part, err := f.r.ReadSlice('\n')
		part, ended := bytes.CutSuffix(part, []byte("\n"))
		if ended && len(f.line) == 0 && len(part) <= f.max {
			return part, nil
		}
		if room := f.max - len(f.line); len(part) > room {
			part, tooLong = part[:room], true
		}
		f.line = append(f.line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull): // the line goes on
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return f.line, errFrameTooLong // the end of the stream, if this is it, comes again
		default:
			return f.line, err
		}
	}
}
