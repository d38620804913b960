// Package literal finds a fixed string in text, with case or without.
//
// Ignoring case means Unicode simple case folding, rune by rune: "ſ" and "s"
// are the same, "ß" and "ss" are not. It is what [strings.EqualFold] and the
// (?i) flag of package regexp do.
//
// The package searches and nothing else. It keeps no state between calls, never
// allocates while searching, and never panics on text that is not UTF-8.
package literal

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// window is how many bytes are searched at a time for the bytes of the anchor. It bounds what one call of Find reads in vain when one of these bytes is far
// away and another one is near.
const window = 4 << 10

// Finder finds one pattern. It is safe for concurrent use.
type Finder struct {
	exact []byte // the pattern when bytes can be compared as they are, else nil

	runes  []foldedRune
	minLen int // fewest bytes of a match

	// The anchor is the rune of the pattern whose last byte is rarest in text. Searching for
	// that byte, in each of its spellings, finds all candidates.
	anchor      int
	anchorBytes []byte
	// borders is, of a long pattern, how many runes are both its beginning and the end of
	// its first i+1 runes, fewer than these; nil of a short one.
	borders []int
	// before has the last bytes of the rune before the anchor, all where there is none.
	before [256]bool
}

// foldedRune is a rune of the pattern with all runes it is equal to.
type foldedRune struct {
	variants []rune // the rune itself first
}

func (f *foldedRune) matches(r rune) bool {
	return f.variants[0] == r || len(f.variants) > 1 && slices.Contains(f.variants[1:], r)
}

// New returns a finder for a pattern, which must be valid UTF-8 and not empty.
func New(pattern string, ignoreCase bool) *Finder {
	if !ignoreCase || !hasVariants(pattern) {
		return &Finder{exact: []byte(pattern), minLen: len(pattern)}
	}
	f := &Finder{}
	best := -1
	for i, r := range []rune(pattern) {
		variants := orbit(r)
		lastBytes := lastBytesOf(variants)
		if cost := frequency(lastBytes); best < 0 || cost < best {
			best, f.anchor, f.anchorBytes = cost, i, lastBytes
		}
		f.runes = append(f.runes, foldedRune{variants})
		f.minLen += shortest(variants)
	}
	if len(f.runes) > longPattern {
		f.borders = bordersOf(f.runes)
	}
	if f.anchor == 0 {
		for b := range f.before {
			f.before[b] = true
		}
		return f
	}
	for _, b := range lastBytesOf(f.runes[f.anchor-1].variants) {
		f.before[b] = true
	}
	return f
}

// Find returns where the first match begins and ends, or -1, -1.
func (f *Finder) Find(text []byte) (start, end int) {
	switch {
	case len(text) < f.minLen:
		return -1, -1
	case f.exact != nil:
		if start = bytes.Index(text, f.exact); start < 0 {
			return -1, -1
		}
		return start, start + len(f.exact)
	}
	// What comparing may cost in vain before the text is gone through rune by rune.
	left := slack * len(text)
	// next[i] is where anchorBytes[i] occurs next within the window, or the
	// window's end.
	var next [8]int
	for low := 0; low < len(text); low += window {
		high := min(low+window, len(text))
		for i, b := range f.anchorBytes {
			next[i] = indexByte(text, b, low, high)
		}
		for {
			first := 0
			for i := 1; i < len(f.anchorBytes); i++ {
				if next[i] < next[first] {
					first = i
				}
			}
			at := next[first]
			if at == high {
				break
			}
			// Most candidates are none by the byte before.
			if at == 0 || text[at] >= utf8.RuneSelf || f.before[text[at-1]] {
				start, end, ok := f.matchAround(text, at)
				if ok {
					return start, end
				}
				if left -= end - start; left < 0 && f.borders != nil {
					return f.findByRunes(text)
				}
			}
			next[first] = indexByte(text, f.anchorBytes[first], at+1, high)
		}
	}
	return -1, -1
}

// indexByte returns where b occurs in text[low:high], or high.
func indexByte(text []byte, b byte, low, high int) int {
	if i := bytes.IndexByte(text[low:high], b); i >= 0 {
		return low + i
	}
	return high
}

// longPattern is how many runes a pattern may have for which the time that a search takes
// is bounded by that of comparing it at every place.
const longPattern = 64

// slack is how many times the length of a text comparing a long pattern may cost in vain.
const slack = 8

