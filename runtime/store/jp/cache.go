package jp

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/transcript"
)

// look returns what is known of a conversation, and reads its metadata where that is not
// kept. Where it is gone there is nothing.
func (s *session) look(ctx context.Context, p place) (c store.Conversation) {
	err := s.follow(ctx, p, func(at place) error {
		p = at
		r := &record{s: s, place: p}
		kept := r.stamp()
		c = store.Conversation{Conversation: p.conversation(), Record: r}
		c.Dir = s.w.root
		d := described{Conversation: &c.Conversation}
		if kept.Get(&d) && (d.labels == "" || json.Unmarshal([]byte(d.labels), &c.Labels) == nil) {
			return nil
		}
		if c.CreatedAt.IsZero() {
			c.Problems = append(c.Problems, badField(c.ID, "created_at", errors.New("the id stands for a time after the year 9999")))
		}
		_, err := s.readMetadata(&p, &c)
		if err == nil && len(c.Problems) == 0 {
			kept.Put(describedBy(&c.Conversation))
		}
		return err
	})
	var gone *store.NotFoundError
	if errors.As(err, &gone) {
		return store.Conversation{}
	}
	if err != nil {
		problem := store.Problem{ID: c.ID, Kind: kindOf(err), Path: s.anyPath(&p), Err: err}
		switch problem.Kind {
		case store.Unreadable:
			problem.Kind = store.BadMetadata
		case store.Outside:
			problem.File = metadataFile
		}
		c.Problems = append(c.Problems, problem)
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
