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
	// interval is after how many subjects it is looked whether anybody still waits.
	interval = 1024
)

// Set is the subjects of one topic, marked with what its configuration says of them.
// It does not change, so goroutines may share it.
type Set struct {
	topic string
	all   []subjects.Subject
	// Visible are the subjects that are neither hidden nor disabled, in the order of the
	// topic.
	Visible []*subjects.Subject
	// Dead are the entries of the configuration that match nothing: the disabled ones and
	// then the learned ones, each in their order.
	Dead []Dead
}

// Dead is an entry of a topic's configuration that no subject matches.
type Dead struct {
	// Field is the entry's list: "learned" or "disabled".
	Field   string
	Pattern string
}

// Result is what a list of patterns stands for.
type Result struct {
	// Hits are the subjects, each once, in the order of the first pattern that matched
	// them. Those of a glob are in the order of the topic, and files that share the name
	// asked for in the order of their paths.
	Hits []*subjects.Subject
	// Literal reports whether one pattern was asked for, which is no glob, and is the
	// name of one subject only.
	Literal bool
	// AlreadyLearned are the subjects that were asked for by name, or by globs that
	// match nothing else, and are in the prompt already. They are not in Hits.
	AlreadyLearned []*subjects.Subject
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

// New takes a topic's id, its subjects in the order in which they are listed, which it
// keeps and marks, and its configuration's lists of what is disabled and what is
// learned. The error is that of the context.
//
// A disabled list that [Validate] or [TooMuch] refuses disables everything: what it
// was to hide must not be shown.
func New(ctx context.Context, topic string, all []subjects.Subject, disabled, learned []string) (*Set, error) {
	s := &Set{topic: topic, all: all}
	entries, bad, _ := compileList(topic, disabled)
	for i := range all {
		all[i].Disabled, all[i].Learned = bad >= 0, false
	}
	for _, e := range entries {
		hit := false
		for i := range all {
			if i%interval == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !(hit && all[i].Disabled) && e.covers(&all[i]) {
				all[i].Disabled, hit = true, true
			}
		}
		if !hit && bad < 0 {
			s.Dead = append(s.Dead, Dead{Field: "disabled", Pattern: e.pattern})
		}
	}
	disableLinks(all)
	for i := range all {
		if !all[i].Disabled && !all[i].Hidden {
			s.Visible = append(s.Visible, &all[i])
		}
	}
	result := s.resolve(ctx, learned, false, maxListGlobs)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, hit := range result.Hits {
		hit.Learned = true
	}
	for _, miss := range result.Missed {
		s.Dead = append(s.Dead, Dead{Field: "learned", Pattern: miss.Pattern})
	}
	return s, nil
}

// disableLinks disables the links to files that are disabled.
func disableLinks(all []subjects.Subject) {
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
//
// The errors are ctx's, and one for more than [MaxPatterns] patterns.
func (s *Set) Resolve(ctx context.Context, patterns []string, skipLearned bool) (Result, error) {
	if len(patterns) > MaxPatterns {
		return Result{}, fmt.Errorf("%d patterns are too many for one call: at most %d are taken", len(patterns), MaxPatterns)
	}
	if len(patterns) == 0 {
		hits := slices.Clone(s.Visible)
		return Result{Hits: slices.DeleteFunc(hits, func(h *subjects.Subject) bool { return skipLearned && h.Learned })}, nil
	}
	result := s.resolve(ctx, patterns, skipLearned, maxGlobs)
	for i := range result.Missed[:min(len(result.Missed), maxNear)] {
		if pattern := result.Missed[i].Pattern; len(pattern) <= maxPatternBytes && ctx.Err() == nil {
			result.Missed[i].Near = s.near(bare(pattern))
		}
	}
	return result, ctx.Err()
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

// resolve is [Set.Resolve] for any number of patterns, which may stand for so many
// globs together, without suggestions. What it returns when the context ends is of
// no use.
func (s *Set) resolve(ctx context.Context, patterns []string, skipLearned bool, globs int) Result {
	var result Result
	seen := map[*subjects.Subject]bool{}
	known := func(s *subjects.Subject) bool { return skipLearned && s.Learned }
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
		result.Literal = byName && len(patterns) == 1 && len(found) == 1 && !known(found[0])
		onlyKnown := !slices.ContainsFunc(found, func(f *subjects.Subject) bool { return !known(f) })
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
// tried: the last is its slug without the blanks around it, which lists do not show.
// Some may be the same.
func Names(s *subjects.Subject) [6]string {
	path := subjects.NFC(s.Path)
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
func (s *Set) named(pattern string) []*subjects.Subject {
	for _, form := range spellings(s.topic, pattern) {
		var visible, hidden []*subjects.Subject
		best := math.MaxInt
		for i := range s.all {
			names := Names(&s.all[i])
			place := slices.Index(names[:], form)
			if place < 0 || place > best || s.all[i].Disabled {
				continue
			}
			if place < best {
				best, visible, hidden = place, nil, nil
			}
			if s.all[i].Hidden {
				hidden = append(hidden, &s.all[i])
			} else {
				visible = append(visible, &s.all[i])
			}
		}
		found := visible
		if found == nil {
			found = hidden
		}
		if found != nil {
			slices.SortStableFunc(found, func(a, b *subjects.Subject) int { return strings.Compare(a.Path, b.Path) })
			return found
		}
	}
	return nil
}

// globbed returns the visible subjects that the pattern matches as a glob, or
// else what is wrong with it. It takes the globs that the pattern stands for from
// those that may be tried.
func (s *Set) globbed(ctx context.Context, pattern string, globs *int) (found []*subjects.Subject, reason string) {
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
		for n, v := range s.Visible {
			if n%interval == 0 && ctx.Err() != nil {
				return nil, ""
			}
			if compiled.matchAny(v.Slug, v.PathSlug) {
				found = append(found, v)
			}
		}
		if found != nil {
			return found, ""
		}
	}
	return nil, ""
}

// entry is what one pattern of a list of disabled subjects stands for, taken as widely
// as it can be meant: what it names in any spelling, hidden or not, and as a glob also
// whatever it matches. What it says of one subject does not depend on others.
type entry struct {
	pattern string
	forms   []string
	globs   []glob
}

// compileList takes a topic's id and a list of its configuration. bad is the index of
// the first pattern that cannot be read, for err, or with which they are too many globs;
// -1 where there is none.
func compileList(topic string, patterns []string) (entries []entry, bad int, err error) {
	globs := 0
	for i, pattern := range patterns {
		e := entry{pattern: pattern, forms: spellings(topic, pattern)}
		for _, form := range e.forms {
			if !hasMeta(form) {
				continue
			}
			g, err := compile(form)
			if err != nil {
				return nil, i, err
			}
			e.globs = append(e.globs, g)
			globs += g.alternatives
		}
		if globs > maxListGlobs {
			return nil, i, nil
		}
		entries = append(entries, e)
	}
	return entries, -1, nil
}

// TooMuch returns the index of the first of a topic's valid patterns that makes them
// too many globs together, or -1.
func TooMuch(topic string, patterns []string) int {
	_, bad, _ := compileList(topic, patterns)
	return bad
}

// Validate returns what is wrong with a pattern, to stand behind it in a sentence,
// or nil. What has no character of globs in it is a name, and every name is valid.
func Validate(pattern string) error {
	_, _, err := compileList("", []string{pattern})
	return err
}

func (e *entry) covers(s *subjects.Subject) bool {
	names := Names(s)
	if slices.ContainsFunc(e.forms, func(form string) bool { return slices.Contains(names[:], form) }) {
		return true
	}
	return slices.ContainsFunc(e.globs, func(g glob) bool { return g.matchAny(names[:]...) })
}
