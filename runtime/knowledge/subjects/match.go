package subjects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
)

const (
	// MaxPatterns is the most patterns in a call of [Tree.Resolve].
	MaxPatterns = 64
	// maxNear is the number of misses of a call for which a similar name is looked for: each is compared with every
	// subject.
	maxNear = 8
)

// Dead is an entry of a topic's configuration that matches no subject.
type Dead struct {
	Field   string // the entry's list: "learned" or "disabled"
	Pattern string
}

// Result is the subjects that a list of patterns matches.
type Result struct {
	// Hits are the subjects, each once, in the order of the first pattern that matches them. Subjects of one glob are
	// in the order of the topic, and subjects with one name in the order of their paths.
	Hits []*Subject
	// Literal reports whether there is one pattern, and it is the name of one subject and no glob.
	Literal bool
	// AlreadyLearned are the matched subjects that are in the prompt. A glob counts for them only if it matches
	// nothing else. They are not in Hits.
	AlreadyLearned []*Subject
	// Missed are the patterns that match nothing, in their order.
	Missed []Miss
}

// Miss is a pattern that matches nothing.
type Miss struct {
	Pattern string // of any length, with any characters
	Reason  string // the Problem of the pattern
	Near    string // the slug of a similar visible subject, or empty
}

// Configure marks the subjects with the lists of a topic's configuration. It is called once, before Resolve. The disabled
// patterns must have no problem: the subjects that they were to hide would be shown.
func (t *Tree) Configure(topic string, disabled, learned []string) {
	all := t.Subjects
	t.topic = topic
	for _, p := range Patterns(topic, disabled) {
		hit := false
		for _, s := range all {
			if !(hit && s.Disabled) && p.covers(s) {
				s.Disabled, hit = true, true
			}
		}
		if !hit {
			t.Dead = append(t.Dead, Dead{"disabled", p.Text})
		}
	}
	disabledFiles := map[string]bool{}
	for _, s := range all {
		disabledFiles[s.Path] = s.Disabled
	}
	for _, s := range all {
		s.Disabled = s.Disabled || disabledFiles[s.Target] // a link
		if !s.Disabled && !s.Hidden {
			t.Visible = append(t.Visible, s)
		}
	}
	result := t.resolve(learned, false)
	for _, hit := range result.Hits {
		hit.Learned = true
	}
	for _, miss := range result.Missed {
		t.Dead = append(t.Dead, Dead{"learned", miss.Pattern})
	}
}

// Resolve returns the subjects that the patterns match. A pattern that matches nothing is a [Miss] and no error.
// skipLearned leaves out learned subjects, which the host has in its prompt. The error is for more than [MaxPatterns]
// patterns.
//
// Patterns are compared with the subjects that the scan found, and never become paths. A pattern is compared as a name
// first, in every spelling that people use, and then as a glob: names may have characters that mean something in globs
// (c++, "notes [v2]"). In a glob, * and ? and [classes] match within one level, ** between slashes matches any number
// of levels, and {a,b} lists alternatives. Case counts. A disabled subject does not exist: no pattern matches it, and
// no suggestion names it.
func (t *Tree) Resolve(patterns []string, skipLearned bool) (Result, error) {
	if len(patterns) > MaxPatterns {
		return Result{}, fmt.Errorf("%d patterns are too many for one call: at most %d are taken", len(patterns), MaxPatterns)
	}
	result := t.resolve(patterns, skipLearned)
	for i := range result.Missed[:min(len(result.Missed), maxNear)] {
		result.Missed[i].Near = t.near(bare(result.Missed[i].Pattern))
	}
	return result, nil
}

// near returns the slug of the visible subject that is most similar to a name, or empty.
func (t *Tree) near(name string) string {
	stem, _ := cutExt(name)
	var slugs []string
	for _, v := range t.Visible {
		// Skills name their files relative to their folder.
		if name != "" && strings.HasSuffix(v.Slug, "/"+stem) {
			return v.Slug
		}
		slugs = append(slugs, v.Slug)
	}
	return near.Name(name, slugs)
}

// resolve is [Tree.Resolve] for any number of patterns, without suggestions.
func (t *Tree) resolve(patterns []string, skipLearned bool) Result {
	var result Result
	seen := map[*Subject]bool{}
	inPrompt := func(s *Subject) bool { return skipLearned && s.Learned }
	for _, p := range Patterns(t.topic, patterns) {
		found := t.named(&p)
		byName := found != nil
		if !byName {
			found = t.globbed(&p)
		}
		if found == nil {
			result.Missed = append(result.Missed, Miss{Pattern: p.Text, Reason: p.Problem})
			continue
		}
		result.Literal = byName && len(patterns) == 1 && len(found) == 1 && !inPrompt(found[0])
		onlyInPrompt := !slices.ContainsFunc(found, func(f *Subject) bool { return !inPrompt(f) })
		for _, f := range found {
			switch {
			case seen[f] || inPrompt(f) && !byName && !onlyInPrompt:
				continue
			case inPrompt(f):
				result.AlreadyLearned = append(result.AlreadyLearned, f)
			default:
				result.Hits = append(result.Hits, f)
			}
			seen[f] = true
		}
	}
	return result
}

// Names returns the names of a subject, in the order in which they are compared. The last is its slug without blanks
// around it, as lists show it. Some may be the same.
func (s *Subject) Names() [6]string {
	path := NFC(s.Path)
	stem, _ := cutExt(path)
	return [...]string{s.Slug, s.PathSlug, path, stem, s.Name, strings.TrimSpace(s.Slug)}
}

// named returns the enabled subjects with a pattern as their name, by the first kind of name that fits. A visible
// subject hides a hidden one of the same name, which can be named by its path.
func (t *Tree) named(p *Pattern) (found []*Subject) {
	for _, form := range p.forms {
		best := 0 // the kind of name of the found subjects; a smaller one is better
		for _, s := range t.Subjects {
			names := s.Names()
			fits := 2 * slices.Index(names[:], form)
			if fits < 0 || s.Disabled {
				continue
			}
			if s.Hidden {
				fits++
			}
			if found == nil || fits < best {
				found, best = nil, fits
			}
			if fits == best {
				found = append(found, s)
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
func (t *Tree) globbed(p *Pattern) (found []*Subject) {
	for i := range p.globs {
		for _, v := range t.Visible {
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
