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
	if data, ok := r.metadata.Kept(); ok && decodeMetadata(data, &c) {
		return c
	}
	c = s.load(p)
	if c.Record = r; len(c.Problems) == 0 {
		r.metadata.Keep(encodeMetadata(&c))
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

// encodeMetadata returns what a metadata.json says of a conversation.
func encodeMetadata(c *store.Conversation) []byte {
	b := facts.AppendString(nil, c.Title)
	b = facts.AppendString(b, string(c.Parent))
	b = facts.AppendBool(b, c.Hidden)
	b = facts.AppendTime(b, c.LastActivatedAt)
	b = facts.AppendTime(b, c.PinnedAt)
	b = facts.AppendTime(b, c.ArchivedAt)
	b = facts.AppendTime(b, c.ExpiresAt)
	b = facts.AppendInt(b, int64(len(c.Labels)))
	for _, key := range slices.Sorted(maps.Keys(c.Labels)) {
		b = facts.AppendString(b, key)
		b = facts.AppendString(b, c.Labels[key])
	}
	return b
}

// decodeMetadata is the reverse of encodeMetadata. It reports whether that could be read.
func decodeMetadata(data []byte, c *store.Conversation) bool {
	d := facts.Decode(data)
	var m transcript.Conversation
	m.Title, m.Parent, m.Hidden = d.String(), transcript.ID(d.String()), d.Bool()
	m.LastActivatedAt, m.PinnedAt, m.ArchivedAt, m.ExpiresAt = d.Time(), d.Time(), d.Time(), d.Time()
	for n := d.Int(); n > 0 && !d.Bad(); n-- {
		if m.Labels == nil {
			m.Labels = map[string]string{}
		}
		key := d.String()
		m.Labels[key] = d.String()
	}
	if !d.OK() {
		return false
	}
	c.Title, c.Parent, c.Hidden, c.Labels = m.Title, m.Parent, m.Hidden, m.Labels
	c.LastActivatedAt, c.PinnedAt, c.ArchivedAt, c.ExpiresAt = m.LastActivatedAt, m.PinnedAt, m.ArchivedAt, m.ExpiresAt
	return true
}
