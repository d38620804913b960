package knowledge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/safefile"
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
	RulePattern  = "KC008" // a pattern that is empty or malformed, or has too many parts
	RuleFlag     = "KC011" // a flag that is not TOPIC/GLOB with the id of a topic
)

// maxID is the length of the longest id in bytes: ids are part of every prompt.
const maxID = 64

// Open reads the configuration of the workspace that dir is in; dir is the working directory if it is empty. It is no
// error if there is no workspace, or no topic in it.
//
// A topic with an error in its configuration cannot be learned, but the others can: if its list `disabled` is wrong, it
// is not known which subjects are to be hidden. If all topics have errors, or if a flag is wrong, the error of Open is
// a [*config.Error] with all problems. If dir is no directory, Open returns that error and reads nothing.
func Open(dir string, opts Options) (*Base, error) {
	if dir != "" {
		root, err := safefile.OpenDir(dir)
		if err != nil {
			return nil, fmt.Errorf("looking for a workspace: %w", err)
		}
		root.Close()
	}
	b := &Base{config: config.Read(dir, opts.Getenv), injected: opts.Injected, getenv: opts.Getenv}
	if b.Root() == "" {
		b.config.Topics = nil
	}
	for i := range b.config.Topics {
		b.addTopic(&b.config.Topics[i])
	}
	if b.config.Wrong("kb") == nil { // otherwise no topic can be used
		for _, value := range opts.Patterns {
			b.addFlag(value) // a wrong flag disables the table kb, and so kb.topic in it
		}
	}
	areAllBroken := len(b.usable) == 0 && len(b.broken()) > 0
	if areAllBroken || b.config.Wrong("kb.topic") != nil {
		return nil, &config.Error{Problems: b.problems()}
	}
	return b, nil
}

// broken returns a sentence for each topic whose configuration has an error.
func (b *Base) broken() (sentences []string) {
	for _, t := range b.config.Topics {
		if err := b.config.Wrong("kb.topic." + t.ID); err != nil {
			sentences = append(sentences, "topic "+t.ID+" cannot be learned: "+err.Error())
		}
	}
	return sentences
}

// problems returns the problems that disable topics and the warnings, sorted by file and position.
func (b *Base) problems() []config.Problem {
	isReturned := func(p config.Problem) bool { // a warning disables no table
		return p.Tables == nil || p.Disables("kb") || slices.ContainsFunc(p.Tables, func(t string) bool { return strings.HasPrefix(t, "kb.") })
	}
	problems := slices.DeleteFunc(slices.Clone(b.config.Problems), func(p config.Problem) bool { return !isReturned(p) })
	slices.SortStableFunc(problems, func(a, b config.Problem) int { return cmp.Or(strings.Compare(a.File, b.File), a.Span.Compare(b.Span)) })
	return problems
}

// addProblem adds a problem to the configuration. The problem disables a table or, if table is empty, is a warning.
func (b *Base) addProblem(table string, position diag.Diagnostic, rule, hint, format string, args ...any) {
	p := config.Problem{Diagnostic: position}
	p.Rule, p.Hint, p.Message = rule, hint, fmt.Sprintf(format, args...)
	if table != "" {
		p.Tables = []string{table}
	}
	b.config.Add(p)
}

// addTopic adds a topic to usable, and also to topics if the topic is enabled. If the topic has problems, addTopic adds
// these to the configuration instead. A topic without subjects that only the user's file mentions is only a warning.
func (b *Base) addTopic(t *config.Topic) {
	table := "kb.topic." + t.ID
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if t.ID == "" || len(t.ID) > maxID || strings.Trim(t.ID, letters+"0123456789_-") != "" {
		b.addProblem(table, t.Defined, RuleID, fmt.Sprintf("use letters, digits, _ and -, at most %d", maxID), "%s cannot be the id of a topic", text.Quote(t.ID))
	}
	isValid := b.config.Wrong(table) == nil // before the checks of its subjects and patterns
	isMissing := t.SubjectsAt.File == ""    // no file has subjects
	if isValid && isMissing && t.UsersOnly {
		// The user's file is for all workspaces, and may add to topics that only some of them have.
		b.addProblem("", t.Defined, RuleMissing, "add subjects to have the topic in every workspace",
			"topic %s is left out here: it has no subjects, and no file of this workspace mentions it", text.Quote(t.ID))
		return
	}
	if isValid && isMissing {
		b.addProblem(table, t.Defined, RuleMissing, "add subjects = "+text.Quote(".jp/kb/"+t.ID)+", the directory of its files relative to the workspace",
			"topic %s has no subjects", text.Quote(t.ID))
	}
	if !isMissing {
		b.checkSubjects(table, t, isValid)
	}
	b.checkPatterns(table, t, "learned", t.Learned)
	b.checkPatterns(table, t, "disabled", t.Disabled)
	if b.config.Wrong(table) == nil { // also after the checks
		b.usable = append(b.usable, t)
		if t.Enable {
			b.topics = append(b.topics, t)
		}
	}
}

