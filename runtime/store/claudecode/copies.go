package claudecode

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/history"
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
		if !sheet.Get(&relations) {
			whole := relate(ctx, root, family, relations)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if whole {
				sheet.Put(relations)
			}
		}
		for _, e := range family {
			e.relation = relations[e.File]
		}
	}
	return nil
}

// families returns the groups of two sessions and more that have a record in common
// near their beginning or their end, each in the order of all.
func families(all []*entry) (found [][]*entry) {
	first := map[*entry]*entry{} // of the family
	holder := map[key]*entry{}
	for _, e := range all {
		if e.agent != "" {
			continue
		}
		first[e] = e
		for _, k := range e.Meta.Said {
			other, ok := holder[k]
			if holder[k] = e; !ok || first[other] == first[e] {
				continue
			}
			from, to := first[e], first[other]
			for _, m := range all {
				if first[m] == from {
					first[m] = to
				}
			}
		}
	}
	members := map[*entry][]*entry{}
	for _, e := range all {
		members[first[e]] = append(members[first[e]], e)
	}
	delete(members, nil) // sub-agents
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
	said []stamped
	has  map[key]bool
	own  time.Time // when the first record was written that only it has
}

// relate finds out what the members of a family are to each other. All of their files are read. It
// reports whether all of them could be.
func relate(ctx context.Context, root *history.Root, family []*entry, relations map[string]relation) (whole bool) {
	holders := map[key]int{}
	var members []*relative
	for _, e := range family {
		said, err := keysOf(ctx, root, e.File)
		if err != nil {
			continue // it is not compared; reading it will say why
		}
		r := &relative{entry: e, said: said, has: map[key]bool{}}
		for _, k := range said {
			if !r.has[k.key] {
				r.has[k.key] = true
				holders[k.key]++
			}
		}
		members = append(members, r)
	}
	for _, r := range members {
		if i := slices.IndexFunc(r.said, func(k stamped) bool { return holders[k.key] == 1 }); i >= 0 {
			r.own = r.said[i].at
		}
	}
	// Of those with the same records the first one counts.
	slices.SortStableFunc(members, func(a, b *relative) int { return cmp.Compare(len(b.has), len(a.has)) })
	var shown []*relative
	for _, r := range members {
		if slices.ContainsFunc(shown, func(other *relative) bool { return common(r.has, other.has) == len(r.has) }) {
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
			if n := common(r.has, earlier.has); n > most {
				is.From, most = earlier.ID, n
			}
		}
		relations[r.File] = is
	}
	return len(members) == len(family)
}

// common returns how many keys two sets have in common.
func common(a, b map[key]bool) (n int) {
	for k := range a {
		if b[k] {
			n++
		}
	}
	return n
}
