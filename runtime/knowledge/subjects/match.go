package subjects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
)

const (
	// MaxPatterns is how many patterns one call of [Set.Resolve] takes.
	MaxPatterns = 64
	// maxNear is for how many of a call's misses a name like them is looked for: each
	// costs a comparison with every subject.
	maxNear = 8
)

// Set is the subjects of one topic, marked with what its configuration says of them.
// It does not change, so goroutines may share it.
//
// It compares what a person or a model asks for with the subjects that a scan found, and
// never turns it into a path. What is disabled is treated as if it did not exist: nothing
// matches it, and no suggestion names it.
//
// A pattern is first taken as a name, in every spelling of it that people use,
// and only then as a glob, because names may hold characters that mean something
// in globs (c++, "notes [v2]"). In a glob, * and ? and [classes] stay within one
// level, ** that stands alone between slashes spans any number of them, and
// {a,b} lists alternatives. Case counts.
type Set struct {
	topic string
	all   []Subject
	// Visible are the subjects that are neither hidden nor disabled, in the order of the
	// topic.
	Visible []*Subject
	// Dead are the entries of the configuration that match nothing: the disabled ones and
	// then the learned ones, each in their order.
	Dead []Dead
}

// Dead is an entry of a topic's configuration that no subject matches.
type Dead struct {
	Field   string // the entry's list: "learned" or "disabled"
	Pattern string
}

// Result is what a list of patterns stands for.
type Result struct {
	// Hits are the subjects, each once, in the order of the first pattern that matched
	// them. Those of a glob are in the order of the topic, and files that share the name
	// asked for in the order of their paths.
	Hits []*Subject
	// Literal reports whether one pattern was asked for, which is no glob, and is the
	// name of one subject only.
	Literal bool
	// AlreadyLearned are the subjects that were asked for by name, or by globs that
	// match nothing else, and are in the prompt already. They are not in Hits.
	AlreadyLearned []*Subject
	// Missed are the patterns that match nothing, in the order in which they came.
	Missed []Miss
}

// Miss is a pattern that matches nothing.
type Miss struct {
	Pattern string // as it came: of any length, with any characters
	Reason  string // the pattern's Problem
	Near    string // the slug of a visible subject that is like the pattern, or empty
}

// NewSet takes a topic's id, its subjects in the order in which they are listed, which it
// keeps and marks, and its configuration's lists of what is disabled and what is learned.
//
// A disabled list with a problem disables everything: what it was to hide must not be shown.
func NewSet(topic string, all []Subject, disabled, learned []string) *Set {
	s := &Set{topic: topic, all: all}
	entries := Patterns(topic, disabled)
	bad := slices.ContainsFunc(entries, func(p Pattern) bool { return p.Problem != "" })
	for i := range all {
		all[i].Disabled, all[i].Learned = bad, false
	}
	for _, p := range entries {
		hit := bad
		for i := range all {
			if !(hit && all[i].Disabled) && p.covers(&all[i]) {
				all[i].Disabled, hit = true, true
			}
		}
		if !hit {
			s.Dead = append(s.Dead, Dead{"disabled", p.Text})
		}
	}
	disableLinks(all)
	for i := range all {
		if !all[i].Disabled && !all[i].Hidden {
			s.Visible = append(s.Visible, &all[i])
		}
	}
	result := s.resolve(learned, false)
	for _, hit := range result.Hits {
		hit.Learned = true
	}
	for _, miss := range result.Missed {
		s.Dead = append(s.Dead, Dead{"learned", miss.Pattern})
	}
	return s
}

// disableLinks disables the links to files that are disabled.
func disableLinks(all []Subject) {
	disabled := map[string]bool{}
	for i := range all {
		if all[i].Disabled {
			disabled[all[i].Path] = true
		}
	}
	for i := range all {
		all[i].Disabled = all[i].Disabled || disabled[all[i].Target]
	}
}

