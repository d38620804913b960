package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/transcript"
)

// Session is the metadata of a session, as far as the beginning and the end of its file have it.
type Session struct {
	Title, Request string
	Dir            string // working directory
	Branch         string // of version control, the last one
	Created, Last  time.Time
	Readable       bool   // it has events that can be read
	Origin         string // the program's id of the session that it was forked from; empty for none
}

func (s Session) session() Session { return s }

// Note sets the request, the time of the last event and whether any can be read, as a recorder has found them.
func (s *Session) Note(r *Recorder) { s.Request, s.Last, s.Readable = r.Request, r.Last, r.Readable }

// Entry is a file of sessions.
type Entry[M any] struct {
	File  string        // its name in the directory of the store
	About string        // the name of a file with more metadata; may be empty
	ID    transcript.ID // empty while it is not known
	Stamp filecache.Stamp
	Meta  M // the metadata
	err   error
	// for ListFiles
	Parent           transcript.ID // as in [transcript.Conversation]
	Archived, Hidden bool
	IsFork           bool // set by ListFiles: lists show the session that it was forked from together with it
}

// Base returns the entry itself, from a type that embeds it.
func (e *Entry[M]) Base() *Entry[M] { return e }

// Listed is a type that embeds an [Entry].
type Listed[M any] interface {
	Base() *Entry[M]
	// Peek reads the metadata from the open file, and returns the working directory of the session; of
	// several, one that is excluded if there is any.
	Peek(ctx context.Context, root *Root, f *os.File, size int64) (dir string, err error)
}

// File is a [Listed] file with one session.
type File[M any] interface {
	Listed[M]
	// Decode is that of [Record].
	Decode(ctx context.Context, root *Root, to *Recorder) error
}

// ListFiles lists the sessions of the project that can be read, each in a file. find is that of [List]. Of several files
// with the same id it reads one: the first by compare, then one that is not archived, then the file that was written
// last. The parent of a fork is its origin, the session that it was forked from, unless link sets another parent.
// compare and link can be nil.
func ListFiles[E File[M], M interface{ session() Session }](ctx context.Context, s *Store, scope store.Scope,
	find func(root *Root) ([]E, []store.Problem), compare func(a, b E) int, link func(all map[transcript.ID]E),
) (*store.Listing, error) {
	return List(ctx, s, scope, find, func(_ *Root, all []E, l *store.Listing) error {
		slices.SortStableFunc(all, func(a, b E) int {
			x, y, first := a.Base(), b.Base(), 0
			if compare != nil {
				first = compare(a, b)
			}
			return cmp.Or(first, CompareBool(x.Archived, y.Archived), cmp.Compare(y.Stamp.Modified(), x.Stamp.Modified()))
		})
		listed := map[transcript.ID]E{}
		for _, one := range all {
			e := one.Base()
			m := e.Meta.session()
			if _, again := listed[e.ID]; !again && m.Readable && s.Project.Has(m.Dir) {
				listed[e.ID] = one
			}
		}
		if link != nil {
			link(listed)
		}
		for id, one := range listed {
			e := one.Base()
			m := e.Meta.session()
			if m.Origin != "" {
				originID := s.ID(m.Origin, "")
				origin, isListed := listed[originID]
				isApart := isListed && !e.Archived && origin.Base().Archived // a list of live sessions has the fork without the origin
				e.IsFork = isListed && !isApart && originID != id
				if e.IsFork {
					e.Parent = cmp.Or(e.Parent, originID)
				}
			}
			c := s.Conversation(id, &m, one.Decode, e.Stamp)
			c.Parent, c.Archived, c.Hidden = e.Parent, e.Archived, e.Hidden
			l.Conversations = append(l.Conversations, c)
		}
		return nil
	})
}

// List lists the sessions in files. find returns the files, and the problems of finding them; add adds the
// conversations of the files that could be read to the listing. Files are read several at a time, and only if
// they have changed. Metadata of sessions in excluded directories is not cached.
func List[E Listed[M], M any](ctx context.Context, s *Store, scope store.Scope,
	find func(root *Root) ([]E, []store.Problem), add func(root *Root, all []E, to *store.Listing) error,
) (*store.Listing, error) {
	root, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all, problems := find(root)
	l := &store.Listing{Problems: problems}
	parallel.Each(ctx, len(all), func(numbers iter.Seq[int]) {
		for i := range numbers {
			e := all[i].Base()
			e.err = Peek(ctx, s, root, all[i])
		}
	})
	all = slices.DeleteFunc(all, func(one E) bool {
		e := one.Base()
		if e.err != nil && !errors.Is(e.err, fs.ErrNotExist) { // the program may have just deleted it
			l.Problems = append(l.Problems, s.Problem(e.ID, store.Unreadable, e.File, e.err))
		}
		return e.err != nil
	})
	if ctx.Err() == nil {
		err = add(root, all, l)
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	l.Keep(scope)
	return l, nil
}

// metadataForm begins the cache key of metadata. It changes when the form of any store's metadata does.
const metadataForm = "metadata 3 "

// Peek sets the stamp and the metadata of a file. The metadata of a file that has not changed is from the cache.
func Peek[E Listed[M], M any](ctx context.Context, s *Store, root *Root, one E) error {
	e := one.Base()
	e.Stamp = root.Stamp(e.File)
	stamps := []filecache.Stamp{e.Stamp}
	if e.About != "" { // a second file has more metadata
		stamps = append(stamps, root.Stamp(e.About))
	}
	key := metadataForm + e.File
	if filecache.Decode(root.Cache, key, &e.Meta, stamps...) {
		return nil
	}
	f, size, err := root.File(e.File)
	if err != nil {
		return err
	}
	defer f.Close()
	dir, err := one.Peek(ctx, root, f, size) // sets e.Meta, and returns the working directory of the session
	data, marshalErr := json.Marshal(&e.Meta)
	if err == nil && marshalErr == nil && !s.Project.Excludes(dir) { // nothing is kept of sessions in excluded directories
		root.Put(key, data, stamps...)
	}
	return err
}

// Conversation returns the list's entry for a session. decode and stamps are those of its [Record].
func (s *Store) Conversation(id transcript.ID, m *Session, decode Decode, stamps ...filecache.Stamp) store.Conversation {
	return store.Conversation{
		Conversation: transcript.Conversation{ID: id, Source: s.Kind, Title: m.Title, Dir: m.Dir, Branch: m.Branch, CreatedAt: m.Created},
		Request:      m.Request, LastAt: m.Last, Record: &Record{s, id, stamps, decode},
	}
}
