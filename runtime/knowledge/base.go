// Package knowledge is a workspace's knowledge base: topics, which are
// directories of files, and subjects, which are those files. It answers the
// learn tool, writes the <knowledge> section of a system prompt, and shows and
// checks the whole for people.
//
// A [Base] keeps the configuration it was opened with and nothing else: every
// method looks at the files anew, so that an edited file is seen at once.
//
// The package never writes, never turns what it is asked for into a path, and
// never loses anything silently: what is left out of an answer is named in it or
// counted, with the call that gets it. It knows neither protocols nor command
// lines, and no answer tells a model where on the machine the workspace is.
package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/kbconfig"
	"github.com/convtools/convtools/runtime/knowledge/match"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// Options say how a knowledge base is used.
type Options struct {
	// Getenv looks up where the user's configuration is. It is not read when
	// Getenv is nil.
	Getenv func(string) string
	// Patterns are TOPIC/GLOB values that are added to what topics have learned.
	Patterns []string
	// Injected reports whether the host puts [Base.Section] into its system prompt.
	// Learned subjects are then not offered again. Without it they are offered
	// first.
	Injected bool
}

// Base is a knowledge base. Goroutines may share it.
type Base struct {
	config   *kbconfig.Config
	injected bool
	getenv   func(string) string
}

// Open reads the configuration of the workspace that dir is in; empty stands for
// the working directory. A workspace without topics, and no workspace at all,
// are no errors. What is wrong with the configuration is a [kbconfig.Error].
func Open(dir string, opts Options) (*Base, error) {
	config, err := kbconfig.Load(kbconfig.Options{Dir: dir, Getenv: opts.Getenv, Knowledge: opts.Patterns})
	if err != nil {
		return nil, err
	}
	return &Base{config: config, injected: opts.Injected, getenv: opts.Getenv}, nil
}

// Root is the absolute path of the workspace, and empty where there is none.
func (b *Base) Root() string { return b.config.Root }

// Unread returns what a person should know of the configuration: the keys that nothing reads, a sentence each.
func (b *Base) Unread() []string {
	const most = 8
	var all []string
	for _, d := range b.config.Warnings {
		if d.Rule == kbconfig.RuleConfig && len(all) < most {
			all = append(all, config.Problem{Diagnostic: d}.Error())
		}
	}
	return all
}

// Warning is something that keeps part of a knowledge base from being used.
type Warning struct {
	Topic   string // id
	Message string // one sentence without a period
}

// String returns the warning on one line.
func (w Warning) String() string { return fmt.Sprintf("topic %q: %s", w.Topic, w.Message) }

// enabled returns the topics there are. Disabled ones do not exist.
func (b *Base) enabled() []*kbconfig.Topic {
	var topics []*kbconfig.Topic
	for i := range b.config.Topics {
		if t := &b.config.Topics[i]; t.Enabled {
			topics = append(topics, t)
		}
	}
	return topics
}

