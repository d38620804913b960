package match

import (
	"context"
	"fmt"
	"slices"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// List is a list of patterns of a topic's configuration, taken as widely as it can
// be meant: an entry stands for what it names in any spelling, hidden or not, and as
// a glob also for whatever it matches. It is asked about one subject at a time, and
// what it answers does not depend on others. It does not change, so goroutines may
// share it.
//
// What is disabled is decided by it. What is learned is always covered by the list
// of that, but not the other way round.
type List struct {
	entries []entry
	// everything says that the list cannot be applied as it was meant.
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

// NewList takes a topic's id and its list. A list with a pattern that cannot be
// read, and one whose patterns are too much work, covers everything: what it was to
// hide must not be shown. [Validate] keeps the first from happening.
func NewList(topic string, patterns []string) *List {
	l := &List{}
	budget := maxListWork
	for _, pattern := range patterns {
		e := entry{pattern: pattern}
		for _, form := range spellings(topic, pattern) {
			if form == "" {
				continue
			}
			e.forms = append(e.forms, form)
			if !hasMeta(form) {
				continue
			}
			globs, err := compile(form)
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

// TooMuch returns the index of the first entry that makes the patterns too much work
// together, or -1.
func (l *List) TooMuch() int {
	return slices.IndexFunc(l.entries, func(e entry) bool { return e.tooMuch })
}

// Covers says whether the list stands for a subject, or if that is a link, for what
// it leads to.
func (l *List) Covers(s *subjects.Subject) bool {
	return l.everything || slices.ContainsFunc(l.entries, func(e entry) bool { return e.covers(s) })
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
func (l *List) mark(ctx context.Context, all []subjects.Subject, disabled []bool) ([]Dead, error) {
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
