package index

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
)

// symbols compress texts one by one: each code of a byte stands for a symbol, of one to eight
// bytes, and the code escape for the byte after it. A message can be read without another
// one, at about the speed at which it is searched. The symbols of a segment are chosen from a
// sample of it, as Boncz, Neumann and Leis describe it in "FSST: Fast Random Access String
// Compression" (2020).
type symbols struct {
	values  [256]uint64 // the bytes, the first one lowest
	lengths [256]uint8
	count   int
}

const (
	escape     = 255
	maxSymbols = 255
	maxLength  = 8
)

// append appends the symbols as they are stored.
func (s *symbols) append(dst []byte) []byte {
	for i := range s.count {
		dst = append(dst, s.lengths[i])
		dst = append(dst, binary.LittleEndian.AppendUint64(nil, s.values[i])[:s.lengths[i]]...)
	}
	return dst
}

// parseSymbols reads what append wrote, and reports whether it could.
func parseSymbols(data []byte) (*symbols, bool) {
	s := &symbols{}
	for ; len(data) > 0; s.count++ {
		n := int(data[0])
		if n == 0 || n > maxLength || n > len(data)-1 || s.count == maxSymbols {
			return nil, false
		}
		var value [maxLength]byte
		copy(value[:], data[1:1+n])
		s.values[s.count], s.lengths[s.count] = binary.LittleEndian.Uint64(value[:]), uint8(n)
		data = data[1+n:]
	}
	return s, true
}

// decode appends the text that codes stand for.
func (s *symbols) decode(dst, codes []byte) []byte {
	at := len(dst)
	dst = slices.Grow(dst, maxLength*(len(codes)+1))
	dst = dst[:cap(dst)]
	for i := 0; i < len(codes); i++ {
		c := codes[i]
		if c != escape {
			binary.LittleEndian.PutUint64(dst[at:at+8], s.values[c])
			at += int(s.lengths[c])
			continue
		}
		if i++; i < len(codes) {
			dst[at] = codes[i]
			at++
		}
	}
	return dst[:at]
}

// encoder encodes with symbols.
type encoder struct {
	symbols
	// long has, for a hash of three bytes, 1 + the symbol of three and more that begins with
	// them, and short, for two bytes, the symbol of two or one, or noSymbol.
	long  [1 << longBits]uint16
	short [1 << 16]uint16
	text  []byte // that is encoded, with so much after it that eight bytes can be read at each place
}

const (
	longBits = 12
	noSymbol = 1 << 15
)

func hash3(word uint64) uint32 {
	return uint32(word&0xFFFFFF) * 0x9E3779B1 >> (32 - longBits)
}

func mask(length uint8) uint64 { return ^uint64(0) >> (64 - 8*length) }

// match returns the code of the longest symbol that a word begins with, of which some bytes are
// text, and how long that is; escape where there is none.
func (e *encoder) match(word uint64, text int) (code byte, length int) {
	if long := e.long[hash3(word)]; long != 0 {
		code = byte(long - 1) //nolint:gosec // below maxSymbols
		if length = int(e.lengths[code]); word&mask(e.lengths[code]) == e.values[code] && length <= text {
			return code, length
		}
	}
	if short := e.short[word&0xFFFF]; short != noSymbol {
		code = byte(short) //nolint:gosec // below maxSymbols
		if length = int(e.lengths[code]); length <= text {
			return code, length
		}
	}
	return escape, 1
}

// append appends the codes of a text.
func (e *encoder) append(dst, text []byte) []byte {
	var padding [maxLength]byte
	e.text = append(append(e.text[:0], text...), padding[:]...)
	n := len(dst)
	dst = slices.Grow(dst, 2*len(text))[:n+2*len(text)]
	for at := 0; at < len(text); n++ {
		code, length := e.match(binary.LittleEndian.Uint64(e.text[at:]), len(text)-at)
		if dst[n] = code; code == escape {
			n++
			dst[n] = text[at]
		}
		at += length
	}
	return dst[:n]
}

// set makes symbols those of the encoder, the first ones of those that are in each other's
// way.
func (e *encoder) set(chosen []symbol) {
	*e = encoder{text: e.text}
	for i := range e.short {
		e.short[i] = noSymbol
	}
	for _, s := range chosen {
		if e.count == maxSymbols {
			break
		}
		code := uint16(e.count) //nolint:gosec // below maxSymbols
		switch s.length {
		case 1:
			for second := range 256 {
				if at := &e.short[int(s.value)|second<<8]; *at == noSymbol { //nolint:gosec // a byte
					*at = code
				}
			}
		case 2:
			e.short[s.value] = code
		default:
			at := &e.long[hash3(s.value)]
			if *at != 0 {
				continue
			}
			*at = code + 1
		}
		e.values[code], e.lengths[code] = s.value, s.length
		e.count++
	}
}

// symbol is what may become one.
type symbol struct {
	value  uint64
	length uint8
}

// then returns the symbol of what follows each other, as far as that is one.
func (s symbol) then(next symbol) symbol {
	length := min(s.length+next.length, maxLength)
	return symbol{(s.value | next.value<<(8*s.length)) & mask(length), length}
}

// train chooses symbols for texts such as the samples. It begins with none, and joins those
// that follow each other most.
func (e *encoder) train(samples [][]byte) {
	const rounds = 5
	const first = 256 // from here on a number is that of a symbol, and below a byte
	e.set(nil)
	single := make([]int, 2*first)
	pair := make([]int, len(single)*len(single))
	var codes []byte
	for range rounds {
		clear(single)
		clear(pair)
		for _, text := range samples {
			codes = e.append(codes[:0], text)
			last := -1
			for i := 0; i < len(codes); i++ {
				here := first + int(codes[i])
				if codes[i] == escape {
					i++
					here = int(codes[i])
				} else {
					single[byte(e.values[codes[i]])]++ // so that it may be parted again
				}
				single[here]++
				if last >= 0 {
					pair[last*len(single)+here]++
				}
				last = here
			}
		}
		e.set(e.best(single, pair))
	}
}

// best returns what saves the most: of the bytes and the symbols by how often they are, and of
// what two of them make by how often they follow each other.
func (e *encoder) best(single, pair []int) []symbol {
	of := func(number int) symbol {
		if code := number - len(single)/2; code >= 0 {
			return symbol{e.values[code], e.lengths[code]}
		}
		return symbol{uint64(number), 1} //nolint:gosec // a byte
	}
	gains := map[symbol]int{}
	for number, n := range single {
		if n == 0 {
			continue
		}
		s := of(number)
		if gains[s] += n * int(s.length); s.length == 1 { // else two codes
			gains[s] += 7 * n
		}
		for next, n := range pair[number*len(single) : (number+1)*len(single)] {
			if n > 1 && s.length < maxLength {
				joined := s.then(of(next))
				gains[joined] += n * int(joined.length)
			}
		}
	}
	return slices.SortedFunc(maps.Keys(gains), func(a, b symbol) int {
		return cmp.Or(cmp.Compare(gains[b], gains[a]), cmp.Compare(b.length, a.length), cmp.Compare(a.value, b.value))
	})
}
