package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/convtools/convtools/runtime/base/parallel"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/filecache"
	"github.com/convtools/convtools/runtime/store/internal/jsonl"
	"github.com/convtools/convtools/runtime/transcript"
)

// Session is what a list shows of a session, as far as the beginning and the end of its file tell.
type Session struct {
	Title, Request string
	Dir            string // in which it was held
	Created, Last  time.Time
	Told           bool // something is said in it
}

// See takes over what a talk has noted.
func (s *Session) See(t *Talk) { s.Request, s.Last, s.Told = t.Request, t.Last, t.Told }

// Entry is a file of sessions.
type Entry[M any] struct {
	File  string        // its name in the directory of the store
	About string        // name of another one, with facts of it; empty for none
	ID    transcript.ID // empty while that is not known
	Stamp filecache.Stamp
	Meta  M // what is read of it
	err   error
}

// Listing returns the entry of a type that embeds one.
func (e *Entry[M]) Listing() *Entry[M] { return e }

// Listed is a file of sessions as a store has it, which embeds an [Entry].
type Listed[M any] interface {
	Listing() *Entry[M]
	// Peek reads what lists need of the file.
	Peek(ctx context.Context, root *Root) error
	// Where returns the directory in which a session was held, that is excluded if one is.
	Where() string
}

// List lists the sessions in files: find returns these, and what cannot be looked at, and add adds
// the conversations of those that could be read.
func List[E Listed[M], M any](ctx context.Context, s *Store, scope store.Scope,
	find func(root *Root) ([]E, []store.Problem, error), add func(root *Root, all []E, to *store.Listing) error,
) (*store.Listing, error) {
	root, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all, problems, err := find(root)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.Dir, err)
	}
	l := &store.Listing{Problems: problems}
	peek(ctx, s, root, all)
	usable := slices.DeleteFunc(all, func(one E) bool {
		e := one.Listing()
		if e.err != nil && !errors.Is(e.err, fs.ErrNotExist) { // it was not deleted meanwhile
			l.Problems = append(l.Problems, s.Problem(e.ID, store.Unreadable, e.File, e.err))
		}
		return e.err != nil
	})
	if ctx.Err() == nil {
		err = add(root, usable, l)
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	l.Keep(scope)
	return l, nil
}

// peek has read what lists need of files, several at a time, unless that is known.
func peek[E Listed[M], M any](ctx context.Context, s *Store, root *Root, all []E) {
	parallel.Each(ctx, len(all), func(numbers iter.Seq[int]) {
		for i := range numbers {
			e := all[i].Listing()
			e.Stamp = root.Stamp(e.File)
			stamps := []filecache.Stamp{e.Stamp}
			if e.About != "" {
				stamps = append(stamps, root.Stamp(e.About))
			}
			sheet := root.Sheet("m"+e.File, stamps...)
			if sheet.Get(&e.Meta) {
				continue
			}
			var none M
			e.Meta = none // which may have been read in part
			if e.err = all[i].Peek(ctx, root); e.err == nil && !s.Project.Excludes(all[i].Where()) {
				sheet.Put(&e.Meta)
			}
		}
	})
}

// PeekLines calls see for the lines at the beginning and at the end of a file, and has the talk
// note no request of the end. Where the beginning has not all that is needed, it is looked for
// further on: to any length where wanted reports so, and for a request as far as programs put
// notes of their own before it. It reports whether these were all lines.
func PeekLines(ctx context.Context, f io.ReaderAt, size int64, t *Talk, see func(line []byte), wanted func() bool) (whole bool, err error) {
	const enough = 1 << 20
	request := ""
	whole, err = jsonl.Peek(ctx, f, size, func(line []byte) int64 {
		see(line)
		request = t.Request
		switch {
		case wanted():
			return math.MaxInt64
		case request == "":
			return enough
		}
		return 0
	}, see)
	t.Request = request
	return whole, err
}

// Conversation returns what a list has of a session.
func (s *Store) Conversation(id transcript.ID, of *Session, record store.Record) store.Conversation {
	return store.Conversation{
		Conversation: transcript.Conversation{ID: id, Source: s.Kind, Title: of.Title, Dir: of.Dir, CreatedAt: of.Created},
		Request:      of.Request, LastAt: of.Last, Record: record,
	}
}
