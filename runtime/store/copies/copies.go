// Package copies keeps copies of conversations that programs recorded: for good, also once a program has deleted its
// own. They are in the user's data directory, a directory for each kind of store, and a file for each conversation. Its
// first line has the metadata, and each other line an event.
//
// [Open] returns the copies as a store of the same kind, with the same ids: a conversation that the program still has
// is read there. A conversation that the user has forgotten is copied no more.
package copies

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/base/safefile"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// Home returns the directory of all copies, or "" if the environment does not name it.
func Home(getenv func(string) string) string { return history.InData(getenv, "convtools", "copies") }

const extension = ".jsonl" // of the file of a conversation

// Store has the copies of conversations of a kind of store. It implements [store.Store].
type Store struct {
	history.Store
	parseID func(text string) (transcript.ID, error)
}

// Open returns the copies of conversations of a kind of store, and false if there are none. parseID is that of the kind.
func Open(o store.Options, kind string, parseID func(text string) (transcript.ID, error)) (*Store, bool) {
	s, ok := history.Open(o, kind, Home(o.Env()), kind, nil)
	return &Store{s, parseID}, ok
}

// ParseID implements [store.Store].
func (s *Store) ParseID(text string) (transcript.ID, error) { return s.parseID(text) }

// header is the first line of a file.
type header struct {
	history.Session
	ID       transcript.ID
	Parent   transcript.ID
	Archived bool
	Hidden   bool
	Version  []byte // of the conversation when it was copied
}

// event is another line of a file. Its texts are readable, and not as encoding/json writes bytes.
type event struct {
	transcript.Event
	Text, Arguments string `json:",omitempty"`
}

// entry is the file of a conversation.
type entry struct {
	history.Entry[header]
}

// Peek implements [history.Listed]: it reads the header of the copy, which must have the id that is the file's name.
func (e *entry) Peek(ctx context.Context, _ *history.Root, f *os.File, size int64) (dir string, err error) {
	err = jsonl.Each(ctx, f, size, func(line []byte, _ int64) bool {
		_ = json.Unmarshal(line, &e.Meta) // a line that is no header has no id
		return false                      // only the first line is needed
	})
	if string(e.Meta.ID) != strings.TrimSuffix(e.File, extension) {
		err = errors.Join(err, errors.New("it does not begin as a copy of a conversation"))
	}
	return e.Meta.Dir, err
}

// List implements [store.Store]. The name of a copy is the id of its conversation.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	find := func(root *history.Root) ([]*entry, []store.Problem) {
		return history.Entries(&s.Store, root, ".", nil, func(e *entry) bool {
			id, isCopy := strings.CutSuffix(e.File, extension)
			_, err := s.parseID(id)
			e.ID = transcript.ID(id)
			return isCopy && err == nil && !safefile.Temporary(e.File)
		})
	}
	return history.ListFiles(ctx, &s.Store, scope, find, nil, func(all map[transcript.ID]*entry) {
		for _, e := range all {
			e.Parent, e.Archived, e.Hidden = e.Meta.Parent, e.Meta.Archived, e.Meta.Hidden
		}
	})
}

// Decode implements [history.File]: it adds the events of the copy, each of a line after the header, to a recorder.
func (e *entry) Decode(ctx context.Context, root *history.Root, to *history.Recorder) error {
	return to.Lines(ctx, root, e.File, func(line []byte, offset int64) bool {
		if offset == 0 { // the header
			return true
		}
		var x event
		if err := json.Unmarshal(line, &x); err != nil {
			return false
		}
		to.Totals.Turns = max(to.Totals.Turns, x.Turn)
		x.Event.Text, x.Event.Arguments = []byte(x.Text), []byte(x.Arguments)
		to.AddNumbered(x.Event)
		return true
	})
}

// Count returns how many of some conversations of a kind of store have a copy.
func Count(getenv func(string) string, kind string, conversations []store.Conversation) (n int) {
	w := &Writer{dir: filepath.Join(Home(getenv), kind)}
	for i := range conversations {
		if _, err := os.Lstat(w.path(conversations[i].ID)); err == nil {
			n++
		}
	}
	return n
}

// Writer writes the copies of a kind of store.
type Writer struct {
	dir string
	dry bool
}

// Create returns a writer of the copies of a kind of store, and makes their directory. A dry writer makes and writes
// nothing: it only returns the outcomes.
func Create(getenv func(string) string, kind string, dry bool) (*Writer, error) {
	home := Home(getenv)
	if home == "" {
		return nil, errors.New("there is no home directory")
	}
	w := &Writer{filepath.Join(home, kind), dry}
	if dry {
		return w, nil
	}
	return w, os.MkdirAll(w.dir, 0o700)
}

// path returns the path of the copy of a conversation.
func (w *Writer) path(id transcript.ID) string { return filepath.Join(w.dir, string(id)+extension) }

// Put copies a conversation, unless there is a copy of its present version. A copy of another version is replaced, and so
// is one that cannot be read. A damaged conversation is copied up to the damage.
func (w *Writer) Put(ctx context.Context, c *store.Conversation) (archive.Outcome, error) {
	version, err := c.Version(ctx)
	if err != nil {
		return 0, err
	}
	before, outcome := entry{}, archive.New
	if f, info, err := safefile.Open(w.path(c.ID)); err == nil {
		outcome = archive.Updated
		before.File = string(c.ID) + extension
		_, unread := before.Peek(ctx, nil, f, info.Size())
		f.Close()
		if unread == nil && string(before.Meta.Version) == version {
			return archive.Unchanged, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if w.dry {
		return outcome, nil
	}
	data, err := encode(ctx, c, version)
	if err == nil {
		err = safefile.Write(w.path(c.ID), data, 0o600)
	}
	return outcome, err
}

// encode returns the content of the copy of a version of a conversation, up to the damage if it is damaged. The error is
// that of reading the conversation, or else of encoding it.
func encode(ctx context.Context, c *store.Conversation, version string) ([]byte, error) {
	h := header{
		Session: history.Session{Title: c.Title, Request: c.Request, Dir: c.Dir, Created: c.CreatedAt, Last: c.LastAt, Readable: true},
		ID:      c.ID, Parent: c.Parent, Archived: c.Archived, Hidden: c.Hidden, Version: []byte(version),
	}
	var file bytes.Buffer
	lines := json.NewEncoder(&file)
	lines.SetEscapeHTML(false)
	err := lines.Encode(h)
	_, readErr := c.Read(ctx, func(e *transcript.Event) bool {
		err = cmp.Or(err, lines.Encode(event{*e, string(e.Text), string(e.Arguments)}))
		return err == nil
	})
	if _, isDamage := errors.AsType[*store.DamageError](readErr); !isDamage {
		err = cmp.Or(readErr, err)
	}
	if err != nil {
		return nil, fmt.Errorf("copying %s: %w", c.ID, err)
	}
	return file.Bytes(), nil
}

// Remove removes the copy of a conversation, and reports whether there was one.
func (w *Writer) Remove(id transcript.ID) (bool, error) {
	err := os.Remove(w.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
