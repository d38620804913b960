package knowledge

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
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// The rules a configuration can break, besides [config.Rule]. The ids are stable.
const (
	RuleMissing  = "KC005" // a topic without subjects; a warning where only the user's file has it
	RuleSubjects = "KC006" // subjects that are no path below the root
	RuleID       = "KC007" // a topic id with other characters than allowed
	RulePattern  = "KC008" // a pattern that is empty, malformed or too much
	RuleFlag     = "KC011" // a flag that is not TOPIC/GLOB of a topic that there is
)

// maxID is how many bytes an id may have: ids are part of every prompt.
const maxID = 64

// setting is a topic as the configuration has it, once it was judged. Its ID has letters,
// digits, "_" and "-"; its patterns are well formed.
type setting struct {
	// Topic has in Subjects the directory: a clean, slash-separated path relative to the
	// root and without "..", though a link on it may lead out.
	config.Topic
	// outside is instead the absolute path of a directory that the user's own file names;
	// empty for one in the workspace.
	outside string
}

// settings is a configuration, with what is wrong about its topics. A topic of which
// anything is wrong cannot be learned, as a `disabled` that could not be read must not
// make public what it was to hide; the others can.
type settings struct {
	*config.Config
	usable []*setting // disabled ones too, in the order in which they are first mentioned
}

// load reads the configuration for a directory, and adds the patterns of flags to what is
// learned. That there is none is no error. The error is a [*config.Error] with all problems
// when no topic can be used or a flag is wrong, and another one when dir is no directory.
func load(dir string, getenv func(string) string, patterns []string) (*settings, error) {
	if dir != "" {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "stat", Path: dir, Err: syscall.ENOTDIR}
		}
		if err != nil {
			return nil, fmt.Errorf("looking for a workspace: %w", err)
		}
	}
	s := &settings{Config: config.Read(dir, getenv)}
	if s.Root == "" {
		s.Topics = nil
	}
	for _, t := range s.Topics {
		s.judge(&setting{Topic: t})
	}
	if s.Wrong("kb") == nil { // else no topic is there
		for _, value := range patterns {
			s.flag(value)
		}
	}
	if s.Wrong("kb.topic") != nil || len(s.usable) == 0 && len(s.broken()) > 0 {
		return nil, &config.Error{Problems: s.problems()}
	}
	return s, nil
}

// broken returns, by id, why topics cannot be learned.
func (s *settings) broken() map[string]error {
	broken := map[string]error{}
	for _, t := range s.Topics {
		if err := s.Wrong("kb.topic." + t.ID); err != nil {
			broken[t.ID] = err
		}
	}
	return broken
}

// problems returns all that is wrong about topics, or about what nothing reads.
func (s *settings) problems() []config.Problem {
	found := slices.DeleteFunc(slices.Clone(s.Problems), func(p config.Problem) bool {
		return p.Tables != nil && !p.Disables("kb") && !slices.ContainsFunc(p.Tables, func(t string) bool { return strings.HasPrefix(t, "kb.") })
	})
	slices.SortStableFunc(found, func(a, b config.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Col, b.Span.Col))
	})
	return found
}

// add reports what disables a table; none makes it a warning.
func (s *settings) add(table string, at config.Position, rule, hint, format string, args ...any) {
	p := config.Problem{Diagnostic: diag.Diagnostic{File: at.File, Span: at.Span, Rule: rule, Message: fmt.Sprintf(format, args...), Hint: hint}}
	if table != "" {
		p.Tables = []string{table}
	}
	s.Add(p)
}

