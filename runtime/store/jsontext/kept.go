package jsontext

import (
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/transcript"
)

// AtOnce is how many bytes of a text that is going to be cut are decoded
// before what is not kept goes.
const AtOnce = 256 << 10

// Decoder decodes strings that are stored in another way than as text.
type Decoder interface {
	// Append appends what a string, as it stands between its quotes, stands for.
	Append(dst, raw []byte) ([]byte, transcript.Encoding)
	// Applies reports whether that may be another text than without the decoder.
	Applies(raw []byte) bool
}

// Kept is what is kept of a text while it is appended to a buffer: its first and
// its last characters, or a part of it. The zero value keeps all.
type Kept struct {
	cuts bool // something may be left out
	part bool // a part is kept
	cut  int  // where in the buffer the text begins, or what is behind a cut or was not looked at yet
	next int  // length of the buffer at which it is looked at

	head, tail int // characters to keep of the beginning and of the end
	omitted    int // characters between them

	before, room int // characters that are still to come before the part, and in it
	chars        int // of the text up to here
}

// Keep returns what is kept of a text that begins in the buffer at start.
func Keep(start int, limits transcript.Limits) Kept {
	k := Kept{cut: start, next: start + AtOnce}
	switch most := limits.Text; {
	case limits.Part > 0:
		k.cuts, k.part = true, true
		k.before, k.room = limits.PartRange()
	case most > 0:
		k.cuts = true
		k.head = transcript.HeadChars(most)
		k.tail = most - k.head
	}
	return k
}

// KeepFirst returns the same for the first characters alone; 0 stands for all.
func KeepFirst(start, most int) Kept {
	k := Keep(start, transcript.Limits{Text: most})
	k.head, k.tail = most, 0
	return k
}

// Append appends the text of a string, as it stands between its quotes, and leaves
// out what is not kept. decoder may be nil.
func (k *Kept) Append(dst, raw []byte, decoder Decoder) ([]byte, transcript.Encoding) {
	if decoder != nil && (!k.cuts || len(raw) <= AtOnce || decoder.Applies(raw)) {
		dst, encoding := decoder.Append(dst, raw)
		return k.Finish(dst), encoding
	}
	if !k.cuts {
		return transcript.AppendUnescaped(dst, raw), transcript.Plain
	}
	for len(raw) > 0 {
		dst, raw = transcript.AppendSome(dst, raw, AtOnce)
		dst = k.Shorten(dst)
	}
	return k.Finish(dst), transcript.Plain
}

// AppendPlain appends a text, and leaves out what is not kept. Bytes that are not UTF-8
// become U+FFFD.
func (k *Kept) AppendPlain(dst, text []byte) []byte {
	if !k.cuts {
		return transcript.AppendValid(dst, text)
	}
	for len(text) > 0 {
		end := len(text)
		if end > AtOnce {
			for end = AtOnce; end > AtOnce-utf8.UTFMax && !utf8.RuneStart(text[end]); end-- {
			}
		}
		dst, text = k.Shorten(transcript.AppendValid(dst, text[:end])), text[end:]
	}
	return k.Finish(dst)
}

// Shorten leaves out what is known not to be kept, when that has become much.
func (k *Kept) Shorten(dst []byte) []byte {
	if !k.cuts || len(dst) < k.next {
		return dst
	}
	dst = k.Finish(dst)
	k.next = len(dst) + max(len(dst)-k.cut, AtOnce)
	return dst
}

// Finish leaves out what is not kept.
func (k *Kept) Finish(dst []byte) []byte {
	switch {
	case !k.cuts:
		return dst
	case k.part:
		return k.finishPart(dst)
	}
	head := k.head
	if k.omitted > 0 {
		head = 0 // it is before the cut
	}
	first, last, omitted := text.Ends(dst[k.cut:], head, k.tail)
	if omitted == 0 {
		return dst
	}
	k.omitted += omitted
	k.cut += len(first)
	return append(dst[:k.cut], last...)
}

// finishPart looks at what has been appended since it did so before.
func (k *Kept) finishPart(dst []byte) []byte {
	added := dst[k.cut:]
	n := utf8.RuneCount(added)
	before, _, _ := text.Ends(added, k.before, 0)
	inside, _, _ := text.Ends(added[len(before):], k.room, 0)
	k.chars += n
	k.before -= min(k.before, n)
	k.room -= utf8.RuneCount(inside)
	dst = append(dst[:k.cut], inside...)
	k.cut = len(dst)
	return dst
}

// Describe sets the numbers of a text of which all has been appended.
func (k *Kept) Describe(info *transcript.BodyInfo) {
	switch {
	case k.part:
		info.Chars = k.chars
	case k.omitted > 0:
		info.Chars, info.Head = k.head+k.tail+k.omitted, k.head
	}
}
