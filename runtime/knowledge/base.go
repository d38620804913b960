// Package knowledge is a workspace's knowledge base: topics, which are
// directories of files, and subjects, which are those files. It answers the
// learn tool, writes the <knowledge> section of a system prompt, and shows and
// checks the whole for people.
//
//	[kb.topic.project]
//	title = "Project notes"
//	introduction = "How this project is built and released."
//	subjects = ".jp/kb/project"
//	learned = ["style/**"]
//	disabled = ["drafts/**"]
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
	config   *settings
	topics   []*setting // those that are enabled: the others do not exist
	injected bool
	getenv   func(string) string
}

// Open reads the configuration of the workspace that dir is in; empty stands for
// the working directory. A workspace without topics, and no workspace at all,
// are no errors. What is wrong with the configuration is a [config.Error].
func Open(dir string, opts Options) (*Base, error) {
	s, err := load(dir, opts.Getenv, opts.Patterns)
	if err != nil {
		return nil, err
	}
	enabled := slices.DeleteFunc(slices.Clone(s.usable), func(t *setting) bool { return !t.Enable })
	return &Base{s, enabled, opts.Injected, opts.Getenv}, nil
}

// Root is the absolute path of the workspace, and empty where there is none.
func (b *Base) Root() string { return b.config.Root }

// Unread returns what a person should know of the configuration: the keys that nothing reads, a sentence each.
func (b *Base) Unread() []string {
	unread := slices.DeleteFunc(b.config.Unread(), func(p config.Problem) bool { return p.Rule != config.Rule })
	return config.Sentences(unread)
}

// TopicIDs returns the ids of the topics there are, in the order of the
// configuration.
func (b *Base) TopicIDs() []string {
	var ids []string
	for _, t := range b.topics {
		ids = append(ids, t.ID)
	}
	return ids
}

