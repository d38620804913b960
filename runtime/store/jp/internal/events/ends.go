package events

import (
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/transcript"
)

// decodedAtOnce is how many bytes of a text that is going to be cut are decoded
// before what is not kept goes.
const decodedAtOnce = 256 << 10

// ends keeps the first and the last characters of a text while it is appended to a
// buffer. The zero value keeps all.
type ends struct {
	max        int // characters that are kept; 0 for all
	head, tail int // of these, at the beginning and at the end
	cut        int // where in the buffer the text begins, or once it is cut what was behind the cut
	next       int // length of the buffer at which the text is shortened
	omitted    int // characters
}

// newEnds returns ends for a text that begins in the buffer at start.
func newEnds(start, max int) ends {
	head := transcript.HeadChars(max)
	return ends{max: max, head: head, tail: max - head, cut: start, next: start + decodedAtOnce}
}

// append appends the text of a stored string, and leaves out its middle.
func (e *ends) append(dst, raw []byte, base64 bool) ([]byte, transcript.Encoding) {
	if base64 && (e.max == 0 || len(raw) <= decodedAtOnce || mayBeBase64(raw)) {
		dst, encoding := appendStored(dst, raw)
		return e.finish(dst), encoding
	}
	if e.max == 0 {
		return transcript.AppendUnescaped(dst, raw), transcript.Plain
	}
	for len(raw) > 0 {
		dst, raw = transcript.AppendSome(dst, raw, decodedAtOnce)
		dst = e.shorten(dst)
	}
	return e.finish(dst), transcript.Plain
}

// shorten leaves out what is known to be in the middle, when that has become much.
func (e *ends) shorten(dst []byte) []byte {
	if e.max == 0 || len(dst) < e.next {
		return dst
	}
	dst = e.finish(dst)
	e.next = len(dst) + max(len(dst)-e.cut, decodedAtOnce)
	return dst
}

// finish leaves out what is in the middle.
func (e *ends) finish(dst []byte) []byte {
	if e.max == 0 {
		return dst
	}
	head := e.head
	if e.omitted > 0 {
		head = 0 // it is before the cut
	}
	first, last, omitted := text.Ends(dst[e.cut:], head, e.tail)
	if omitted == 0 {
		return dst
	}
	e.omitted += omitted
	e.cut += len(first)
	return append(dst[:e.cut], last...)
}

// chars returns how many characters a text has that was cut, and how many of them
// are before the cut; zeros for one that is whole.
func (e *ends) chars() (all, head int) {
	if e.omitted == 0 {
		return 0, 0
	}
	return e.max + e.omitted, e.head
}

// mayBeBase64 reports whether a string, as it stands between its quotes, decodes to
// text that has no other characters than base64.
func mayBeBase64(raw []byte) bool {
	var buf []byte
	for len(raw) > 0 {
		if buf, raw = transcript.AppendSome(buf[:0], raw, decodedAtOnce); !onlyBase64(buf) {
			return false
		}
	}
	return true
}
