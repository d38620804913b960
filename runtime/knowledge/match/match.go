// Package match says which subjects of a topic a pattern stands for.
//
// It compares what a person or a model asks for with the subjects that a scan
// found, and never turns it into a path: it opens nothing, and what it answers
// are indexes into the subjects it was given. What is disabled is treated as if
// it did not exist: nothing matches it, and no suggestion names it.
//
// A pattern is first taken as a name, in every spelling of it that people use,
// and only then as a glob, because names may hold characters that mean something
// in globs (c++, "notes [v2]"). In a glob, * and ? and [classes] stay within one
// level, ** that stands alone between slashes spans any number of them, and
// {a,b} lists alternatives. Case counts.
package match

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

const (
	// MaxPatterns is how many patterns one call of [Set.Resolve] takes.
	MaxPatterns = 64
	// maxGlobs bounds the work of one call: each brace-free glob is compared with
	// every subject of the topic.
	maxGlobs = 256
	// maxDisabledGlobs bounds the same for a topic's disabled list.
	maxDisabledGlobs = 1024
	// maxNear is for how many of a call's misses suggestions are looked for: each
	// costs a comparison with every subject.
	maxNear = 8
)

// Set is the subjects of one topic and what its configuration says of them. It
// does not change, so goroutines may share it.
type Set struct {
	topic    string
	all      []subjects.Subject
	visible  []int
	disabled []bool
	learned  []bool
	dead     []Dead
}

// Dead is an entry of a topic's configuration that no subject matches.
type Dead struct {
	// Field is the entry's list: "learned" or "disabled".
	Field string
	Miss
}

// Options say how [Set.Resolve] treats learned subjects.
type Options struct {
	// SkipLearned says that the host puts the learned subjects into its prompt:
	// they are not answered again.
	SkipLearned bool
}

// Result is what a list of patterns stands for.
type Result struct {
	// Hits are the indexes of the subjects, each once, in the order of the first
	// pattern that matched them. Those of a glob are in the order of the topic, and
	// files that share the name asked for in the order of their paths.
	Hits []int
	// Literal says that one pattern was asked for, that it is the name of a
	// subject and no glob, and that it is the name of one subject only.
	Literal bool
	// AlreadyLearned are the subjects that were asked for by name, or by globs that
	// match nothing else, and are in the prompt already. They are not in Hits.
	AlreadyLearned []int
	// Missed are the patterns that match nothing, in the order in which they came.
	Missed []Miss
}

// Miss is a pattern that matches nothing.
type Miss struct {
	// Pattern is as it came: of any length, with any characters.
	Pattern string
	// Reason says what is wrong with the pattern, to stand behind it in a sentence
	// ("is longer than 256 bytes"). It is empty when no subject has such a name.
	Reason string
	// Near are up to three patterns that match something: slugs of visible
	// subjects, or globs.
	Near []string
}

// New takes a topic's id, its subjects in the order in which they are listed,
// and its configuration's lists of what is disabled and what is learned. It
// keeps all and does not change it.
//
// A disabled entry disables what it names in any spelling, hidden or not, and
// as a glob also whatever it matches: an entry is rather applied too widely than
// passed over. A glob that cannot be read disables what it names, if anything;
// if it names nothing, [Set.Dead] tells. A list whose braces stand for more than
// 1,024 globs disables the whole topic, and Dead tells that too.
func New(topic string, all []subjects.Subject, disabled, learned []string) *Set {
	s := &Set{topic: topic, all: all, disabled: make([]bool, len(all)), learned: make([]bool, len(all))}
	globs := maxDisabledGlobs
	for _, pattern := range disabled {
		if miss := s.disable(pattern, &globs); miss != nil {
			s.dead = append(s.dead, Dead{"disabled", *miss})
		}
	}
	for i := range all {
		if !all[i].Hidden && !s.disabled[i] {
			s.visible = append(s.visible, i)
		}
	}
	// Without a deadline there is no error.
	result, _ := s.resolve(context.Background(), learned, Options{})
	for _, i := range result.Hits {
		s.learned[i] = true
	}
	for _, miss := range result.Missed {
		s.dead = append(s.dead, Dead{"learned", miss})
	}
	return s
}

