package subjects_test

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// The oracle says what patterns stand for the slow and literal way: it shares no
// code with the package, nor its cutting of names into components.

// oracleGlob says whether a pattern matches a name, and false for ok when the
// pattern cannot be read. What matches is the library's affair; dir/** is what is in the folder.
func oracleGlob(pattern, name string) (matched, ok bool) {
	pattern = strings.TrimRight(pattern, "/")
	if len(pattern) > 256 || !utf8.ValidString(pattern) || !doublestar.ValidatePattern(pattern) {
		return false, false
	}
	pattern = regexp.MustCompile(`/\*\*(,|}|$)`).ReplaceAllString(pattern, "/**/*$1")
	return doublestar.MatchUnvalidated(pattern, name), true
}

// oracle is a topic by the rules as they are written.
type oracle struct {
	topic             string
	all               []*subjects.Subject
	disabled, learned map[int]bool
}

func newOracle(topic string, all []*subjects.Subject, disabled, learned []string) *oracle {
	o := &oracle{topic: topic, all: all, disabled: map[int]bool{}, learned: map[int]bool{}}
	for _, entry := range disabled {
		for i, s := range all {
			for _, spelling := range o.spellings(entry) {
				for _, name := range []string{s.Slug, s.PathSlug, s.Path, withoutExtension(s.Path), s.Name} {
					matched, _ := oracleGlob(spelling, name)
					glob := strings.ContainsAny(spelling, `*?[{\`)
					if spelling != "" && (name == spelling || glob && matched) {
						o.disabled[i] = true
					}
				}
			}
		}
	}
	for _, entry := range learned {
		found, _ := o.one(entry)
		for _, i := range found {
			o.learned[i] = true
		}
	}
	return o
}

func (o *oracle) spellings(p string) []string {
	bare := p
	if trimmed := strings.Trim(p, " \t\r\n"); !strings.HasSuffix(trimmed, `\`) {
		bare = trimmed
	}
	for slash := 0; slash+1 < len(bare); {
		if bare[slash:slash+2] == "//" {
			bare = bare[:slash] + bare[slash+1:]
			continue
		}
		slash++
	}
	for {
		before := bare
		bare = strings.TrimPrefix(strings.TrimPrefix(bare, "./"), "/")
		if bare == before {
			break
		}
	}
	for strings.HasSuffix(bare, "/") {
		bare = bare[:len(bare)-1]
	}
	all := []string{p, bare}
	if strings.HasPrefix(bare, o.topic+"/") {
		all = append(all, strings.TrimPrefix(bare, o.topic+"/"))
	}
	return all
}

// one returns what a pattern stands for, and whether it is a name.
func (o *oracle) one(pattern string) (found []int, named bool) {
	for _, spelling := range o.spellings(pattern) {
		for kind := range 5 {
			for _, hidden := range []bool{false, true} {
				for i, s := range o.all {
					name := []string{s.Slug, s.PathSlug, s.Path, withoutExtension(s.Path), s.Name}[kind]
					if spelling != "" && name == spelling && s.Hidden == hidden && !o.disabled[i] {
						found = append(found, i)
					}
				}
				if len(found) > 0 {
					slices.SortStableFunc(found, func(a, b int) int { return strings.Compare(o.all[a].Path, o.all[b].Path) })
					return found, true
				}
			}
		}
	}
	for _, spelling := range o.spellings(pattern) {
		for i, s := range o.all {
			slug, _ := oracleGlob(spelling, s.Slug)
			path, _ := oracleGlob(spelling, s.PathSlug)
			if spelling != "" && (slug || path) && !s.Hidden && !o.disabled[i] {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			return found, false
		}
	}
	return nil, false
}

// resolve returns what is to be answered, what is in the prompt already and the
// patterns that match nothing.
func (o *oracle) resolve(patterns []string, skipLearned bool) (hits, already []int, missed []string, literal bool) {
	for _, p := range patterns {
		found, named := o.one(p)
		if len(found) == 0 {
			missed = append(missed, p)
		}
		var fresh, known []int
		for _, i := range found {
			if skipLearned && o.learned[i] {
				known = append(known, i)
			} else {
				fresh = append(fresh, i)
			}
		}
		literal = len(patterns) == 1 && named && len(fresh) == 1 && len(known) == 0
		for _, i := range fresh {
			if !slices.Contains(hits, i) {
				hits = append(hits, i)
			}
		}
		for _, i := range known {
			if (named || len(fresh) == 0) && !slices.Contains(already, i) {
				already = append(already, i)
			}
		}
	}
	return hits, already, missed, literal
}

func withoutExtension(path string) string {
	dir, base := "", path
	if i := strings.LastIndex(path, "/"); i >= 0 {
		dir, base = path[:i+1], path[i+1:]
	}
	if i := strings.LastIndex(base, "."); i > 0 && strings.Trim(base[:i], ".") != "" {
		base = base[:i]
	}
	return dir + base
}

// subjectsOf returns the subjects of a directory that holds these files, in the
// order of listings.
func subjectsOf(paths ...string) []*subjects.Subject {
	all := make([]*subjects.Subject, 0, len(paths))
	slugs := map[string]int{}
	for _, path := range paths {
		var components []string
		hidden := false
		for _, c := range strings.Split(withoutExtension(path), "/") {
			components = append(components, strings.TrimLeft(c, "."))
		}
		for _, c := range strings.Split(path, "/") {
			hidden = hidden || strings.HasPrefix(c, ".")
		}
		slug := strings.Join(components, "/")
		slugs[slug]++
		ext := strings.TrimPrefix(strings.TrimPrefix(path, withoutExtension(path)), ".")
		all = append(all, &subjects.Subject{Path: path, PathSlug: slug, Slug: slug, Ext: strings.ToLower(ext), Hidden: hidden})
	}
	for i := range all {
		folder, isSkill := strings.CutSuffix(all[i].Path, "/SKILL.md")
		if isSkill && !all[i].Hidden && slugs[folder] == 0 {
			all[i].Slug, all[i].Skill = folder, true
		}
	}
	for i, s := range all {
		all[i].Name = s.Slug
		for j, other := range all {
			if i != j && other.Slug == s.Slug && (s.Hidden || !other.Hidden) {
				all[i].Name = strings.NewReplacer("\n", "␊").Replace(s.Path)
			}
		}
	}
	slices.SortFunc(all, func(a, b *subjects.Subject) int {
		if c := strings.Compare(a.Slug, b.Slug); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	return all
}
