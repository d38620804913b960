package codex

import "github.com/convtools/convtools/runtime/store/facts"

// The kinds of facts.
const (
	factMetadata = 'm'
	factEvents   = 'e'
	factExcess   = 'x' // how many bytes are read of what has too many
)

// stamp returns the stamp of a rollout; none where nothing is kept.
func (s *session) stamp(file string) facts.Stamp {
	root, name, err := s.home.within(file)
	if err != nil {
		return facts.Stamp{}
	}
	stamp, _ := root.Stamp(name) // without one it is read
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
	if origin := r.meta.original(); origin != "" {
		if all := s.segments(origin); len(all) > 0 {
			stamps = append(stamps, s.stamp(all[len(all)-1].file))
		}
	}
	return s.look.Sheet(factEvents, r.file, stamps...)
}

// walk walks what is kept of a rollout.
func (m *metadata) walk(c *facts.Coder) {
	facts.Text(c, &m.thread, &m.cwd, &m.forked, &m.parent, &m.base.thread, &m.first)
	c.Bool(&m.agent, &m.paginated, &m.empty, &m.begun)
	c.Time(&m.created, &m.last)
	facts.Int(c, &m.base.end, &m.ordinal)
}
