// Package terms makes of a text the terms that it is ranked by: words as their stems, so that
// "caching" finds "cached", and identifiers both as a whole and by their parts, so that
// "parse config" finds parseConfig and parse_config. It keeps no order and no place.
//
// It never reads or writes anything, and two texts that differ only in case have the same
// terms, but for the parts of identifiers.
package terms

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/fold"
)

// maxTerm is the longest term in bytes. What is longer is no word that anybody asks for:
// base64, hashes of hashes, minified code.
const maxTerm = 64

// Reader finds the terms of texts. It is for one goroutine at a time.
type Reader struct {
	stem     func(word string) string // of a folded word
	function map[string]bool          // terms of function words
	folded   []byte
	stemmed  []byte
	stems    map[string]string // of words that were seen
}

// Yield is handed a folded word, which is valid until it returns, and where that begins.
type Yield func(word []byte, at int, inflected bool)

// maxStems is how many words are kept with their stems.
const maxStems = 1 << 15

// NewReader returns a reader of texts in a language, and in English: only the stems are all of
// that language.
func NewReader(l Language) *Reader {
	r := &Reader{stem: stemmer(l), function: map[string]bool{}, stems: map[string]string{}}
	for _, term := range strings.Fields(englishFunction) {
		r.function[term] = true
	}
	r.Each([]byte(functionWords(l)), func(term []byte, _ int) { r.function[string(term)] = true })
	return r
}

// IsFunctionWord reports whether a term is one of the words that hold a sentence together and
// say nothing of what it is about, in English or in the language of the reader.
func (r *Reader) IsFunctionWord(term string) bool { return r.function[term] }

// Each calls yield with each term of a text, from left to right, and as often as it occurs:
// of an identifier with several parts the parts, then the whole. A term is valid until yield
// returns. At is where its word begins in the text.
func (r *Reader) Each(text []byte, yield func(term []byte, at int)) {
	r.Words(text, func(word []byte, at int, inflected bool) {
		if inflected {
			word = r.Stem(word)
		}
		yield(word, at)
	})
}

// Stem returns the term of a folded word that may be inflected, which begins with the same
// character where that is of ASCII. It is valid until the next one is asked for.
func (r *Reader) Stem(word []byte) []byte {
	stem, ok := r.stems[string(word)]
	if !ok {
		if len(r.stems) == maxStems {
			clear(r.stems)
		}
		stem = r.stem(string(word))
		r.stems[string(word)] = stem
	}
	r.stemmed = append(r.stemmed[:0], stem...)
	return r.stemmed
}

// Words is Each with the folded words in place of their terms. Of a word that may be inflected that is
// its stem; of others it is the word.
func (r *Reader) Words(text []byte, yield Yield) {
	for i := 0; i < len(text); {
		switch c, size := classOf(text[i:]); c {
		case unspaced:
			i = r.unspaced(text, i, yield)
		case other, mark:
			i += size
		default:
			i = r.identifier(text, i, yield)
		}
	}
}

// class is what a character is.
type class uint8

const (
	other    class = iota
	unspaced       // of a script whose words no spaces part
	lower
	upper
	digit
	mark // a combining mark, which belongs to the letter before it
)

// classOf returns what a text begins with, and of how many bytes it is.
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

// identifier yields the terms of the identifier that begins at a place, and returns where it ends.
func (r *Reader) identifier(text []byte, from int, yield Yield) int {
	begin, last := from, other // of the part
	parts := 0
	at := from
	part := func(to int) {
		if to > begin {
			r.word(text[begin:to], begin, yield)
			parts++
		}
	}
scan:
	for at < len(text) {
		c, size := classOf(text[at:])
		switch {
		case c == mark:
			at += size
			continue
		case text[at] == '_' && last != other:
			part(at)
			at++
			begin, last = at, other
			continue
		case text[at] == '\'' && last == lower && isSuffix(text[at+1:]):
			part(at)
			return at + 2
		case c == other, c == unspaced:
			break scan
		case c == upper && (last == lower || last == digit):
			part(at)
			begin = at
		case c == lower && last == upper: // HTTPServer: the last capital begins a word
			if _, capital := utf8.DecodeLastRune(text[begin:at]); at-capital > begin {
				part(at - capital)
				begin = at - capital
			}
		}
		last = c
		at += size
	}
	part(at)
	r.whole(text, from, at, parts, yield)
	return at
}

// isSuffix reports whether what is after an apostrophe says nothing: don't, it's, Ann's.
func isSuffix(text []byte) bool {
	if len(text) == 0 || text[0]|0x20 != 's' && text[0]|0x20 != 't' {
		return false
	}
	if len(text) == 1 {
		return true
	}
	c, _ := classOf(text[1:])
	return c == other || c == unspaced
}

// whole yields an identifier of several parts as a whole, without what joins them at its ends.
func (r *Reader) whole(text []byte, from, to, parts int, yield Yield) {
	if parts < 2 || to-from > maxTerm {
		return
	}
	for to > from && text[to-1] == '_' {
		to--
	}
	r.folded = fold.Append(r.folded[:0], text[from:to])
	yield(r.folded, from, false)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// word yields a part.
func (r *Reader) word(word []byte, at int, yield Yield) {
	if len(word) > maxTerm {
		return
	}
	r.folded = r.folded[:0]
	hasDigit := false
	for i, c := range word {
		if c >= utf8.RuneSelf {
			r.folded = fold.Append(r.folded[:i], word[i:])
			hasDigit = slices.ContainsFunc(r.folded, isDigit)
			break
		}
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		hasDigit = hasDigit || isDigit(c)
		r.folded = append(r.folded, c)
	}
	yield(r.folded, at, len(r.folded) > 2 && !hasDigit)
}

// unspaced yields the pairs of characters in a run of a script that puts no spaces between
// words, or the one character that it is.
func (r *Reader) unspaced(text []byte, from int, yield Yield) int {
	previous, n := 0, 0
	at := from
	for at < len(text) {
		c, size := classOf(text[at:])
		if c != unspaced && (c != mark || n == 0) {
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
