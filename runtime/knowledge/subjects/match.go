package subjects

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
)

const (
	MaxPatterns = 64 // the most patterns in a call of [Tree.Resolve]
	maxNear     = 8  // the most misses of a call with a similar name, which takes a comparison with every subject
)

// Dead is an entry of a topic's configuration that matches no subject.
type Dead struct {
	Field   string // the entry's list: "learned" or "disabled"
	Pattern string
}

// Result has the subjects that a list of patterns matches.
type Result struct {
	// Hits are the subjects to show, each once, in the order of the first pattern that matches them. Subjects of one glob
	// are in the order of the topic, and subjects with one name in the order of their paths.
	Hits    []*Subject
	Literal bool // there is only one pattern, and it is the name of the only hit
	// AlreadyLearned are the matched subjects that are in the prompt; they are not in Hits. If a glob matches other
	// subjects too, its matches in the prompt are in neither list.
	AlreadyLearned []*Subject
	Missed         []Miss // the patterns that match nothing, in their order
}

// Miss is a pattern that matches nothing.
type Miss struct {
	Pattern string // of any length, with any characters
	Reason  string // the Problem of the pattern
	Near    string // the slug of a similar visible subject, or empty
}

// Configure applies the configuration of the topic with an id: the lists disabled and learned. It sets Disabled and
// Learned of the subjects, and Visible and Dead of the tree. It is called once, before Resolve. The patterns in
// disabled must have no problem: readers would get the subjects that such a pattern was to hide.
func (t *Tree) Configure(topic string, disabled, learned []string) {
	t.topic = topic
	for _, p := range Patterns(topic, disabled) {
		matchesAny := false
		for _, s := range t.Subjects {
			if p.covers(s) {
				s.Disabled, matchesAny = true, true
			}
		}
		if !matchesAny {
			t.Dead = append(t.Dead, Dead{"disabled", p.Text})
		}
	}
	disabledFiles := map[string]bool{}
	for _, s := range t.Subjects {
		disabledFiles[s.Path] = s.Disabled
	}
	for _, s := range t.Subjects {
		s.Disabled = s.Disabled || disabledFiles[s.Target] // a link to a disabled file is disabled too
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

// Resolve returns the subjects that the patterns match. A pattern that matches nothing is a [Miss] and no error. With
// skipLearned, the host has learned subjects in its prompt, and they are AlreadyLearned instead of Hits. The error is
// for more than [MaxPatterns] patterns.
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
		result.Missed[i].Near = t.nearSlug(bare(result.Missed[i].Pattern))
	}
	return result, nil
}

// nearSlug returns the slug of the visible subject that a reader probably means by a name, or "". That is the first
// slug that ends with a slash and the name without extension, because the text of a skill names files relative to its
// folder; otherwise it is the most similar slug.
func (t *Tree) nearSlug(name string) string {
	stem, _ := cutExt(name)
	var slugs []string
	for _, s := range t.Visible {
		if name != "" && strings.HasSuffix(s.Slug, "/"+stem) {
			return s.Slug
		}
		slugs = append(slugs, s.Slug)
	}
	return near.Name(name, slugs)
}

// resolve returns the subjects that any number of patterns match, as [Tree.Resolve] does, but does not set Near of
// misses. If skipLearned is true, learned subjects are in the prompt: they are AlreadyLearned instead of Hits.
func (t *Tree) resolve(patterns []string, skipLearned bool) Result {
	var result Result
	added := map[*Subject]bool{}
	inPrompt := func(s *Subject) bool { return skipLearned && s.Learned }
	for _, p := range Patterns(t.topic, patterns) {
		matched := t.matchName(&p)
		byName := matched != nil
		if !byName {
			matched = t.matchGlob(&p)
		}
		if matched == nil {
			result.Missed = append(result.Missed, Miss{Pattern: p.Text, Reason: p.Problem})
			continue
		}
		hasHits := slices.ContainsFunc(matched, func(s *Subject) bool { return !inPrompt(s) }) // hits are not in the prompt
		result.Literal = byName && hasHits && len(patterns) == 1 && len(matched) == 1
		isGlobWithHits := !byName && hasHits // such a glob asks only for its hits
		for _, s := range matched {
			switch {
			case added[s], isGlobWithHits && inPrompt(s):
				continue
			case inPrompt(s):
				result.AlreadyLearned = append(result.AlreadyLearned, s)
			default:
				result.Hits = append(result.Hits, s)
			}
			added[s] = true
		}
	}
	return result
}

// Names returns the names by which a reader can ask for a subject, the best first; some may be equal. The last name is
// the slug without blanks around it, as lists show it.
func (s *Subject) Names() [6]string {
	path := NFC(s.Path)
	stem, _ := cutExt(path)
	return [...]string{s.Slug, s.PathSlug, path, stem, s.Name, strings.TrimSpace(s.Slug)}
}

// matchName takes the forms of the pattern in turn, up to one that is a name of an enabled subject. Of the subjects with
// this name it returns those of the lowest rank, sorted by Path. The rank is the place of the name in [Subject.Names],
// and hidden subjects, which can be named by their paths, come after visible ones.
func (t *Tree) matchName(p *Pattern) (found []*Subject) {
	for _, form := range p.forms {
		lowest := 0 // the rank of found
		for _, s := range t.Subjects {
			names := s.Names()
			rank := 2 * slices.Index(names[:], form) // even for visible subjects
			if rank < 0 || s.Disabled {              // form is no name of s, or s must not be found
				continue
			}
			if s.Hidden {
				rank++
			}
			if found == nil || rank < lowest {
				found, lowest = nil, rank
			}
			if rank == lowest {
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

// matchGlob tries the globs of a pattern in turn. It returns the visible subjects that match the first glob that any
// subject matches.
func (t *Tree) matchGlob(p *Pattern) (found []*Subject) {
	for i := range p.globs {
		for _, s := range t.Visible {
			if matches(p.globs[i:i+1], []string{s.Slug, s.PathSlug}) {
				found = append(found, s)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}
