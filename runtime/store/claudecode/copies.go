package claudecode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// relation is the relation of a session to its family: the sessions that have records in common, because
// one was forked from the other or, by versions before 2.0, continued.
type relation struct {
	Hidden bool          // another session has all of its records
	From   transcript.ID // the session that it was forked from: the one with most of its records
	Others []string      // the files of the sessions to which the records in common belong
}

// relateAll finds the relations of all sessions.
func relateAll(ctx context.Context, root *history.Root, all []*entry) error {
	for _, family := range families(all) {
		name, stamps := "family", []filecache.Stamp{}
		for _, e := range family {
			name += "\x00" + e.File
			stamps = append(stamps, e.Stamp)
		}
		relations := map[string]relation{} // by file
		if json.Unmarshal(root.Get(name, stamps...), &relations) != nil && relate(ctx, root, family, relations) {
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

// families returns the groups of two or more sessions that have a record in common near their beginning
// or their end, each in the order of all.
func families(all []*entry) (found [][]*entry) {
	all = slices.DeleteFunc(slices.Clone(all), func(e *entry) bool { return e.agent != "" })
	group, holder := make([]int, len(all)), map[key]int{}
	for i, e := range all {
		group[i] = i
		for _, k := range e.Meta.Keys {
			if other, ok := holder[k]; ok && group[other] != group[i] {
				from := group[i]
				for n := range all[:i+1] {
					if group[n] == from {
						group[n] = group[other]
					}
				}
			}
			holder[k] = i
		}
	}
	members := map[int][]*entry{}
	for i, e := range all {
		members[group[i]] = append(members[group[i]], e)
	}
	for _, family := range members {
		if len(family) > 1 {
			found = append(found, family)
		}
	}
	return found
}

// member is a session of a family.
type member struct {
	*entry
	keys map[key]time.Time // of its messages, with their times
	own  time.Time         // of the first message that no other session has
}

// common returns how many messages two sessions have in common.
func (m *member) common(other *member) (n int) {
	for k := range m.keys {
		if _, ok := other.keys[k]; ok {
			n++
		}
	}
	return n
}

// relate finds the relations in a family, for which it reads all files. It returns false if a file
// cannot be read. Of sessions with the same messages the first one is shown.
func relate(ctx context.Context, root *history.Root, family []*entry, relations map[string]relation) (whole bool) {
	holders := map[key]int{}
	var members, shown []*member
	for _, e := range family {
		keys, err := keysOf(ctx, root, e.File)
		if err != nil {
			continue // reading the conversation will report it
		}
		for k := range keys {
			holders[k]++
		}
		members = append(members, &member{entry: e, keys: keys})
	}
	slices.SortStableFunc(members, func(a, b *member) int { return cmp.Compare(len(b.keys), len(a.keys)) })
	for _, m := range members {
		for k, at := range m.keys {
			if holders[k] == 1 && (m.own.IsZero() || at.Before(m.own)) {
				m.own = at
			}
		}
		if slices.ContainsFunc(shown, func(other *member) bool { return m.common(other) == len(m.keys) }) {
			relations[m.File] = relation{Hidden: true}
		} else {
			shown = append(shown, m)
		}
	}
	slices.SortStableFunc(shown, func(a, b *member) int {
		return cmp.Or(history.CompareBool(a.Meta.Copied, b.Meta.Copied), a.own.Compare(b.own), a.ID.Compare(b.ID))
	})
	for i, m := range shown {
		var is relation
		most := 0
		for _, earlier := range shown[:i] {
			is.Others = append(is.Others, earlier.File)
			if n := m.common(earlier); n > most {
				is.From, most = earlier.ID, n
			}
		}
		relations[m.File] = is
	}
	return len(members) == len(family)
}

// copied returns the messages of the session that belong to other sessions.
func (e *entry) copied(ctx context.Context, root *history.Root) (map[key]bool, error) {
	copied := map[key]bool{}
	for _, file := range e.Others {
		keys, err := keysOf(ctx, root, file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for k := range keys {
			copied[k] = true
		}
	}
	return copied, nil
}

// keysOf returns the keys of the messages in a file, with their times.
func keysOf(ctx context.Context, root *history.Root, file string) (map[key]time.Time, error) {
	f, size, err := root.File(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	keys := map[key]time.Time{}
	err = jsonl.Each(ctx, f, size, func(line []byte, _ int64) bool {
		if r, _ := parse(line); r.isMessage() && r.Key != 0 {
			keys[r.Key] = r.At
		}
		return true
	})
	return keys, err
}
