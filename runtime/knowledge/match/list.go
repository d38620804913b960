package match

import (
	"slices"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// entry is what one pattern of a list of disabled subjects stands for, taken as widely
// as it can be meant: what it names in any spelling, hidden or not, and as a glob also
// whatever it matches. What it says of one subject does not depend on others.
type entry struct {
	pattern string
	forms   []string
	globs   []glob
}

// compileList takes a topic's id and a list of its configuration. bad is the index of
// the first pattern that cannot be read, or with which they are too many globs; -1
// where there is none.
func compileList(topic string, patterns []string) (entries []entry, bad int) {
	globs := 0
	for i, pattern := range patterns {
		e := entry{pattern: pattern, forms: spellings(topic, pattern)}
		for _, form := range e.forms {
			if !hasMeta(form) {
				continue
			}
			g, err := compile(form)
			if err != nil {
				return entries, i
			}
			e.globs = append(e.globs, g)
			globs += g.alternatives
		}
		if globs > maxListGlobs {
			return entries, i
		}
		entries = append(entries, e)
	}
	return entries, -1
}

// TooMuch returns the index of the first of a topic's valid patterns that makes them
// too many globs together, or -1.
func TooMuch(topic string, patterns []string) int {
	_, bad := compileList(topic, patterns)
	return bad
}

// Validate returns what is wrong with a pattern, to stand behind it in a sentence,
// or nil. What has no character of globs in it is a name, and every name is valid.
func Validate(pattern string) error {
	for _, form := range []string{pattern, bare(pattern)} {
		if _, err := compile(form); hasMeta(form) && err != nil {
			return err
		}
	}
	return nil
}

func (e *entry) covers(s *subjects.Subject) bool {
	if slices.ContainsFunc(e.forms, func(form string) bool { return rank(s, form) >= 0 }) {
		return true
	}
	path := subjects.NFC(s.Path)
	for i := range e.globs {
		if matchAny(&e.globs[i], s.Name, s.Slug, s.PathSlug, stem(path), path) {
			return true
		}
	}
	for i := range s.Targets {
		if e.covers(&s.Targets[i]) {
			return true
		}
	}
	return false
}
