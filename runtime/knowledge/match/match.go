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

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

const (
	// MaxPatterns is how many patterns one call of [Set.Resolve] takes.
	MaxPatterns = 64
	// What braces stand for multiplies, and each of it is compared with every subject.
	// So there is a bound on the globs that patterns stand for together: those of one
	// call, and of a list of a topic's configuration.
	maxGlobs, maxListGlobs = 256, 512
	// maxNear is for how many of a call's misses a name like them is looked for: each
	// costs a comparison with every subject.
	maxNear = 8
	// interval is after how many subjects it is looked whether anybody waits still.
	interval = 1024
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
	Field   string
	Pattern string
}

// Result is what a list of patterns stands for.
type Result struct {
	// Hits are the indexes of the subjects, each once, in the order of the first
	// pattern that matched them. Those of a glob are in the order of the topic, and
	// files that share the name asked for in the order of their paths.
	Hits []int
	// Literal reports whether one pattern was asked for, which is no glob, and is the
	// name of one subject only.
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
	// Near is the slug of a visible subject that is like the pattern, or empty.
	Near string
}

// New takes a topic's id, its subjects in the order in which they are listed,
// and its configuration's lists of what is disabled and what is learned. It
// keeps all and does not change it. The error is that of the context.
//
// A disabled list that [Validate] or [TooMuch] refuses disables everything: what it
// was to hide must not be shown.
func New(ctx context.Context, topic string, all []subjects.Subject, disabled, learned []string) (*Set, error) {
	s := &Set{topic: topic, all: all, disabled: make([]bool, len(all)), learned: make([]bool, len(all))}
	entries, bad := compileList(topic, disabled)
	if bad >= 0 {
		entries = nil
	}
	for _, e := range entries {
		hit := false
		for i := range all {
			if i%interval == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !(hit && s.disabled[i]) && e.covers(&all[i]) {
				s.disabled[i], hit = true, true
			}
		}
		if !hit {
			s.dead = append(s.dead, Dead{Field: "disabled", Pattern: e.pattern})
		}
	}
	for i := range all {
		if s.disabled[i] = s.disabled[i] || bad >= 0; !s.disabled[i] && !all[i].Hidden {
			s.visible = append(s.visible, i)
		}
	}
	result := s.resolve(ctx, learned, false, maxListGlobs)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, i := range result.Hits {
		s.learned[i] = true
	}
	for _, miss := range result.Missed {
		s.dead = append(s.dead, Dead{Field: "learned", Pattern: miss.Pattern})
	}
	return s, nil
}

// Visible returns the indexes of the subjects that are neither hidden nor
// disabled, in the order of the topic. The caller must not change it.
func (s *Set) Visible() []int { return s.visible }

// Disabled reports whether the subject counts as not there.
func (s *Set) Disabled(i int) bool { return s.disabled[i] }

// Learned reports whether the subject is one that the assistant knows from the
// start. A disabled one never is.
func (s *Set) Learned(i int) bool { return s.learned[i] }

// Dead returns the entries of the configuration that match nothing: the
// disabled ones and then the learned ones, each in their order.
func (s *Set) Dead() []Dead { return s.dead }

