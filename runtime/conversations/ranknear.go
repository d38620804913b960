package conversations

import (
	"context"
	"slices"
	"strings"
)

// spell finds the words that are in nothing of what is searched, though the indexes may have other
// conversations with them, and near spellings of these.
func (r *ranking) spell(ctx context.Context) error {
	for i, w := range r.words {
		word := &r.result.Words[w.of]
		if r.asks.Terms[i].Common || word.Events == 0 || word.Term != w.term {
			continue
		}
		if there, err := r.occurs(ctx, w.term); err != nil {
			return err
		} else if !there {
			word.Events = 0
		}
	}
	for i := range r.result.Words {
		if w := &r.result.Words[i]; w.Events == 0 {
			var err error
			if w.Near, err = r.near(ctx, strings.ToLower(w.Word)); err != nil {
				return err
			}
		}
	}
	return nil
}

// occurs reports whether a term is in what is searched.
func (r *ranking) occurs(ctx context.Context, term string) (bool, error) {
	q := r.asks
	for _, s := range r.result.asked.sources {
		q.Filter = r.query.inIndex(s)
		if there, err := s.view.Occurs(ctx, q, term); there || err != nil {
			return there, err
		}
	}
	return false, nil
}

const (
	letters = "abcdefghijklmnopqrstuvwxyz"
	// leastNear and mostNear are how many letters a word has for which a near spelling is looked
	// for: most short ones are words themselves, and longer ones are names.
	leastNear, mostNear = 5, 24
	// tryNear is how many spellings are looked for in what is searched.
	tryNear = 4
)

// near returns the spelling one edit away from a word that most messages have; empty where none is in
// what is searched.
func (r *ranking) near(ctx context.Context, word string) (string, error) {
	if len(word) < leastNear || len(word) > mostNear || strings.Trim(word, letters) != "" {
		return "", nil
	}
	var spellings, asked []string
	for _, s := range oneEdit(word) {
		r.terms.Each([]byte(s), func(term []byte, _ int) { spellings, asked = append(spellings, s), append(asked, string(term)) })
	}
	total, err := r.spread(asked)
	if err != nil {
		return "", err
	}
	for range tryNear {
		best := slices.Index(total.With, slices.Max(append(total.With, 0)))
		if best < 0 || total.With[best] == 0 {
			break
		}
		if there, err := r.occurs(ctx, asked[best]); there || err != nil {
			return spellings[best], err
		}
		total.With[best] = 0
	}
	return "", nil
}

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
	return slices.Concat(less, swapped, changed, more)
}
