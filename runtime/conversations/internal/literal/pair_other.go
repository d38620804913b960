//go:build !amd64

package literal

import (
	"encoding/binary"
	"unsafe"
)

// pairBlock is the fewest places that [indexPairBlocks] looks at.
const pairBlock = 8

// indexPairBlocks returns the first of some places, at least [pairBlock], at which p.a stands
// at text[place] and p.b at text[place+distance], or -1.
func indexPairBlocks(text *byte, places, distance int, p pair) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	a, b, maskA, maskB := ones*uint64(p.a), ones*uint64(p.b), ones*uint64(p.maskA), ones*uint64(p.maskB)
	firsts := unsafe.Slice(text, places+distance)
	seconds := firsts[distance:]
	for at := 0; ; at = min(at+pairBlock, places-pairBlock) {
		// A byte of it is 0 where both match.
		z := binary.LittleEndian.Uint64(firsts[at:]) | maskA ^ a | binary.LittleEndian.Uint64(seconds[at:]) | maskB ^ b
		// The highest bit of a byte is set where that is 0, and in none where none is.
		if (z-ones)&^z&highs != 0 {
			for i := at; i < at+pairBlock; i++ {
				if p.isAt(firsts, i, distance) {
					return i
				}
			}
		}
		if at == places-pairBlock {
			return -1
		}
	}
}
