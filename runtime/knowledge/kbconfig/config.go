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
	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/workspace"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/knowledge/match"
)

// The rules a configuration can break, besides [config.Rule]. The ids are stable.
const (
	RuleMissing   = "KC005" // a topic without subjects; a warning where only the user's file has it
	RuleSubjects  = "KC006" // subjects that are no path below the root
	RuleID        = "KC007" // a topic id with other characters than allowed
	RulePattern   = "KC008" // an empty or malformed pattern
	RuleLimit     = "KC009" // patterns that take too long to be tried
	RuleFlag      = "KC011" // a flag that is not TOPIC/GLOB
	RuleFlagTopic = "KC012" // a flag for a topic that there is not
)

// maxID is how many bytes an id may have: ids are part of every prompt.
const maxID = 64

// Topic is a named directory of subjects. Its ID has letters, digits, "_" and "-"; its
// patterns are well formed, each once, in the order in which they were given.
type Topic struct {
	// Topic has in Subjects the directory: a clean, slash-separated path relative to the
	// root and without "..", though a link on it may lead out. Where Outside is set, it is
	// that directory as the user's file names it. That it exists is not known.
	config.Topic
	// Outside is the absolute path of a directory that the user's own file names;
	// empty for one in the workspace.
	Outside string
}

// Config is the configuration of a knowledge base.
type Config struct {
	// Root is the absolute path of the directory Subjects are relative to. It is
	// empty, and there are no topics, when there is no workspace.
	Root string
	// Topics has disabled ones too, in the order in which they are first mentioned.
	Topics []Topic
	// Broken has, by id, what keeps a topic from being learned, which is not among Topics.
	Broken map[string]*Error
	// Problems are all findings, those of Broken too, by file and place; what no file is
	// to blame for comes last.
	Problems []config.Problem
}

// Error says why a configuration, or a topic, cannot be used.
type Error config.Error

func (e *Error) Error() string { return (*config.Error)(e).Error() }

// Diagnostics returns every finding, for who writes a line for each.
func (e *Error) Diagnostics() (list diag.List) {
	for _, p := range e.Problems {
		list = append(list, p.Diagnostic)
	}
	return list
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

// Load reads the configuration. That there is none is no error. The error is a
// *[Error] with all problems when it leaves no topic that can be learned, or a
// flag is wrong, and another one when opts.Dir is not a directory.
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
	c := &Config{Root: l.Root, Broken: map[string]*Error{}}
	if l.Root != "" {
		for _, t := range l.Topics {
			l.judge(c, Topic{Topic: t})
		}
	}
	if l.Wrong("kb") == nil { // else no topic is there
		for _, value := range opts.Knowledge {
			l.flag(c, value)
		}
	}
	c.Problems = l.found("")
	if l.Wrong("kb.topic") != nil || len(c.Topics) == 0 && len(c.Broken) > 0 {
		return nil, &Error{c.Problems}
	}
	return c, nil
}

// loader judges what was read.
type loader struct{ *config.Config }

// found returns what is wrong with a topic, or for no id all that is about topics, or about what nothing reads.
func (l *loader) found(id string) []config.Problem {
	var found []config.Problem
	for _, p := range l.Problems {
		about := p.Tables == nil || slices.ContainsFunc(p.Tables, func(t string) bool { return p.Disables("kb") || strings.HasPrefix(t, "kb.") })
		if id != "" {
			about = p.Disables("kb.topic." + id)
		}
		if about {
			found = append(found, p)
		}
	}
	place := func(p config.Problem) int { return slices.Index(append(l.Files, "-k"), p.File) }
	slices.SortStableFunc(found, func(a, b config.Problem) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Col, b.Span.Col))
	})
	return found
}

// add reports what disables a table; none makes it a warning.
func (l *loader) add(table string, at config.Position, rule, hint, format string, args ...any) {
	p := config.Problem{Diagnostic: diag.Diagnostic{File: at.File, Span: at.Span, Rule: rule, Message: fmt.Sprintf(format, args...), Hint: hint}}
	if table != "" {
		p.Tables = []string{table}
	}
	l.Add(p)
}

