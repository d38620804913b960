// Package terms finds the terms of a text for ranking: words as their stems, so that "caching" finds "cached", and
// identifiers both as a whole and by their parts, so that "parse config" finds parseConfig and parse_config.
//
// It never reads or writes files. Texts that differ only in case have the same terms, except for parts of identifiers.
package terms

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/fold"
)

// maxTerm is the most bytes of a term. Longer words are no terms: they are base64, hashes or minified code.
const maxTerm = 64

// Reader finds the terms of texts. It is for one goroutine at a time.
type Reader struct {
	stem     func(word string) string // returns the stem of a folded word
	function map[string]bool          // the terms of function words
	folded   []byte                   // the word that was yielded last
	stemmed  []byte                   // the last result of Stem
	seed     maphash.Seed
	stems    [1 << 12]struct{ word, stem string } // a cache, by the hashes of words
}

// Yield receives a folded word, its offset in the text, and whether the word can be inflected. The word is valid until
// the function returns.
type Yield func(word []byte, at int, inflected bool)

// NewReader returns a reader for texts in English and in the language l. It stems all words by the rules of l.
func NewReader(l Language) *Reader {
	r := &Reader{stem: stemmer(l), function: map[string]bool{}, seed: maphash.MakeSeed()}
	for _, term := range strings.Fields(englishFunction) { // these are terms; the words of l are not stemmed yet
		r.function[term] = true
	}
	r.Each([]byte(functionWords(l)), func(term []byte, _ int) { r.function[string(term)] = true })
	return r
}

// IsFunctionWord reports whether a term is a function word, such as "the", of English or the language of the reader.
func (r *Reader) IsFunctionWord(term string) bool { return r.function[term] }

// Each calls yield with each term of a text, from left to right, as often as the term occurs. For an identifier with
// several parts it yields the parts, then the whole. A term is valid until yield returns; at is the offset of the word
// in the text.
func (r *Reader) Each(text []byte, yield func(term []byte, at int)) {
	r.Words(text, func(word []byte, at int, inflected bool) {
		if inflected {
			word = r.Stem(word)
		}
		yield(word, at)
	})
}

// Stem returns the stem of a folded word that can be inflected. The result is valid until the next call. The stem of a
// word that begins with an ASCII letter begins with the same letter.
func (r *Reader) Stem(word []byte) []byte {
	s := &r.stems[maphash.Bytes(r.seed, word)%uint64(len(r.stems))]
	if s.word != string(word) {
		s.word = string(word)
		s.stem = r.stem(s.word)
	}
	r.stemmed = append(r.stemmed[:0], s.stem...)
	return r.stemmed
}

// Words calls yield with the folded words of a text, from left to right. For an identifier with several parts it yields
// the parts, then the whole; for a script without spaces, each pair of adjacent characters. The term of a word that can
// be inflected is the word's stem; the term of another word is the word.
func (r *Reader) Words(text []byte, yield Yield) {
	for i := 0; i < len(text); {
		if end := r.yieldPlain(text, i, yield); end > i { // a word of ASCII letters, the most frequent kind, is yielded
			i = end
			continue
		}
		switch c, size := classOf(text[i:]); c {
		case unspaced:
			i = r.yieldPairs(text, i, yield)
		case other, mark:
			i += size
		default:
			i = r.yieldIdentifier(text, i, yield)
		}
	}
}

// yieldPlain yields the word that begins at text[from] and returns where it ends, if it is a plain word; otherwise it
// returns from. A plain word is an identifier of at most maxTerm ASCII letters, of which only the first may be a
// capital. yieldPlain does for plain words what yieldIdentifier does, but faster.
func (r *Reader) yieldPlain(text []byte, from int, yield Yield) int {
	end := from
	if isLetter(text[from]) {
		for end++; end < len(text) && 'a' <= text[end] && text[end] <= 'z'; end++ {
		}
	}
	if end == from || end-from > maxTerm || end < len(text) && mayContinue(text[end]) {
		return from
	}
	word := text[from:end]
	if word[0] < 'a' { // a capital
		r.folded = append(append(r.folded[:0], word[0]|0x20), word[1:]...)
		word = r.folded
	}
	yield(word, from, len(word) > 2) // a word of one or two letters cannot be inflected
	return end
}

// mayContinue reports whether an identifier may go on with a character that begins with c.
func mayContinue(c byte) bool {
	return isLetter(c) || isDigit(c) || c == '_' || c == '\'' || c >= utf8.RuneSelf
}

// class is the class of a character.
type class uint8

