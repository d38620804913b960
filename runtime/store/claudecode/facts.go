package claudecode

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/convtools/convtools/runtime/store/facts"
)

// The kinds of facts.
const (
	factMetadata    = 'm'
	factDescription = 'd'
	factChains      = 'c'
	factFamily      = 'g'
	factEvents      = 'e'
)

// walk walks what is kept of a transcript.
func (m *metadata) walk(c *facts.Coder) {
	facts.Text(c, &m.cwd, &m.version, &m.session, &m.custom, &m.ai, &m.first)
	c.Bool(&m.whole, &m.hasSide, &m.hasTop, &m.copied)
	c.Time(&m.created, &m.last, &m.preamble)
	facts.Int(c, &m.messages, &m.answers)
	facts.List(c, &m.summaries, func(s *summary) {
		c.Fixed(s.behind[:])
		facts.Text(c, &s.text)
	})
	facts.List(c, &m.said, func(k *key) { c.Fixed(k[:]) })
}

// description returns what a sub-agent was started for, or "".
func (s *session) description(file string) string {
	file = strings.TrimSuffix(file, extension) + ".meta.json"
	stamp, err := s.Stamp(file)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	sheet := s.Sheet(factDescription, file, stamp)
	if data, ok := sheet.Kept(); ok {
		return string(data)
	}
	text, err := s.readDescription(file)
	if err == nil {
		sheet.Keep([]byte(text))
	}
	return text
}

// walkChains walks the side chains in the file of a session.
func walkChains(list *[]chain) func(c *facts.Coder) {
	return func(c *facts.Coder) {
		facts.List(c, list, func(x *chain) {
			c.Fixed(x.key[:])
			facts.Text(c, &x.request)
			c.Time(&x.created)
		})
	}
}

// familySheet is where what is decided of a family is kept: all of its files count.
func (s *session) familySheet(family []*entry) facts.Sheet {
	var names strings.Builder
	var stamps []facts.Stamp
	for _, e := range family {
		names.WriteString(e.file + "\x00")
		stamps = append(stamps, e.stamp)
	}
	return s.Sheet(factFamily, names.String(), stamps...)
}

// walkRelations walks what the members of a family are to each other.
func walkRelations(all []relation) func(c *facts.Coder) {
	return func(c *facts.Coder) {
		for i := range all {
			r := &all[i]
			c.Bool(&r.hidden)
			facts.Text(c, &r.from)
			facts.List(c, &r.others, func(other *int) { facts.Int(c, other) })
		}
	}
}
