package match_test

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// The oracle says what patterns stand for the slow and literal way: it shares no
// code with the package, nor its cutting of names into components.

// oracleGlob says whether a pattern matches a name, and false for ok when the
// pattern cannot be read.
func oracleGlob(pattern, name string) (matched, ok bool) {
	patterns, ok := oracleBraces(pattern)
	if !ok || len(patterns) > 64 || len(pattern) > 256 || !utf8.ValidString(pattern) {
		return false, false
	}
	for _, p := range patterns {
		// Reading to the end finds what is malformed wherever it stands.
		if !oracleReadable(p) {
			return false, false
		}
	}
	for _, p := range patterns {
		// dir/**/ is dir/**, which is what is in the folder.
		if dir := strings.TrimSuffix(p, "/"); dir == "**" || strings.HasSuffix(dir, "/**") {
			p = dir + "/*"
		}
		if oracleMatch(p, name, true) {
			matched = true
		}
	}
	return matched, true
}

func oracleReadable(p string) bool {
	for p != "" {
		switch p[0] {
		case '\\':
			if len(p) == 1 {
				return false
			}
			p = p[2:]
		case '[':
			_, rest, ok := oracleClass(p, 'x')
			if !ok {
				return false
			}
			p = rest
		default:
			p = p[1:]
		}
	}
	return true
}

// oracleClass says whether the class that p begins with holds r.
func oracleClass(p string, r rune) (holds bool, rest string, ok bool) {
	p = p[1:]
	negated := strings.HasPrefix(p, "!") || strings.HasPrefix(p, "^")
	if negated {
		p = p[1:]
	}
	if strings.HasPrefix(p, "]") {
		return false, "", false
	}
	for !strings.HasPrefix(p, "]") {
		var lo, hi rune
		if lo, p, ok = oracleClassRune(p); !ok {
			return false, "", false
		}
		hi = lo
		if len(p) > 1 && p[0] == '-' && p[1] != ']' {
			if hi, p, ok = oracleClassRune(p[1:]); !ok {
				return false, "", false
			}
		}
		holds = holds || lo <= r && r <= hi
	}
	return holds != negated && r != '/', p[1:], true
}

func oracleClassRune(p string) (r rune, rest string, ok bool) {
	p = strings.TrimPrefix(p, `\`)
	if p == "" {
		return 0, "", false
	}
	r, size := utf8.DecodeRuneInString(p)
	return r, p[size:], r != utf8.RuneError || size > 1
}

// oracleMatch matches a readable pattern without braces. start says that p is at
// the start of a component.
func oracleMatch(p, name string, start bool) bool {
	switch {
	case p == "":
		return name == ""
	case start && strings.HasPrefix(p, "**/"):
		if oracleMatch(p[3:], name, true) {
			return true
		}
		slash := strings.IndexByte(name, '/')
		return slash >= 0 && oracleMatch(p, name[slash+1:], true)
	case p[0] == '*':
		for i := 0; ; i++ {
			if oracleMatch(p[1:], name[i:], false) {
				return true
			}
			if i == len(name) || name[i] == '/' {
				return false
			}
		}
	}
	r, size := utf8.DecodeRuneInString(name)
	switch p[0] {
	case '?':
		return name != "" && r != '/' && oracleMatch(p[1:], name[size:], false)
	case '[':
		holds, rest, _ := oracleClass(p, r)
		return name != "" && holds && oracleMatch(rest, name[size:], false)
	case '\\':
		p = p[1:]
	}
	return name != "" && p[0] == name[0] && oracleMatch(p[1:], name[1:], p[0] == '/')
}

// oracleBraces writes out the first group of braces, and then what comes of it.
func oracleBraces(p string) ([]string, bool) {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			_, rest, ok := oracleClass(p[i:], 'x')
			if !ok {
				return nil, false
			}
			i = len(p) - len(rest) - 1
		case '{':
			parts, rest, ok := oracleGroup(p[i+1:])
			if !ok {
				return nil, false
			}
			var all []string
			for _, part := range parts {
				more, ok := oracleBraces(p[:i] + part + rest)
				if !ok || len(all) > 64 {
					return nil, false
				}
				all = append(all, more...)
			}
			return all, true
		}
	}
	return []string{p}, true
}

// oracleGroup reads alternatives up to the } that closes them.
func oracleGroup(p string) (parts []string, rest string, ok bool) {
	part, depth := "", 0
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '\\' && i+1 < len(p):
			part += p[i : i+2]
			i++
			continue
		case p[i] == '[':
			_, after, ok := oracleClass(p[i:], 'x')
			if !ok {
				return nil, "", false
			}
			part += p[i : len(p)-len(after)]
			i = len(p) - len(after) - 1
			continue
		case p[i] == '{':
			depth++
		case p[i] == '}' && depth == 0:
			return append(parts, part), p[i+1:], true
		case p[i] == '}':
			depth--
		case p[i] == ',' && depth == 0:
			parts, part = append(parts, part), ""
			continue
		}
		part += p[i : i+1]
	}
	return nil, "", false
}

// oracle is a topic by the rules as they are written.
type oracle struct {
	topic             string
	all               []subjects.Subject
	disabled, learned map[int]bool
}

func newOracle(topic string, all []subjects.Subject, disabled, learned []string) *oracle {
	o := &oracle{topic: topic, all: all, disabled: map[int]bool{}, learned: map[int]bool{}}
	for _, entry := range disabled {
		for i, s := range all {
			for _, spelling := range o.spellings(entry) {
				for _, name := range []string{s.Slug, s.PathSlug, s.Path, withoutExtension(s.Path), s.Name} {
					matched, ok := oracleGlob(spelling, name)
					// What cannot be read disables everything.
					glob := strings.ContainsAny(spelling, `*?[{\`)
					if spelling != "" && (name == spelling || glob && (matched || !ok)) {
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
	if i := strings.LastIndex(base, "."); i > 0 {
		base = base[:i]
	}
	return dir + base
}

// subjectsOf returns the subjects of a directory that holds these files, in the
// order of listings.
func subjectsOf(paths ...string) []subjects.Subject {
	all := make([]subjects.Subject, 0, len(paths))
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
		all = append(all, subjects.Subject{Path: path, PathSlug: slug, Slug: slug, Ext: strings.ToLower(ext), Hidden: hidden})
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
	slices.SortFunc(all, func(a, b subjects.Subject) int {
		if c := strings.Compare(a.Slug, b.Slug); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	return all
}
