package conversations

import (
	"context"
	"strings"

	"github.com/convtools/convtools/runtime/index"
)

// leastNear and mostNear are how many letters a word has for which a near spelling is looked
// for: most short ones are words themselves, and longer ones are names.
const leastNear, mostNear = 5, 24

// spell finds near spellings of the words that occur nowhere in what is searched.
func (r *ranking) spell(ctx context.Context, total index.Spread) error {
	q := r.asks(total)
	for i := range r.result.Words {
		if w := &r.result.Words[i]; w.Events == 0 {
			var err error
			if w.Near, err = r.near(ctx, q, w.Word); err != nil {
				return err
			}
		}
	}
	return nil
}

// tryNear is how many spellings are looked for in what is searched.
const tryNear = 4

// near returns the spelling one edit away from a word that most messages have; empty where none is in
// what is searched.
func (r *ranking) near(ctx context.Context, q index.RankQuery, word string) (string, error) {
	word = strings.ToLower(word)
	if len(word) < leastNear || len(word) > mostNear || strings.Trim(word, letters) != "" {
		return "", nil
	}
	var spellings, asked []string
	for _, s := range oneEdit(word) {
		r.terms.Each([]byte(s), func(term []byte, _ int) { spellings, asked = append(spellings, s), append(asked, string(term)) })
	}
	total := index.Spread{With: make([]int, len(asked))}
	for _, s := range r.result.opened {
		spread, err := s.index.Spread(asked)
		if err != nil {
			return "", err
		}
		total.Add(spread)
	}
	for range tryNear {
		best := 0
		for i, n := range total.With {
			if n > total.With[best] {
				best = i
			}
		}
		if len(asked) == 0 || total.With[best] == 0 {
			break
		}
		if there, err := r.occurs(ctx, q, asked[best]); there || err != nil {
			return spellings[best], err
		}
		total.With[best] = 0
	}
	return "", nil
}

const letters = "abcdefghijklmnopqrstuvwxyz"

// oneEdit returns what a word becomes with one letter less, two changed places, one changed, or one
// more, in this order.
func oneEdit(word string) []string {
	var less, swapped, changed, more []string
	for i := range len(word) + 1 {
		before, behind := word[:i], word[i:]
		for _, c := range letters {
			more = append(more, before+string(c)+behind)
			if behind != "" {
				changed = append(changed, before+string(c)+behind[1:])
			}
		}
		if behind != "" {
			less = append(less, before+behind[1:])
		}
		if len(behind) > 1 {
			swapped = append(swapped, before+behind[1:2]+behind[:1]+behind[2:])
		}
	}
	return append(append(append(less, swapped...), changed...), more...)
}