// judge adds a topic, or what is wrong with it.
func (s *settings) judge(t *setting) {
	table, id := "kb.topic."+t.ID, text.Quote(t.ID)
	if t.ID == "" || len(t.ID) > maxID || strings.ContainsFunc(t.ID, notInID) {
		s.add(table, t.Defined, RuleID, fmt.Sprintf("use letters, digits, _ and -, at most %d", maxID), "%s cannot be the id of a topic", id)
	}
	whole := s.Wrong(table) == nil
	switch {
	case t.SubjectsFrom == nil && whole && t.UsersOnly:
		// The user's file is for all workspaces, and adds to topics that some of them have.
		s.add("", t.Defined, RuleMissing, "add subjects to have the topic in every workspace",
			"topic %s is left out here: it has no subjects, and no file of this workspace mentions it", id)
		return
	case t.SubjectsFrom == nil && whole:
		s.add(table, t.Defined, RuleMissing, "add subjects = "+text.Quote(".jp/kb/"+t.ID)+", the directory of its files relative to the workspace",
			"topic %s has no subjects", id)
	case t.SubjectsFrom != nil && (t.Subjects != "" || whole):
		s.place(t, table)
	}
	s.patterns(table, t.ID, "learned", t.Learned, t.LearnedAt)
	s.patterns(table, t.ID, "disabled", t.Disabled, t.DisabledAt)
	if s.Wrong(table) == nil {
		s.usable = append(s.usable, t)
	}
}

func notInID(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
}

// place takes the directory of a topic.
func (s *settings) place(t *setting, table string) {
	written := t.Subjects
	outside, absolute := config.Expand(written, s.Home)
	if absolute && t.SubjectsFrom.Root == "" {
		t.outside = outside
		return
	}
	var inside bool
	if t.Subjects, inside = cleanPath(written); !inside {
		s.add(table, t.SubjectsAt, RuleSubjects,
			"write a path relative to the workspace, such as .jp/kb/project; only your own configuration may name a directory elsewhere",
			"subjects of topic %s is %s, which is no path inside the workspace, with slashes and without ..", text.Quote(t.ID), text.Quote(written))
	}
}

// cleanPath returns a directory as a path relative to the root, and reports whether it can be
// one. The rules are the same on every system: a file that works on one computer works on
// those of others.
func cleanPath(dir string) (string, bool) {
	clean := path.Clean(dir)
	drive := len(clean) > 1 && clean[1] == ':'
	odd := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }
	outside := drive || strings.HasPrefix(clean, "~") || slices.Contains(strings.Split(dir, "/"), "..") || !filepath.IsLocal(filepath.FromSlash(clean))
	return clean, !outside && strings.TrimSpace(dir) != "" && !strings.ContainsFunc(clean, odd)
}

// patterns reports patterns of a topic that cannot be used, and whether there are any.
func (s *settings) patterns(table, id, key string, patterns []string, at []config.Position) (bad bool) {
	for i, p := range subjects.Patterns(id, patterns) {
		hint := ""
		if strings.TrimSpace(p.Text) == "" {
			p.Problem, hint = "is an empty pattern", "remove it; ** is for all subjects"
		}
		if p.Problem != "" {
			s.add(table, at[i], RulePattern, hint, "%s in %s of topic %s %s", text.Quote(p.Text), key, text.Quote(id), p.Problem)
			bad = true
		}
	}
	return bad
}

// flag adds a value of -k to what a topic has learned. Topics are named by id only: an id
// has no slash, and a title may.
func (s *settings) flag(value string) {
	at := config.Position{File: "-k"}
	id, pattern, _ := strings.Cut(value, "/")
	i := slices.IndexFunc(s.usable, func(t *setting) bool { return t.ID == id && t.Enable })
	switch {
	case s.Root == "":
		s.add("kb", at, RuleFlag, "run this in a workspace, at or below a directory that has .jp or convtools.toml", "there is no workspace, and so no topic")
	case strings.TrimSpace(pattern) == "":
		hint := s.known(id)
		if i >= 0 {
			hint = "for all of them write -k '" + id + "/**'"
		}
		s.add("kb", at, RuleFlag, hint, "%s does not say which subjects of the topic; TOPIC/GLOB is expected", text.Quote(value))
	case i < 0 && s.Wrong("kb.topic."+id) == nil:
		s.add("kb", at, RuleFlag, s.known(id), "there is no topic %s", text.Quote(id))
	case i < 0 || slices.Contains(s.usable[i].Learned, pattern):
	default:
		t := s.usable[i]
		learned, places := append(slices.Clip(t.Learned), pattern), append(slices.Clip(t.LearnedAt), at)
		if !s.patterns("kb", id, "learned", learned, places) {
			t.Learned, t.LearnedAt = learned, places
		}
	}
}

// known lists the ids there are, as many as somebody would read, the one that is meant first.
func (s *settings) known(id string) string {
	var ids []string
	for _, t := range s.usable {
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