// Visible returns the indexes of the subjects that are neither hidden nor
// disabled, in the order of the topic. The caller must not change it.
func (s *Set) Visible() []int { return s.visible }

// Disabled says whether the subject counts as not there.
func (s *Set) Disabled(i int) bool { return s.disabled[i] }

// Learned says whether the subject is one that the assistant knows from the
// start. A disabled one never is.
func (s *Set) Learned(i int) bool { return s.learned[i] }

// Dead returns the entries of the configuration that match nothing: the
// disabled ones and then the learned ones, each in their order. Suggestions are
// looked for here and not before, since calls of a tool do without them.
func (s *Set) Dead() []Dead {
	dead := slices.Clone(s.dead)
	looked := map[string]int{}
	for i := range dead {
		if looked[dead[i].Field]++; looked[dead[i].Field] <= maxNear {
			dead[i].Near = s.near(dead[i].Pattern)
		}
	}
	return dead
}

// Resolve returns what the patterns stand for; without patterns these are all
// visible subjects. A pattern that matches nothing is no error but a [Miss].
//
// The errors are ctx's, and one for more than [MaxPatterns] patterns.
func (s *Set) Resolve(ctx context.Context, patterns []string, opt Options) (Result, error) {
	if len(patterns) > MaxPatterns {
		return Result{}, fmt.Errorf("%d patterns are too many for one call: at most %d are taken", len(patterns), MaxPatterns)
	}
	if len(patterns) == 0 {
		hits := slices.Clone(s.visible)
		if opt.SkipLearned {
			hits = slices.DeleteFunc(hits, s.Learned)
		}
		return Result{Hits: hits}, nil
	}
	result, err := s.resolve(ctx, patterns, opt)
	if err != nil {
		return Result{}, err
	}
	for i := range result.Missed[:min(len(result.Missed), maxNear)] {
		result.Missed[i].Near = s.near(result.Missed[i].Pattern)
	}
	return result, nil
}

// resolve is [Set.Resolve] for any number of patterns, without suggestions.
func (s *Set) resolve(ctx context.Context, patterns []string, opt Options) (Result, error) {
	var result Result
	seen := make([]bool, len(s.all))
	globs := maxGlobs
	for _, pattern := range patterns {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		found := s.named(pattern)
		byName := found != nil
		if !byName {
			var reason string
			var err error
			if found, reason, err = s.globbed(ctx, pattern, &globs); err != nil {
				return Result{}, err
			}
			if found == nil {
				result.Missed = append(result.Missed, Miss{Pattern: pattern, Reason: reason})
				continue
			}
		}
		result.Literal = byName && len(patterns) == 1 && len(found) == 1
		known := func(i int) bool { return opt.SkipLearned && s.learned[i] }
		onlyKnown := !slices.ContainsFunc(found, func(i int) bool { return !known(i) })
		for _, i := range found {
			switch {
			case seen[i] || known(i) && !byName && !onlyKnown:
				continue
			case known(i):
				result.AlreadyLearned = append(result.AlreadyLearned, i)
				result.Literal = false
			default:
				result.Hits = append(result.Hits, i)
			}
			seen[i] = true
		}
	}
	return result, nil
}

// spellings returns the pattern, and what is left of it without what people put
// around names: "./", "/" and the topic's id before it, "/" behind it.
func (s *Set) spellings(pattern string) []string {
	bare := pattern
	for strings.HasPrefix(bare, "/") || strings.HasPrefix(bare, "./") {
		_, bare, _ = strings.Cut(bare, "/")
	}
	bare = strings.TrimRight(bare, "/")
	forms := []string{pattern, bare}
	if below, ok := strings.CutPrefix(bare, s.topic+"/"); ok {
		forms = append(forms, below)
	}
	return slices.Compact(forms)
}

// names are what a subject can be asked for by, in the order in which they are
// tried.
func names(s *subjects.Subject) [5]string {
	return [...]string{s.Slug, s.PathSlug, s.Path, stem(s.Path), s.Name}
}

