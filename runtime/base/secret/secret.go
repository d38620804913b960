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
	kept := 0 // the bytes of text that are in masked, or left out of it
	for {
		found := finder().next(text, kept)
		if found == nil {
			break
		}
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
func Has(text []byte) bool {
	return finder().next(text, 0) != nil
}

// The greatest lengths of secrets in bytes: of most, and of all. Of a longer one only so much is masked.
const usualLength, maxLength = 512, 16 << 10

// finding is a secret in a text, or a placeholder, which has no kind.
type finding struct {
	kind       *compiled
	start, end int
}

// compiled is a kind with its patterns, which are compiled when one of its literals occurs.
type compiled struct {
	kind
	after, before func() *regexp.Regexp // before is nil if a word begins with the literal
	wordStart     *regexp.Regexp        // what a word may begin after
}

// table finds the literals of all kinds. It looks at three bytes of a text, then at three bytes two bytes further on: a
// literal has its first three bytes, or those after its first, at one of these places.
type table struct {
	places  [1 << 16]uint16 // by the hash of three bytes, the index in literal; 0 for none
	literal [][]literal
}

// literal is a literal of a kind, and the place in it of the bytes that are looked at: 0 or 1.
type literal struct {
	text  string
	place int
	kind  *compiled
}

// made is the table, which the first text makes.
var made struct {
	sync.Once
	table *table
}

// finder returns the table.
func finder() *table {
	made.Do(func() { made.table = newTable() })
	return made.table
}

func newTable() *table {
	t := &table{literal: make([][]literal, 1)}
	// A word may also begin after an escape, as in \nTOKEN and %3DTOKEN.
	wordStart := regexp.MustCompile(`(?:^|\W|\\[nrtfv]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]*[mK])$`)
	for _, k := range kinds() {
		c := &compiled{kind: k, wordStart: wordStart}
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
			for _, next := range "-_.~ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" {
				t.add(text[1:]+string(next), literal{text, 1, c})
			}
		}
	}
	return t
}

// add adds a literal with three bytes of it.
func (t *table) add(three string, l literal) {
	h := hash([]byte(three + "."))
	if t.places[h] == 0 {
		t.places[h] = uint16(len(t.literal)) //nolint:gosec // there are a thousand
		t.literal = append(t.literal, nil)
	}
	t.literal[t.places[h]] = append(t.literal[t.places[h]], l)
}

// hash returns a hash of the first three bytes of a text of four bytes or more.
func hash(text []byte) uint16 {
	return uint16(binary.LittleEndian.Uint32(text) << 8 * 0x9E3779B1 >> 16) //nolint:gosec // the upper half
}

// next returns the first secret in text[from:], or nil.
func (t *table) next(text []byte, from int) *finding {
	for i := from; i+4 <= len(text); i += 2 {
		some := t.places[hash(text[i:])]
		if some == 0 {
			continue
		}
		for _, l := range t.literal[some] {
			start := i - l.place
			end := start + len(l.text)
			if start < from || end > len(text) || string(text[start:end]) != l.text {
				continue
			}
			found := l.kind.at(text, start, end)
			if found != nil && found.kind != nil && found.start >= from {
				return found
			}
			if found != nil { // nothing in it is looked at again
				i = max(i, found.end-2)
				break
			}
		}
	}
	return nil
}

// maxBefore is the number of bytes before a literal that a kind looks at.
const maxBefore = 32

// at returns the secret or placeholder of the kind with a literal from start to after, or nil.
func (k *compiled) at(text []byte, start, after int) *finding {
	if k.before != nil {
		first := max(start-maxBefore, 0)
		groups := k.before().FindSubmatchIndex(text[first:start])
		if groups == nil {
			return nil
		}
		start = first + groups[2]
	}
	if isWord(text[start]) && !k.wordStart.Match(text[max(start-maxBefore, 0):start]) {
		return nil
	}
	groups := k.match(text[after:], usualLength)
	if groups != nil && groups[1] > usualLength/2 {
		groups = k.match(text[after:], maxLength)
	}
	if groups == nil {
		return nil
	}
	found, value := &finding{k, start, after + groups[1]}, after
	if len(groups) > 2 {
		value = after + groups[2]
		found.start, found.end = value, after+groups[3]
	}
	isLonger := found.end < len(text) && groups[1] < maxLength && isWord(text[found.end-1]) && isWord(text[found.end])
	said := string(text[value:found.end])
	if isLonger || isPlaceholder(said) || k.chosen && isNoPassword(string(text[after:value]), said) {
		found.kind = nil
	}
	return found
}

// match returns the places of the groups of the pattern, which begins with text and looks at length bytes: its time
// grows with them, even if it fails at the first one.
func (k *compiled) match(text []byte, length int) (groups []int) {
	return k.after().FindSubmatchIndex(text[:min(len(text), length)])
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
