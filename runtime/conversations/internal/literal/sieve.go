package literal

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"
)

const (
	// maxSpellings bounds in how many byte lengths a fragment may be spelled.
	maxSpellings = 8
	// maxFragment is how many bytes of a pattern a sieve looks for. More would
	// make steps longer but let more chance hits through.
	maxFragment = 12
	// minSequence is the length from which a sieve is faster than decoding.
	minSequence = 4

	gram     = 3  // characters looked up at a time
	maxStep  = 10 // so that four lookups fit into a block
	hashBits = 14
)

// Sieve tells, without decoding, that a string which may be base64 does not hold
// a pattern, neither as it is nor once it is decoded. Decoding costs far more than
// reading, and most strings hold no match.
//
// Base64 spells a byte differently at each of three places, and only characters
// all of whose six bits belong to the pattern are known. That leaves four
// sequences of character sets: three for base64, one for plain text. (There are
// more for a letter that folds to runes of another length, such as k and the
// Kelvin sign.) Where each sequence has at least n characters, any n-2
// consecutive triples of characters in a string would include one of a sequence
// that occurs there. So it is enough to look at every (n-2)th triple.
type Sieve struct {
	sequences [][]bitSet
	step      int
	// index holds, for the hash of a triple, 1 + the index in places; 0 when no
	// sequence has a triple with that hash.
	index  [1 << hashBits]uint16
	places [][]place
}

// charSet is the characters that may stand at one place.
type charSet []byte

// bitSet is a charSet as one bit for each character.
type bitSet [4]uint64

func bitSets(seq []charSet) []bitSet {
	sets := make([]bitSet, len(seq))
	for i, set := range seq {
		for _, c := range set {
			sets[i][c>>6] |= 1 << (c & 63)
		}
	}
	return sets
}

// place is a triple of characters within a sequence.
type place struct{ sequence, offset int }

// NewSieve returns a sieve for a pattern, or nil when the pattern is too short for
// one to help.
func NewSieve(pattern string, ignoreCase bool) *Sieve {
	part := fragment([]rune(pattern), ignoreCase)
	if part == nil {
		return nil
	}
	s := &Sieve{}
	var sequences [][]charSet
	n := math.MaxInt
	for _, spelling := range spellings(part, ignoreCase) {
		for _, seq := range [][]charSet{spelling, base64At(spelling, 0), base64At(spelling, 1), base64At(spelling, 2)} {
			sequences = append(sequences, seq)
			s.sequences = append(s.sequences, bitSets(seq))
			n = min(n, len(seq))
		}
	}
	if n < minSequence {
		return nil
	}
	s.step = min(n-gram+1, maxStep)
	for i, seq := range sequences {
		for offset := range s.step {
			for _, a := range seq[offset] {
				for _, b := range seq[offset+1] {
					for _, c := range seq[offset+2] {
						s.add(hash(uint32(a)|uint32(b)<<8|uint32(c)<<16), place{i, offset})
					}
				}
			}
		}
	}
	return s
}

func (s *Sieve) add(h uint32, p place) {
	at := &s.index[h]
	if *at == 0 {
		s.places = append(s.places, nil)
		*at = uint16(len(s.places))
	}
	if list := &s.places[*at-1]; !slices.Contains(*list, p) {
		*list = append(*list, p)
	}
}

// hash returns a hash of the first three of four characters.
func hash(chars uint32) uint32 { return chars << 8 * 0x9e3779b1 >> (32 - hashBits) }

// MayHold reports false when the pattern occurs neither in stored nor in what
// stored decodes to, as base64 of either alphabet. stored must not contain JSON
// escapes. True says nothing.
func (s *Sieve) MayHold(stored []byte) bool {
	step, i := s.step, 0
	// Four lookups at a time, with one branch for all. The masks change nothing:
	// with them, the compiler sees that no index is out of range.
	const block, mask = 64, 31
	second, third, fourth := step, 2*step, 3*step
	for ; i+block <= len(stored); i += 4 * step {
		chars := (*[block]byte)(stored[i:])
		a := s.index[hash(binary.LittleEndian.Uint32(chars[:4]))]
		b := s.index[hash(binary.LittleEndian.Uint32(chars[second&mask:][:4]))]
		c := s.index[hash(binary.LittleEndian.Uint32(chars[third&mask:][:4]))]
		d := s.index[hash(binary.LittleEndian.Uint32(chars[fourth&mask:][:4]))]
		if a|b|c|d == 0 {
			continue
		}
		if a != 0 && s.check(stored, i, a) || b != 0 && s.check(stored, i+second, b) ||
			c != 0 && s.check(stored, i+third, c) || d != 0 && s.check(stored, i+fourth, d) {
			return true
		}
	}
	for ; i+gram <= len(stored); i += step {
		chars := uint32(stored[i]) | uint32(stored[i+1])<<8 | uint32(stored[i+2])<<16
		if index := s.index[hash(chars)]; index != 0 && s.check(stored, i, index) {
			return true
		}
	}
	return false
}