// byID returns the topic with an id, or nil.
func (b *Base) byID(id string) *setting {
	i := slices.IndexFunc(b.topics, func(t *setting) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return b.topics[i]
}

// lookup finds a topic by its id, or else by its title, whose case does not
// count. The error tells which topics there are.
func (b *Base) lookup(asked string) (*setting, error) {
	asked = strings.TrimSpace(asked)
	if t := b.byID(asked); t != nil {
		return t, nil
	}
	var ids []string
	for _, t := range b.topics {
		if asked != "" && strings.EqualFold(oneLine(t.Title), oneLine(asked)) {
			ids = append(ids, t.ID)
		}
	}
	switch len(ids) {
	case 0:
		return nil, b.unknownTopic(asked)
	case 1:
		return b.byID(ids[0]), nil
	}
	return nil, contract.Fixable(fmt.Sprintf("%s is the title of %d topics. Ask for one of them by its id: %s.", text.Quote(asked), len(ids), listed(ids)))
}

func (b *Base) unknownTopic(asked string) error {
	if broken := b.config.Wrong("kb.topic." + asked); broken != nil {
		return &contract.Error{Message: fmt.Sprintf("Topic %q cannot be learned until the user has corrected its configuration: %s", asked, broken), Err: broken}
	}
	switch {
	case b.Root() == "":
		return contract.Fixable("There is nothing to learn: this directory is in no workspace, which would have .jp or convtools.toml in it.")
	case len(b.topics) == 0:
		return contract.Fixable("There is nothing to learn: no topic is configured and enabled. A topic is a table [kb.topic.ID] in the workspace's convtools.toml.")
	}
	if id, subject, ok := parseAddress(scheme + strings.TrimPrefix(asked, scheme)); ok && b.byID(id) != nil {
		return missing(text.Quote(asked)+" is a subject of a topic, and no topic. ", fmt.Sprintf("Call learn with topic %q and subjects %s.", id, text.Quote(subject)), id)
	}
	var names []string
	ids := map[string]string{} // by what they can be asked for
	for _, t := range b.topics {
		for _, name := range []string{t.ID, oneLine(t.Title)} {
			names = append(names, name)
			ids[name] = cmp.Or(ids[name], t.ID)
		}
	}
	message := "There is no topic " + text.Quote(asked) + "."
	if near := near.Name(asked, names); near != "" {
		message += fmt.Sprintf(" Did you mean %q?", ids[near])
	}
	return contract.Fixable(message + " " + strings.TrimSpace(menu(b.topics, maxTopicList)))
}

// topic is one topic with what its directory holds at the moment.
type topic struct {
	*setting
	broken *directoryError // why there is nothing in it
	tree   *subjects.Tree
	set    *subjects.Set
}

// scan looks into the directory of a topic, which has to be closed. A directory that
// cannot be read is empty. The error is that of the context.
func (b *Base) scan(ctx context.Context, of *setting) (*topic, error) {
	t := &topic{setting: of, tree: &subjects.Tree{}}
	root, err := b.openDir(of)
	if err == nil {
		var tree *subjects.Tree
		if tree, err = subjects.Scan(ctx, root); err == nil {
			t.tree = tree
		}
	}
	if ctx.Err() != nil {
		t.tree.Close()
		return nil, ctx.Err()
	}
	if err != nil {
		t.broken, t.set = newDirectoryError(of, err), &subjects.Set{}
		return t, nil
	}
	t.set = subjects.NewSet(of.ID, t.tree.Subjects, of.Disabled, of.Learned)
	return t, nil
}

// scans yields the topics there are, each until the next. It ends with the context.
func (b *Base) scans(ctx context.Context) iter.Seq[*topic] {
	return func(yield func(*topic) bool) {
		for _, config := range b.topics {
			t, err := b.scan(ctx, config)
			if err != nil {
				return
			}
			more := yield(t)
			t.tree.Close()
			if !more {
				return
			}
		}
	}
}

// open is scan of a topic that somebody asks for, and whose directory has to be readable.
func (b *Base) open(ctx context.Context, config *setting) (*topic, error) {
	t, err := b.scan(ctx, config)
	if err == nil && t.broken != nil {
		return nil, &contract.Error{Message: "T" + t.broken.Error()[1:] + ".", Err: t.broken}
	}
	return t, err
}

// OpenDir opens the directory of a topic by its id. An error wraps
// [fs.ErrNotExist] where there is none yet.
func (b *Base) OpenDir(id string) (*os.Root, error) {
	t := b.byID(id)
	if t == nil {
		return nil, b.unknownTopic(id)
	}
	root, err := b.openDir(t)
	if err != nil {
		return nil, newDirectoryError(t, err)
	}
	return root, nil
}

// openDir opens the directory of a topic. What a project names has to be in the
// project, or in a directory that the user trusts.
func (b *Base) openDir(t *setting) (*os.Root, error) {
	if t.outside != "" {
		return safefile.OpenDir(t.outside)
	}
	return config.OpenDir(b.Root(), t.Subjects, b.getenv)
}

// directoryError is the error for a topic whose directory cannot be used. It does not name
// the path of the workspace.
type directoryError struct {
	topic         *setting
	problem, hint string
	err           error
}

func newDirectoryError(t *setting, err error) *directoryError {
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

// why is the error without the topic.
func (e *directoryError) why() string {
	return fmt.Sprintf("%s (it is set at %s); %s", e.problem, e.topic.SubjectsAt, e.hint)
}

func (e *directoryError) Unwrap() error { return e.err }

// oneLine makes text that others wrote fit for one line: nothing in it can begin
// an entry of its own.
func oneLine(s string) string {
	return strings.Join(strings.Fields(text.Line(s)), " ")
}

// quoteName writes a name between quotes, where it cannot end them.
func quoteName(name string) string {
	return `"` + strings.ReplaceAll(subjects.CloseTags(text.Line(name)), `"`, "&quot;") + `"`
}

// cause returns what went wrong without what it went wrong with.
func cause(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return oneLine(err.Error())
}
