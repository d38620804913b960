package claudecode

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// resolveCopies finds out which sessions another one has all records of, as it was continued or
// forked from them, and which are forks.
func (s *session) resolveCopies(ctx context.Context, all []*entry) error {
	for _, family := range families(all) {
		relations := make([]relation, len(family))
		sheet := s.familySheet(family)
		if !sheet.Get(&relations) || len(relations) != len(family) {
			relations = make([]relation, len(family))
			whole, err := s.relate(ctx, family, relations)
			if err != nil {
				return err
			}
			if whole {
				sheet.Put(relations)
			}
		}
		for i, r := range relations {
			family[i].hidden, family[i].from = r.Hidden, r.From
			for _, other := range r.Others {
				if 0 <= other && other < len(family) {
					family[i].others = append(family[i].others, family[other])
				}
			}
		}
	}
	return nil
}

// familySheet is where what is decided of a family is kept: all of its files count.
func (s *session) familySheet(family []*entry) filecache.Sheet {
	name := "family"
	var stamps []filecache.Stamp
	for _, e := range family {
		name += "\x00" + e.file
		stamps = append(stamps, e.stamp)
	}
	return s.Sheet(name, stamps...)
}

// relation is what a member of a family is to the others.
type relation struct {
	Hidden bool          // another one has all of its records
	From   transcript.ID // the one that it is a fork of: of which it has the most records
	Others []int         // members that have some of its records too, and tell them instead
}

// families returns the groups of two sessions and more that have a record in common
// near their beginning or their end.
func families(all []*entry) [][]*entry {
	first := map[key]int{}
	group := make([]int, len(all)) // the first entry of the group, as far as that is known
	find := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	for i, e := range all {
		group[i] = i
		if e.agent != "" {
			continue
		}
		for _, k := range e.meta.Said {
			j, ok := first[k]
			if !ok {
				first[k] = i
				continue
			}
			a, b := find(i), find(j)
			group[max(a, b)] = min(a, b)
		}
	}
	members := map[int][]*entry{}
	for i, e := range all {
		if of := find(i); of != i {
			if members[of] == nil {
				members[of] = []*entry{all[of]}
			}
			members[of] = append(members[of], e)
		}
	}
	var found [][]*entry
	for _, i := range slices.Sorted(maps.Keys(members)) {
		found = append(found, members[i])
	}
	return found
}

// relative is a member of a family.
type relative struct {
	*entry
	at   int // in the family
	keys []stamped
	has  map[key]bool
	own  time.Time // when the first record was written that only it has
}

// relate finds out what the members of a family are to each other. All of their files are read: only
// sessions that were forked, or continued by versions before 2.0, are in one. It reports whether
// all files could be.
func (s *session) relate(ctx context.Context, family []*entry, relations []relation) (whole bool, err error) {
	holders := map[key]int{}
	var members []*relative
	for at, e := range family {
		c := s.record(e.id(), e)
		keys, err := c.keys(ctx, e.file)
		if err != nil {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			continue // it is not compared; reading it will say why
		}
		r := &relative{entry: e, at: at, keys: keys, has: map[key]bool{}}
		for _, k := range keys {
			r.has[k.key] = true
		}
		for k := range r.has {
			holders[k]++
		}
		members = append(members, r)
	}
	whole = len(members) == len(family)
	for _, r := range members {
		if i := slices.IndexFunc(r.keys, func(k stamped) bool { return holders[k.key] == 1 }); i >= 0 {
			r.own = r.keys[i].at
		}
	}
	for i, r := range members {
		for j, other := range members {
			if i == j || len(r.has) > len(other.has) || len(r.has) == len(other.has) && j > i {
				continue
			}
			if common(r.has, other.has) == len(r.has) {
				relations[r.at].Hidden = true
			}
		}
	}
	members = slices.DeleteFunc(members, func(r *relative) bool { return relations[r.at].Hidden })
	slices.SortStableFunc(members, func(a, b *relative) int {
		if a.meta.Copied != b.meta.Copied {
			return history.CompareBool(a.meta.Copied, b.meta.Copied)
		}
		return a.own.Compare(b.own)
	})
	for i, r := range members {
		relation, most := &relations[r.at], 0
		for _, earlier := range members[:i] {
			relation.Others = append(relation.Others, earlier.at)
			if n := common(r.has, earlier.has); n > most {
				relation.From, most = earlier.id(), n
			}
		}
	}
	return whole, nil
}

// common returns how many keys two sets have in common.
func common(a, b map[key]bool) int {
	n := 0
	for k := range a {
		if b[k] {
			n++
		}
	}
	return n
}
