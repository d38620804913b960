// Package kbconfig judges which topics a knowledge base has, of what package config
// has read of the user's file and the workspace's, and of the flags of a command.
//
//	[kb.topic.project]
//	title = "Project notes"
//	introduction = "How this project is built and released."
//	subjects = ".jp/kb/project"
//	learned = ["style/**"]
//	disabled = ["drafts/**"]
//
// It says everything that is wrong at once, with places and hints. A topic of which
// anything is wrong cannot be learned, as a `disabled` that could not be read must not
// make public what it was to hide; the others can. It never looks into the directories
// of topics, and never writes.
package kbconfig

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/knowledge/match"
)

// maxID is how many bytes an id may have: ids are part of every prompt.
const maxID = 64

// Topic is a named directory of subjects.
type Topic struct {
	// ID is what the topic is asked for by: letters, digits, "_" and "-".
	ID string
	// Title is the name for people; empty if there is none.
	Title string
	// Introduction is one line for the menu of topics; may be empty.
	Introduction string
	// Description is the longer text for who reads the topic; may be empty.
	Description string
	// Enabled is false when the topic does not exist for any purpose.
	Enabled bool
	// Subjects is the directory: a clean, slash-separated path relative to the root
	// and without "..", though a link on it may lead out. Where Outside is set, it is
	// that directory as the user's file names it. That it exists is not known.
	Subjects string
	// Outside is the absolute path of a directory that the user's own file names;
	// empty for one in the workspace.
	Outside string
	// Learned and Disabled are patterns for subjects, each once, in the order in
	// which they were given. None is blank or malformed; whether one matches anything
	// is not known.
	Learned, Disabled []string

	Defined               Position   // where the topic is first mentioned
	SubjectsAt            Position   // where the last Subjects is set
	LearnedAt, DisabledAt []Position // for each of Learned and Disabled
}

// Config is the configuration of a knowledge base.
type Config struct {
	// Root is the absolute path of the directory Subjects are relative to. It is
	// empty, and there are no topics, when there is no workspace.
	Root string
	// Topics has disabled ones too, in the order in which they are first mentioned.
	Topics []Topic
	// Files are those that were read, as positions name them, in this order.
	Files []string
	// Broken has, by id, what keeps a topic from being learned, which is not among Topics.
	Broken map[string]*Error
	// Warnings has every finding, those of Broken too, ordered as in [Error].
	Warnings diag.List
}

// Options say where to look.
type Options struct {
	// Dir is where the search for the root begins; empty is the working directory.
	Dir string
	// Getenv looks up HOME and XDG_CONFIG_HOME, or USERPROFILE and AppData on
	// Windows, to find the user's file. No file of the user is read when it is nil.
	Getenv func(string) string
	// Knowledge has the values of -k, TOPIC/GLOB each, which are added to `learned`.
	Knowledge []string
}

// Load reads the configuration. That there is none is no error. The error is an
// *[Error] when it leaves no topic that can be learned, or a flag is wrong, and another
// one when opts.Dir is not a directory.
func Load(opts Options) (*Config, error) {
	if opts.Dir != "" {
		info, err := os.Stat(opts.Dir)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "stat", Path: opts.Dir, Err: syscall.ENOTDIR}
		}
		if err != nil {
			return nil, fmt.Errorf("looking for a workspace: %w", err)
		}
	}
	l := &loader{config.Read(opts.Dir, opts.Getenv)}
	c := &Config{Root: l.Root, Files: l.Files, Broken: map[string]*Error{}}
	if l.Root != "" {
		for i := range l.Config.Topics {
			l.judge(c, &l.Config.Topics[i])
		}
	}
	if l.Wrong("kb") == nil { // else no topic is there
		l.flags(c.Topics, opts.Knowledge)
	}
	l.titles(c.Topics)
	c.Warnings = l.found("")
	if l.Wrong("kb.topic") != nil || len(c.Topics) == 0 && len(c.Broken) > 0 {
		return nil, &Error{c.Warnings}
	}
	return c, nil
}

// loader judges what was read.
type loader struct{ *config.Config }

// found returns what is wrong with a topic, or for no id all that is about topics, or about what nothing reads. It is
// ordered by file, then by position; what no file is to blame for comes last.
func (l *loader) found(id string) diag.List {
	var list diag.List
	for _, p := range l.Problems {
		about := p.Tables == nil || slices.ContainsFunc(p.Tables, func(t string) bool { return p.Disables("kb") || strings.HasPrefix(t, "kb.") })
		if id != "" {
			about = p.Disables("kb.topic." + id)
		}
		if about {
			list = append(list, p.Diagnostic)
		}
	}
	place := func(d diag.Diagnostic) int {
		if i := slices.Index(l.Files, d.File); i >= 0 {
			return i
		}
		return len(l.Files)
	}
	slices.SortStableFunc(list, func(a, b diag.Diagnostic) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Col, b.Span.Col))
	})
	return list
}

// add reports what disables a table; none makes it a warning.
func (l *loader) add(table string, at Position, rule, hint, format string, args ...any) {
	p := config.Problem{Diagnostic: diag.Diagnostic{File: at.File, Span: at.Span, Rule: rule, Message: fmt.Sprintf(format, args...), Hint: hint}}
	if table != "" {
		p.Tables = []string{table}
	}
	l.Add(p)
}

