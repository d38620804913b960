package claudecode

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/transcript"
)

// The kinds of facts.
const (
	factMetadata    = 'm'
	factDescription = 'd'
	factChains      = 'c'
	factFamily      = 'f'
	factEvents      = 'e'
)

// stamp returns the stamp of a file.
func (s *session) stamp(file string) (facts.Stamp, error) {
	if s.dir == nil {
		return facts.Stamp{}, nil
	}
	return facts.At(s.dir, file)
}

func (m *metadata) encode() []byte {
	var b []byte
	for _, text := range []string{m.cwd, m.version, m.session, m.custom, m.ai, m.first} {
		b = facts.AppendString(b, text)
	}
	for _, truth := range []bool{m.whole, m.hasSide, m.hasTop, m.copied} {
		b = facts.AppendBool(b, truth)
	}
	b = facts.AppendTime(facts.AppendTime(facts.AppendTime(b, m.created), m.last), m.preamble)
	b = facts.AppendInt(facts.AppendInt(b, int64(m.messages)), int64(m.answers))
	b = facts.AppendInt(b, int64(len(m.summaries)))
	for k, summary := range m.summaries {
		b = facts.AppendString(append(b, k[:]...), summary)
	}
	b = facts.AppendInt(b, int64(len(m.said)))
	for _, k := range m.said {
		b = append(b, k[:]...)
	}
	return b
}

// decode is the reverse of encode, for a file of a stamp. It reports whether that could be
// read.
func (m *metadata) decode(data []byte, of facts.Stamp) bool {
	d := facts.Decode(data)
	for _, text := range []*string{&m.cwd, &m.version, &m.session, &m.custom, &m.ai, &m.first} {
		*text = d.String()
	}
	for _, truth := range []*bool{&m.whole, &m.hasSide, &m.hasTop, &m.copied} {
		*truth = d.Bool()
	}
	m.created, m.last, m.preamble = d.Time(), d.Time(), d.Time()
	m.messages, m.answers = int(d.Int()), int(d.Int())
	for n := d.Int(); n > 0 && !d.Bad(); n-- {
		if m.summaries == nil {
			m.summaries = map[key]string{}
		}
		k := decodeKey(&d)
		m.summaries[k] = d.String()
	}
	n := d.Int()
	m.said = make([]key, 0, max(0, min(n, int64(len(data)/len(key{})))))
	for ; n > 0 && !d.Bad(); n-- {
		m.said = append(m.said, decodeKey(&d))
	}
	m.modified, m.size = of.Modified(), of.Size()
	return d.OK()
}

func decodeKey(d *facts.Decoder) (k key) {
	copy(k[:], d.Fixed(len(k)))
	return k
}

// description returns what a sub-agent was started for, or "".
func (s *session) description(file string) string {
	file = strings.TrimSuffix(file, extension) + ".meta.json"
	stamp, err := s.stamp(file)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	sheet := s.look.Sheet(factDescription, file, stamp)
	if data, ok := sheet.Kept(); ok {
		return string(data)
	}
	text, err := s.readDescription(file)
	if err == nil {
		sheet.Keep([]byte(text))
	}
	return text
}

// keptChains returns the side chains in the file of a session, where they are kept.
func (s *session) keptChains(e *entry) (list []chain, ok bool) {
	sheet := s.look.Sheet(factChains, e.file, e.stamp)
	data, ok := sheet.Kept()
	if !ok {
		return nil, false
	}
	d := facts.Decode(data)
	for n := d.Int(); n > 0 && !d.Bad(); n-- {
		list = append(list, chain{key: decodeKey(&d), title: d.String(), created: d.Time()})
	}
	return list, d.OK()
}

func (s *session) keepChains(e *entry, list []chain) {
	b := facts.AppendInt(nil, int64(len(list)))
	for _, c := range list {
		b = facts.AppendTime(facts.AppendString(append(b, c.key[:]...), c.title), c.created)
	}
	sheet := s.look.Sheet(factChains, e.file, e.stamp)
	sheet.Keep(b)
}

// familySheet is where what is decided of a family is kept: all of its files count.
func (s *session) familySheet(family []*entry) facts.Sheet {
	var names strings.Builder
	var stamps []facts.Stamp
	for _, e := range family {
		names.WriteString(e.file + "\x00")
		stamps = append(stamps, e.stamp)
	}
	return s.look.Sheet(factFamily, names.String(), stamps...)
}

// decodeFamily reads which members of a family are hidden, and what the others share.
func decodeFamily(data []byte, family []*entry, hidden map[*entry]bool, forks map[*entry]fork) bool {
	d := facts.Decode(data)
	hides, shares := map[*entry]bool{}, map[*entry]fork{}
	for _, e := range family {
		if d.Bool() {
			hides[e] = true
		}
		if !d.Bool() {
			continue
		}
		f := fork{from: transcript.ID(d.String())}
		for n := d.Int(); n > 0 && !d.Bad(); n-- {
			if i := int(d.Int()); 0 <= i && i < len(family) {
				f.others = append(f.others, family[i])
			}
		}
		shares[e] = f
	}
	if !d.OK() {
		return false
	}
	maps.Copy(hidden, hides)
	maps.Copy(forks, shares)
	return true
}

func encodeFamily(family []*entry, hidden map[*entry]bool, forks map[*entry]fork) []byte {
	var b []byte
	for _, e := range family {
		f, forked := forks[e]
		b = facts.AppendBool(facts.AppendBool(b, hidden[e]), forked)
		if !forked {
			continue
		}
		b = facts.AppendInt(facts.AppendString(b, string(f.from)), int64(len(f.others)))
		for _, other := range f.others {
			b = facts.AppendInt(b, int64(slices.Index(family, other)))
		}
	}
	return b
}

// events returns where what is read of a conversation is kept, by all entries that have
// events of it.
func (s *session) events(id transcript.ID, in ...*entry) facts.Sheet {
	var room [2]facts.Stamp
	stamps := room[:0]
	for _, e := range in {
		stamps = append(stamps, e.stamp)
	}
	return s.look.Sheet(factEvents, string(id), stamps...)
}