// Resolve returns what the patterns stand for; without patterns these are all
// visible subjects. A pattern that matches nothing is no error but a [Miss].
// skipLearned leaves out the learned subjects, which the host puts into its prompt.
//
// The errors are ctx's, and one for more than [MaxPatterns] patterns.
func (s *Set) Resolve(ctx context.Context, patterns []string, skipLearned bool) (Result, error) {
	if len(patterns) > MaxPatterns {
		return Result{}, fmt.Errorf("%d patterns are too many for one call: at most %d are taken", len(patterns), MaxPatterns)
	}
	if len(patterns) == 0 {
		hits := slices.Clone(s.visible)
		if skipLearned {
			hits = slices.DeleteFunc(hits, s.Learned)
		}
		return Result{Hits: hits}, nil
	}
	result := s.resolve(ctx, patterns, skipLearned, maxGlobs)
	for i := range result.Missed[:min(len(result.Missed), maxNear)] {
		if pattern := result.Missed[i].Pattern; len(pattern) <= maxPatternBytes && ctx.Err() == nil {
			result.Missed[i].Near = s.near(bare(pattern))
		}
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	return result, nil
}

// near returns the slug of the visible subject that is like a name, or empty.
func (s *Set) near(name string) (best string) {
	name = strings.ToLower(name)
	const most = 4 // further away than that, names are alike by chance
	fewest := min(most, len(name)/3) + 1
	for _, i := range s.visible {
		slug := s.all[i].Slug
		// Skills name the files they come with relative to their folder.
		if name != "" && strings.HasSuffix(slug, "/"+stem(name)) {
			return slug
		}
		if abs := max(len(slug)-len(name), len(name)-len(slug)); abs >= fewest {
			continue
		}
		if edits, ok := near.Edits(name, strings.ToLower(slug), fewest-1); ok && edits < fewest {
			best, fewest = slug, edits
		}
	}
	return best
}

// resolve is [Set.Resolve] for any number of patterns, which may stand for so many
// globs together, without suggestions. What it returns when the context ends is of
// no use.
func (s *Set) resolve(ctx context.Context, patterns []string, skipLearned bool, globs int) Result {
	var result Result
	seen := make([]bool, len(s.all))
	known := func(i int) bool { return skipLearned && s.learned[i] }
	for _, pattern := range patterns {
		if ctx.Err() != nil {
			break
		}
		found := s.named(pattern)
		byName := found != nil
		if !byName {
			var reason string
			if found, reason = s.globbed(ctx, pattern, &globs); found == nil {
				result.Missed = append(result.Missed, Miss{Pattern: pattern, Reason: reason})
				continue
			}
		}
		result.Literal = byName && len(patterns) == 1 && len(found) == 1
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
	return result
}

// spellings returns the pattern in NFC, and what is left of it without what people put
// around names: spaces, "./", "/" and the topic's id before it, "/" behind it, and
// of what they type twice: "//". None is empty.
func spellings(topic, pattern string) []string {
	pattern = subjects.NFC(pattern)
	forms := []string{pattern, bare(pattern)}
	if below, ok := strings.CutPrefix(forms[1], topic+"/"); ok {
		forms = append(forms, below)
	}
	return slices.DeleteFunc(slices.Compact(forms), func(form string) bool { return form == "" })
}

// bare is the pattern without all that but the topic's id.
func bare(pattern string) string {
	// A space behind a backslash is part of a name.
	if trimmed := strings.TrimSpace(pattern); !strings.HasSuffix(trimmed, `\`) {
		pattern = trimmed
	}
	for strings.Contains(pattern, "//") {
		pattern = strings.ReplaceAll(pattern, "//", "/")
	}
	for strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "./") {
		_, pattern, _ = strings.Cut(pattern, "/")
	}
	return strings.TrimRight(pattern, "/")
}

// Names are what a subject can be asked for by, in the order in which they are
// tried. Some may be the same.
func Names(s *subjects.Subject) [5]string {
	return [...]string{s.Slug, s.PathSlug, subjects.NFC(s.Path), stem(subjects.NFC(s.Path)), s.Name}
}

// rank is the place among [Names] of the first that is the form asked for, or -1.
// Behind them come the slug without the blanks around it, which lists do not show,
// and the path in NFC where that is another. It is asked of every subject, and so
// cuts paths only where that may help.
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
	case len(s.Slug) > len(form) && strings.TrimSpace(s.Slug) == form:
		return 5
	}
	if path := subjects.NFC(s.Path); path != s.Path && (path == form || stem(path) == form) {
		return 6
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
	for _, form := range spellings(s.topic, pattern) {
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
// else what is wrong with it. It takes the globs that the pattern stands for from
// those that may be tried.
func (s *Set) globbed(ctx context.Context, pattern string, globs *int) (found []int, reason string) {
	switch {
	case pattern == "":
		return nil, "is empty"
	case len(pattern) > maxPatternBytes:
		return nil, fmt.Sprintf("is longer than %d bytes", maxPatternBytes)
	case !hasMeta(pattern):
		return nil, ""
	}
	for _, form := range spellings(s.topic, pattern) {
		compiled, err := compile(form)
		if err != nil {
			return nil, err.Error()
		}
		if *globs -= compiled.alternatives; *globs < 0 {
			return nil, "was not tried: the { } of the call stand for too much together; use fewer of them, or ask for it in another call"
		}
		for n, i := range s.visible {
			if n%interval == 0 && ctx.Err() != nil {
				return nil, ""
			}
			if matchAny(&compiled, s.all[i].Slug, s.all[i].PathSlug) {
				found = append(found, i)
			}
		}
		if found != nil {
			return found, ""
		}
	}
	return nil, ""
}

// matchAny reports whether a glob matches one of the names. Most often a name is the
// same as the one before it.
func matchAny(g *glob, names ...string) bool {
	for n, name := range names {
		if (n == 0 || name != names[n-1]) && g.match(name) {
			return true
		}
	}
	return false
}