// byID returns the topic with an id, or nil.
func (b *Base) byID(id string) *kbconfig.Topic {
	for _, t := range b.enabled() {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// topic is one topic with what its directory holds at the moment.
type topic struct {
	*kbconfig.Topic
	tree *subjects.Tree
	set  *match.Set
}

// scan looks into the directory of a topic. The topic has to be closed.
//
// Its error is a [DirectoryError] or that of the context.
func (b *Base) scan(ctx context.Context, t *kbconfig.Topic) (*topic, error) {
	root, err := b.openDir(t)
	if err != nil {
		return nil, err
	}
	tree, err := subjects.Scan(ctx, root)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, directoryError(t, err)
	}
	set, err := match.New(ctx, t.ID, tree.Subjects, t.Disabled, t.Learned)
	if err != nil {
		_ = tree.Close()
		return nil, err
	}
	return &topic{Topic: t, tree: tree, set: set}, nil
}

// close releases the directory. It was only read, so nothing can be lost.
func (t *topic) close() { _ = t.tree.Close() }

// OpenDir opens the directory of a topic by its id. An error wraps
// [fs.ErrNotExist] where there is none yet.
func (b *Base) OpenDir(id string) (*os.Root, error) {
	t := b.byID(id)
	if t == nil {
		return nil, b.unknownTopic(id, b.enabled())
	}
	return b.openDir(t)
}

// openDir opens the directory of a topic. What a project names has to be in the
// project, or in a directory that the user trusts. The error is a [DirectoryError].
func (b *Base) openDir(t *kbconfig.Topic) (root *os.Root, err error) {
	if t.Outside != "" {
		root, err = safefile.OpenDir(t.Outside)
	} else {
		root, err = config.OpenDir(b.config.Root, t.Subjects, b.getenv)
	}
	if err != nil {
		return nil, directoryError(t, err)
	}
	return root, nil
}

// directoryError says why a topic's directory cannot be used, without the path of
// the workspace.
func directoryError(t *kbconfig.Topic, err error) error {
	e := &DirectoryError{Topic: t.ID, Dir: t.Subjects, SetAt: t.SubjectsAt, Err: err}
	var path *fs.PathError
	var outside *config.OutsideError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Reason = "does not exist"
	case errors.As(err, &outside):
		e.Reason, e.Hint = "is a link out of the project", cmp.Or(outside.Hint(), "put its files into the project")
	case errors.As(err, &path):
		e.Reason = "cannot be read: " + path.Err.Error()
	default:
		e.Reason = "cannot be read: " + err.Error()
	}
	return e
}

// DirectoryError is the error for a topic whose directory cannot be used.
type DirectoryError struct {
	Topic  string // id
	Dir    string // as it is configured
	SetAt  kbconfig.Position
	Reason string // the end of a sentence that begins with the directory
	Hint   string // what to do about it; empty where that is plain
	Err    error
}

func (e *DirectoryError) Error() string {
	text := fmt.Sprintf("%s (it is set at %s)", e.problem(), e.SetAt)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// problem is the error without what can be done.
func (e *DirectoryError) problem() string {
	return fmt.Sprintf("its directory %s %s", oneLine(e.Dir), e.Reason)
}

func (e *DirectoryError) Unwrap() error { return e.Err }

// forCaller makes a failure into one that can be shown to whoever called.
func forCaller(err error) error {
	var directory *DirectoryError
	if !errors.As(err, &directory) {
		return err
	}
	message, remedy := fmt.Sprintf("Topic %q cannot be learned: %s.", directory.Topic, directory), " the directory or correct the setting."
	e := &contract.Error{Message: message, Err: err}
	if directory.Hint == "" {
		e.Message, e.Detail = message+" The user has to create"+remedy, message+" Create"+remedy
	}
	return e
}

// name is what a topic is called in headings.
func name(t *kbconfig.Topic) string {
	if title := oneLine(t.Title); title != "" {
		return title
	}
	return t.ID
}

// menuLine is the entry of a topic in menus, with as much as there is and detail
// allows.
func menuLine(t *kbconfig.Topic, d detail) string {
	line := "- " + t.ID
	if title := oneLine(t.Title); title != "" && d >= withTitle {
		line += " (**" + subjects.CloseTags(title) + "**)"
	}
	if introduction := oneLine(t.Introduction); introduction != "" && d >= withIntroduction {
		line += ": " + subjects.CloseTags(introduction)
	}
	return line
}

// detail is how much of a topic a menu shows.
type detail int

const (
	idOnly detail = iota
	withTitle
	withIntroduction
)

// oneLine makes text that others wrote fit for one line: nothing in it can begin
// an entry of its own.
func oneLine(s string) string {
	return strings.Join(strings.Fields(text.Line(s)), " ")
}

// paragraphs makes a description fit for an answer.
func paragraphs(s string) string {
	return strings.TrimSpace(text.Visible(s))
}

// quoteName writes a name between quotes, where it cannot end them.
func quoteName(name string) string {
	return `"` + strings.ReplaceAll(subjects.CloseTags(text.Line(name)), `"`, "&quot;") + `"`
}
