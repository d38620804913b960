package knowledge

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// The limits of the names in a remark. The names beyond them are counted.
const (
	maxNames      = 20
	maxNamesBytes = 4_000
)

// largest is the size of the largest file that is read, and of the largest answer.
const largest = "4 MiB"

// remarks are the lines after an answer about the subjects that it does not show. One line is for all subjects with
// the same remark.
type remarks struct {
	said  []string // remarks on subjects, in the order of their first use
	names map[string][]string
	lines []string // after the remarks on subjects
	notes []string // last
}

// subject adds a remark on a subject.
func (r *remarks) subject(what string, s *subjects.Subject) {
	if r.names == nil {
		r.names = map[string][]string{}
	}
	if r.names[what] == nil {
		r.said = append(r.said, what)
	}
	r.names[what] = append(r.names[what], quoteName(s.Name))
}

// cannotShow adds a remark if a subject cannot be shown, and reports whether it did.
func (r *remarks) cannotShow(s *subjects.Subject, kind subjects.Kind, problem string) bool {
	switch {
	case problem != "":
		r.subject("could not be read: "+oneLine(problem), s)
	case kind.TooLarge:
		r.subject("skipped: over the limit of "+largest, s)
	case kind.Binary:
		r.subject("skipped: binary", s)
	default:
		return false
	}
	return true
}

// leftOut adds the names of the subjects for which an answer has no room.
func (r *remarks) leftOut(topic string, left []*subjects.Subject) {
	names := make([]string, len(left))
	for i, s := range left {
		names[i] = coerce.JSON(s.Name)
	}
	next := names[:within(names, subjects.MaxPatterns, 4*maxNamesBytes)]
	line := fmt.Sprintf("(%s not fit into this answer, which has room for %s. Call learn with topic %q and subjects [%s]",
		text.Count(len(names), "subject does", "subjects do"), largest, topic, strings.Join(next, ", "))
	if more := len(names) - len(next); more > 0 {
		line += fmt.Sprintf("; for the %s behind those, call learn with topic %q alone, which lists all in this order", text.Number(more), topic)
	}
	r.lines = append(r.lines, line+".)")
}

// skills adds the folders of the subjects that are skills: the paths in a skill are relative to its folder.
func (r *remarks) skills(t *topic, all []*subjects.Subject) {
	var folders []string
	for _, s := range all {
		if s.Skill {
			folders = append(folders, quoteName(s.Name)+" is in "+quoteName(path.Join(t.Subjects, path.Dir(s.Path))))
		}
	}
	if len(folders) > 0 {
		r.lines = append(r.lines, "(paths in a skill are relative to its folder: "+listed(folders)+")")
	}
}

// appendTo returns an answer with the remarks after it, one in a line.
func (r *remarks) appendTo(answer string) string {
	var lines []string
	for _, what := range r.said {
		kind := "subject "
		if len(r.names[what]) > 1 {
			kind = "subjects "
		}
		lines = append(lines, "("+kind+listed(r.names[what])+": "+what+")")
	}
	said := strings.Join(slices.Concat(lines, r.lines, r.notes), "\n")
	if answer != "" && said != "" {
		answer += "\n\n"
	}
	return answer + said
}

// misses returns the patterns that matched nothing, with the names that were probably meant.
func misses(missed []subjects.Miss) string {
	var all []string
	for _, m := range missed {
		said := text.Quote(m.Pattern)
		if m.Reason != "" {
			said += " (it " + m.Reason + ")"
		}
		if m.Near != "" {
			said += " (did you mean " + quoteName(m.Near) + "?)"
		}
		all = append(all, said)
	}
	return strings.Join(all, ", ")
}

// listed joins names, and counts the names beyond the limits.
func listed(names []string) string {
	n := within(names, maxNames, maxNamesBytes)
	if n == len(names) {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(names[:n], ", "), text.Number(len(names)-n))
}

// within returns the number of names within a limit of their number and of their bytes; at least one.
func within(names []string, most, bytes int) int {
	for n, name := range names {
		if bytes -= len(name); n > 0 && (n == most || bytes < 0) {
			return n
		}
	}
	return len(names)
}
