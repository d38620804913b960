// Package secret finds secrets in texts: tokens, keys and passwords whose form is certain. A word that only stands for
// a secret, such as ${DB_PASSWORD} or <your-key>, is none.
//
// It never reports a secret, and keeps none.
package secret

import (
	"encoding/binary"
	"regexp"
	"strings"
	"sync"
)

// Mask returns a text in which "[secret: KIND]" stands in place of each secret. A text without secrets is returned as
// it is, otherwise a copy. A masked text stays the same if it is masked again.
func Mask(text []byte) []byte {
	var masked []byte
	kept := 0 // masked has text[:kept], with a mark for each secret
	for found := sharedTable().next(text, 0); found != nil; found = sharedTable().next(text, kept) {
		masked = append(masked, text[kept:found.start]...)
		masked = append(masked, "[secret: "+found.kind.name+"]"...)
		kept = found.end
	}
	if kept == 0 {
		return text
	}
	return append(masked, text[kept:]...)
}

// Has reports whether a text has a secret.
func Has(text []byte) bool { return sharedTable().next(text, 0) != nil }

// usualLength is more than the bytes of most secrets. Of a longer secret, up to maxLength bytes are masked.
const usualLength, maxLength = 512, 16 << 10

// finding is a secret at text[start:end]. If kind is nil, the text there has the form of a secret, but is none.
type finding struct {
	kind       *compiledKind
	start, end int
}

// compiledKind is a kind with its patterns, which are compiled when one of its literals occurs.
type compiledKind struct {
	kind
	after, before func() *regexp.Regexp // before is nil if the secret begins with the literal or after it
	wordStart     *regexp.Regexp        // matches the end of a text after which a word may begin
}

// table finds the literals of all kinds. It looks at three bytes of a text at every second offset: of a literal that is
// in the text, either the first three bytes or the three bytes after the first one are at such an offset.
type table struct {
	indexes  [1 << 16]uint16 // by the hash of three bytes, the index in literals; 0 for none
	literals [][]literal
}

// literal is a literal of a kind, and the offset in it of the three bytes that are looked at: 0 or 1.
type literal struct {
	text   string
	offset int
	kind   *compiledKind
}

// shared is the one table, which the first call of sharedTable makes.
var shared struct {
	sync.Once
	*table
}

// sharedTable returns the table of shared.
func sharedTable() *table {
	shared.Do(func() { shared.table = newTable() })
	return shared.table
}

// newTable returns a table of the literals of all kinds of secrets. A search looks only at every second offset of a
// text, see [table]: so newTable adds each literal by its first three bytes, and by the three bytes at offset 1.
func newTable() *table {
	t := &table{literals: make([][]literal, 1)} // index 0 means none
	// A word may also begin after an escape, as in \nTOKEN and %3DTOKEN.
	wordStart := regexp.MustCompile(`(?:^|\W|\\[nrtfv]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]*[mK])$`)
	for _, k := range kinds() { // k.after and k.before are patterns of the text around the literal
		c := &compiledKind{kind: k, wordStart: wordStart}
		c.after = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + c.kind.after + `)`) })
		if k.before != "" {
			c.before = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(c.kind.before) })
		}
		for text := range strings.FieldsSeq(k.literals) {
			t.add(text[:3], literal{text, 0, c})
			if len(text) > 3 {
				t.add(text[1:4], literal{text, 1, c})
				continue
			}
			// A literal of three bytes has only two from offset 1. The third is any character that may follow.
			for _, next := range "-_.~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" {
				t.add(text[1:]+string(next), literal{text, 1, c})
			}
		}
	}
	return t
}

// add adds a literal to the table, under the hash of the three bytes that are at the literal's offset.
func (t *table) add(three string, l literal) {
	h := hash([]byte(three + ".")) // hash reads four bytes and ignores the fourth
	if t.indexes[h] == 0 {         // no literal has this hash yet
		t.indexes[h] = uint16(len(t.literals)) //nolint:gosec // there are a thousand
		t.literals = append(t.literals, nil)
	}
	t.literals[t.indexes[h]] = append(t.literals[t.indexes[h]], l)
}

// hash returns a hash of the first three bytes of a text of four bytes or more.
func hash(text []byte) uint16 {
	three := binary.LittleEndian.Uint32(text) << 8
	return uint16(three * 0x9E3779B1 >> 16) //nolint:gosec // the upper half
}

// next returns the first secret in text[from:], or nil. It looks up the bytes at every second offset: the table has
// each literal both by its beginning and by its second byte, see [table].
func (t *table) next(text []byte, from int) *finding {
	for i := from; i+4 <= len(text); i += 2 { // hash reads four bytes
		index := t.indexes[hash(text[i:])]
		if index == 0 {
			continue
		}
		for _, l := range t.literals[index] {
			start := i - l.offset // of the literal
			end := start + len(l.text)
			if start < from || end > len(text) || string(text[start:end]) != l.text {
				continue
			}
			found := l.kind.find(text, start, end)
			if found == nil {
				continue
			}
			if isSecret := found.kind != nil; isSecret && found.start >= from {
				return found
			}
			// The finding is no secret, or begins before from: the search goes on at its end. The loop adds 2.
			i = max(i, found.end-2)
			break
		}
	}
	return nil
}

// maxBefore is the number of bytes before a literal that a kind looks at.
const maxBefore = 32

// find returns the finding of kind k whose literal is text[literal:after], or nil if there is none. A finding without a
// kind only has the form of a secret. The pattern k.before matches the text that ends at the literal, and its group
// begins the secret; without k.before the literal begins the secret. The pattern k.after matches the text after the
// literal; if k.after has a group, the group alone is the secret.
func (k *compiledKind) find(text []byte, literal, after int) *finding {
	start := literal
	if k.before != nil {
		first := max(literal-maxBefore, 0)
		groups := k.before().FindSubmatchIndex(text[first:literal])
		if groups == nil {
			return nil
		}
		start = first + groups[2] // of the group
	}
	if isWord(text[start]) && !k.wordStart.Match(text[max(start-maxBefore, 0):start]) {
		return nil // the secret begins within a word
	}
	groups := k.match(text[after:], usualLength)
	if groups != nil && groups[1] > usualLength/2 { // the end of text[:usualLength] may have cut a longer match short
		groups = k.match(text[after:], maxLength)
	}
	if groups == nil {
		return nil
	}
	matchLength, valueStart := groups[1], after // the value is the secret without its literal
	found := &finding{k, start, after + matchLength}
	if hasGroup := len(groups) > 2; hasGroup {
		valueStart = after + groups[2]
		found.start, found.end = valueStart, after+groups[3]
	}
	// A word that goes on after the match has another form, unless the match ends at maxLength.
	goesOn := found.end < len(text) && matchLength < maxLength && isWord(text[found.end-1]) && isWord(text[found.end])
	value := string(text[valueStart:found.end])
	user := string(text[after:valueStart]) // for a password that a person has chosen: the name and a colon
	if goesOn || k.chosen && isNoPassword(user, value) || isPlaceholder(value) {
		found.kind = nil // only the form of a secret
	}
	return found
}

// match returns the offsets of the groups of the pattern after the literal, or nil. text begins after the literal. Only
// length bytes of it are looked at: the time grows with them, even if the first byte does not match.
func (k *compiledKind) match(text []byte, length int) (groups []int) {
	return k.after().FindSubmatchIndex(text[:min(len(text), length)])
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
