package index

import (
	"math"
	"math/bits"
)

// set is a set of documents of a segment, which are its messages.
type set []uint64

func newSet(documents uint32) set { return make(set, (documents+63)/64) }

// fullSet returns the set of all documents, and maybe some after them.
func fullSet(documents uint32) set {
	m := newSet(documents)
	for i := range m {
		m[i] = math.MaxUint64
	}
	return m
}

func (m set) add(document uint32)      { m[document/64] |= 1 << (document % 64) }
func (m set) has(document uint32) bool { return m[document/64]>>(document%64)&1 != 0 }

func (m set) count() (n uint32) {
	for _, word := range m {
		n += uint32(bits.OnesCount64(word)) //nolint:gosec // of documents
	}
	return n
}

// next returns the first document of the set from one on, or most.
func (m set) next(from, most uint32) uint32 {
	for from < most {
		if word := m[from/64] >> (from % 64); word != 0 {
			return min(most, from+uint32(bits.TrailingZeros64(word))) //nolint:gosec // below 64
		}
		from = (from/64 + 1) * 64
	}
	return most
}

func (m set) and(other set) {
	for i := range m {
		m[i] &= other[i]
	}
}
