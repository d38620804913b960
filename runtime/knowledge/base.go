// Package knowledge is a workspace's knowledge base: topics, which are directories of files, and subjects, which are
// the files. It answers the learn tool, writes the <knowledge> section of a system prompt, and lists and checks
// topics for people.
//
//	[kb.topic.project]
//	title = "Project notes"
//	introduction = "How this project is built and released."
//	subjects = ".jp/kb/project"
//	learned = ["style/**"]
//	disabled = ["drafts/**"]
//
// A [Base] keeps only the configuration that it was opened with: every method reads the files anew, and sees an edit.
//
// The package never writes and never makes a path of an argument. It never loses anything silently: an answer names
// or counts the subjects that it leaves out, with the call that gets them. It knows neither protocols nor command
// lines, and no answer tells a model the path of the workspace.
package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/config"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/knowledge/subjects"
)

// Options say how a knowledge base is used.
type Options struct {
	Getenv   func(string) string // finds the user's configuration; if nil, only the workspace's configuration is read
	Patterns []string            // TOPIC/GLOB values that are added to the learned patterns of topics
	// Injected is set if the host has [Base.Section] in its system prompt. Learned subjects are then not offered again;
	// otherwise they are offered first.
	Injected bool
}

// Base is a knowledge base. Goroutines may share it.
type Base struct {
	config   *config.Config
	usable   []*config.Topic // the topics without errors, in the order of the configuration
	topics   []*config.Topic // the usable topics that are enabled; for assistants there are no others
	injected bool
	getenv   func(string) string
}

// Root returns the absolute path of the workspace; it is empty if there is none.
func (b *Base) Root() string { return b.config.Root }

// Unread returns a sentence for each key of the configuration that nothing reads.
func (b *Base) Unread() []string {
	unread := slices.DeleteFunc(b.config.Unread(), func(p config.Problem) bool { return p.Rule != config.Rule })
	return config.Sentences(unread)
}

// TopicIDs returns the ids of the topics, in the order of the configuration.
func (b *Base) TopicIDs() []string {
	var ids []string
	for _, t := range b.topics {
		ids = append(ids, t.ID)
	}
	return ids
}

// byID returns the topic with an id, or nil.
func byID(topics []*config.Topic, id string) *config.Topic {
	if i := slices.IndexFunc(topics, func(t *config.Topic) bool { return t.ID == id }); i >= 0 {
		return topics[i]
	}
	return nil
}

// lookup returns the topic with the given id, or the only topic with the given title; the case of letters in a title
// does not count. The error is that of [Base.unknownTopic].
func (b *Base) lookup(name string) (*config.Topic, error) {
	name = strings.TrimSpace(name)
	if t := byID(b.topics, name); t != nil {
		return t, nil
	}
	var titled []*config.Topic
	for _, t := range b.topics {
		if name != "" && strings.EqualFold(oneLine(t.Title), oneLine(name)) {
			titled = append(titled, t)
		}
	}
	if len(titled) == 1 {
		return titled[0], nil
	}
	return nil, b.unknownTopic(name)
}

// unknownTopic returns the error for a name of no topic, a [contract.Error]. It says, in this order, that the topic's
// configuration is wrong, that there is no workspace, that there is no topic, or that the name is the path of a
// subject; otherwise it lists the topics.
func (b *Base) unknownTopic(name string) error {
	if err := b.config.Wrong("kb.topic." + name); err != nil {
		return &contract.Error{Message: fmt.Sprintf("Topic %q cannot be learned until the user has corrected its configuration: %s", name, err), Err: err}
	}
	switch {
	case b.Root() == "":
		return contract.Fixable("There is nothing to learn: this directory is in no workspace, which would have .jp or convtools.toml in it.")
	case len(b.topics) == 0:
		return contract.Fixable("There is nothing to learn: no topic is configured and enabled. A topic is a table [kb.topic.ID] in the workspace's convtools.toml.")
	}
	address := scheme + strings.TrimPrefix(name, scheme) // name may be TOPIC/SLUG, with or without the scheme
	if id, subject, ok := parseAddress(address); ok && byID(b.topics, id) != nil {
		return missing(text.Quote(name)+" is a subject of a topic, and no topic. ", fmt.Sprintf("Call learn with topic %q and subjects %s.", id, text.Quote(subject)), id)
	}
	message := "There is no topic " + text.Quote(name) + "."
	if meant := near.Name(name, b.TopicIDs()); meant != "" {
		message += fmt.Sprintf(" Did you mean %q?", meant)
	}
	return contract.Fixable(message + " " + strings.TrimSpace(menu(b.topics, maxTopicList)))
}

