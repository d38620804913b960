package knowledge

import (
	"slices"
	"strings"
	"unicode"

	"github.com/convtools/convtools/runtime/knowledge/match"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// maxOddNames is how many names are searched for letter by letter: those that no
// single word of a text can be, because they have spaces or quotes in them.
const maxOddNames = 100

// mentions finds out which hidden subjects a reader can come to know of, who
// begins with what is listed and reads on from there. All hidden subjects have to
// be expected before the first text.
type mentions struct {
	hidden []node
	slugs  []string // of hidden
	byPath map[node]int
	byName map[string][]int // by topic and name, as in "project/drafts/plan"
	odd    []string         // keys of byName
	found  map[edge]struct{}
}

// node is a subject by its topic's id and its path.
type node struct{ topic, path string }

// edge is the mention of a hidden subject in the text of another subject.
type edge struct{ from, to int }

// anyListed is where an edge begins whose text everybody can find.
const anyListed = -1

func newMentions() *mentions {
	return &mentions{byPath: map[node]int{}, byName: map[string][]int{}, found: map[edge]struct{}{}}
}

// expect adds a hidden subject.
func (m *mentions) expect(topic string, s *subjects.Subject) {
	n := len(m.hidden)
	m.hidden = append(m.hidden, node{topic, s.Path})
	m.slugs = append(m.slugs, s.Slug)
	m.byPath[m.hidden[n]] = n
	names := match.Names(s)
	slices.Sort(names[:])
	for _, name := range slices.Compact(names[:]) {
		key := topic + "/" + name
		if strings.ContainsFunc(name, separates) && m.byName[key] == nil && len(m.odd) < maxOddNames {
			m.odd = append(m.odd, key)
		}
		m.byName[key] = append(m.byName[key], n)
	}
}

// source is where the edges of a subject begin.
func (m *mentions) source(topic, path string) int {
	if n, hidden := m.byPath[node{topic, path}]; hidden {
		return n
	}
	return anyListed
}

// text looks for names in a text of a topic. Those of other topics count with
// their topic's id before them.
func (m *mentions) text(topic string, source int, text string) {
	if len(m.hidden) == 0 {
		return
	}
	text = subjects.NFC(text)
	for word := range strings.FieldsFuncSeq(text, separates) {
		word = strings.TrimRight(strings.TrimPrefix(word, "./"), ".!?/")
		m.name(source, topic+"/"+word)
		m.name(source, word)
	}
	for _, key := range m.odd {
		_, name, _ := strings.Cut(key, "/")
		if strings.HasPrefix(key, topic+"/") && strings.Contains(text, name) || strings.Contains(text, key) {
			m.name(source, key)
		}
	}
}

func (m *mentions) name(source int, key string) {
	for _, n := range m.byName[key] {
		m.found[edge{source, n}] = struct{}{}
	}
}

// separates reports whether a character ends a word.
func separates(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("`\"'()[]{}<>,;:|*“”‘’«»", r)
}

// link notes that a subject has a link to another.
func (m *mentions) link(topic string, source int, path string) {
	if n, hidden := m.byPath[node{topic, path}]; hidden {
		m.found[edge{source, n}] = struct{}{}
	}
}

// unmentioned calls lost with the hidden subjects that no way leads to.
func (m *mentions) unmentioned(lost func(n node, slug string)) {
	next := map[int][]int{}
	for e := range m.found {
		next[e.from] = append(next[e.from], e.to)
	}
	known := make([]bool, len(m.hidden))
	for todo := next[anyListed]; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !known[n] {
			known[n] = true
			todo = append(todo, next[n]...)
		}
	}
	for n, is := range known {
		if !is {
			lost(m.hidden[n], m.slugs[n])
		}
	}
}
