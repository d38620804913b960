package jp

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/transcript"
)

// look returns what is known of a conversation, and reads its metadata where that is not
// kept.
func (s *session) look(look facts.Look, p *place) store.Conversation {
	if !look.Wanted() {
		return s.load(p)
	}
	c := s.unread(p)
	r := c.Record.(*record)
	r.stamp(look)
	if data, ok := r.metadata.Kept(); ok && facts.Decode(data, walkMetadata(&c.Conversation)) {
		return c
	}
	c = s.load(p)
	if c.Record = r; len(c.Problems) == 0 {
		r.metadata.Keep(facts.Encode(walkMetadata(&c.Conversation)))
	}
	return c
}

// stamp finds where the metadata and what the events tell are kept. Files count by which is
// decided what is read.
func (r *record) stamp(look facts.Look) {
	var described, streams [2 * numStores]facts.Stamp
	m, e := described[:0], streams[:0]
	name := ""
	for i, dir := range r.place.dirs {
		if dir == "" {
			continue
		}
		m, e = append(m, r.s.stamp(i, dir, metadataFile)), append(e, r.s.stamp(i, dir, eventsFile))
		if r.place.dirs[numStores-1-i] != "" {
			e = append(e, r.s.stamp(i, dir, baseConfigFile))
		}
		name += dir + "/" + string('0'+rune(i))
	}
	r.metadata, r.Sheet = look.Sheet('m', name, m...), look.Sheet('e', name, e...)
}

// stamp returns the stamp of a file of a conversation.
func (s *session) stamp(i int, dir, name string) facts.Stamp {
	if s.dirs[i] == nil {
		return facts.Stamp{}
	}
	stamp, err := facts.At(s.dirs[i], dir+"/"+name)
	if name == baseConfigFile && errors.Is(err, fs.ErrNotExist) {
		return facts.Missing()
	}
	return stamp
}

// label is a label of a conversation.
type label struct{ key, value string }

// walkMetadata walks what a metadata.json says of a conversation.
func walkMetadata(m *transcript.Conversation) func(c *facts.Coder) {
	return func(c *facts.Coder) {
		var labels []label
		for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
			labels = append(labels, label{key, m.Labels[key]})
		}
		facts.Text(c, &m.Title)
		facts.Text(c, &m.Parent)
		c.Bool(&m.Hidden)
		c.Time(&m.LastActivatedAt, &m.PinnedAt, &m.ArchivedAt, &m.ExpiresAt)
		facts.List(c, &labels, func(l *label) { facts.Text(c, &l.key, &l.value) })
		if m.Labels == nil && len(labels) > 0 {
			m.Labels = map[string]string{}
		}
		for _, l := range labels {
			m.Labels[l.key] = l.value
		}
	}
}
