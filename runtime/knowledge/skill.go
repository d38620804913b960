package knowledge

import (
	"fmt"
	"path"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
)

// The limits of what is said of the skills in one answer.
const (
	maxSkillNotes   = 16 << 10 // bytes
	maxBundledBytes = 2_000    // of the names of what comes with one skill
)

// skills remarks on those of the subjects that are skills: where their folder is,
// as what they tell to run is relative to it, and what else is in it. It takes up
// to room bytes; skills that are left out of it are counted.
func (r *remarks) skills(t *topic, indexes []int, room int) {
	room = min(room, maxSkillNotes)
	more := 0
	for _, i := range indexes {
		if !t.tree.Subjects[i].Skill {
			continue
		}
		if room > 0 {
			note := t.skillNote(i)
			if room -= len(note); room > 0 {
				r.lines = append(r.lines, note)
				continue
			}
		}
		more++
	}
	if more > 0 {
		r.lines = append(r.lines, fmt.Sprintf("(for the folders of %s more skills, load each alone)", text.Number(more)))
	}
}

// skillNote says where the folder of a skill is, and what else is in it.
func (t *topic) skillNote(i int) string {
	s := &t.tree.Subjects[i]
	folder := path.Dir(s.Path)
	note := fmt.Sprintf("(skill %s: its folder is %s", quoteName(s.Name), quoteName(path.Join(t.Topic.Subjects, folder)))
	if t.Outside == "" {
		note += " in this project"
	}
	var bundled []string
	for j := range t.tree.Subjects {
		other := &t.tree.Subjects[j]
		below, ok := strings.CutPrefix(other.Path, folder+"/")
		if !ok || j == i || t.set.Disabled(j) {
			continue
		}
		// What a hidden skill comes with is hidden by the skill's own folder.
		dotted := strings.HasPrefix(below, ".") || strings.Contains(below, "/.")
		if dotted || other.Hidden && (!s.Hidden || len(other.Targets) > 0) {
			continue
		}
		bundled = append(bundled, quoteName(other.Name))
	}
	n := within(bundled, maxNames, maxBundledBytes)
	if n > 0 {
		note += "; subjects in it: " + strings.Join(bundled[:n], ", ")
	}
	if more := len(bundled) - n; more > 0 {
		note += fmt.Sprintf(" and %s more", text.Number(more))
		if !s.Hidden {
			note += fmt.Sprintf(": call learn with topic %q alone to list them", t.ID)
		}
	}
	return note + ")"
}
