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

const maxNames, maxNamesBytes = 20, 4_000 // of the names in a remark; the names beyond the limits are counted

// largest is the size of the largest file that is read, and of the largest answer.
const largest = "4 MiB"

// remarks are the lines after an answer, most of them about subjects that it does not show.
type remarks struct {
	texts []string            // remarks on subjects, in the order of their first use; there is a line for each
	names map[string][]string // of the subjects, by the remark on them
	lines []string            // after the remarks on subjects
	notes []string            // last
}

// addSubject adds a remark on a subject: the subject joins those with the same remark.
func (r *remarks) addSubject(text string, s *subjects.Subject) {
	if r.names == nil {
		r.names = map[string][]string{}
	}
	if r.names[text] == nil {
		r.texts = append(r.texts, text)
	}
	r.names[text] = append(r.names[text], quoteName(s.Name))
}

// addIfUnshowable adds a remark on a subject that cannot be shown, because of its kind or because of a problem with
// reading it. It returns false, and adds nothing, if the subject can be shown: then problem is empty.
func (r *remarks) addIfUnshowable(s *subjects.Subject, kind subjects.Kind, problem string) bool {
	switch {
	case problem != "":
		r.addSubject("could not be read: "+oneLine(problem), s)
	case kind.TooLarge:
		r.addSubject("skipped: over the limit of "+largest, s)
	case kind.Binary:
		r.addSubject("skipped: binary", s)
	default:
		return false
	}
	return true
}

// addLeftOut adds a line about the subjects for which an answer has no room, with the call that loads the next of them.
func (r *remarks) addLeftOut(topic string, leftOut []*subjects.Subject) {
	names := make([]string, len(leftOut))
	for i, s := range leftOut {
		names[i] = coerce.JSON(s.Name)
	}
	// The caller can use each of these names, and so they have four times the room of the names in a remark.
	next := names[:countWithin(names, subjects.MaxPatterns, 4*maxNamesBytes)]
	line := fmt.Sprintf("(%s not fit into this answer, which has room for %s. Call learn with topic %q and subjects [%s]",
		text.Count(len(names), "subject does", "subjects do"), largest, topic, strings.Join(next, ", "))
	if more := len(names) - len(next); more > 0 {
		line += fmt.Sprintf("; for the %s behind those, call learn with topic %q alone, which lists all in this order", text.Number(more), topic)
	}
	r.lines = append(r.lines, line+".)")
}

// addSkillFolders adds a line with the folders of those loaded subjects that are skills: the paths in the text of a
// skill are relative to its folder.
func (r *remarks) addSkillFolders(t *topic, loaded []*subjects.Subject) {
	var folders []string
	for _, s := range loaded {
		if s.Skill {
			folders = append(folders, quoteName(s.Name)+" is in "+quoteName(path.Join(t.Subjects, path.Dir(s.Path))))
		}
	}
	if len(folders) > 0 {
		r.lines = append(r.lines, "(paths in a skill are relative to its folder: "+joinNames(folders)+")")
	}
}

// appendTo returns an answer with the remarks after it, one in a line.
func (r *remarks) appendTo(answer string) string {
	var lines []string
	for _, text := range r.texts {
		noun := "subject "
		if len(r.names[text]) > 1 {
			noun = "subjects "
		}
		lines = append(lines, "("+noun+joinNames(r.names[text])+": "+text+")")
	}
	remarks := strings.Join(slices.Concat(lines, r.lines, r.notes), "\n")
	if answer != "" && remarks != "" {
		answer += "\n\n"
	}
	return answer + remarks
}

// joinMisses returns the patterns that match nothing, each with the reason and the name that was probably meant.
func joinMisses(missed []subjects.Miss) string {
	var patterns []string
	for _, m := range missed {
		pattern := text.Quote(m.Pattern)
		if m.Reason != "" {
			pattern += " (it " + m.Reason + ")"
		}
		if m.Near != "" {
			pattern += " (did you mean " + quoteName(m.Near) + "?)"
		}
		patterns = append(patterns, pattern)
	}
	return strings.Join(patterns, ", ")
}

// joinNames returns the names within the limits with commas between them, and the number of the other names.
func joinNames(names []string) string {
	n := countWithin(names, maxNames, maxNamesBytes)
	if n == len(names) {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(names[:n], ", "), text.Number(len(names)-n))
}

// countWithin returns how many of the first names have maxBytes bytes together, but at least 1 and at most maxCount.
func countWithin(names []string, maxCount, maxBytes int) int {
	total := 0
	for n, name := range names {
		total += len(name)
		isOver := n == maxCount || total > maxBytes
		if isOver && n > 0 {
			return n
		}
	}
	return len(names)
}
