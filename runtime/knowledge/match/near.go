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
	// maxNearWork is up to what [work] a pattern is tried elsewhere.
	maxNearWork = 16
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
// likeliest first. Each matches something visible. There are none when the context
// ends.
func (s *Set) near(ctx context.Context, pattern string) []string {
	forms := spellings(s.topic, pattern)
	target := forms[len(forms)-1]
	if len(target) > maxPatternBytes || target == "" {
		return nil
	}
	if hasMeta(target) {
		if _, err := compile(target); err == nil {
			if found := s.nearGlob(ctx, target); found != nil {
				return found
			}
		}
	}
	best := &shortlist{}
	for n, i := range s.visible {
		if n%1024 == 0 && ctx.Err() != nil {
			return nil
		}
		best.add(nearName(target, &s.all[i]))
	}
	s.eachFolder(func(dir string) { best.add(nearFolder(target, dir)) })
	return best.texts()
}

// nearGlob looks for what a glob that matches nothing would match without an
// extension, which slugs do not have, and on all levels, and for its folder
// under another spelling.
func (s *Set) nearGlob(ctx context.Context, target string) []string {
	bare := stem(target)
	for _, attempt := range []string{bare, "**/" + target, "**/" + bare} {
		globs, err := compile(attempt)
		if attempt == target || err != nil || work(globs) > maxNearWork {
			continue
		}
		for n, i := range s.visible {
			if n%1024 == 0 && ctx.Err() != nil {
				return nil
			}
			if matchAny(globs, s.all[i].Slug, s.all[i].PathSlug) {
				return []string{attempt}
			}
		}
	}
	dir := target[:strings.IndexAny(target, metaCharacters)]
	dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
	if dir == "" {
		return nil
	}
	best := &shortlist{}
	s.eachFolder(func(known string) { best.add(nearFolder(dir, known)) })
	return best.texts()
}

// nearName says how near a visible subject is to a name.
func nearName(target string, subject *subjects.Subject) (suggestion, bool) {
	found := suggestion{text: subject.Slug}
	for _, name := range Names(subject) {
		if strings.EqualFold(target, name) {
			found.rank = sameButCase
			return found, true
		}
	}
	base := subject.Slug[strings.LastIndexByte(subject.Slug, '/')+1:]
	if strings.EqualFold(target, base) || strings.EqualFold(stem(target), subject.Slug) {
		found.rank = lastPart
		return found, true
	}
	// Skills name the files they come with relative to their folder.
	for _, name := range Names(subject) {
		if endsIn(name, target) {
			found.rank = lastPart
			return found, true
		}
	}
	found.rank = alike
	var ok bool
	if found.edits, ok = edits(target, subject.Slug); ok {
		return found, true
	}
	if strings.Contains(target, "/") || base == subject.Slug {
		return found, false
	}
	found.edits, ok = edits(target, base)
	return found, ok
}

// endsIn reports whether the last components of a name are those of a path, whatever
// their case. Letters whose cases differ in length do not count.
func endsIn(name, path string) bool {
	start := len(name) - len(path)
	return start > 0 && name[start-1] == '/' && strings.EqualFold(name[start:], path)
}

// nearFolder says how near a folder is to a name. What is suggested is
// everything in it.
func nearFolder(target, dir string) (suggestion, bool) {
	found := suggestion{text: QuoteMeta(dir) + "/**", rank: folder}
	if len(found.text) > maxPatternBytes {
		return found, false
	}
	if strings.EqualFold(target, dir) {
		return found, true
	}
	found.rank = alike
	var ok bool
	found.edits, ok = edits(target, dir)
	return found, ok
}

// eachFolder calls yield once with each folder that holds visible subjects.
func (s *Set) eachFolder(yield func(dir string)) {
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
			yield(dir)
		}
	}
}

// shortlist keeps the best suggestions.
type shortlist struct{ best []suggestion }

func (l *shortlist) add(s suggestion, ok bool) {
	if !ok {
		return
	}
	// Files that share a slug may differ in how near they are.
	same := slices.IndexFunc(l.best, func(b suggestion) bool { return b.text == s.text })
	if same >= 0 && likelier(l.best[same], s) <= 0 {
		return
	}
	if same >= 0 {
		l.best = slices.Delete(l.best, same, same+1)
	}
	at, _ := slices.BinarySearchFunc(l.best, s, likelier)
	l.best = slices.Insert(l.best, at, s)
	l.best = l.best[:min(len(l.best), maxSuggestions)]
}

func likelier(a, b suggestion) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.edits, b.edits), strings.Compare(a.text, b.text))
}

func (l *shortlist) texts() []string {
	var texts []string
	for _, s := range l.best {
		texts = append(texts, s.text)
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
