// Package exports imports what programs export of their conversations into an archive:
// ChatGPT and Claude.ai, as a zip, a folder or a file of it, and Letta's agent files.
// What it is given is recognised by its content.
//
// Exports are untrusted. Nothing in them names a file that is written, a link is not
// followed, and one conversation is in memory at a time. One that is bad costs itself.
package exports

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/jsontext"
	"github.com/convtools/convtools/runtime/transcript"
)

// The kinds of exports.
const (
	ChatGPT = "chatgpt"
	Claude  = "claude"
	Letta   = "letta"
)

// Kinds returns the kinds of exports.
func Kinds() []string { return []string{ChatGPT, Claude, Letta} }

// Options says how an export is imported.
type Options struct {
	Kind string // only conversations of it are looked for; empty for all
	// Progress is called now and then while an export is read. Nil is not called.
	Progress func(Progress)
}

// Progress is how far an import has come.
type Progress struct {
	Done, Total   int64 // bytes of JSON
	Conversations int
}

// Report is what was found in an export, and what has become of it.
type Report struct {
	Kinds     []string // of exports that were recognised
	New       int
	Updated   int
	Unchanged int
	Skipped   int // conversations that are left out on purpose
	Failed    int // conversations, or files of them, that cannot be read
	// Problems are what was skipped or has failed, in the order of the export.
	Problems []Problem
}

// Recognised returns how many conversations there are that could be read.
func (r *Report) Recognised() int { return r.New + r.Updated + r.Unchanged + r.Skipped }

// Problem is why a conversation, or a file, was skipped or has failed.
type Problem struct {
	File    string // its path in the export
	Offset  int64  // where the conversation begins in the file
	Number  int    // of the conversation in the file, from 1; 0 where it is the file
	Title   string // empty where it is not known
	ID      transcript.ID
	Skipped bool
	Err     error
}

// ErrChecksum is the error for a file that is damaged. What is whole in it is imported.
var ErrChecksum = errors.New("its checksum is wrong: the file is damaged, and what was imported of it may be; download the export again, and import that")

// Errors for conversations.
var (
	errNotOne    = errors.New("it is no conversation of a known export")
	errOtherKind = errors.New("it is of another kind of export than was asked for")
	errTooLarge  = errors.New("it has more than 64 MB")            // maxConversation
	errTooMany   = errors.New("it has more than 200,000 messages") // maxMessages
	errEmpty     = errors.New("nothing is said in it")
	errOlder     = errors.New("what is in the archive was changed later, and is kept")
	errSeen      = errors.New("another conversation of the export has the same id, and was changed later or stands before")
	errMissing   = errors.New("the manifest of the export names it, and it is not there: the export is not complete")
	errEncrypted = errors.New("it is encrypted: unpack it with its password, and import the folder")
	errBomb      = errors.New("it grows to more than 200 times its size when it is unpacked") // maxRatio
	errOutside   = errors.New("its name leads out of the export")
	errManifest  = errors.New("the manifest is damaged; files are looked for by their names")
)

const (
	// maxConversation is the largest conversation that is read, in bytes of JSON, and
	// maxMessages the one with most messages. Both together are what fits into 200 MB of
	// memory: one conversation is there as JSON and as what is read of it.
	maxConversation = 64 << 20
	maxMessages     = 200_000
	// maxStrangers is how many values of a file are looked at for a conversation.
	maxStrangers = 20
)

// Import adds what is in an export to an archive. The error is an [*InputError] where it
// cannot be read, an [*UnrecognisedError] where there is no conversation, and that of the
// archive or of a context that is done; what was read before is kept.
func Import(ctx context.Context, name string, into *archive.Writer, o Options) (*Report, error) {
	e, err := open(name)
	if err != nil {
		return &Report{}, err
	}
	defer e.closer.Close()
	i := &importing{ctx: ctx, options: o, writer: into, report: &Report{}, seen: map[string]time.Time{}}
	files, problems := e.files()
	for _, p := range problems {
		i.problem(p, p.Err)
	}
	for _, f := range files {
		i.progress.Total += f.size
	}
	for n := 0; n < len(files) && err == nil; n++ {
		err = i.file(&files[n])
	}
	if err == nil && i.report.Recognised() == 0 {
		err = &UnrecognisedError{Path: name, Reason: e.reason(i.first), Failed: i.report.Failed}
	}
	return i.report, err
}

// importing is an import in the making.
type importing struct {
	ctx          context.Context //nolint:containedctx // of the import, for what reads through an interface
	options      Options
	writer       *archive.Writer
	report       *Report
	progress     Progress
	seen         map[string]time.Time // when the conversations of this export were changed, by name
	conversation archive.Conversation
	first        []byte // the beginning of the first value that is none of an export
}