// judge adds a topic, or what is wrong with it.
func (l *loader) judge(c *Config, t *config.Topic) {
	table := "kb.topic." + t.ID
	wrong := func(at Position, rule, hint, format string, args ...any) {
		l.add(table, at, rule, hint, format, args...)
	}
	j := Topic{
		ID: t.ID, Title: t.Title, Introduction: t.Introduction, Description: t.Description, Enabled: t.Enable,
		Learned: t.Learned, Disabled: t.Disabled, Defined: t.Defined, SubjectsAt: t.SubjectsAt, LearnedAt: t.LearnedAt, DisabledAt: t.DisabledAt,
	}
	whole := l.Wrong(table) == nil
	if !validID(t.ID) {
		hint := "use letters, digits, _ and -"
		if len(t.ID) > maxID {
			hint = fmt.Sprintf("use at most %d characters", maxID)
		}
		wrong(t.Defined, RuleID, hint, "%s cannot be the id of a topic", text.Quote(t.ID))
		whole = false
	}
	switch {
	case t.SubjectsFrom == nil && whole && t.UsersOnly:
		// The user's file is for all workspaces, and adds to topics that some of them have.
		l.add("", t.Defined, RuleMissing, "add subjects to have the topic in every workspace",
			"topic %s is left out here: it has no subjects, and no file of this workspace mentions it", text.Quote(t.ID))
		return
	case t.SubjectsFrom == nil && whole:
		wrong(t.Defined, RuleMissing, "add subjects = "+text.Quote(".jp/kb/"+t.ID)+", the directory of its files relative to the workspace",
			"topic %s has no subjects", text.Quote(t.ID))
	case t.SubjectsFrom != nil && (t.Subjects != "" || whole):
		var problem, hint string
		if outside, ok := config.Expand(t.Subjects, l.Home); ok && t.SubjectsFrom.Root == "" {
			j.Subjects, j.Outside = t.Subjects, outside
		} else if j.Subjects, problem, hint = cleanSubjects(t.Subjects); problem != "" {
			wrong(t.SubjectsAt, RuleSubjects, hint, "subjects of topic %s is %s, which %s", text.Quote(t.ID), text.Quote(t.Subjects), problem)
		}
	}
	l.patterns(t.ID, "learned", t.Learned, t.LearnedAt)
	l.patterns(t.ID, "disabled", t.Disabled, t.DisabledAt)
	if l.Wrong(table) != nil {
		c.Broken[t.ID] = &Error{l.found(t.ID)}
		return
	}
	c.Topics = append(c.Topics, j)
}

// patterns reports patterns of a topic that cannot be used.
func (l *loader) patterns(id, key string, patterns []string, at []Position) {
	table := "kb.topic." + id
	whole := true
	for i, pattern := range patterns {
		if problem, hint := patternProblem(pattern); problem != "" {
			l.add(table, at[i], RulePattern, hint, "%s in %s of topic %s %s", text.Quote(pattern), key, text.Quote(id), problem)
			whole = false
		}
	}
	if i := match.TooMuch(id, patterns); i >= 0 && whole {
		l.add(table, at[i], RuleLimit, "one pattern can be for many subjects: dir/** is for all below dir",
			"the patterns in %s of topic %s stand for too much together, with their { }, to be tried", key, text.Quote(id))
	}
}

// patternProblem says what is wrong with a pattern.
func patternProblem(pattern string) (problem, hint string) {
	if strings.TrimSpace(pattern) == "" {
		return "is an empty pattern", "remove it; ** is for all subjects"
	}
	if err := match.Validate(pattern); err != nil {
		return err.Error(), ""
	}
	return "", ""
}

func validID(id string) bool {
	return id != "" && len(id) <= maxID && !strings.ContainsFunc(id, func(r rune) bool { return r > 'z' || !isIDByte(byte(r)) })
}

func isIDByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// cleanSubjects returns a directory as a path relative to the root, or what is
// wrong with it. The rules are the same on every system: a file that works on one
// computer works on those of others.
func cleanSubjects(dir string) (clean, problem, hint string) {
	const relative = "write a path relative to the workspace, such as .jp/kb/project"
	drive := len(dir) >= 2 && dir[1] == ':' && isIDByte(dir[0])
	switch {
	case strings.TrimSpace(dir) == "":
		return "", "is empty", relative
	case strings.HasPrefix(dir, "/"), strings.HasPrefix(dir, `\`), drive:
		return "", "is an absolute path", relative
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		return "", "leads to the home directory", relative
	case strings.Contains(dir, `\`):
		return "", `contains "\"`, "separate directories by /"
	case slices.Contains(strings.Split(dir, "/"), ".."):
		return "", `contains ".."`, "write a path inside the workspace; only your own configuration may name a directory elsewhere"
	case strings.ContainsFunc(dir, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", "contains control characters", relative
	}
	clean = path.Clean(dir)
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", "this system cannot have in a workspace", relative
	}
	return clean, "", ""
}

// titles warns of topics that cannot be asked for by their title.
func (l *loader) titles(topics []Topic) {
	byTitle, byID := map[string]string{}, map[string]string{}
	for _, id := range enabled(topics) {
		byID[strings.ToLower(id)] = id
	}
	for _, t := range topics {
		title := strings.ToLower(t.Title)
		if title == "" || !t.Enabled {
			continue
		}
		if other, ok := byID[title]; ok && other != t.ID {
			l.add("", t.Defined, RuleTitle, "give it another title: an id is found before a title",
				"the title %s of topic %s is the id of topic %s", text.Quote(t.Title), text.Quote(t.ID), text.Quote(other))
		}
		if other, ok := byTitle[title]; ok {
			l.add("", t.Defined, RuleTitle, "give one of them another title; until then both must be asked for by id",
				"topics %s and %s have the same title, %s", text.Quote(other), text.Quote(t.ID), text.Quote(t.Title))
			continue
		}
		byTitle[title] = t.ID
	}
}
