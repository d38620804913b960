package claudecode

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// relation is the relation of a session to its family: the sessions that have messages in common, because
// one was forked from the other or, by versions before 2.0, continued. A fork begins with copies of the
// messages of its origin, with the same keys and times.
type relation struct {
	Repeated bool          // other sessions have all of its messages
	Origin   transcript.ID // the session to which the last copied message belongs; empty if none is copied
	Own      time.Time     // of the first message that is not copied
}

// relateAll sets the relation of each session to its family. It reads the files of a family again if one has changed.
func relateAll(ctx context.Context, root *history.Root, all []*entry) error {
	for _, family := range families(all) {
		name, stamps := "family 3", []filecache.Stamp{} // 3 is the version of the cached form
		for _, e := range family {
			name += "\x00" + e.File
			stamps = append(stamps, e.Stamp)
		}
		relations := map[string]relation{} // by file
		isCached := filecache.Decode(root.Cache, name, &relations, stamps...)
		if !isCached && relate(ctx, root, family, relations) == nil {
			if data, err := json.Marshal(relations); err == nil {
				root.Put(name, data, stamps...)
			}
		}
		for _, e := range family {
			e.relation = relations[e.File]
		}
	}
	return ctx.Err()
}

// families returns groups of two or more sessions that have a record in common near their beginning or their end. The
// sessions of a group are in their former order. Sub-agents are in no group.
func families(sessions []*entry) [][]*entry {
	var groups [][]*entry
	groupOf := map[key]int{} // index of the group that has a record
	for _, e := range sessions {
		if e.agent != "" {
			continue
		}
		group := len(groups) // a new one, unless earlier groups have records of e: then e joins the first of these
		for _, k := range e.Meta.Keys.all() {
			if earlier, ok := groupOf[k]; ok {
				group = min(group, earlier)
			}
		}
		if group == len(groups) {
			groups = append(groups, nil)
		}
		groups[group] = append(groups[group], e)
		for _, k := range e.Meta.Keys.all() {
			groupOf[k] = group
		}
	}
	return slices.DeleteFunc(groups, func(family []*entry) bool { return len(family) < 2 })
}

// member is a session of a family.
type member struct {
	*entry
	times map[key]time.Time // of its messages
	first time.Time         // of the first message that no other session has; zero for none
}

// relate reads the files of a family of sessions, and sets relations[FILE] for each of the sessions. A message that
// several sessions have belongs to the first of them, in the order in which relate sorts the sessions below.
func relate(ctx context.Context, root *history.Root, family []*entry, relations map[string]relation) error {
	holders := map[key]int{} // how many sessions have a message
	var members []*member
	for _, e := range family {
		m := &member{entry: e, times: map[key]time.Time{}}
		if err := m.readTimes(ctx, root); err != nil {
			return err // reading the conversation reports the error
		}
		for k := range m.times {
			holders[k]++
		}
		members = append(members, m)
	}
	for _, m := range members {
		for k, at := range m.times {
			if holders[k] == 1 && (m.first.IsZero() || at.Before(m.first)) {
				m.first = at // of the messages that only m has
			}
		}
	}
	slices.SortFunc(members, func(a, b *member) int {
		return cmp.Or(
			history.CompareBool(a.first.IsZero(), b.first.IsZero()), // sessions that have a message of their own come first
			history.CompareBool(a.Meta.Copied, b.Meta.Copied),       // forks, whose files say that they begin with copies, come last
			a.first.Compare(b.first),                                // the older first message of its own
			cmp.Compare(len(b.times), len(a.times)),                 // the larger number of messages
			a.ID.Compare(b.ID),
		)
	})
	owners := map[key]transcript.ID{}
	for _, m := range members {
		r := relation{Repeated: true}
		var last time.Time // of a copied message
		for k, at := range m.times {
			switch owner, copied := owners[k]; {
			case !copied: // m is the first in the order with this message
				owners[k] = m.ID
				if r.Repeated || at.Before(r.Own) {
					r.Repeated, r.Own = false, at
				}
			case r.Origin == "" || cmp.Or(last.Compare(at), r.Origin.Compare(owner)) < 0: // the last copied message so far
				r.Origin, last = owner, at
			}
		}
		if r.Repeated { // all messages of m are in other sessions, which continue m: m has no origin
			r.Origin = ""
		}
		relations[m.File] = r
	}
	return nil
}

// readTimes reads the file of the session, and sets the times of its messages by their keys.
func (m *member) readTimes(ctx context.Context, root *history.Root) error {
	f, size, err := root.File(m.File)
	if err != nil {
		return err
	}
	defer f.Close()
	return jsonl.Each(ctx, f, size, func(line []byte, _ int64) bool {
		if r, _ := jsontext.Parse[record](line); r.isMessage() && r.Key != 0 {
			m.times[r.Key] = r.At
		}
		return true
	})
}
