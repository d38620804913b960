package index

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// symbols compress texts one by one: each code of a byte stands for a symbol, of one to eight bytes, and the code
// escape for the byte after it. A message can be read without another one, at about the speed at which it is searched,
// which blocks of S2 or zstd do not allow. The symbols of a segment are chosen from a sample of it, as Boncz, Neumann
// and Leis describe it in "FSST: Fast Random Access String Compression" (2020).
type symbols struct {
	Values  [maxSymbols]uint64 // the bytes; the first is the lowest
	Lengths [maxSymbols]uint8
}

const (
	maxSymbols = 255
	escape     = 255
	maxLength  = 8
)

// append appends the stored form of the symbols.
func (s *symbols) append(dst []byte) []byte {
	dst, _ = binary.Append(dst, binary.LittleEndian, s)
	return dst
}

// parse reads the stored form, and reports whether it is valid.
func (s *symbols) parse(data []byte) bool {
	n, err := binary.Decode(data, binary.LittleEndian, s)
	return err == nil && n == len(data) && slices.Max(s.Lengths[:]) <= maxLength
}

// decode appends the text of codes to dst.
func (s *symbols) decode(dst, codes []byte) []byte {
	end := len(dst)
	dst = slices.Grow(dst, maxLength*(len(codes)+1))
	dst = dst[:cap(dst)]
	for i := 0; i < len(codes); i++ {
		c := codes[i]
		if c != escape {
			binary.LittleEndian.PutUint64(dst[end:end+8], s.Values[c])
			end += int(s.Lengths[c])
		} else if i++; i < len(codes) {
			dst[end] = codes[i]
			end++
		}
	}
	return dst[:end]
}

// encoder encodes with symbols.
type encoder struct {
	symbols
	// long has the code of a symbol of three or more bytes, by the hash of its first three. short has the code of a
	// symbol of one or two bytes, by the first two. Without a symbol it is escape.
	long  [1 << longBits]byte
	short [1 << 16]byte
}

const longBits = 12

func hash3(word uint64) uint32 {
	return uint32(word&0xFFFFFF) * 0x9E3779B1 >> (32 - longBits)
}

func mask(length uint8) uint64 { return ^uint64(0) >> (64 - 8*length) }

// match returns the code and the length of the symbol that word begins with: one of three or more bytes if it fits, or
// else a shorter one; escape and 1 if none fits. word has the next bytes of a text, the first one lowest. size is the
// number of bytes that the text still has.
func (e *encoder) match(word uint64, size int) (code byte, length int) {
	code = e.long[hash3(word)] // by the hash of the first three bytes
	if code == escape || word&mask(e.Lengths[code]) != e.Values[code] || int(e.Lengths[code]) > size {
		code = e.short[word&0xFFFF] // the bytes of word are not those of the long symbol
	}
	if code == escape || int(e.Lengths[code]) > size {
		return escape, 1
	}
	return code, int(e.Lengths[code])
}

// append appends the codes of a text to dst. A byte that begins no symbol becomes two codes: escape, and the byte.
func (e *encoder) append(dst, text []byte) []byte {
	dst = slices.Grow(dst, 2*len(text))
	for at := 0; at < len(text); {
		var word uint64 // the next maxLength bytes of the text or fewer; the first is the lowest
		if left := text[at:]; len(left) >= maxLength {
			word = binary.LittleEndian.Uint64(left)
		} else {
			for i, c := range left {
				word |= uint64(c) << (8 * i)
			}
		}
		code, length := e.match(word, len(text)-at)
		if dst = append(dst, code); code == escape {
			dst = append(dst, text[at])
		}
		at += length // 1 for escape
	}
	return dst
}

// set replaces the symbols by the first maxSymbols of the chosen ones, and fills the tables long and short. It leaves
// out a symbol whose place in long is taken. In short, a symbol of two bytes takes its place in any case. A symbol of
// one byte takes the free places of the byte with each second byte. A free place has the code escape.
func (e *encoder) set(chosen []symbol) {
	*e = encoder{}
	for i := range e.short {
		e.short[i], e.long[i%len(e.long)] = escape, escape
	}
	code := byte(0)
	for _, s := range chosen {
		if code == maxSymbols {
			break
		}
		switch s.length {
		case 1:
			for second := range 256 {
				if at := &e.short[int(s.value)|second<<8]; *at == escape { //nolint:gosec // a byte
					*at = code
				}
			}
		case 2:
			e.short[s.value] = code
		default:
			at := &e.long[hash3(s.value)]
			if *at != escape {
				continue
			}
			*at = code
		}
		e.Values[code], e.Lengths[code] = s.value, s.length
		code++
	}
}

// symbol is a candidate for a symbol.
type symbol struct {
	value  uint64
	length uint8
	gain   int32 // the bytes that it saves, once they are counted
}

// join returns the symbol for two in a row, cut at maxLength.
func (s symbol) join(next symbol) symbol {
	length := min(s.length+next.length, maxLength)
	return symbol{value: (s.value | next.value<<(8*s.length)) & mask(length), length: length}
}

// train chooses symbols for texts like the samples. Each round encodes the samples with the symbols so far, and then
// takes the symbols that save most bytes, among the symbols used and the joins of two adjacent ones.
func (e *encoder) train(samples [][]byte) {
	const rounds = 5
	e.set(nil)
	var codes []byte
	var sorted []symbol
	gains := map[symbol]int32{}
	for range rounds {
		clear(gains)
		for _, text := range samples {
			codes = e.append(codes[:0], text)
			var last symbol
			for i := 0; i < len(codes); i++ {
				code := min(codes[i], maxSymbols-1) // an index even for escape, which has no symbol: current is set below
				current := symbol{value: e.Values[code], length: e.Lengths[code]}
				if codes[i] == escape {
					i++
					current = symbol{value: uint64(codes[i]), length: 1}
				} else {
					gains[symbol{value: current.value & 0xFF, length: 1}] += maxLength // a bonus for the first byte alone: later rounds can join it otherwise
				}
				if gains[current] += int32(current.length); current.length == 1 {
					gains[current] += maxLength - 1 // an escaped byte takes two
				}
				if last.length > 0 && last.length < maxLength {
					joined := last.join(current)
					gains[joined] += int32(joined.length)
				}
				last = current
			}
		}
		sorted = sorted[:0]
		for s, gain := range gains {
			s.gain = gain
			sorted = append(sorted, s)
		}
		slices.SortFunc(sorted, func(a, b symbol) int {
			return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(b.length, a.length), cmp.Compare(a.value, b.value))
		})
		e.set(sorted)
	}
}
