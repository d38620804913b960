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
// read, and one whose patterns are too many globs, covers everything: what it was to
// hide must not be shown. [Validate] and [TooMuch] keep that from happening.
func newList(topic string, patterns []string) *list {
	l := &list{}
	globs := 0
	for _, pattern := range patterns {
		e := entry{pattern: pattern}
		if pattern == "" {
			e.reason = "is empty"
		}
		for _, form := range spellings(topic, pattern) {
			compiled, err := globsOf(form)
			if err != nil {
				e.reason, l.everything = err.Error(), true
				break
			}
			e.forms, e.globs = append(e.forms, form), append(e.globs, compiled...)
		}
		if globs += len(e.globs); globs > maxListGlobs && e.reason == "" {
			e.tooMuch, l.everything = true, true
			e.reason = fmt.Sprintf("is one too many: the patterns of the list stand for more than %d globs", maxListGlobs)
		}
		l.entries = append(l.entries, e)
	}
	return l
}

// TooMuch returns the index of the first of a topic's patterns that makes them too
// many globs together, or -1.
func TooMuch(topic string, patterns []string) int {
	return slices.IndexFunc(newList(topic, patterns).entries, func(e entry) bool { return e.tooMuch })
}

// Validate returns what is wrong with a pattern, to stand behind it in a sentence,
// or nil. What has no character of globs in it is a name, and every name is valid.
func Validate(pattern string) error {
	for _, form := range []string{pattern, bare(pattern)} {
		if _, err := globsOf(form); err != nil {
			return err
		}
	}
	return nil
}

func (e *entry) covers(s *subjects.Subject) bool {
	if slices.ContainsFunc(e.forms, func(form string) bool { return rank(s, form) >= 0 }) {
		return true
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
// of no use or disable more than they say. It stops when the context ends.
func (l *list) mark(ctx context.Context, all []subjects.Subject, disabled []bool) []Dead {
	var dead []Dead
	for _, e := range l.entries {
		hit := false
		for i := range until(ctx, len(all)) {
			if !(hit && disabled[i]) && (l.everything || e.covers(&all[i])) {
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
	return dead
}
