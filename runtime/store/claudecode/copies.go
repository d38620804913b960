package claudecode

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/transcript"
)

// withoutCopies leaves out sessions of which another one has all records, as it was
// continued or forked from it, and returns those that stay, and which of them are forks.
func (s *session) withoutCopies(ctx context.Context, all []*entry) ([]*entry, map[*entry]fork, error) {
	forks := map[*entry]fork{}
	hidden := map[*entry]bool{}
	for _, family := range families(all) {
		if err := s.resolve(ctx, family, hidden, forks); err != nil {
			return nil, nil, err
		}
	}
	return slices.DeleteFunc(all, func(e *entry) bool { return hidden[e] }), forks, nil
}

// fork is what a session was forked from.
type fork struct {
	from   transcript.ID // the one of which it has the most records
	others []*entry      // that have some of its records too, and tell them instead
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
	keys []stamped
	has  map[key]bool
	own  time.Time // when the first record was written that only it has
}

// resolve decides which members of a family are hidden, and what the others share. All
// of their files are read: only sessions that were forked, or continued by versions
// before 2.0, are in one.
func (s *session) resolve(ctx context.Context, family []*entry, hidden map[*entry]bool, forks map[*entry]fork) error {
	sheet := s.familySheet(family)
	if data, ok := sheet.Kept(); ok && decodeFamily(data, family, hidden, forks) {
		return nil
	}
	buffer := store.NewBuffer(store.NewMemory(store.DefaultMemory))
	defer buffer.Release()
	holders := map[key]int{}
	var members []*relative
	for _, e := range family {
		c := conversation{store: s.store, id: e.id()}
		keys, err := c.keys(ctx, e.file, buffer)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue // it is not compared; reading it will say why
		}
		r := &relative{entry: e, keys: keys, has: map[key]bool{}}
		for _, k := range keys {
			r.has[k.key] = true
		}
		for k := range r.has {
			holders[k]++
		}
		members = append(members, r)
	}
	compared := len(members)
	for _, r := range members {
		for _, k := range r.keys {
			if holders[k.key] == 1 {
				r.own = k.at
				break
			}
		}
	}
	for i, r := range members {
		for j, other := range members {
			if i == j || len(r.has) > len(other.has) || len(r.has) == len(other.has) && j > i {
				continue
			}
			if subset(r.has, other.has) {
				hidden[r.entry] = true
			}
		}
	}
	members = slices.DeleteFunc(members, func(r *relative) bool { return hidden[r.entry] })
	slices.SortStableFunc(members, func(a, b *relative) int {
		if a.meta.copied != b.meta.copied {
			return cmp.Compare(number(a.meta.copied), number(b.meta.copied))
		}
		return a.own.Compare(b.own)
	})
	for i, r := range members {
		var f fork
		most := 0
		for _, earlier := range members[:i] {
			f.others = append(f.others, earlier.entry)
			if n := common(r.has, earlier.has); n > most {
				f.from, most = earlier.id(), n
			}
		}
		if i > 0 {
			forks[r.entry] = f
		}
	}
	if compared == len(family) {
		sheet.Keep(encodeFamily(family, hidden, forks))
	}
	return nil
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

// number orders false before true.
func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

func subset(a, b map[key]bool) bool {
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}