// checkSubjects cleans the path of a topic's directory, and adds a problem if the path is not inside the workspace. A
// directory that the user's file names may be anywhere. isValid is false if the topic has a problem already.
func (b *Base) checkSubjects(table string, t *config.Topic, isValid bool) {
	if t.Outside != "" {
		return
	}
	written := t.Subjects
	clean, isInside := config.ProjectPath(written)
	t.Subjects = clean
	isReported := written == "" && !isValid // a value of a wrong type was set to "", and is a problem already
	if isWrong := !isInside; isWrong && !isReported {
		b.addProblem(table, t.SubjectsAt, RuleSubjects,
			"write a path relative to the workspace, such as .jp/kb/project; only your own configuration may name a directory elsewhere",
			"subjects of topic %s is %s, which is no path inside the workspace, with slashes and without ..", text.Quote(t.ID), text.Quote(written))
	}
}

// checkPatterns adds a problem to the configuration for each wrong pattern of a topic. The patterns are from the list
// "learned" or "disabled" of the topic. Each problem makes the configuration table with the name table unusable.
func (b *Base) checkPatterns(table string, t *config.Topic, list string, patterns []string) {
	for _, p := range subjects.Patterns(t.ID, patterns) {
		hint := ""
		if strings.TrimSpace(p.Text) == "" {
			p.Problem, hint = "is an empty pattern", "remove it; ** is for all subjects"
		}
		if p.Problem != "" {
			b.addProblem(table, t.PatternAt[[2]string{list, p.Text}], RulePattern, hint, "%s in %s of topic %s %s", text.Quote(p.Text), list, text.Quote(t.ID), p.Problem)
		}
	}
}

// addFlag adds the pattern in a value of the flag -k to the learned patterns of the topic that the value names, or adds
// the problem with the value. The value names a topic by its id only: a title may have a slash.
func (b *Base) addFlag(value string) {
	position := diag.Diagnostic{File: "-k"}
	id, pattern, _ := strings.Cut(value, "/")
	t := byID(b.topics, id)
	isDisabled := b.config.Wrong("kb.topic."+id) != nil // by a problem, which is reported already
	switch {
	case b.Root() == "":
		b.addProblem("kb", position, RuleFlag, "run this in a workspace, at or below a directory that has .jp or convtools.toml", "there is no workspace, and so no topic")
	case strings.TrimSpace(pattern) == "":
		hint := b.knownTopics(id)
		if t != nil {
			hint = "for all of them write -k '" + id + "/**'"
		}
		b.addProblem("kb", position, RuleFlag, hint, "%s does not say which subjects of the topic; TOPIC/GLOB is expected", text.Quote(value))
	case t == nil && isDisabled: // the problem that disables the topic is enough
	case t == nil:
		b.addProblem("kb", position, RuleFlag, b.knownTopics(id), "there is no topic %s", text.Quote(id))
	case !slices.Contains(t.Learned, pattern): // otherwise the topic has the pattern already
		t.Learned = append(t.Learned, pattern)
		t.PatternAt[[2]string{"learned", pattern}] = position
		b.checkPatterns("kb", t, "learned", []string{pattern})
	}
}

// knownTopics returns a hint with the ids of the topics. It begins with the topic that the author of id probably meant.
func (b *Base) knownTopics(id string) string {
	ids := b.TopicIDs()
	if ids == nil {
		return "no topic is configured; add [kb.topic.<id>] to " + workspace.ConfigFile
	}
	hint := "topics: " + text.Cut(strings.Join(ids, ", "), 200)
	if meant := near.Name(id, ids); meant != "" {
		hint = "did you mean " + text.Quote(meant) + "? " + hint
	}
	return hint
}
