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

// The rules of the configuration besides [config.Rule]. The ids are stable.
const (
	RuleMissing  = "KC005" // a topic without subjects; a warning if only the user's file has the topic
	RuleSubjects = "KC006" // subjects that are no path below the root
	RuleID       = "KC007" // a topic id with a character that is not allowed
	RulePattern  = "KC008" // a pattern that is empty, malformed or too much
	RuleFlag     = "KC011" // a flag that is not TOPIC/GLOB with the id of a topic
)

// maxID is the length of the longest id in bytes: ids are part of every prompt.
const maxID = 64

// setting is the checked configuration of a topic. Its ID has only letters, digits, "_" and "-"; its patterns are
// well formed.
type setting struct {
	// Topic.Subjects is a clean path relative to the root, with slashes and without "..". A link on the path may lead
	// out of the root.
	config.Topic
	// outside is the absolute path of a directory that the user's own file names; it is empty for a directory in the
	// workspace.
	outside string
}

// settings is a configuration with checked topics. A topic with an error cannot be learned: a `disabled` that could
// not be read must not publish the subjects that it was to hide. The other topics can be learned.
type settings struct {
	*config.Config
	usable []*setting // with disabled topics, in the order of their first mention
}

// load reads the configuration for a directory and adds the patterns of flags to the learned ones. It is no error if
// there is none. If no topic can be used or a flag is wrong, the error is a [*config.Error] with all problems; it is
// another error if dir is no directory.
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
	if s.Wrong("kb") == nil { // otherwise there are no topics
		for _, value := range patterns {
			s.flag(value)
		}
	}
	if s.Wrong("kb.topic") != nil || len(s.usable) == 0 && len(s.broken()) > 0 {
		return nil, &config.Error{Problems: s.problems()}
	}
	return s, nil
}

// broken returns the errors of topics that cannot be learned, by id.
func (s *settings) broken() map[string]error {
	broken := map[string]error{}
	for _, t := range s.Topics {
		if err := s.Wrong("kb.topic." + t.ID); err != nil {
			broken[t.ID] = err
		}
	}
	return broken
}

// problems returns the problems of topics and the warnings about keys that nothing reads.
func (s *settings) problems() []config.Problem {
	found := slices.DeleteFunc(slices.Clone(s.Problems), func(p config.Problem) bool {
		return p.Tables != nil && !p.Disables("kb") && !slices.ContainsFunc(p.Tables, func(t string) bool { return strings.HasPrefix(t, "kb.") })
	})
	slices.SortStableFunc(found, func(a, b config.Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Span.Line, b.Span.Line), cmp.Compare(a.Span.Col, b.Span.Col))
	})
	return found
}

// add adds a problem that disables a table; without a table it is a warning.
func (s *settings) add(table string, at diag.Diagnostic, rule, hint, format string, args ...any) {
	p := config.Problem{Diagnostic: at}
	p.Rule, p.Hint, p.Message = rule, hint, fmt.Sprintf(format, args...)
	if table != "" {
		p.Tables = []string{table}
	}
	s.Add(p)
}

// judge checks a topic, and adds it or the problems with it.
func (s *settings) judge(t *setting) {
	table, id := "kb.topic."+t.ID, text.Quote(t.ID)
	if t.ID == "" || len(t.ID) > maxID || strings.ContainsFunc(t.ID, notInID) {
		s.add(table, t.Defined, RuleID, fmt.Sprintf("use letters, digits, _ and -, at most %d", maxID), "%s cannot be the id of a topic", id)
	}
	whole := s.Wrong(table) == nil
	switch {
	case t.SubjectsFrom == nil && whole && t.UsersOnly:
		// The user's file is for all workspaces, and may add to topics that only some of them have.
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

// place checks the directory of a topic.
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
func (s *settings) patterns(table, id, key string, patterns []string, at []diag.Diagnostic) (bad bool) {
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
	at := diag.Diagnostic{File: "-k"}
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

// known returns the ids of the topics, the one that was probably meant first.
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
