package literal

import (
	"bytes"
	"encoding/binary"
)

// IndexPair returns where the bytes a and b first stand side by side, or -1. It takes the
// same time however often one of them stands alone, where [bytes.Index] stops at each a.
func IndexPair(text []byte, a, b byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	as, bs := ones*uint64(a), ones*uint64(b)
	at := 0
	for ; at+33 <= len(text); at += 32 {
		block := text[at : at+33 : at+33]
		// A byte of these is 0 where both match.
		z0 := (binary.LittleEndian.Uint64(block) ^ as) | (binary.LittleEndian.Uint64(block[1:]) ^ bs)
		z1 := (binary.LittleEndian.Uint64(block[8:]) ^ as) | (binary.LittleEndian.Uint64(block[9:]) ^ bs)
		z2 := (binary.LittleEndian.Uint64(block[16:]) ^ as) | (binary.LittleEndian.Uint64(block[17:]) ^ bs)
		z3 := (binary.LittleEndian.Uint64(block[24:]) ^ as) | (binary.LittleEndian.Uint64(block[25:]) ^ bs)
		// The highest bit of a byte is set where that is 0, and in none where none is.
		if ((z0-ones)&^z0|(z1-ones)&^z1|(z2-ones)&^z2|(z3-ones)&^z3)&highs != 0 {
			break
		}
	}
	if i := bytes.Index(text[at:], []byte{a, b}); i >= 0 {
		return at + i
	}
	return -1
}
