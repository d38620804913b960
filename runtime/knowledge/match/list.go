package match

import (
	"context"
	"fmt"
	"slices"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// list is a list of patterns that disables subjects, taken as widely as it can be
// meant: an entry stands for what it names in any spelling, hidden or not, and as a
// glob also for whatever it matches. What it says of one subject does not depend on
// others.
type list struct {
	entries []entry
	// everything marks a list that cannot be applied as it was meant.
	everything bool
}

// entry is what one pattern of the list stands for.
type entry struct {
	pattern string
	forms   []string
	globs   []glob
	tooMuch bool
	reason  string // why everything is covered, or the pattern is of no use
}

// newList takes a topic's id and its list. A list with a pattern that cannot be
// read, and one whose patterns are too much work, covers everything: what it was to
// hide must not be shown. [Validate] and [TooMuch] keep that from happening.
func newList(topic string, patterns []string) *list {
	l := &list{}
	budget := maxListWork
	for _, pattern := range patterns {
		e := entry{pattern: pattern}
		for _, form := range spellings(topic, pattern) {
			if form == "" {
				continue
			}
			e.forms = append(e.forms, form)
			globs, err := globsOf(form)
			if err != nil {
				e.reason, l.everything = err.Error(), true
				break
			}
			e.globs = append(e.globs, globs...)
		}
		if pattern == "" {
			e.reason = "is empty"
		}
		if budget -= work(e.globs); budget < 0 && e.reason == "" {
			e.tooMuch, l.everything = true, true
			e.reason = fmt.Sprintf("is one too many: the list has more than %d of * and of what { } stand for", maxListWork)
		}
		l.entries = append(l.entries, e)
	}
	return l
}

// TooMuch returns the index of the first of a topic's patterns that makes them too
// much work together, or -1.
func TooMuch(topic string, patterns []string) int {
	return slices.IndexFunc(newList(topic, patterns).entries, func(e entry) bool { return e.tooMuch })
}

// Validate returns what is wrong with a pattern, to stand behind it in a sentence,
// or nil. What has no character of globs in it is a name, and every name is valid.
func Validate(pattern string) error {
	if _, err := globsOf(pattern); err != nil {
		return err
	}
	_, err := globsOf(bare(pattern)) // Without what people put around names it is tried too.
	return err
}

func (e *entry) covers(s *subjects.Subject) bool {
	for _, form := range e.forms {
		if rank(s, form) >= 0 {
			return true
		}
	}
	if path := subjects.NFC(s.Path); len(e.globs) > 0 && matchAny(e.globs, s.Name, s.Slug, s.PathSlug, stem(path), path) {
		return true
	}
	for i := range s.Targets {
		if e.covers(&s.Targets[i]) {
			return true
		}
	}
	return false
}

// mark marks the subjects that the list disables, and returns the entries that are
// of no use or disable more than they say.
func (l *list) mark(ctx context.Context, all []subjects.Subject, disabled []bool) ([]Dead, error) {
	var dead []Dead
	for _, e := range l.entries {
		hit := false
		for i := range all {
			if i%1024 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if l.everything {
				disabled[i] = true
				continue
			}
			if !(hit && disabled[i]) && e.covers(&all[i]) {
				disabled[i], hit = true, true
			}
		}
		if e.reason != "" && l.everything && e.pattern != "" {
			e.reason += ", so the whole topic is disabled"
		}
		if e.reason != "" || !hit && !l.everything {
			dead = append(dead, Dead{"disabled", Miss{Pattern: e.pattern, Reason: e.reason}})
		}
	}
	return dead, nil
}
