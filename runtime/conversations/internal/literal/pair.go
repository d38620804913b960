package literal

// pair is two bytes that stand at some distance from each other in every match of a
// pattern. A byte of text is the one of them that it is equal to once the bits of the mask
// are set: the bit in which the cases of a letter differ.
type pair struct{ a, maskA, b, maskB byte }

// index returns the first place in text at which the pair stands, or -1.
func (p *pair) index(text []byte, distance int) int {
	places := len(text) - distance
	if places >= pairBlock {
		return indexPairBlocks(&text[0], places, distance, *p)
	}
	for i := range max(places, 0) {
		if p.isAt(text, i, distance) {
			return i
		}
	}
	return -1
}

func (p *pair) isAt(text []byte, i, distance int) bool {
	return text[i]|p.maskA == p.a && text[i+distance]|p.maskB == p.b
}

// IndexPair returns where the bytes a and b first stand side by side, or -1. It takes the
// same time however often one of them stands alone, where [bytes.Index] stops at each a.
func IndexPair(text []byte, a, b byte) int {
	return (&pair{a: a, b: b}).index(text, 1)
}
