package index

import "encoding/binary"

// A gram is what a message is found by, a key of a list. There are three kinds:
//
//   - an ASCII character;
//   - three bytes, where end stands behind the last two, so that two bytes are a range;
//   - a pair: what adjoins a space, two bytes before and three behind, or two runes of three
//     bytes, hashed. Common words are in most messages, and so are their grams of three bytes; that
//     two of them adjoin is rare.
type gram uint32

const (
	oneByte gram = 1 << 24
	pairs   gram = 2 << 24

	end = 0xFF // never a byte of UTF-8
)

func trigram(a, b, c byte) gram { return gram(a)<<16 | gram(b)<<8 | gram(c) }

// pairAt returns the pair around or at text[i], if there is one.
func pairAt(text []byte, i int) (gram, bool) {
	const multiplier = 0x9E3779B97F4A7C15
	var bytes [8]byte
	switch b := text[i]; {
	case b == ' ' && i >= 2 && i+3 < len(text):
		copy(bytes[:], text[i-2:i+4])
	case isThreeBytes(b) && i+6 <= len(text) && isThreeBytes(text[i+3]):
		copy(bytes[:], text[i:i+6])
	default:
		return 0, false
	}
	return pairs | gram(binary.LittleEndian.Uint64(bytes[:])*multiplier>>48), true
}

// isThreeBytes reports whether a rune of three bytes begins with b.
func isThreeBytes(b byte) bool { return b&0xF0 == 0xE0 }

// gramsOf appends the grams that a folded text of three bytes or more has for certain,
// wherever it occurs, each once, and at most about most of them, from all over the text.
func gramsOf(text []byte, most int) []gram {
	var grams []gram
	seen := map[gram]bool{}
	add := func(g gram) {
		if !seen[g] {
			seen[g] = true
			grams = append(grams, g)
		}
	}
	step := 1 + len(text)/most
	for i := 0; i+3 <= len(text); i += step {
		add(trigram(text[i], text[i+1], text[i+2]))
		if g, ok := pairAt(text, i); ok {
			add(g)
		}
	}
	return grams
}
