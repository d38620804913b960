package index

import (
	"encoding/binary"
	"math/bits"
)

// A list is stored as the differences of its documents, less one, in Rice codes: the bits
// above the lowest ones as so many set bits, a zero, and the lowest ones. How many are the
// lowest follows from how long the list is. A difference with mostOnes bits set or more is
// these, and then itself in 32 bits.
const mostOnes = 24

// behindLists is how many bytes there are behind all lists, so that eight can be read at
// each place of one.
const behindLists = 8

// lowBits returns how many bits are the lowest ones in the list of count of all documents.
func lowBits(count, documents uint32) int {
	mean := uint64(documents) * 7 / (10 * uint64(max(count, 1)))
	return max(0, bits.Len64(mean)-1)
}

// bitWriter writes bits, the first one of a byte lowest.
type bitWriter struct {
	data []byte
	word uint64
	used int
}

// write writes at most 32 bits.
func (w *bitWriter) write(value uint64, n int) {
	w.word |= value << w.used
	if w.used += n; w.used >= 32 {
		w.data = binary.LittleEndian.AppendUint32(w.data, uint32(w.word)) //nolint:gosec // the lower half
		w.word >>= 32
		w.used -= 32
	}
}

func (w *bitWriter) flush() {
	for ; w.used > 0; w.used -= 8 {
		w.data = append(w.data, byte(w.word))
		w.word >>= 8
	}
	w.word, w.used = 0, 0
}

// difference writes a difference, less one.
func (w *bitWriter) difference(d uint32, low int) {
	high := d >> low
	if high >= mostOnes {
		w.write(1<<mostOnes-1, mostOnes)
		w.write(uint64(d), 32)
		return
	}
	ones, lowest := uint64(1)<<high-1, uint64(d)&(1<<low-1)
	if n := int(high) + 1 + low; n <= 32 {
		w.write(ones|lowest<<(high+1), n)
		return
	}
	w.write(ones, int(high)+1)
	w.write(lowest, low)
}

// addDifferences adds the count documents of a list to a set, and reports whether they were
// of so many. There are behindLists bytes more in data.
func addDifferences(to set, data []byte, count, documents uint32) bool {
	low := lowBits(count, documents)
	lowest := uint64(1)<<low - 1
	at := uint64(0) // the least that the next document can be
	place := 0      // in bits
	last := 8 * (len(data) - behindLists)
	for range count {
		if place > last {
			return false
		}
		word := binary.LittleEndian.Uint64(data[place>>3:]) >> (place & 7)
		ones := bits.TrailingZeros64(^word)
		if ones < mostOnes {
			at += uint64(ones)<<low | word>>(ones+1)&lowest
			place += ones + 1 + low
		} else {
			place += mostOnes
			if place > last {
				return false
			}
			at += binary.LittleEndian.Uint64(data[place>>3:]) >> (place & 7) & 0xFFFFFFFF
			place += 32
		}
		if at >= uint64(documents) {
			return false
		}
		to[at/64] |= 1 << (at % 64)
		at++
	}
	return true
}