// rank is the place among [names] of the first that is the form asked for, or -1.
// It is asked of every subject, and so cuts paths only where that may help.
func rank(s *subjects.Subject, form string) int {
	switch {
	case s.Slug == form:
		return 0
	case s.PathSlug == form:
		return 1
	case s.Path == form:
		return 2
	case strings.HasPrefix(s.Path, form) && stem(s.Path) == form:
		return 3
	case s.Name == form:
		return 4
	}
	return -1
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
func (s *Set) named(pattern string) []int {
	for _, form := range s.spellings(pattern) {
		if form == "" {
			continue
		}
		var visible, hidden []int
		best := math.MaxInt
		for i := range s.all {
			place := rank(&s.all[i], form)
			if place < 0 || place > best || s.disabled[i] {
				continue
			}
			if place < best {
				best, visible, hidden = place, nil, nil
			}
			if s.all[i].Hidden {
				hidden = append(hidden, i)
			} else {
				visible = append(visible, i)
			}
		}
		found := visible
		if found == nil {
			found = hidden
		}
		if found != nil {
			slices.SortStableFunc(found, func(a, b int) int { return strings.Compare(s.all[a].Path, s.all[b].Path) })
			return found
		}
	}
	return nil
}

// globbed returns the visible subjects that the pattern matches as a glob, or
// else what is wrong with it. It takes the globs it tries from budget.
func (s *Set) globbed(ctx context.Context, pattern string, budget *int) (found []int, reason string, err error) {
	switch {
	case pattern == "":
		return nil, "is empty", nil
	case len(pattern) > maxPatternBytes:
		return nil, fmt.Sprintf("is longer than %d bytes", maxPatternBytes), nil
	case !hasMeta(pattern):
		return nil, "", nil
	}
	for _, form := range s.spellings(pattern) {
		globs, bad := compile(form)
		if bad != nil {
			return nil, bad.Error(), nil
		}
		if *budget -= len(globs); *budget < 0 {
			return nil, fmt.Sprintf("was not tried: the { } of one call may stand for %d patterns; ask for it in another call", maxGlobs), nil
		}
		for n, i := range s.visible {
			if n%1024 == 0 && ctx.Err() != nil {
				return nil, "", ctx.Err()
			}
			if subject := &s.all[i]; matchAny(globs, subject.Slug, subject.PathSlug) {
				found = append(found, i)
			}
		}
		if found != nil {
			return found, "", nil
		}
	}
	return nil, "", nil
}

// disable marks what an entry of the disabled list stands for, in every
// spelling and by every name at once, and returns a miss when that is nothing.
// It takes the globs it tries from budget.
func (s *Set) disable(pattern string, budget *int) *Miss {
	var globs []glob
	var reason string
	forms := slices.DeleteFunc(s.spellings(pattern), func(form string) bool { return form == "" })
	for _, form := range forms {
		if !hasMeta(form) {
			continue
		}
		compiled, err := compile(form)
		if err != nil {
			reason = err.Error()
		}
		globs = append(globs, compiled...)
	}
	if *budget -= len(globs); *budget < 0 {
		for i := range s.disabled {
			s.disabled[i] = true
		}
		return &Miss{Pattern: pattern, Reason: fmt.Sprintf("is one too many: the { } of the list stand for more than %d patterns, so the whole topic is disabled", maxDisabledGlobs)}
	}
	hit := false
	for i := range s.all {
		if hit && s.disabled[i] {
			continue
		}
		subject := &s.all[i]
		if slices.ContainsFunc(forms, func(form string) bool { return rank(subject, form) >= 0 }) ||
			len(globs) > 0 && matchAny(globs, subject.Name, subject.Slug, subject.PathSlug, stem(subject.Path), subject.Path) {
			s.disabled[i], hit = true, true
		}
	}
	if hit {
		return nil
	}
	if pattern == "" {
		reason = "is empty"
	}
	return &Miss{Pattern: pattern, Reason: reason}
}

// matchAny says whether one of the globs matches one of the names. Most often a
// name is the same as the one before it.
func matchAny(globs []glob, names ...string) bool {
	for _, g := range globs {
		for n, name := range names {
			if n > 0 && name == names[n-1] {
				continue
			}
			if g.match(name) {
				return true
			}
		}
	}
	return false
}
