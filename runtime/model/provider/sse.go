package provider

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// maxLine is the longest line of a stream, in bytes.
const maxLine = 16 << 20

// events yields the data of server-sent events (WHATWG HTML, 9.2.6). An event that has not ended with the stream is
// none.
func events(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		var data []byte
		for lines.Scan() {
			line := lines.Bytes()
			field, value, _ := bytes.Cut(line, []byte(":"))
			switch {
			case len(line) == 0 && data != nil:
				if !yield(data[:len(data)-1], nil) {
					return
				}
				data = nil
			case string(field) == "data":
				data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}