func (i *importing) problem(p Problem, err error) {
	p.Err = err
	p.Skipped = err == errEmpty || err == errSeen || err == errOlder
	if p.Skipped {
		i.report.Skipped++
	} else {
		i.report.Failed++
	}
	i.report.Problems = append(i.report.Problems, p)
}

// file imports the conversations of a file. The error is one that ends the import.
func (i *importing) file(f *file) error {
	in, err := f.open()
	if err != nil {
		i.problem(Problem{File: f.name}, err)
		return nil
	}
	defer in.Close()
	v := newValues(&counter{in, i}, maxConversation)
	recognised := f.expected
	var strangers []Problem
	for v.next() {
		p := Problem{File: f.name, Offset: v.offset, Number: v.number}
		kind, header, err := i.recognise(v.value, v.offset)
		if err == nil {
			recognised = true
			if err := i.value(kind, header, p); err != nil {
				return err
			}
			continue
		}
		p.Err = err
		if strangers = append(strangers, p); !recognised && len(strangers) >= maxStrangers {
			return nil
		}
	}
	// A file of something else, such as settings, is none that has failed.
	if i.ctx.Err() != nil || !recognised {
		return i.ctx.Err()
	}
	for _, p := range strangers {
		i.problem(p, p.Err)
	}
	if err = v.rest(); errors.Is(err, zip.ErrChecksum) {
		err = ErrChecksum
	}
	if i.ctx.Err() == nil && err != nil {
		i.problem(Problem{File: f.name, Offset: v.at}, err)
	}
	return i.ctx.Err()
}

// counter reads a file until the import is cancelled, and counts for the progress.
type counter struct {
	io.Reader
	*importing
}

func (c *counter) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.Reader.Read(b)
	c.progress.Done += int64(n)
	if report := c.options.Progress; report != nil {
		report(c.progress)
	}
	return n, err
}

// recognise returns the kind of export that a JSON value is a conversation of, and what it has. The
// value stands at an offset; it is nil where it is too large.
func (i *importing) recognise(raw []byte, offset int64) (kind string, h *header, err error) {
	if raw == nil {
		return "", nil, errTooLarge
	}
	if c := (jsontext.Cursor{Data: raw}); !c.Value(0) {
		return "", nil, fmt.Errorf("at byte %d: %w", offset+int64(c.Pos), c.Err())
	}
	h = &header{}
	jsontext.Decode(raw, h)
	switch {
	case h.Mapping != nil:
		kind = ChatGPT
	case h.ChatMessages != nil:
		kind = Claude
	case h.Agents != nil && (h.Blocks != nil || h.Tools != nil || h.Groups != nil):
		kind = Letta
	default:
		if i.first == nil {
			i.first = slices.Clone(raw[:min(len(raw), maxFirst)])
		}
		return "", nil, errNotOne
	}
	if i.options.Kind != "" && kind != i.options.Kind {
		return "", nil, errOtherKind
	}
	return kind, h, nil
}

// maxFirst is how many bytes of a value are enough to tell what it is.
const maxFirst = 4 << 10

// value imports a value that is a conversation, or has some. p is where it stands.
func (i *importing) value(kind string, h *header, p Problem) error {
	if !slices.Contains(i.report.Kinds, kind) {
		i.report.Kinds = append(i.report.Kinds, kind)
	}
	if kind != Letta {
		return i.put(kind, h, p)
	}
	for agent := range jsontext.Elements(h.Agents) {
		h := &header{}
		jsontext.Decode(agent, h)
		if err := i.put(kind, h, p); err != nil {
			return err
		}
	}
	return nil
}

// put adds a conversation. The error is one that ends the import.
func (i *importing) put(kind string, h *header, p Problem) error {
	c := &i.conversation
	err := h.read(kind, c)
	i.progress.Conversations++
	p.Title = c.Title
	if c.Native != "" {
		p.ID = c.ID()
	}
	changed, seen := i.seen[c.Kind+c.Native]
	switch {
	case err != nil:
	case len(c.Messages) == 0:
		err = errEmpty
	case seen && !c.Updated.After(changed):
		err = errSeen
	default:
		i.seen[c.Kind+c.Native] = c.Updated
		outcome, err := i.writer.Put(i.ctx, c)
		switch {
		case err != nil:
			return err
		case outcome == archive.New:
			i.report.New++
		case outcome == archive.Updated:
			i.report.Updated++
		case outcome == archive.Unchanged:
			i.report.Unchanged++
		case outcome == archive.Older:
			i.problem(p, errOlder)
		}
		return nil
	}
	i.problem(p, err)
	return nil
}
