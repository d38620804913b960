package claudecode

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/transcript"
)

// resolveCopies finds out which sessions another one has all records of, as it was continued or
// forked from them, and which are forks.
func (s *session) resolveCopies(ctx context.Context, all []*entry) error {
	for _, family := range families(all) {
		relations := make([]relation, len(family))
		sheet := s.familySheet(family)
		if data, ok := sheet.Kept(); !ok || !facts.Decode(data, walkRelations(relations)) {
			clear(relations)
			whole, err := s.relate(ctx, family, relations)
			if err != nil {
				return err
			}
			if whole {
				sheet.Keep(facts.Encode(walkRelations(relations)))
			}
		}
		for i, r := range relations {
			family[i].hidden, family[i].from = r.hidden, r.from
			for _, other := range r.others {
				if 0 <= other && other < len(family) {
					family[i].others = append(family[i].others, family[other])
				}
			}
		}
	}
	return nil
}

// relation is what a member of a family is to the others.
type relation struct {
	hidden bool          // another one has all of its records
	from   transcript.ID // the one that it is a fork of: of which it has the most records
	others []int         // members that have some of its records too, and tell them instead
}

// families returns the groups of two sessions and more that have a record in common
// near their beginning or their end.
func families(all []*entry) [][]*entry {
	may := repeated(all)
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
		for _, k := range e.meta.said {
			if !may.has(k) {
				continue
			}
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

// keySet is a set of keys that may have others too, with whose bits theirs agree.
type keySet []uint64

func (s keySet) has(k key) bool {
	word, bit := s.at(k)
	return s[word]&bit != 0
}

func (s keySet) at(k key) (word int, bit uint64) {
	h := (binary.LittleEndian.Uint64(k[:]) ^ binary.LittleEndian.Uint64(k[8:])) * 0x9E3779B97F4A7C15
	return int(h >> 6 % uint64(len(s))), 1 << (h & 63) //nolint:gosec // less than the length
}

// repeated returns the keys that are said more than once: they are few, and to look up all
// of them in a map takes longer than to find these.
func repeated(all []*entry) keySet {
	said := 0
	for _, e := range all {
		said += len(e.meta.said)
	}
	const bitsForEach = 16
	once, more := make(keySet, 1+said*bitsForEach/64), make(keySet, 1+said*bitsForEach/64)
	for _, e := range all {
		for _, k := range e.meta.said {
			word, bit := once.at(k)
			more[word] |= once[word] & bit
			once[word] |= bit
		}
	}
	return more
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
		c := conversation{File: s.file(e.id(), e.file)}
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
				relations[r.at].hidden = true
			}
		}
	}
	members = slices.DeleteFunc(members, func(r *relative) bool { return relations[r.at].hidden })
	slices.SortStableFunc(members, func(a, b *relative) int {
		if a.meta.copied != b.meta.copied {
			return history.CompareBool(a.meta.copied, b.meta.copied)
		}
		return a.own.Compare(b.own)
	})
	for i, r := range members {
		relation, most := &relations[r.at], 0
		for _, earlier := range members[:i] {
			relation.others = append(relation.others, earlier.at)
			if n := common(r.has, earlier.has); n > most {
				relation.from, most = earlier.id(), n
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