// judge adds a topic, or what is wrong with it.
func (l *loader) judge(c *Config, t Topic) {
	table, id := "kb.topic."+t.ID, text.Quote(t.ID)
	whole := l.Wrong(table) == nil
	if !validID(t.ID) {
		hint := "use letters, digits, _ and -"
		if len(t.ID) > maxID {
			hint = fmt.Sprintf("use at most %d characters", maxID)
		}
		l.add(table, t.Defined, RuleID, hint, "%s cannot be the id of a topic", id)
		whole = false
	}
	switch {
	case t.SubjectsFrom == nil && whole && t.UsersOnly:
		// The user's file is for all workspaces, and adds to topics that some of them have.
		l.add("", t.Defined, RuleMissing, "add subjects to have the topic in every workspace",
			"topic %s is left out here: it has no subjects, and no file of this workspace mentions it", id)
		return
	case t.SubjectsFrom == nil && whole:
		l.add(table, t.Defined, RuleMissing, "add subjects = "+text.Quote(".jp/kb/"+t.ID)+", the directory of its files relative to the workspace",
			"topic %s has no subjects", id)
	case t.SubjectsFrom != nil && (t.Subjects != "" || whole):
		written := t.Subjects
		if outside, ok := config.Expand(written, l.Home); ok && t.SubjectsFrom.Root == "" {
			t.Outside = outside
		} else if clean, problem, hint := cleanSubjects(written); problem != "" {
			l.add(table, t.SubjectsAt, RuleSubjects, hint, "subjects of topic %s is %s, which %s", id, text.Quote(written), problem)
		} else {
			t.Subjects = clean
		}
	}
	l.patterns(table, t.ID, "learned", t.Learned, t.LearnedAt)
	l.patterns(table, t.ID, "disabled", t.Disabled, t.DisabledAt)
	if l.Wrong(table) != nil {
		c.Broken[t.ID] = &Error{l.found(t.ID)}
		return
	}
	c.Topics = append(c.Topics, t)
}

// patterns reports patterns of a topic that cannot be used, and whether there are any.
func (l *loader) patterns(table, id, key string, patterns []string, at []config.Position) (bad bool) {
	for i, pattern := range patterns {
		problem, hint := "", ""
		if strings.TrimSpace(pattern) == "" {
			problem, hint = "is an empty pattern", "remove it; ** is for all subjects"
		} else if err := match.Validate(pattern); err != nil {
			problem = err.Error()
		}
		if problem != "" {
			l.add(table, at[i], RulePattern, hint, "%s in %s of topic %s %s", text.Quote(pattern), key, text.Quote(id), problem)
			bad = true
		}
	}
	if i := match.TooMuch(id, patterns); i >= 0 && !bad {
		l.add(table, at[i], RuleLimit, "one pattern can be for many subjects: dir/** is for all below dir",
			"the patterns in %s of topic %s stand for too much together, with their { }, to be tried", key, text.Quote(id))
		bad = true
	}
	return bad
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

// flag adds a value of -k to what a topic has learned. Topics are named by id only: an id
// has no slash, and a title may.
func (l *loader) flag(c *Config, value string) {
	at := config.Position{File: "-k"}
	id, pattern, _ := strings.Cut(value, "/")
	i := slices.IndexFunc(c.Topics, func(t Topic) bool { return t.ID == id && t.Enable })
	switch {
	case l.Root == "":
		l.add("kb", at, RuleFlagTopic, "run this in a workspace, at or below a directory that has .jp or convtools.toml", "there is no workspace, and so no topic")
	case strings.TrimSpace(pattern) == "":
		hint := known(id, c.Topics)
		if i >= 0 {
			hint = "for all of them write -k '" + id + "/**'"
		}
		l.add("kb", at, RuleFlag, hint, "%s does not say which subjects of the topic; TOPIC/GLOB is expected", text.Quote(value))
	case i < 0 && c.Broken[id] == nil:
		l.add("kb", at, RuleFlagTopic, known(id, c.Topics), "there is no topic %s", text.Quote(id))
	case i < 0 || slices.Contains(c.Topics[i].Learned, pattern):
	default:
		t := &c.Topics[i]
		t.Learned, t.LearnedAt = append(slices.Clip(t.Learned), pattern), append(slices.Clip(t.LearnedAt), at)
		if n := len(t.Learned) - 1; l.patterns("kb", id, "learned", t.Learned, t.LearnedAt) {
			t.Learned, t.LearnedAt = t.Learned[:n], t.LearnedAt[:n]
		}
	}
}

// known lists the ids there are, as many as somebody would read, the one that is meant first.
func known(id string, topics []Topic) string {
	var ids []string
	for _, t := range topics {
		if t.Enable {
			ids = append(ids, t.ID)
		}
	}
	if len(ids) == 0 {
		return "no topic is configured; add [kb.topic.<id>] to " + workspace.ConfigFile
	}
	hint := "topics: " + text.Cut(strings.Join(ids, ", "), 200)
	if near := near.Name(id, ids); near != "" {
		hint = "did you mean " + text.Quote(near) + "? " + hint
	}
	return hint
}
