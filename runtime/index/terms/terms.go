// Package terms finds the terms of a text for ranking: words as their stems, so that "caching" finds "cached", and
// identifiers both as a whole and by their parts, so that "parse config" finds parseConfig and parse_config.
//
// It never reads or writes files. Texts that differ only in case have the same terms, except for parts of identifiers.
package terms

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/fold"
)

// maxTerm is the longest term in bytes. Longer words are not searched for: base64, hashes, minified code.
const maxTerm = 64

// Reader finds the terms of texts. It is for one goroutine at a time.
type Reader struct {
	stem     func(word string) string // of a folded word
	function map[string]bool          // terms of function words
	folded   []byte
	stemmed  []byte
	stems    map[string]string // cache by word
}

// Yield receives a folded word, valid until it returns, its offset in the text, and whether it can be inflected.
type Yield func(word []byte, at int, inflected bool)

// maxStems is the maximum size of the cache of stems.
const maxStems = 1 << 15

// NewReader returns a reader for texts in a language and in English. It stems all words by the rules of that
// language.
func NewReader(l Language) *Reader {
	r := &Reader{stem: stemmer(l), function: map[string]bool{}, stems: map[string]string{}}
	for _, term := range strings.Fields(englishFunction) {
		r.function[term] = true
	}
	r.Each([]byte(functionWords(l)), func(term []byte, _ int) { r.function[string(term)] = true })
	return r
}

// IsFunctionWord reports whether a term is a function word, such as an article or a pronoun, of English or of the
// language of the reader.
func (r *Reader) IsFunctionWord(term string) bool { return r.function[term] }

// Each calls yield with each term of a text, from left to right, as often as it occurs. For an identifier with
// several parts it yields the parts, then the whole. A term is valid until yield returns. At is the offset of its
// word.
func (r *Reader) Each(text []byte, yield func(term []byte, at int)) {
	r.Words(text, func(word []byte, at int, inflected bool) {
		if inflected {
			word = r.Stem(word)
		}
		yield(word, at)
	})
}

// Stem returns the term of a folded word that can be inflected. If the word begins with an ASCII letter, so does the
// term. It is valid until the next call.
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

// Words calls yield with the folded words of a text, in the order of Each. The term of a word is its stem if it can
// be inflected, and otherwise the word.
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

// identifier yields the terms of the identifier at an offset, and returns its end.
func (r *Reader) identifier(text []byte, from int, yield Yield) int {
	begin, last := from, other // the begin of the part, and the class of the character before
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

// isSuffix reports whether text, after an apostrophe, begins with a suffix to drop, as in don't, it's, Ann's.
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

// whole yields an identifier of several parts as a whole, without underscores at its end.
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

// word yields a part of an identifier.
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

// unspaced yields the pairs of adjacent characters in a run of a script without spaces, or its only character.
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
