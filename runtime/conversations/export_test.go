package conversations

import (
	"context"

	"github.com/convtools/convtools/runtime/store/facts"
)

// LibraryIndexes returns the indexes of a library.
func LibraryIndexes(l *Library) *Indexes { return l.indexes }

// Skipped returns how many conversations a search for a text leaves out, by the indexes of a
// library.
func Skipped(l *Library, text string) int {
	p, err := parseWord(text, true)
	if err != nil {
		return 0
	}
	ctx := context.Background()
	o, err := l.open(ctx, &Filter{})
	if err != nil {
		return 0
	}
	found, err := l.pickForMatches(ctx, o, &Filter{}, &Aside{}, []*pattern{p})
	if err != nil {
		return 0
	}
	n := 0
	for i := range found {
		if _, ok := found[i].Record.(matchless); ok {
			n++
		}
	}
	return n
}

// SetFacts sets how stores keep what they read.
func (x *Indexes) SetFacts(dir string, o facts.Options) {
	x.factsAt, x.factsOptions, x.facts = dir, o, nil
}
