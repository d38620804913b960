package knowledge

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/coerce"
	"github.com/convtools/convtools/runtime/knowledge/match"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// The limits of a list of names in a remark. What is beyond them is counted.
const (
	maxNames      = 20
	maxNamesBytes = 4_000
)

// remarks are the lines behind an answer that say what it does not show. What is
// said of several subjects is said once.
type remarks struct {
	groups []group
	lines  []string // behind the groups
	notes  []string // last
}

type group struct {
	one, many string // what is said of one subject and of several, from the character behind them
	names     []string
}

// subject remarks on one subject.
func (r *remarks) subject(name, one, many string) { r.subjects([]string{name}, one, many) }

func (r *remarks) subjects(names []string, one, many string) {
	if len(names) == 0 {
		return
	}
	for i := range r.groups {
		if r.groups[i].one == one {
			r.groups[i].names = append(r.groups[i].names, names...)
			return
		}
	}
	r.groups = append(r.groups, group{one, many, names})
}

func (r *remarks) unreadable(name string, err error) {
	reason := " could not be read: " + cause(err)
	r.subject(name, reason, reason)
}

// note passes on what somebody else has to say.
func (r *remarks) note(text string) { r.notes = append(r.notes, "(note: "+oneLine(text)+")") }

// leftOut names the subjects that an answer had no room for.
func (r *remarks) leftOut(topic string, names []string) {
	next := names[:within(names, match.MaxPatterns, 4*maxNamesBytes)]
	line := fmt.Sprintf("(%s not fit into this answer, which has room for %s. Call learn with topic %q and subjects %s", text.Count(len(names), "subject does", "subjects do"), largest(), topic, jsonList(next))
	if more := len(names) - len(next); more > 0 {
		line += fmt.Sprintf("; for the %s behind those, call learn with topic %q alone, which lists all in this order", text.Number(more), topic)
	}
	r.lines = append(r.lines, line+".)")
}

// missed names the patterns that matched nothing while others did.
func (r *remarks) missed(missed []match.Miss) {
	if len(missed) == 0 {
		return
	}
	var patterns, near []string
	for _, m := range missed {
		pattern := text.Quote(m.Pattern)
		if m.Reason != "" {
			pattern += " (it " + m.Reason + ")"
		}
		patterns = append(patterns, pattern)
		if m.Near != "" {
			near = append(near, m.Near)
		}
	}
	line := "No subjects matched: " + strings.Join(patterns, ", ") + "."
	if len(near) > 0 {
		near = near[:within(near, 6, maxNamesBytes)]
		line += " Did you mean " + anyOf(near) + "?"
	}
	r.lines = append(r.lines, line)
}

func (r *remarks) empty() bool { return len(r.groups)+len(r.lines)+len(r.notes) == 0 }

// String returns one line for each remark.
func (r *remarks) String() string {
	var lines []string
	for _, g := range r.groups {
		if len(g.names) == 1 {
			lines = append(lines, fmt.Sprintf("(subject %s%s)", quoteName(g.names[0]), g.one))
			continue
		}
		quoted := make([]string, len(g.names))
		for i, name := range g.names {
			quoted[i] = quoteName(name)
		}
		lines = append(lines, fmt.Sprintf("(%s subjects%s: %s)", text.Number(len(quoted)), g.many, listed(quoted)))
	}
	lines = append(lines, r.lines...)
	return strings.Join(append(lines, r.notes...), "\n")
}

// listed joins names, and counts those beyond the limits.
func listed(names []string) string {
	n := within(names, maxNames, maxNamesBytes)
	if n == len(names) {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(names[:n], ", "), text.Number(len(names)-n))
}

// within returns how many of the names, but at least one, are within a limit of
// their number and one of their bytes.
func within(names []string, most, bytes int) int {
	for n, name := range names {
		if bytes -= len(name); n > 0 && (n == most || bytes < 0) {
			return n
		}
	}
	return len(names)
}

// anyOf writes names as alternatives: "a", "b" or "c".
func anyOf(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	last := len(quoted) - 1
	if last == 0 {
		return quoted[0]
	}
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

func jsonList(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = coerce.JSON(name)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// largest is the size of the largest file that is read, and of the largest answer.
func largest() string { return strconv.Itoa(subjects.MaxSize>>20) + " MiB" }

// megabytes writes a size in bytes as in 5.2 MB.
func megabytes(size int64) string { return fmt.Sprintf("%.1f MB", float64(size)/1e6) }
