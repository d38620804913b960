package index

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A gram is the key of a list. There are these kinds:
//
//   - three bytes of a text, padded with end after its last two bytes and its last byte, so that one or two bytes are
//     a range of grams;
//   - a pair: the bytes around a space, three before and four after, or two runes of three bytes. Common words and their
//     three bytes are in most messages, but two given ones are rarely adjacent. The upper bits are a hash of the bytes that
//     the text of a query always has: two before the space and two after, or all but the last. The lower bits are a hash
//     of the third after the space, and of the outermost two, or bits of the last byte, so that pairs with unknown bytes
//     are a range;
//   - a term of package terms, and a term that a message has often.
type gram uint32

const (
	pairs    gram = 1 << 24
	pairBits      = 18
	pairRest      = 6    // the lower bits
	end           = 0xFF // never a byte of UTF-8
)

// The keys of terms are 30 bits of a hash. Of a million terms about five hundred share a key with another one. That
// can change a ranking, but no literal search.
const (
	termBits      = 30
	hasTerm  gram = 2 << termBits
	hasOften gram = 3 << termBits
)

// hashOf returns a hash of a word.
func hashOf(word []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range word {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// keyOf returns the key of the term with a hash. The key is never 30 ones: the gram of all ones ends the lists.
func keyOf(hash uint64) gram {
	return min(gram(hash>>(64-termBits)), 1<<termBits-2) //nolint:gosec // 30 bits
}

// termKey is keyOf of a term.
func termKey(term string) gram { return keyOf(hashOf([]byte(term))) }

func trigram(a, b, c byte) gram { return gram(a)<<16 | gram(b)<<8 | gram(c) }

// pairAt returns the gram of the pair at text[i], both as first and as last. A pair is a space with three bytes before
// and four after, or two runes of three bytes. ok is false if neither is at text[i], or if the text lacks one of the
// five bytes that must be known. If the text lacks only other bytes, first and last bound the grams that the pair can
// have.
func pairAt(text []byte, i int) (first, last gram, ok bool) {
	const multiplier = 0x9E3779B97F4A7C15
	isSpace, from := text[i] == ' ', i // the five bytes that must be known begin at from
	switch {
	case isSpace && i >= 2 && i+2 < len(text): // two bytes before the space, and two after
		from = i - 2
	case isThreeBytes(text[i]) && i+5 <= len(text) && isThreeBytes(text[i+3]): // two runes, perhaps without the last byte
	default:
		return 0, 0, false
	}
	known, rest := text[from:from+5], text[from+5:]
	hash := (uint64(binary.LittleEndian.Uint32(known)) | uint64(known[4])<<32) * multiplier >> (64 - pairBits + pairRest)
	first = pairs | gram(hash)<<pairRest //nolint:gosec // 12 bits; the lower pairRest bits are of the other bytes
	switch {
	case len(rest) == 0: // no other byte is known
		return first, first | (1<<pairRest - 1), true
	case !isSpace: // of two runes: bits of the last byte
		first |= gram(rest[0] & (1<<pairRest - 1))
	default: // of a space: three bits for the third byte after it, three for the two outermost bytes
		first |= gram(rest[0]*0x2D>>5) << 3 // odd factors spread the bytes over the three upper bits of the product
		if i == 2 || len(rest) == 1 {       // an outermost byte is unknown
			return first, first | 7, true
		}
		first |= gram((rest[1]*0x2D + text[i-3]*0x61) >> 5)
	}
	return first, first, true
}

// isThreeBytes reports whether b begins a rune of three bytes.
func isThreeBytes(b byte) bool { return b&0xF0 == 0xE0 }

// gramRange is a range of grams.
type gramRange struct{ first, last gram }

// mostPlaces is the maximum number of places of a text at which gramRanges takes grams.
const mostPlaces = 96

// gramRanges returns sorted ranges of grams for a search for a folded text; nil for the empty text. A gram is the key
// of a list of messages. Every message that contains the text is in a list of each range. For one to three bytes there
// is one range, whose lists have no other messages. For a longer text there are the ranges of the three bytes at some
// places, and of the pairs there.
func gramRanges(text []byte) (ranges []gramRange) {
	switch len(text) {
	case 0:
		return nil
	case 1:
		return []gramRange{{trigram(text[0], 0, 0), trigram(text[0], end, end)}}
	case 2:
		return []gramRange{{trigram(text[0], text[1], 0), trigram(text[0], text[1], end)}}
	}
	for i := 0; i+3 <= len(text); i += 1 + len(text)/mostPlaces { // at most mostPlaces places, all over the text
		g := trigram(text[i], text[i+1], text[i+2])
		ranges = append(ranges, gramRange{g, g})
		if first, last, ok := pairAt(text, i); ok { // fewer messages have it than the three bytes
			ranges = append(ranges, gramRange{first, last})
		}
	}
	slices.SortFunc(ranges, func(a, b gramRange) int { return cmp.Compare(a.first, b.first) })
	return slices.Compact(ranges)
}
