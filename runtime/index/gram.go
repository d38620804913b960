package index

import "encoding/binary"

// A gram is what a message is found by, a key of a list. There are three kinds:
//
//   - an ASCII character;
//   - three bytes, where end stands behind the last two, so that two bytes are a range;
//   - a pair: what adjoins a space, two bytes before and three behind, or two runes of three
//     bytes. Common words are in most messages, and so are their grams of three bytes; that two
//     of them adjoin is rare. All but the last byte are hashed to the upper bits, and that to
//     the lowest four, so that pairs of which it is not known are a range.
type gram uint32

const (
	oneByte gram = 1 << 24
	pairs   gram = 2 << 24

	end = 0xFF // never a byte of UTF-8
)

func trigram(a, b, c byte) gram { return gram(a)<<16 | gram(b)<<8 | gram(c) }

// pairAt returns the pair around or at text[i], if there is one. Where the text ends in front
// of its last byte, it is the first one of a range, to last.
func pairAt(text []byte, i int) (first, last gram, ok bool) {
	const multiplier = 0x9E3779B97F4A7C15
	const size = 6
	switch b := text[i]; {
	case b == ' ' && i >= 2 && i+2 < len(text):
		i -= 2
	case isThreeBytes(b) && i+5 <= len(text) && isThreeBytes(text[i+3]):
	default:
		return 0, 0, false
	}
	text = text[i:]
	upper := (uint64(binary.LittleEndian.Uint32(text)) | uint64(text[4])<<32) * multiplier >> 52 << 4
	first, last = pairs|gram(upper), pairs|gram(upper)|0xF
	if len(text) >= size {
		first |= gram(text[5] * 0x9D >> 4)
		last = first
	}
	return first, last, true
}

// isThreeBytes reports whether a rune of three bytes begins with b.
func isThreeBytes(b byte) bool { return b&0xF0 == 0xE0 }

// grams is a range of grams, of which a text has one.
type grams struct{ first, last gram }

// gramsOf appends the grams that a folded text of three bytes or more has for certain,
// wherever it occurs, each once, and at most about most of them, from all over the text.
func gramsOf(text []byte, most int) []grams {
	var all []grams
	seen := map[grams]bool{}
	add := func(g grams) {
		if !seen[g] {
			seen[g] = true
			all = append(all, g)
		}
	}
	step := 1 + len(text)/most
	for i := 0; i+3 <= len(text); i += step {
		g := trigram(text[i], text[i+1], text[i+2])
		add(grams{g, g})
		if first, last, ok := pairAt(text, i); ok {
			add(grams{first, last})
		}
	}
	return all
}