// topic is a topic with the files that its directory has now.
type topic struct {
	*config.Topic
	broken *directoryError // the reason why the directory cannot be read, or nil
	tree   *subjects.Tree
}

// scan returns a topic with the files of its directory. The caller has to close the tree. If the directory cannot be
// read, broken says why, and the tree is empty. The error is that of the context.
func (b *Base) scan(ctx context.Context, configured *config.Topic) (*topic, error) {
	t := &topic{Topic: configured, tree: &subjects.Tree{}}
	root, err := b.openDir(configured)
	if err == nil {
		t.tree, err = subjects.Scan(ctx, root)
	}
	if ctx.Err() != nil {
		t.tree.Close()
		return nil, ctx.Err()
	}
	if err != nil {
		t.broken = newDirectoryError(configured, err)
		return t, nil
	}
	t.tree.Configure(configured.ID, configured.Disabled, configured.Learned)
	return t, nil
}

// scans yields each enabled topic with the files of its directory, and closes the tree after that. It ends early when
// the context is done: the caller has to check that.
func (b *Base) scans(ctx context.Context) iter.Seq[*topic] {
	return func(yield func(*topic) bool) {
		for _, configured := range b.topics {
			t, err := b.scan(ctx, configured)
			if err != nil {
				return
			}
			isWanted := yield(t)
			t.tree.Close()
			if !isWanted {
				return
			}
		}
	}
}

// scanReadable is [Base.scan] for a topic that a caller names: an unreadable directory is a [contract.Error].
func (b *Base) scanReadable(ctx context.Context, configured *config.Topic) (*topic, error) {
	t, err := b.scan(ctx, configured)
	if err == nil && t.broken != nil {
		return nil, &contract.Error{Message: "Topic" + strings.TrimPrefix(t.broken.Error(), "topic") + ".", Err: t.broken}
	}
	return t, err
}

// OpenDir opens the directory of the enabled topic with an id. The error wraps [fs.ErrNotExist] if there is no
// directory yet, and is a [contract.Error] if there is no such topic.
func (b *Base) OpenDir(id string) (*os.Root, error) {
	t := byID(b.topics, id)
	if t == nil {
		return nil, b.unknownTopic(id)
	}
	root, err := b.openDir(t)
	if err != nil {
		return nil, newDirectoryError(t, err)
	}
	return root, nil
}

// openDir opens the directory of a topic. A directory that the user's own file names may be anywhere. A directory that
// the project names has to be in the project or in a directory that the user trusts.
func (b *Base) openDir(t *config.Topic) (*os.Root, error) {
	if t.Outside != "" { // the directory that the user's own file names
		return safefile.OpenDir(t.Outside)
	}
	return config.OpenDir(b.Root(), t.Subjects, b.getenv) // checks where the directory is
}

// directoryError is the error for a topic whose directory cannot be used. It does not have the path of the workspace.
type directoryError struct {
	topic         *config.Topic
	problem, hint string
	err           error
}

// newDirectoryError returns the error for a topic whose directory cannot be read because of err.
func newDirectoryError(t *config.Topic, err error) *directoryError {
	e := &directoryError{topic: t, hint: "create the directory, or correct subjects", err: err}
	reason := "cannot be read: " + cause(err)
	var outside *config.OutsideError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "does not exist"
	case errors.As(err, &outside):
		reason, e.hint = "is a link out of the project", cmp.Or(outside.Hint(), "put its files into the project")
	}
	e.problem = "its directory " + oneLine(t.Subjects) + " " + reason
	return e
}

func (e *directoryError) Error() string {
	return fmt.Sprintf("topic %q cannot be learned: %s", e.topic.ID, e.why())
}

// why returns the text of the error without the topic's id.
func (e *directoryError) why() string {
	return fmt.Sprintf("%s (it is set at %s); %s", e.problem, text.Cell(e.topic.SubjectsAt.Place()), e.hint)
}

func (e *directoryError) Unwrap() error { return e.err }

// oneLine returns a text of others as one line, so that no part of the text can begin an entry of a list.
func oneLine(s string) string {
	return strings.Join(strings.Fields(text.Line(s)), " ")
}

// quoteName returns a name in quotes. It escapes quotes and the closing tags of elements in the name.
func quoteName(name string) string {
	return `"` + strings.ReplaceAll(subjects.CloseTags(text.Line(name)), `"`, "&quot;") + `"`
}

// cause returns the text of the innermost error that err wraps, on one line and without paths and operations.
func cause(err error) string { return oneLine(subjects.Cause(err).Error()) }
