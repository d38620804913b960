package claudecode

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// relation is what a session is to others of its family: those that have records in common, as one
// was forked from the other, or continued by versions before 2.0.
type relation struct {
	Hidden bool          // another one has all of its records
	From   transcript.ID // the one that it is a fork of: of which it has the most records
	Others []string      // files of those that have some of its records too, and tell them instead
}

// resolveCopies finds out what sessions are to each other.
func resolveCopies(ctx context.Context, root *history.Root, all []*entry) error {
	for _, family := range families(all) {
		name, stamps := "family", []filecache.Stamp{}
		for _, e := range family {
			name += "\x00" + e.File
			stamps = append(stamps, e.Stamp)
		}
		relations := map[string]relation{} // by file
		sheet := root.Sheet(name, stamps...)
		if !sheet.Get(&relations) && relate(ctx, root, family, relations) {
			sheet.Put(relations)
		}
		for _, e := range family {
			e.relation = relations[e.File]
		}
	}
	return ctx.Err()
}

// families returns the groups of two sessions and more that have a record in common
// near their beginning or their end, each in the order of all.
func families(all []*entry) (found [][]*entry) {
	before := map[*entry]*entry{} // another one of the family
	first := func(e *entry) *entry {
		for before[e] != nil {
			e = before[e]
		}
		return e
	}
	holder := map[key]*entry{}
	for _, e := range all {
		for _, k := range e.Meta.Said {
			if other := holder[k]; other != nil && first(other) != first(e) {
				before[first(e)] = first(other)
			}
			if e.agent == "" {
				holder[k] = e
			}
		}
	}
	members := map[*entry][]*entry{}
	for _, e := range all {
		if e.agent == "" {
			members[first(e)] = append(members[first(e)], e)
		}
	}
	for _, family := range members {
		if len(family) > 1 {
			found = append(found, family)
		}
	}
	return found
}

// relative is a member of a family.
type relative struct {
	*entry
	said map[key]time.Time
	own  time.Time // when the first record was written that only it has
}

// common returns how many records two members have in common.
func (r *relative) common(other *relative) (n int) {
	for k := range r.said {
		if _, ok := other.said[k]; ok {
			n++
		}
	}
	return n
}

// relate finds out what the members of a family are to each other. All of their files are read. It
// reports whether all of them could be.
func relate(ctx context.Context, root *history.Root, family []*entry, relations map[string]relation) (whole bool) {
	holders := map[key]int{}
	var members, shown []*relative
	for _, e := range family {
		said, err := keysOf(ctx, root, e.File)
		if err != nil {
			continue // it is not compared; reading it will say why
		}
		for k := range said {
			holders[k]++
		}
		members = append(members, &relative{entry: e, said: said})
	}
	// Of those with the same records the first one counts.
	slices.SortStableFunc(members, func(a, b *relative) int { return cmp.Compare(len(b.said), len(a.said)) })
	for _, r := range members {
		for k, at := range r.said {
			if holders[k] == 1 && (r.own.IsZero() || at.Before(r.own)) {
				r.own = at
			}
		}
		if slices.ContainsFunc(shown, func(other *relative) bool { return r.common(other) == len(r.said) }) {
			relations[r.File] = relation{Hidden: true}
		} else {
			shown = append(shown, r)
		}
	}
	slices.SortStableFunc(shown, func(a, b *relative) int {
		return cmp.Or(history.CompareBool(a.Meta.Copied, b.Meta.Copied), a.own.Compare(b.own), a.ID.Compare(b.ID))
	})
	for i, r := range shown {
		var is relation
		most := 0
		for _, earlier := range shown[:i] {
			is.Others = append(is.Others, earlier.File)
			if n := r.common(earlier); n > most {
				is.From, most = earlier.ID, n
			}
		}
		relations[r.File] = is
	}
	return len(members) == len(family)
}

// copied returns the records that the copies have too.
func (c *conversation) copied(ctx context.Context) (copied map[key]bool, err error) {
	if len(c.copies) == 0 {
		return nil, nil
	}
	root, err := c.Store.Open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	copied = map[key]bool{}
	for _, file := range c.copies {
		said, err := keysOf(ctx, root, file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // then what it has is told here
			return nil, err
		}
		for k := range said {
			copied[k] = true
		}
	}
	return copied, nil
}

// keysOf returns the records of what is said in a file, with their times.
func keysOf(ctx context.Context, root *history.Root, file string) (map[key]time.Time, error) {
	f, info, err := root.File(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	said := map[key]time.Time{}
	err = jsonl.Each(ctx, f, 0, info.Size(), func(line []byte, _, _ int64) bool {
		if r, _ := parse(line); r.isMessage() && r.Key != 0 {
			said[r.Key] = r.At
		}
		return true
	})
	return said, err
}
