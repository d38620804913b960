package exports

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// values reads the values in a document: the elements of an array, or JSON lines. Only one is in memory at a
// time. Reading ends at the first mistake.
type values struct {
	in      *io.LimitedReader
	most    int64 // the largest value, in bytes
	decoder *json.Decoder
	begin   int64 // offset at which the decoder began
	inArray bool

	number int   // of the current value, from 1
	offset int64 // of the current value, or of the end
	value  json.RawMessage
	err    error // io.EOF after the last value
}

var errTooLarge = errors.New("it has more than 64 MB") // maxConversation

// newValues returns a reader of the values in a document, each of up to most bytes. It moves past a byte order mark,
// white space, and the bracket of an array. If reading fails, next returns false.
func newValues(in io.Reader, most int64) *values {
	const size, room = 256 << 10, 512 // room is for a byte order mark and white space
	v := &values{in: &io.LimitedReader{R: in, N: most}, most: most}
	buffered := bufio.NewReaderSize(v.in, size)
	head, _ := buffered.Peek(room) // the decoder gets the error again
	rest := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	n, _ := buffered.Discard(len(head) - len(rest))
	v.begin, v.inArray = int64(n), bytes.HasPrefix(rest, []byte("["))
	v.decoder = json.NewDecoder(buffered)
	if v.inArray {
		_, v.err = v.decoder.Token()
	}
	return v
}

// next reads the next value, its number and its offset, and returns true. At the end it returns false: then err is
// io.EOF or the reason why the rest cannot be read, and offset is the place in the document where reading ended.
func (v *values) next() bool {
	if v.err != nil {
		return false
	}
	v.in.N = v.most                                      // bytes that may be read for this value
	isAfterLastElement := v.inArray && !v.decoder.More() // at the bracket, or at the end of a document without a bracket
	if isAfterLastElement {
		_, v.err = v.decoder.Token() // the bracket, or io.EOF
	} else {
		v.err = v.decoder.Decode(&v.value)
	}
	v.offset = v.begin + v.decoder.InputOffset()
	var syntax *json.SyntaxError
	switch {
	case v.err == nil && isAfterLastElement: // the array is complete
		v.err = io.EOF
	case v.err == nil: // there is a value
		v.number++
		v.offset -= int64(len(v.value)) // from the end of the value to its beginning
	case v.in.N <= 0: // the limit ended the value
		v.err = errTooLarge
	case errors.As(v.err, &syntax):
		v.err = errors.New("it is not JSON from here on")
	case v.err == io.ErrUnexpectedEOF || isAfterLastElement && v.err == io.EOF: // in a value, or before the bracket
		v.err = errors.New("it ends in the middle: the file is not complete")
	}
	return v.err == nil
}
