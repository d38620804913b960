package match

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

const (
	maxSuggestions = 3
	// maxEdits is how far a suggestion may be from what was asked for: further
	// away than that, names are alike by chance.
	maxEdits = 4
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
// likeliest first. Each matches something visible.
func (s *Set) near(pattern string) []string {
	forms := s.spellings(pattern)
	target := forms[len(forms)-1]
	if len(target) > maxPatternBytes || target == "" {
		return nil
	}
	if hasMeta(target) {
		if _, err := compile(target); err == nil {
			if found := s.nearGlob(target); found != nil {
				return found
			}
		}
	}
	best := &shortlist{}
	for _, i := range s.visible {
		best.add(nearName(target, &s.all[i], best))
	}
	s.eachFolder(func(dir string) { best.add(nearFolder(target, dir, best)) })
	return best.texts()
}

// nearGlob looks for what a glob that matches nothing would match without an
// extension, which slugs do not have, and on all levels, and for its folder
// under another spelling.
func (s *Set) nearGlob(target string) []string {
	bare := stem(target)
	for _, attempt := range []string{bare, "**/" + target, "**/" + bare} {
		globs, err := compile(attempt)
		if attempt == target || err != nil {
			continue
		}
		if slices.ContainsFunc(s.visible, func(i int) bool { return matchAny(globs, s.all[i].Slug, s.all[i].PathSlug) }) {
			return []string{attempt}
		}
	}
	dir := target[:strings.IndexAny(target, metaCharacters)]
	dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
	if dir == "" {
		return nil
	}
	best := &shortlist{}
	s.eachFolder(func(known string) { best.add(nearFolder(dir, known, best)) })
	return best.texts()
}

// nearName says how near a visible subject is to a name.
func nearName(target string, subject *subjects.Subject, best *shortlist) (suggestion, bool) {
	found := suggestion{text: subject.Slug}
	for _, name := range names(subject) {
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
	found.rank = alike
	var ok bool
	if found.edits, ok = best.edits(target, subject.Slug); ok {
		return found, true
	}
	if strings.Contains(target, "/") || base == subject.Slug {
		return found, false
	}
	found.edits, ok = best.edits(target, base)
	return found, ok
}

// nearFolder says how near a folder is to a name. What is suggested is
// everything in it.
func nearFolder(target, dir string, best *shortlist) (suggestion, bool) {
	found := suggestion{text: quoteMeta(dir) + "/**", rank: folder}
	if len(found.text) > maxPatternBytes {
		return found, false
	}
	if strings.EqualFold(target, dir) {
		return found, true
	}
	found.rank = alike
	var ok bool
	found.edits, ok = best.edits(target, dir)
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

// shortlist keeps the best suggestions, and the memory that comparing needs.
type shortlist struct {
	best              []suggestion
	target, candidate []rune
	previous, current []int
}

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

// edits returns how many characters have to be inserted, deleted or replaced to
// make one name the other, whatever their case; false when that is more than
// [maxEdits] or a third of the longer one.
func (l *shortlist) edits(target, candidate string) (int, bool) {
	if len(target) > maxTypo || len(candidate) > 2*maxTypo {
		return 0, false
	}
	l.target, l.candidate = lower(l.target[:0], target), lower(l.candidate[:0], candidate)
	a, b := l.target, l.candidate
	limit := min(maxEdits, max(len(a), len(b))/3)
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return 0, false
	}
	l.previous, l.current = resize(l.previous, len(b)+1), resize(l.current, len(b)+1)
	for j := range l.previous {
		l.previous[j] = j
	}
	for i := range a {
		// Cells further than the limit from the diagonal hold more than the limit.
		from, to := max(0, i-limit), min(len(b), i+1+limit)
		l.current[from] = limit + 1
		if from == 0 {
			l.current[0] = i + 1
		}
		least := l.current[from]
		for j := from; j < to; j++ {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			cell := min(l.previous[j]+cost, l.current[j]+1)
			if j < i+limit { // the cell above the last of a row was not reached
				cell = min(cell, l.previous[j+1]+1)
			}
			l.current[j+1] = cell
			least = min(least, cell)
		}
		if least > limit {
			return 0, false
		}
		l.previous, l.current = l.current, l.previous
	}
	edits := l.previous[len(b)]
	return edits, edits <= limit
}

func lower(buffer []rune, s string) []rune {
	if utf8.RuneCountInString(s) > cap(buffer) {
		buffer = make([]rune, 0, 2*len(s))
	}
	for _, r := range s {
		buffer = append(buffer, unicode.ToLower(r))
	}
	return buffer
}

func resize(row []int, size int) []int {
	if cap(row) < size {
		row = make([]int, 2*size)
	}
	return row[:size]
}
