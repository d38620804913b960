package jp

import (
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/transcript"
)

// look returns what is known of a conversation, and reads its metadata where that is not
// kept.
func (s *session) look(p *place) store.Conversation {
	r := &record{s: s, place: *p}
	metadata := r.stamp()
	c := store.Conversation{Conversation: p.conversation(), Record: r}
	c.Dir = s.w.root
	d := described{Conversation: &c.Conversation}
	if metadata.Get(&d) && (d.labels == "" || json.Unmarshal([]byte(d.labels), &c.Labels) == nil) {
		return c
	}
	if s.load(p, &c); len(c.Problems) == 0 {
		metadata.Put(describedBy(&c.Conversation))
	}
	return c
}

// stamp finds where the metadata is kept, and the version of the conversation. Files count by
// which is decided what is read.
func (r *record) stamp() filecache.Sheet {
	var described, streams [2 * numStores]filecache.Stamp
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
	metadata, events := r.s.w.cache.Sheet(name, m...), r.s.w.cache.Sheet(name, e...)
	r.version = metadata.Version() + events.Version()
	if r.place.archived {
		r.version += archiveDir
	}
	return metadata
}

// stamp returns the stamp of a file of a conversation.
func (s *session) stamp(i int, dir, name string) filecache.Stamp {
	if s.dirs[i] == nil {
		return filecache.Stamp{}
	}
	stamp, err := filecache.At(s.dirs[i], dir+"/"+name)
	if name == baseConfigFile && errors.Is(err, fs.ErrNotExist) {
		return filecache.Missing()
	}
	return stamp
}

// described is what a metadata.json says of a conversation.
type described struct {
	*transcript.Conversation
	labels string // as JSON; empty for none
}

func describedBy(c *transcript.Conversation) *described {
	d := &described{Conversation: c}
	if c.Labels != nil {
		labels, _ := json.Marshal(c.Labels)
		d.labels = string(labels)
	}
	return d
}

// Fields implements [filecache.Fielder].
func (d *described) Fields() []any {
	c := d.Conversation
	return []any{&c.Title, (*string)(&c.Parent), &c.Hidden, &c.LastActivatedAt, &c.PinnedAt, &c.ArchivedAt, &c.ExpiresAt, &d.labels}
}