// Resolve returns what the patterns stand for; without patterns these are all
// visible subjects. A pattern that matches nothing is no error but a [Miss].
// skipLearned leaves out the learned subjects, which the host puts into its prompt.
// The error is for more than [MaxPatterns] patterns.
func (s *Set) Resolve(patterns []string, skipLearned bool) (Result, error) {
	if len(patterns) > MaxPatterns {
		return Result{}, fmt.Errorf("%d patterns are too many for one call: at most %d are taken", len(patterns), MaxPatterns)
	}
	if len(patterns) == 0 {
		hits := slices.Clone(s.Visible)
		return Result{Hits: slices.DeleteFunc(hits, func(h *Subject) bool { return skipLearned && h.Learned })}, nil
	}
	result := s.resolve(patterns, skipLearned)
	for i := range result.Missed[:min(len(result.Missed), maxNear)] {
		result.Missed[i].Near = s.near(bare(result.Missed[i].Pattern))
	}
	return result, nil
}

// near returns the slug of the visible subject that is like a name, or empty.
func (s *Set) near(name string) string {
	var slugs []string
	for _, v := range s.Visible {
		// Skills name the files they come with relative to their folder.
		if name != "" && strings.HasSuffix(v.Slug, "/"+stem(name)) {
			return v.Slug
		}
		slugs = append(slugs, v.Slug)
	}
	return near.Name(name, slugs)
}

// resolve is [Set.Resolve] for any number of patterns, without suggestions.
func (s *Set) resolve(patterns []string, skipLearned bool) Result {
	var result Result
	seen := map[*Subject]bool{}
	known := func(s *Subject) bool { return skipLearned && s.Learned }
	for _, p := range Patterns(s.topic, patterns) {
		found := s.named(&p)
		byName := found != nil
		if !byName {
			found = s.globbed(&p)
		}
		if found == nil {
			result.Missed = append(result.Missed, Miss{Pattern: p.Text, Reason: p.Problem})
			continue
		}
		result.Literal = byName && len(patterns) == 1 && len(found) == 1 && !known(found[0])
		onlyKnown := !slices.ContainsFunc(found, func(f *Subject) bool { return !known(f) })
		for _, f := range found {
			switch {
			case seen[f] || known(f) && !byName && !onlyKnown:
				continue
			case known(f):
				result.AlreadyLearned = append(result.AlreadyLearned, f)
			default:
				result.Hits = append(result.Hits, f)
			}
			seen[f] = true
		}
	}
	return result
}

// Names are what a subject can be asked for by, in the order in which they are tried: the
// last is its slug without the blanks around it, which lists do not show. Some may be the same.
func (s *Subject) Names() [6]string {
	path := NFC(s.Path)
	return [...]string{s.Slug, s.PathSlug, path, stem(path), s.Name, strings.TrimSpace(s.Slug)}
}

// stem is a path without its extension, which begins at the last dot of the
// last component unless that is its first character.
func stem(path string) string {
	base := strings.LastIndexByte(path, '/') + 1
	if dot := strings.LastIndexByte(path[base:], '.'); dot > 0 {
		return path[:base+dot]
	}
	return path
}

// named returns the enabled subjects that the pattern is a name of, by the
// first kind of name that fits. Visible ones keep hidden ones of the same name
// from being found: those can still be asked for by their path.
func (s *Set) named(p *Pattern) (found []*Subject) {
	for _, form := range p.forms {
		best := 0 // how well the found ones fit: the less, the better
		for i := range s.all {
			names := s.all[i].Names()
			fits := 2 * slices.Index(names[:], form)
			if fits < 0 || s.all[i].Disabled {
				continue
			}
			if s.all[i].Hidden {
				fits++
			}
			if found == nil || fits < best {
				found, best = nil, fits
			}
			if fits == best {
				found = append(found, &s.all[i])
			}
		}
		if found != nil {
			slices.SortStableFunc(found, func(a, b *Subject) int { return cmp.Compare(a.Path, b.Path) })
			return found
		}
	}
	return nil
}

// globbed returns the visible subjects that the pattern matches as a glob.
func (s *Set) globbed(p *Pattern) (found []*Subject) {
	for i := range p.globs {
		for _, v := range s.Visible {
			if matches(p.globs[i:i+1], []string{v.Slug, v.PathSlug}) {
				found = append(found, v)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}