const (
	other    class = iota
	unspaced       // in a script without spaces between words
	lower
	upper
	digit
	mark // a combining mark; it belongs to the letter before it
)

// classOf returns the class of the first character of a text, and its size in bytes.
func classOf(text []byte) (class, int) {
	c := text[0]
	switch {
	case 'a' <= c && c <= 'z':
		return lower, 1
	case 'A' <= c && c <= 'Z':
		return upper, 1
	case isDigit(c):
		return digit, 1
	case c < utf8.RuneSelf:
		return other, 1
	}
	u, size := utf8.DecodeRune(text)
	switch {
	case u >= 0x0E00 && unicode.In(u, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
		return unspaced, size
	case unicode.IsUpper(u):
		return upper, size
	case unicode.IsLetter(u):
		return lower, size
	case unicode.IsDigit(u):
		return digit, size
	case unicode.IsMark(u):
		return mark, size
	}
	return other, size
}

// yieldIdentifier yields the parts of the identifier that begins at text[from], then the whole identifier if it has
// several parts and no suffix such as 's. It returns the offset after the identifier and its suffix.
func (r *Reader) yieldIdentifier(text []byte, from int, yield Yield) int {
	begin, at, parts := from, from, 0 // begin is the offset of the current part; parts counts the yielded ones
	last := other                     // the class of the last character before at that is no mark
	yieldPart := func(to int) {
		if to > begin {
			r.yieldWord(text[begin:to], begin, yield)
			parts++
		}
	}
scan:
	for at < len(text) {
		c, size := classOf(text[at:])
		switch {
		case c == mark: // belongs to the character before it: last stays
			at += size
			continue
		case text[at] == '_' && last != other: // one underscore ends a part, a second one the identifier
			yieldPart(at)
			at++
			begin, last = at, other
			continue
		case text[at] == '\'' && last == lower && isSuffix(text[at+1:]):
			yieldPart(at)
			return at + 2 // after the apostrophe and its letter; the whole identifier is not yielded
		case c == other, c == unspaced: // the identifier ends
			break scan
		case c == upper && (last == lower || last == digit): // readFile: a capital begins a part
			yieldPart(at)
			begin = at
		case c == lower && last == upper: // HTTPServer: the last capital begins a part
			if _, capital := utf8.DecodeLastRune(text[begin:at]); at-capital > begin {
				yieldPart(at - capital)
				begin = at - capital
			}
		}
		last = c
		at += size
	}
	yieldPart(at)
	r.yieldWhole(text, from, at, parts, yield)
	return at
}

// isSuffix reports whether text, after an apostrophe, begins with a suffix to drop, as in don't, it's, Ann's.
func isSuffix(text []byte) bool {
	if len(text) == 0 || !strings.ContainsRune("sStT", rune(text[0])) {
		return false
	}
	if len(text) == 1 {
		return true
	}
	c, _ := classOf(text[1:])
	return c == other || c == unspaced // the word ends after the suffix
}

// yieldWhole yields an identifier of several parts as a whole, without underscores at its end. It yields nothing if the
// identifier has one part or is too long.
func (r *Reader) yieldWhole(text []byte, from, to, parts int, yield Yield) {
	if parts < 2 || to-from > maxTerm {
		return
	}
	for to > from && text[to-1] == '_' {
		to--
	}
	r.folded = fold.Append(r.folded[:0], text[from:to])
	yield(r.folded, from, false)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// yieldWord yields a part of an identifier, unless it is too long. A part that has a digit or at most two bytes cannot
// be inflected.
func (r *Reader) yieldWord(word []byte, at int, yield Yield) {
	if len(word) > maxTerm {
		return
	}
	r.folded = fold.Append(r.folded[:0], word)
	yield(r.folded, at, len(r.folded) > 2 && !slices.ContainsFunc(r.folded, isDigit))
}

// yieldPairs yields the pairs of adjacent characters in the run of a script without spaces that begins at an offset, or
// its only character. It returns the end of the run.
func (r *Reader) yieldPairs(text []byte, from int, yield Yield) int {
	previous, n := 0, 0 // the bytes of the character before, and the number of characters so far
	at := from
	for at < len(text) {
		c, size := classOf(text[at:])
		if isInRun := c == unspaced || c == mark && n > 0; !isInRun { // a mark begins no run
			break
		}
		if n > 0 {
			r.folded = fold.Append(r.folded[:0], text[at-previous:at+size])
			yield(r.folded, at-previous, false)
		}
		previous, n = size, n+1
		at += size
	}
	if n == 1 {
		r.folded = fold.Append(r.folded[:0], text[from:at])
		yield(r.folded, from, false)
	}
	return at
}
