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
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/near"
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
	topics   []*kbconfig.Topic // those that are enabled: the others do not exist
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
	b := &Base{config: config, injected: opts.Injected, getenv: opts.Getenv}
	for i := range config.Topics {
		if t := &config.Topics[i]; t.Enable {
			b.topics = append(b.topics, t)
		}
	}
	return b, nil
}

// Root is the absolute path of the workspace, and empty where there is none.
func (b *Base) Root() string { return b.config.Root }

// Unread returns what a person should know of the configuration: the keys that nothing reads, a sentence each.
func (b *Base) Unread() []string {
	unread := slices.DeleteFunc(slices.Clone(b.config.Problems), func(p config.Problem) bool { return p.Rule != config.Rule || p.Tables != nil })
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
func (b *Base) byID(id string) *kbconfig.Topic {
	i := slices.IndexFunc(b.topics, func(t *kbconfig.Topic) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return b.topics[i]
}

// lookup finds a topic by its id, or else by its title, whose case does not
// count. The error tells which topics there are.
func (b *Base) lookup(asked string) (*kbconfig.Topic, error) {
	asked = strings.TrimSpace(asked)
	if t := b.byID(asked); t != nil {
		return t, nil
	}
	var titled []*kbconfig.Topic
	var ids []string
	for _, t := range b.topics {
		if asked != "" && strings.EqualFold(oneLine(t.Title), oneLine(asked)) {
			titled = append(titled, t)
			ids = append(ids, t.ID)
		}
	}
	switch len(titled) {
	case 0:
		return nil, b.unknownTopic(asked)
	case 1:
		return titled[0], nil
	}
	return nil, contract.Fixable(fmt.Sprintf("%s is the title of %d topics. Ask for one of them by its id: %s.", text.Quote(asked), len(ids), listed(ids)))
}

func (b *Base) unknownTopic(asked string) error {
	if broken := b.config.Broken[asked]; broken != nil {
		return &contract.Error{Message: fmt.Sprintf("Topic %q cannot be learned until the user has corrected its configuration: %s", asked, broken), Err: broken}
	}
	if len(b.topics) == 0 {
		if b.config.Root == "" {
			return contract.Fixable("There is nothing to learn: this directory is in no workspace, which would have .jp or convtools.toml in it.")
		}
		return contract.Fixable("There is nothing to learn: no topic is configured and enabled. A topic is a table [kb.topic.ID] in the workspace's convtools.toml.")
	}
	if id, subject, ok := parseAddress(scheme + strings.TrimPrefix(asked, scheme)); ok && b.byID(id) != nil {
		return missing(text.Quote(asked)+" is a subject of a topic, and no topic. ", fmt.Sprintf("Call learn with topic %q and subjects %s.", id, text.Quote(subject)), id)
	}
	known := b.TopicIDs()
	byName := map[string]string{}
	for _, t := range b.topics {
		known = append(known, oneLine(t.Title))
		byName[oneLine(t.Title)] = cmp.Or(byName[oneLine(t.Title)], t.ID)
	}
	message := "There is no topic " + text.Quote(asked) + "."
	if near := near.Name(asked, known); near != "" {
		if b.byID(near) == nil {
			near = byName[near]
		}
		message += fmt.Sprintf(" Did you mean %q?", near)
	}
	return contract.Fixable(message + " " + strings.TrimSpace(menu(b.topics, maxTopicList)))
}

// topic is one topic with what its directory holds at the moment.
type topic struct {
	*kbconfig.Topic
	broken *DirectoryError // why there is nothing in it
	tree   *subjects.Tree
	set    *match.Set
}

// scan looks into the directory of a topic, which has to be closed. A directory that
// cannot be read is empty. The error is that of the context.
func (b *Base) scan(ctx context.Context, of *kbconfig.Topic) (t *topic, err error) {
	t = &topic{Topic: of, tree: &subjects.Tree{}, set: &match.Set{}}
	root, err := b.openDir(of)
	if err == nil {
		t.tree, err = subjects.Scan(ctx, root)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		t.broken, t.tree = directoryError(of, err), &subjects.Tree{}
		return t, nil
	}
	if t.set, err = match.New(ctx, of.ID, t.tree.Subjects, of.Disabled, of.Learned); err != nil {
		t.tree.Close()
		return nil, err
	}
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
func (b *Base) open(ctx context.Context, config *kbconfig.Topic) (*topic, error) {
	t, err := b.scan(ctx, config)
	if err == nil && t.broken != nil {
		return nil, t.broken.forCaller()
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
		return nil, directoryError(t, err)
	}
	return root, nil
}

// openDir opens the directory of a topic. What a project names has to be in the
// project, or in a directory that the user trusts.
func (b *Base) openDir(t *kbconfig.Topic) (*os.Root, error) {
	if t.Outside != "" {
		return safefile.OpenDir(t.Outside)
	}
	return config.OpenDir(b.config.Root, t.Subjects, b.getenv)
}

// DirectoryError is the error for a topic whose directory cannot be used.
type DirectoryError struct {
	topic  *kbconfig.Topic
	reason string // the end of a sentence that begins with the directory
	hint   string // what to do about it; empty where that is plain
	err    error
}

// directoryError says why a topic's directory cannot be used, without the path of
// the workspace.
func directoryError(t *kbconfig.Topic, err error) *DirectoryError {
	e := &DirectoryError{topic: t, err: err}
	var outside *config.OutsideError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.reason = "does not exist"
	case errors.As(err, &outside):
		e.reason, e.hint = "is a link out of the project", cmp.Or(outside.Hint(), "put its files into the project")
	default:
		e.reason = "cannot be read: " + cause(err)
	}
	return e
}

func (e *DirectoryError) Error() string {
	return fmt.Sprintf("topic %q cannot be learned: %s", e.topic.ID, e.why())
}

// why is the error without the topic.
func (e *DirectoryError) why() string {
	text := fmt.Sprintf("%s (it is set at %s)", e.problem(), e.topic.SubjectsAt)
	if e.hint != "" {
		text += "; " + e.hint
	}
	return text
}

// problem is the error without what can be done.
func (e *DirectoryError) problem() string {
	return fmt.Sprintf("its directory %s %s", oneLine(e.topic.Subjects), e.reason)
}

func (e *DirectoryError) Unwrap() error { return e.err }

// forCaller makes the failure into one that can be shown to whoever called.
func (e *DirectoryError) forCaller() error {
	message := "T" + e.Error()[1:] + "."
	if e.hint != "" {
		return &contract.Error{Message: message, Err: e}
	}
	const remedy = " the directory or correct the setting."
	return &contract.Error{Message: message + " The user has to create" + remedy, Detail: message + " Create" + remedy, Err: e}
}

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
