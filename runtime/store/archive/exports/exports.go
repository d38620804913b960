// Package exports imports the conversations that programs export into an archive: exports of ChatGPT and Claude.ai, as
// a zip, a folder or a file of it, and Letta's agent files. It recognises an export by its content.
//
// Exports are untrusted. No name in them is the name of a written file, links are not followed, and only one
// conversation is in memory at a time. A bad conversation does not keep others from being imported; what is
// not JSON ends the file.
package exports

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"slices"

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

// Options controls an import.
type Options struct {
	Kind     string         // only conversations of this kind are imported; empty for all
	Progress func(Progress) // is called from time to time; may be nil
}

// Progress is the state of an import.
type Progress struct {
	Done, Total   int64 // bytes of JSON
	Conversations int
}

// Report is the result of an import.
type Report struct {
	Kinds     []string // of the recognised conversations
	New       int
	Updated   int
	Unchanged int
	Skipped   int       // conversations that are left out on purpose
	Failed    int       // conversations, or files of them, that cannot be read
	Problems  []Problem // of skipped and failed conversations, in the order of the export
}

// Recognised returns the number of conversations that could be read.
func (r *Report) Recognised() int { return r.New + r.Updated + r.Unchanged + r.Skipped }

// Problem is the reason why a conversation, or a file, was skipped or failed.
type Problem struct {
	File    string // its path in the export
	Offset  int64  // of the conversation in the file
	Number  int    // of the conversation in the file, from 1; 0 for the file itself
	Title   string // empty if it is not known
	ID      transcript.ID
	Skipped bool
	Err     error
}

// ErrChecksum is the error for a damaged file. Its readable conversations are imported.
var ErrChecksum = errors.New("its checksum is wrong: the file is damaged, and what was imported of it may be; download the export again, and import that")

// The reasons why a conversation is skipped.
var (
	errEmpty     = errors.New("nothing is said in it")
	errOlder     = errors.New("what is in the archive was changed later, and is kept")
	errForgotten = errors.New("it is forgotten, and stays so")
)

const maxConversation = 64 << 20 // bytes of JSON of the largest conversation that is read

// Import adds the conversations of an export to an archive. The error is an [*UnrecognisedError] if no conversation can
// be read, or that of opening the export, of writing to the archive, or of the context. What was imported before stays.
func Import(ctx context.Context, name string, into *archive.Writer, o Options) (*Report, error) {
	i := &importing{ctx: ctx, options: o, writer: into, report: &Report{}}
	files, closer, err := open(name)
	if err != nil {
		return i.report, err
	}
	defer closer.Close()
	for _, f := range files {
		i.progress.Total += f.size
	}
	for n := 0; n < len(files) && err == nil; n++ {
		err = i.importFile(&files[n])
	}
	if err == nil && i.report.Recognised() == 0 {
		err = &UnrecognisedError{Path: name, Failed: i.report.Failed}
	}
	return i.report, err
}

// importing is a running import.
type importing struct {
	ctx      context.Context //nolint:containedctx // of the import, for the reader of its files
	options  Options
	writer   *archive.Writer
	report   *Report
	progress Progress
}

// addProblem adds a problem with its reason to the report, and counts the conversation or file as skipped or failed.
func (i *importing) addProblem(p Problem, err error) {
	p.Err = err
	p.Skipped = err == errEmpty || err == errOlder || err == errForgotten
	if p.Skipped {
		i.report.Skipped++
	} else {
		i.report.Failed++
	}
	i.report.Problems = append(i.report.Problems, p)
}

// importFile imports the conversations of a file. Mistakes in the file are problems of the report. A file that need not
// have conversations, and has none, has no problems. The error, which ends the import, is that of the archive or the
// context.
func (i *importing) importFile(f *file) error {
	const maxOthers = 20 // after so many values without a conversation the rest of a file is not read
	in, err := f.open()
	if err != nil {
		i.addProblem(Problem{File: f.name}, err)
		return nil
	}
	defer in.Close()
	counted := &counter{in, i}
	v := newValues(counted, maxConversation)
	isExport := f.expected // the name of the file says so, or a conversation was found
	var others []Problem   // of values that are no conversations
	for v.next() {
		p := Problem{File: f.name, Offset: v.offset, Number: v.number}
		kind, header, err := i.recognise(v.value)
		if err == nil {
			isExport = true
			err = i.importValue(kind, header, p)
			if err != nil {
				return err
			}
			continue
		}
		p.Err = err
		if others = append(others, p); !isExport && len(others) >= maxOthers {
			return nil
		}
	}
	if i.ctx.Err() != nil || !isExport { // a file of something else, such as settings, has not failed
		return i.ctx.Err()
	}
	for _, p := range others {
		i.addProblem(p, p.Err)
	}
	if err = v.err; err == io.EOF {
		_, err = io.Copy(io.Discard, counted) // the checksum is verified at the end
	}
	if errors.Is(err, zip.ErrChecksum) {
		err = ErrChecksum
	}
	if i.ctx.Err() == nil && err != nil {
		i.addProblem(Problem{File: f.name, Offset: v.offset}, err)
	}
	return i.ctx.Err()
}

// counter reads a file until the import is cancelled, and reports the progress.
type counter struct {
	io.Reader
	*importing
}

// Read implements [io.Reader]. After the import is cancelled, the error is that of the context.
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

// recognise decodes the header of a value, and returns the kind of export that has such values. The error says that
// no export has, or that the options ask for another kind.
func (i *importing) recognise(raw []byte) (kind string, h *header, err error) {
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
		return "", nil, errors.New("it is no conversation of a known export")
	}
	if i.options.Kind != "" && kind != i.options.Kind {
		return "", nil, errors.New("it is of another kind of export than was asked for")
	}
	return kind, h, nil
}

// importValue imports a recognised value with a header: a conversation, or all agents in a file of Letta. p has the
// place of the value, for problems. The error is that of [importing.put].
func (i *importing) importValue(kind string, h *header, p Problem) error {
	if !slices.Contains(i.report.Kinds, kind) {
		i.report.Kinds = append(i.report.Kinds, kind)
	}
	if kind != Letta {
		return i.put(kind, h, p)
	}
	for agent := range jsontext.Elements(h.Agents) {
		agentHeader, _ := jsontext.Parse[header](agent)
		if err := i.put(kind, &agentHeader, p); err != nil {
			return err
		}
	}
	return nil
}

// put adds the conversation with a header to the archive, and counts the outcome in the report. p has the place of the
// conversation, for a problem if it cannot be read. The error is that of the archive, and ends the import.
func (i *importing) put(kind string, h *header, p Problem) error {
	c, err := h.read(kind)
	i.progress.Conversations++
	p.Title = c.Title
	if c.Native != "" {
		p.ID = c.ID()
	}
	if err == nil && len(c.Messages) == 0 {
		err = errEmpty
	}
	if err != nil {
		i.addProblem(p, err)
		return nil
	}
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
		i.addProblem(p, errOlder)
	case outcome == archive.Left:
		i.addProblem(p, errForgotten)
	}
	return nil
}
