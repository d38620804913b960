package provider

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// event is a server-sent event.
type event struct {
	name string // of the field event; empty where there is none
	data []byte // of the fields data, with a line feed between them
}

// eventReader reads a stream of server-sent events (WHATWG HTML, 9.2.6), with bounds on what is kept of it.
type eventReader struct {
	r        *bufio.Reader
	most     int  // bytes of an event
	lines    bool // something other than a byte order mark has been read
	returned bool // the last line ended in CR, so that LF is a part of its end
}

var errEventTooLarge = errors.New("an event is too large")

func newEventReader(r io.Reader, most int) *eventReader {
	return &eventReader{r: bufio.NewReader(r), most: most}
}

// next returns the next event that has data. At the end of the stream the error is [io.EOF]; an event that has not
// ended by then is none.
func (r *eventReader) next() (event, error) {
	var e event
	hasData := false
	for {
		line, err := r.line(len(e.data))
		if err != nil {
			return event{}, err
		}
		if len(line) == 0 {
			if hasData {
				return e, nil
			}
			e = event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			e.name = string(value)
		case "data":
			if hasData {
				e.data = append(e.data, '\n')
			}
			hasData = true
			e.data = append(e.data, value...)
		}
	}
}

// line returns a line without its end: LF, CR or both. kept is how much of the event is kept already.
func (r *eventReader) line(kept int) ([]byte, error) {
	var line []byte
	for {
		b, err := r.r.ReadByte()
		if err != nil {
			return nil, err
		}
		after := r.returned
		r.returned = b == '\r'
		switch {
		case b == '\n' && after:
			continue
		case b == '\n' || b == '\r':
			if !r.lines {
				r.lines = true
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			return line, nil
		case kept+len(line) >= r.most:
			return nil, errEventTooLarge
		}
		line = append(line, b)
	}
}
