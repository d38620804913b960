package literal

// pairBlock is the fewest places that [indexPairBlocks] looks at.
const pairBlock = 16

// indexPairBlocks returns the first of some places, at least [pairBlock], at which p.a stands
// at text[place] and p.b at text[place+distance], or -1. It compares 64 places at a time with
// SSE2, which every amd64 has: the compiler does not, and the search for one byte that the
// standard library has stops at each of them, which are many.
//
//go:noescape
func indexPairBlocks(text *byte, places, distance int, p pair) int
