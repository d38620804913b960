package match

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

const (
	maxSuggestions = 3
	// maxEdits is how far a suggestion may be from what was asked for: further
	// away than that, names are alike by chance.
	maxEdits = 4
	// maxNearGlobs is up to how many globs a pattern is tried elsewhere.
	maxNearGlobs = 16
	// maxTypo is the length in bytes of the longest name whose typing errors are
	// looked for.
	maxTypo = 128
)

// suggestion is a pattern that matches something, with how likely it is meant:
// the lower rank, then the fewer edits.
type suggestion struct {
	text        string
	rank, edits int
}

const (
	sameButCase = iota // the name, but for upper and lower case
	folder             // the name of a folder
	lastPart           // the last component of the name, or the name with an extension
	alike              // a name that few edits make the same
)

// near returns up to three patterns that what was asked for may stand for, the
// likeliest first. Each matches something visible. What it returns when the context
// ends is of no use.
func (s *Set) near(ctx context.Context, pattern string) []string {
	forms := spellings(s.topic, pattern)
	if len(forms) == 0 || len(forms[len(forms)-1]) > maxPatternBytes {
		return nil
	}
	target := forms[len(forms)-1]
	if hasMeta(target) {
		if _, err := compile(target); err == nil {
			if found := s.nearGlob(ctx, target); found != nil {
				return found
			}
		}
	}
	var found []suggestion
	for n := range until(ctx, len(s.visible)) {
		if near, ok := nearName(target, &s.all[s.visible[n]]); ok {
			found = append(found, near)
		}
	}
	return likeliest(append(found, s.nearFolders(target)...))
}

// nearGlob looks for what a glob that matches nothing would match without an
// extension, which slugs do not have, and on all levels, and for its folder
// under another spelling.
func (s *Set) nearGlob(ctx context.Context, target string) []string {
	bare := stem(target)
	for _, attempt := range []string{bare, "**/" + target, "**/" + bare} {
		globs, err := compile(attempt)
		if attempt == target || err != nil || len(globs) > maxNearGlobs {
			continue
		}
		for n := range until(ctx, len(s.visible)) {
			if i := s.visible[n]; matchAny(globs, s.all[i].Slug, s.all[i].PathSlug) {
				return []string{attempt}
			}
		}
	}
	dir := target[:strings.IndexAny(target, metaCharacters)]
	dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
	if dir == "" {
		return nil
	}
	return likeliest(s.nearFolders(dir))
}

// nearName returns how near a visible subject is to a name, and false where it is
// not.
func nearName(target string, subject *subjects.Subject) (suggestion, bool) {
	slug := subject.Slug
	base := slug[strings.LastIndexByte(slug, '/')+1:]
	names := Names(subject)
	switch {
	case slices.ContainsFunc(names[:], func(name string) bool { return strings.EqualFold(target, name) }):
		return suggestion{slug, sameButCase, 0}, true
	case strings.EqualFold(target, base), strings.EqualFold(stem(target), slug),
		// Skills name the files they come with relative to their folder.
		slices.ContainsFunc(names[:], func(name string) bool { return endsIn(name, target) }):
		return suggestion{slug, lastPart, 0}, true
	}
	n, ok := edits(target, slug)
	if !ok && base != slug && !strings.Contains(target, "/") {
		n, ok = edits(target, base)
	}
	return suggestion{slug, alike, n}, ok
}

// endsIn reports whether the last components of a name are those of a path, whatever
// their case. Letters whose cases differ in length do not count.
func endsIn(name, path string) bool {
	start := len(name) - len(path)
	return start > 0 && name[start-1] == '/' && strings.EqualFold(name[start:], path)
}

// nearFolders returns the folders that hold visible subjects and are near to a name.
// What is suggested is everything in them.
func (s *Set) nearFolders(target string) []suggestion {
	var found []suggestion
	seen := map[string]bool{}
	for _, i := range s.visible {
		dir := s.all[i].PathSlug
		for {
			slash := strings.LastIndexByte(dir, '/')
			if slash <= 0 || seen[dir[:slash]] {
				break
			}
			dir = dir[:slash]
			seen[dir] = true
			all := QuoteMeta(dir) + "/**"
			if len(all) > maxPatternBytes {
				continue
			}
			if strings.EqualFold(target, dir) {
				found = append(found, suggestion{all, folder, 0})
			} else if n, ok := edits(target, dir); ok {
				found = append(found, suggestion{all, alike, n})
			}
		}
	}
	return found
}

// likeliest returns the best of the suggestions. Files that share a slug may differ
// in how near they are.
func likeliest(found []suggestion) []string {
	slices.SortFunc(found, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.edits, b.edits), strings.Compare(a.text, b.text))
	})
	var texts []string
	for _, s := range found {
		if len(texts) < maxSuggestions && !slices.Contains(texts, s.text) {
			texts = append(texts, s.text)
		}
	}
	return texts
}

// edits returns how many typing errors lie between two names, whatever their
// case; false when that is more than [maxEdits] or a third of the longer one.
func edits(target, candidate string) (int, bool) {
	if len(target) > maxTypo || len(candidate) > 2*maxTypo {
		return 0, false
	}
	a, b := utf8.RuneCountInString(target), utf8.RuneCountInString(candidate)
	limit := min(maxEdits, max(a, b)/3)
	if a-b > limit || b-a > limit {
		return 0, false
	}
	return near.Edits(strings.Map(unicode.ToLower, target), strings.Map(unicode.ToLower, candidate), limit)
}