// bordersOf returns [Finder.borders].
func bordersOf(runes []foldedRune) []int {
	borders := make([]int, len(runes))
	for i, n := 1, 0; i < len(runes); i++ {
		for n > 0 && !runes[n].matches(runes[i].variants[0]) {
			n = borders[n-1]
		}
		if runes[n].matches(runes[i].variants[0]) {
			n++
		}
		borders[i] = n
	}
	return borders
}

// findByRunes is Find of a long pattern in time that does not depend on the pattern: the
// algorithm of Knuth, Morris and Pratt.
func (f *Finder) findByRunes(text []byte) (start, end int) {
	n := 0 // runes of the pattern that stand before text[i]
	for i := 0; i < len(text); {
		r, size := firstRune(text[i:])
		if size == 0 { // a byte that is no rune
			i, n = i+1, 0
			continue
		}
		i += size
		for n > 0 && !f.runes[n].matches(r) {
			n = f.borders[n-1]
		}
		if f.runes[n].matches(r) {
			n++
		}
		if n == len(f.runes) {
			for end = i; n > 0; n-- {
				_, size := lastRune(text[:i])
				i -= size
			}
			return i, end
		}
	}
	return -1, -1
}

// matchAround reports whether the pattern matches such that the last byte of its
// anchor stands at text[at]. Where it does not, start and end are how far it was compared.
func (f *Finder) matchAround(text []byte, at int) (start, end int, ok bool) {
	start = at + 1
	for i := f.anchor; i >= 0; i-- {
		r, size := lastRune(text[:start])
		if size == 0 || !f.runes[i].matches(r) {
			return start, at + 1, false
		}
		start -= size
	}
	end = at + 1
	for i := f.anchor + 1; i < len(f.runes); i++ {
		r, size := firstRune(text[end:])
		if size == 0 || !f.runes[i].matches(r) {
			return start, end, false
		}
		end += size
	}
	return start, end, true
}

// firstRune decodes the first rune; the size is 0 when there is none, or bytes
// that are no rune.
func firstRune(text []byte) (rune, int) {
	if len(text) > 0 && text[0] < utf8.RuneSelf {
		return rune(text[0]), 1
	}
	r, size := utf8.DecodeRune(text)
	if r == utf8.RuneError && size <= 1 {
		return 0, 0
	}
	return r, size
}

func lastRune(text []byte) (rune, int) {
	if n := len(text); n > 0 && text[n-1] < utf8.RuneSelf {
		return rune(text[n-1]), 1
	}
	r, size := utf8.DecodeLastRune(text)
	if r == utf8.RuneError && size <= 1 {
		return 0, 0
	}
	return r, size
}

func hasVariants(pattern string) bool {
	for _, r := range pattern {
		if unicode.SimpleFold(r) != r {
			return true
		}
	}
	return false
}

// orbit returns r and all runes that fold to the same.
func orbit(r rune) []rune {
	all := []rune{r}
	for v := unicode.SimpleFold(r); v != r; v = unicode.SimpleFold(v) {
		all = append(all, v)
	}
	return all
}

// lastBytesOf returns the last bytes of the runes in UTF-8, each once. The
// largest orbit has four runes.
func lastBytesOf(runes []rune) []byte {
	var last []byte
	for _, r := range runes {
		encoded := utf8.AppendRune(nil, r)
		if b := encoded[len(encoded)-1]; !slices.Contains(last, b) {
			last = append(last, b)
		}
	}
	return last
}

func shortest(runes []rune) int {
	n := utf8.UTFMax
	for _, r := range runes {
		n = min(n, utf8.RuneLen(r))
	}
	return n
}

// commonBytes lists the bytes of prose and source code from the most frequent
// on. Bytes that are not listed are taken to be rare.
const commonBytes = " etaoinrslcdupm\nhfg.by_v,x()k\"w/=-:0`1';{}*T2A#SECIR><RqPNjMFD[]LBOG3z45UV68"

// firstLead is the first of the bytes that begin a rune of several.
const firstLead = 0xc0

// frequency estimates how often one of the bytes occurs, as a number to compare.
func frequency(set []byte) int {
	sum := 0
	for _, b := range set {
		sum++ // every further byte costs a search of its own
		if rank := strings.IndexByte(commonBytes, b); rank >= 0 {
			// Frequencies of letters fall roughly with their rank.
			sum += 10 * len(commonBytes) / (rank + 1)
		} else if b >= firstLead {
			sum += 10 * len(commonBytes) / 4 // the same ones over and over in text that has them
		}
	}
	return sum
}
