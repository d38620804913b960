package index

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// symbols compress texts one by one: each code of a byte stands for a symbol, of one to eight
// bytes, and the code escape for the byte behind it. A message can be read without another
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
}

const (
	longBits = 12
	noSymbol = 1 << 15
)

func hash3(word uint64) uint32 {
	return uint32(word&0xFFFFFF) * 0x9E3779B1 >> (32 - longBits)
}

// load returns up to eight bytes of a text from a place on.
func load(text []byte, at int) uint64 {
	if at+8 <= len(text) {
		return binary.LittleEndian.Uint64(text[at:])
	}
	var word [8]byte
	copy(word[:], text[at:])
	return binary.LittleEndian.Uint64(word[:])
}

func mask(length uint8) uint64 { return ^uint64(0) >> (64 - 8*length) }

// find returns the longest symbol at a place in a text, or false.
func (e *encoder) find(text []byte, at int) (code uint16, length int, ok bool) {
	word := load(text, at)
	if long := e.long[hash3(word)]; long != 0 {
		n := e.lengths[long-1]
		if word&mask(n) == e.values[long-1] && at+int(n) <= len(text) {
			return long - 1, int(n), true
		}
	}
	code = e.short[word&0xFFFF]
	if code == noSymbol {
		return 0, 1, false
	}
	length = int(e.lengths[code])
	return code, length, at+length <= len(text)
}

// append appends the codes of a text.
func (e *encoder) append(dst, text []byte) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 2*len(text))
	dst = dst[:cap(dst)]
	at := 0
	for at+8 <= len(text) { // as find does, where no symbol reaches behind the text
		word := binary.LittleEndian.Uint64(text[at:])
		if long := e.long[hash3(word)]; long != 0 {
			code := byte(long - 1) //nolint:gosec // below maxSymbols
			if length := e.lengths[code]; word&mask(length) == e.values[code] {
				dst[n] = code
				n++
				at += int(length)
				continue
			}
		}
		code := e.short[word&0xFFFF]
		if code == noSymbol {
			dst[n], dst[n+1] = escape, byte(word) //nolint:gosec // the lowest one
			n += 2
			at++
			continue
		}
		dst[n] = byte(code) //nolint:gosec // below maxSymbols
		n++
		at += int(e.lengths[byte(code)]) //nolint:gosec // below maxSymbols
	}
	for at < len(text) {
		code, length, ok := e.find(text, at)
		if ok {
			dst[n] = byte(code) //nolint:gosec // below maxSymbols
			n++
		} else {
			length = 1
			dst[n], dst[n+1] = escape, text[at]
			n += 2
		}
		at += length
	}
	return dst[:n]
}

// set makes symbols those of the encoder, the first ones of those that are in each other's
// way.
func (e *encoder) set(chosen []symbol) {
	*e = encoder{}
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
	gain   int
}

// train chooses symbols for texts such as the samples. It begins with none, and joins those
// that follow each other most.
func (e *encoder) train(samples [][]byte) {
	const rounds = 5
	const first = 256 // from here on a code is a symbol, and below a byte
	e.set(nil)
	single := make([]uint32, 2*first)
	pair := make([]uint32, len(single)*len(single))
	for range rounds {
		clear(single)
		clear(pair)
		for _, text := range samples {
			last := -1
			for at := 0; at < len(text); {
				code, length, ok := e.find(text, at)
				here := int(text[at])
				if ok {
					here = first + int(code)
				} else {
					length = 1
				}
				single[here]++
				if last >= 0 {
					pair[last*len(single)+here]++
				}
				if ok && length > 1 { // so that it may be parted again
					single[text[at]]++
				}
				last = here
				at += length
			}
		}
		of := func(code int) (value uint64, length uint8) {
			if code < first {
				return uint64(code), 1 //nolint:gosec // a byte
			}
			return e.values[code-first], e.lengths[code-first]
		}
		gains := map[symbol]int{}
		for code, n := range single {
			if n == 0 {
				continue
			}
			value, length := of(code)
			gain := int(n) * int(length)
			if length == 1 { // else two codes
				gain *= 8
			}
			gains[symbol{value: value, length: length}] += gain
			for next, n := range pair[code*len(single) : (code+1)*len(single)] {
				if n < 2 {
					continue
				}
				nextValue, nextLength := of(next)
				joined := min(length+nextLength, maxLength)
				if joined > length {
					value := (value | nextValue<<(8*length)) & mask(joined)
					gains[symbol{value: value, length: joined}] += int(n) * int(joined)
				}
			}
		}
		chosen := make([]symbol, 0, len(gains))
		for s, gain := range gains {
			s.gain = gain
			chosen = append(chosen, s)
		}
		slices.SortFunc(chosen, func(a, b symbol) int {
			return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(b.length, a.length), cmp.Compare(a.value, b.value))
		})
		e.set(chosen)
	}
}
