package codex

import (
	"os"

	"github.com/convtools/convtools/runtime/store/facts"
)

// The kinds of facts.
const (
	factMetadata = 'm'
	factEvents   = 'e'
)

// stamp returns the stamp of a rollout; none where nothing is kept.
func (s *session) stamp(file string) facts.Stamp {
	root, name, err := s.home.within(file)
	if err != nil || !s.look.Wanted() {
		return facts.Stamp{}
	}
	s.opening.Lock()
	dir, ok := s.dirs[root]
	if !ok {
		if dir, err = root.Open("."); err != nil {
			dir = nil
		}
		if s.dirs == nil {
			s.dirs = map[*os.Root]*os.File{}
		}
		s.dirs[root] = dir
	}
	s.opening.Unlock()
	if dir == nil {
		return facts.Stamp{}
	}
	stamp, _ := facts.At(dir, name) // without one it is read
	return stamp
}

// events returns where what is read of a conversation is kept. One that goes on from another
// rollout is always read.
func (s *session) events(r *rollout) facts.Sheet {
	if r.meta.base.thread != "" {
		return facts.Sheet{}
	}
	var room [2]facts.Stamp
	stamps := append(room[:0], r.stamp)
	if origin := original(&r.meta.header); origin != "" {
		if all := s.segments(origin); len(all) > 0 {
			stamps = append(stamps, s.stamp(all[len(all)-1].file))
		}
	}
	return s.look.Sheet(factEvents, r.file, stamps...)
}

func (m *metadata) encode() []byte {
	var b []byte
	for _, text := range []string{m.thread, m.cwd, m.forked, m.parent, m.base.thread, m.first} {
		b = facts.AppendString(b, text)
	}
	for _, truth := range []bool{m.agent, m.paginated, m.empty, m.begun} {
		b = facts.AppendBool(b, truth)
	}
	b = facts.AppendTime(facts.AppendTime(b, m.created), m.last)
	return facts.AppendInt(facts.AppendInt(b, m.base.end), m.ordinal)
}

// decode is the reverse of encode. It reports whether that could be read.
func (m *metadata) decode(data []byte) bool {
	d := facts.Decode(data)
	for _, text := range []*string{&m.thread, &m.cwd, &m.forked, &m.parent, &m.base.thread, &m.first} {
		*text = d.String()
	}
	for _, truth := range []*bool{&m.agent, &m.paginated, &m.empty, &m.begun} {
		*truth = d.Bool()
	}
	m.created, m.last = d.Time(), d.Time()
	m.base.end, m.ordinal = d.Int(), d.Int()
	return d.OK()
}