// check reports whether one of the sequences that have the triple at stored[i]
// stands there in full.
func (s *Sieve) check(stored []byte, i int, index uint16) bool {
	for _, p := range s.places[index-1] {
		if s.stands(stored, i-p.offset, s.sequences[p.sequence]) {
			return true
		}
	}
	return false
}

func (s *Sieve) stands(stored []byte, start int, seq []bitSet) bool {
	if start < 0 || start+len(seq) > len(stored) {
		return false
	}
	for i, c := range stored[start : start+len(seq)] {
		if seq[i][c>>6]>>(c&63)&1 == 0 {
			return false
		}
	}
	return true
}

// fragment returns the part of a pattern a sieve is fastest for: long, so that the
// steps are long, but with few spellings, so that few triples need a closer look.
func fragment(pattern []rune, ignoreCase bool) []rune {
	// How many spellings weigh as much as one lookup a character; measured.
	const lookupCost = 35
	var best []rune
	bestCost := 0
	for start := range pattern {
		count, length := 1, 0
		for end := start; end < len(pattern); end++ {
			groups := byLength(pattern[end], ignoreCase)
			count *= len(groups)
			length += len(groups[0]) // the shortest
			if count > maxSpellings || length > maxFragment {
				break
			}
			if length < minSequence {
				continue
			}
			if cost := lookupCost/(length-gram+1) + count; best == nil || cost < bestCost {
				best, bestCost = pattern[start:end+1], cost
			}
		}
	}
	return best
}

// spellings returns the byte sequences that match a fragment, one for each
// combination of lengths of its runes.
func spellings(runes []rune, ignoreCase bool) [][]charSet {
	all := [][]charSet{nil}
	for _, r := range runes {
		var longer [][]charSet
		for _, head := range all {
			for _, group := range byLength(r, ignoreCase) {
				longer = append(longer, slices.Concat(head, group))
			}
		}
		all = longer
	}
	return all
}

// byLength returns the bytes of the runes equal to r, those of one length in UTF-8
// merged place by place, the shortest first.
func byLength(r rune, ignoreCase bool) [][]charSet {
	variants := []rune{r}
	if ignoreCase {
		variants = orbit(r)
	}
	var groups [][]charSet
	for size := 1; size <= utf8.UTFMax; size++ {
		var group []charSet
		for _, v := range variants {
			if utf8.RuneLen(v) != size {
				continue
			}
			if group == nil {
				group = make([]charSet, size)
			}
			for i, b := range utf8.AppendRune(nil, v) {
				group[i] = with(group[i], b)
			}
		}
		if group != nil {
			groups = append(groups, group)
		}
	}
	return groups
}

// base64At returns the base64 characters that are known when bytes from the given
// sets stand phase bytes behind the start of a group of three.
func base64At(sets []charSet, phase int) []charSet {
	const standard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	const urlSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	first, last := 8*phase, 8*(phase+len(sets)) // in bits
	var seq []charSet
	for bit := (first + 5) / 6 * 6; bit+6 <= last; bit += 6 {
		at := (bit - first) / 8
		high := sets[at]
		low := charSet{0}
		if (bit-first)%8 > 2 {
			low = sets[at+1]
		}
		var set charSet
		for _, h := range high {
			for _, l := range low {
				sextet := (uint16(h)<<8 | uint16(l)) << ((bit - first) % 8) >> 10
				set = with(with(set, standard[sextet]), urlSafe[sextet])
			}
		}
		seq = append(seq, set)
	}
	return seq
}

func with(set charSet, b byte) charSet {
	if slices.Contains(set, b) {
		return set
	}
	return append(set, b)
}
