package provider

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// eventReader reads a stream of server-sent events (WHATWG HTML, 9.2.6), with bounds on what is kept of it.
type eventReader struct {
	lines *bufio.Scanner
	most  int // bytes of an event
}

var errEventTooLarge = errors.New("an event is too large")

func newEventReader(r io.Reader, most int) *eventReader {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, most+len("\ufeff\r\n"))
	first, returned := true, false // the last line ended in CR, so that LF is a part of its end
	lines.Split(func(data []byte, _ bool) (advance int, line []byte, err error) {
		begin := 0
		if returned && len(data) > 0 {
			if returned = false; data[0] == '\n' {
				begin = 1
			}
		}
		length := bytes.IndexAny(data[begin:], "\r\n")
		if length < 0 {
			return begin, nil, nil // a line that has no end is none
		}
		end := begin + length
		line = data[begin:end:end]
		if returned = data[end] == '\r'; first {
			first, line = false, bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		return end + 1, line, nil
	})
	return &eventReader{lines: lines, most: most}
}

// next returns the data of the next event that has some, with a line feed between that of its fields. At the end of the
// stream the error is [io.EOF]; an event that has not ended by then is none.
func (r *eventReader) next() ([]byte, error) {
	var data []byte
	for r.lines.Scan() {
		line := r.lines.Bytes()
		if len(data)+len(line) > r.most {
			return nil, errEventTooLarge
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0 && data != nil:
			return data[:len(data)-1], nil
		case string(field) == "data":
			data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
		}
	}
	switch err := r.lines.Err(); {
	case err == nil:
		return nil, io.EOF
	case errors.Is(err, bufio.ErrTooLong):
		return nil, errEventTooLarge
	default:
		return nil, err
	}
}
