// Package kbconfig reads which topics a knowledge base has: from the user's file,
// the files of the workspace and the flags of a command, merged in this order.
//
//	[kb.topic.project]
//	title = "Project notes"
//	introduction = "How this project is built and released."
//	subjects = ".jp/kb/project"
//	learned = ["style/**"]
//	disabled = ["drafts/**"]
//
// It says everything that is wrong at once, with places and hints, and loads
// nothing then: a `disabled` that could not be read must not make public what it
// was to hide. It never looks into the directories of topics, never writes, and
// never reads a file of the workspace that is no regular file, or lies behind a
// link out of its directory or of the workspace.
package kbconfig

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/convtools/convtools/runtime/base/diag"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/base/workspace"
	"github.com/convtools/convtools/runtime/knowledge/match"
	"github.com/convtools/convtools/runtime/trust"
)

// Bounds on what is configured.
const (
	maxTopics   = 1000
	maxPatterns = 64 // in `learned` and in `disabled` of one topic
	maxID       = 64 // bytes: ids are part of every prompt
)

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
	// Warnings are ordered as in [Error].
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
// *[Error] when something in it is wrong, and another one when opts.Dir is not a
// directory.
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
	l := &loader{getenv: opts.Getenv}
	root, ok := workspace.Find(opts.Dir)
	if ok {
		l.load(root, opts.Getenv)
	}
	l.flags(opts.Knowledge, ok)
	l.titles()
	l.work()
	found := l.sorted(l.files)
	if l.failed {
		return nil, &Error{found}
	}
	config := &Config{Root: root, Files: l.files, Warnings: found}
	for _, t := range l.topics {
		config.Topics = append(config.Topics, t.Topic)
	}
	return config, nil
}

// loader merges what it reads.
type loader struct {
	diagnostics
	files  []string
	home   string // the user's home directory
	getenv func(string) string
	topics []*topic // in the order in which they are first mentioned
	// incomplete reports whether something could not be read, so that nothing may be
	// called missing.
	incomplete bool
}

// topic is a topic that is being read.
type topic struct {
	Topic
	broken    bool // its subjects are reported already
	usersOnly bool // no file of the workspace mentions it
}

// topic returns the topic with an id, or nil.
func (l *loader) topic(id string) *topic {
	i := slices.IndexFunc(l.topics, func(t *topic) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return l.topics[i]
}

func (l *loader) load(root string, getenv func(string) string) {
	if path, name, ok := trust.UserFile(getenv); ok {
		l.home = trust.Home(getenv)
		l.merge(l.file(name, users, func() ([]byte, error) { return readUserFile(path) }))
		for _, t := range l.topics {
			t.usersOnly = true
		}
	}
	for _, name := range []string{jpConfigFile, jpTopicsFile, convtoolsFile} {
		owner := projects
		if name == jpConfigFile {
			owner = jps
		}
		l.merge(l.file(name, owner, func() ([]byte, error) { return readFile(root, name, getenv) }))
	}
	l.topics = slices.DeleteFunc(l.topics, func(t *topic) bool {
		switch {
		case t.Subjects != "" || l.incomplete || t.broken:
			return false
		case t.usersOnly:
			// The user's file is for all workspaces, and adds to topics that some of
			// them have.
			l.warning(t.Defined, RuleMissing, "add subjects to have the topic in every workspace",
				"topic %s is left out here: it has no subjects, and no file of this workspace mentions it", text.Quote(t.ID))
		default:
			l.error(t.Defined, RuleMissing, "add subjects = "+text.Quote(".jp/kb/"+t.ID)+", the directory of its files relative to the workspace",
				"topic %s has no subjects", text.Quote(t.ID))
		}
		return t.usersOnly
	})
}

// work reports lists that nobody has the time to apply.
func (l *loader) work() {
	for _, t := range l.topics {
		for _, list := range []struct {
			field    string
			patterns []string
			at       []Position
		}{{"learned", t.Learned, t.LearnedAt}, {"disabled", t.Disabled, t.DisabledAt}} {
			if i := match.TooMuch(t.ID, list.patterns); i >= 0 {
				l.error(list.at[i], RuleLimit, "one pattern can be for many subjects: dir/** is for all below dir",
					"the patterns in %s of topic %s stand for too much together, with their { }, to be tried", list.field, text.Quote(t.ID))
			}
		}
	}
}

// titles warns of topics that cannot be asked for by their title.
func (l *loader) titles() {
	byTitle, byID := map[string]string{}, map[string]string{}
	for _, id := range l.enabled() {
		byID[strings.ToLower(id)] = id
	}
	for _, t := range l.topics {
		title := strings.ToLower(t.Title)
		if title == "" || !t.Enabled {
			continue
		}
		if other, ok := byID[title]; ok && other != t.ID {
			l.warning(t.Defined, RuleTitle, "give it another title: an id is found before a title",
				"the title %s of topic %s is the id of topic %s", text.Quote(t.Title), text.Quote(t.ID), text.Quote(other))
		}
		if other, ok := byTitle[title]; ok {
			l.warning(t.Defined, RuleTitle, "give one of them another title; until then both must be asked for by id",
				"topics %s and %s have the same title, %s", text.Quote(other), text.Quote(t.ID), text.Quote(t.Title))
			continue
		}
		byTitle[title] = t.ID
	}
}
