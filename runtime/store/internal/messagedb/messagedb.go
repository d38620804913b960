// Package messagedb is a store of conversations in databases with a table of messages.
// What its queries are, and how a message is read, is up to the packages that use it.
//
// It only reads. SQLite it reads through package sqlitefile: it takes no lock and waits for
// no writer.
package messagedb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/recorded"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// Options says what a store is.
type Options struct {
	Name   string // of the kind of store
	Prefix string // of the ids of its conversations
	Place  string // a path, for people
	// Databases returns the databases, the one that counts most first, and those that
	// cannot be read.
	Databases func() ([]Database, []store.Problem)
	// Remarks is [store.Remarker]; nil for none.
	Remarks func(context.Context) []string
}

// Database is a database of a store.
type Database struct {
	Path string // for people
	// Version returns a text that is another one when the database has changed, or is
	// another one.
	Version func(context.Context) (string, error)
	// Share returns the database with one user.
	Share func() Shared
}

// Shared is a database that several use at a time. It is opened where it is used first.
// The error is [ErrAbsent] where there turns out to be none. It is safe for concurrent use.
type Shared interface {
	// Retain adds a user, and Release takes one away. The database is closed behind the
	// last one.
	Retain()
	Release()
	// Query begins a query, which may depend on the form of the database, and returns that
	// too. The context ends reading its rows.
	Query(ctx context.Context, query func(*Form) string, args ...any) (sqlitefile.Cursor, *Form, error)
}

// SQLite returns what shares an SQLite database, which open opens and finds out the form
// of.
func SQLite(open func(context.Context) (*sqlitefile.DB, *Form, error)) func() Shared {
	return func() Shared { return sqlitefile.Share(open) }
}

// IsURL reports whether a text that names a database is the URL of one on a server of
// PostgreSQL.
func IsURL(text string) bool {
	scheme, _, ok := strings.Cut(strings.TrimSpace(text), "://")
	return ok && (scheme == "postgres" || scheme == "postgresql")
}

// ErrAbsent is the error for a database that there is none of.
var ErrAbsent = errors.New("there is no such database")

// Form is how a database is read. Times in it are seconds since 1970, as numbers or as
// text, or ISO 8601.
type Form struct {
	// Conversations is the query for conversations: their key, title, time of creation,
	// time of the last change, whether they are archived, a text that changes when
	// anything of it has changed, or NULL, time of the last message or NULL, its place in
	// the database, and the id that it was recorded with, or NULL where that is the key.
	Conversations string
	// Conversation is the same for those with the key ?1.
	Conversation string
	// Messages is the query for the messages of the conversation with the key ?1, in
	// order: role, name, time, size of the content in bytes, and the content, which is
	// NULL where the size is over [MaxMessage], or over the bound of the form.
	Messages string
	// Kind returns the kind of the messages of a role, and their name.
	Kind func(role, name []byte) (transcript.Kind, []byte)
	// AppendPieces appends the text of a message.
	AppendPieces func(dst []recorded.Piece, content []byte) []recorded.Piece
	// Stamp is the text that changes with anything in the database, for conversations of
	// which it has none.
	Stamp string
}

// MaxMessage is the largest content of a message that is read, in bytes. A larger one is
// left out.
const MaxMessage = 64 << 20

// Store is the conversations of databases, as a [store.Store].
type Store struct{ options Options }

// New returns a store.
func New(o Options) *Store { return &Store{o} }

// Name implements [store.Store].
func (s *Store) Name() string { return s.options.Name }

// Place implements [store.Store].
func (s *Store) Place() string { return s.options.Place }

// ID returns the id of the conversation with a key: the key, or a hash of one that cannot
// be a part of an id.
func ID(prefix, key string) transcript.ID {
	if history.IsName(key) {
		return transcript.ID(prefix + key)
	}
	return transcript.ID(prefix + "." + hashOf(key))
}

// ParseID reads an id with a prefix, whose case does not matter. The error is a
// [*store.BadIDError].
func ParseID(prefix, text string) (transcript.ID, error) {
	rest, ok := history.CutPrefix(text, prefix)
	hashed, isHash := strings.CutPrefix(rest, ".")
	if !ok || !isHash && !history.IsName(rest) || isHash && !isHashed(hashed) {
		return "", history.BadID(text, fmt.Sprintf("expected %q and the id of a conversation", prefix))
	}
	return transcript.ID(prefix + rest), nil
}

// Claims reports whether a text can only be meant as an id with a prefix.
func Claims(prefix, text string) bool {
	_, ok := history.CutPrefix(text, prefix)
	return ok
}

// ParseID implements [store.Store].
func (s *Store) ParseID(text string) (transcript.ID, error) { return ParseID(s.options.Prefix, text) }

// Remarks implements [store.Remarker].
func (s *Store) Remarks(ctx context.Context) []string {
	if s.options.Remarks == nil {
		return nil
	}
	return s.options.Remarks(ctx)
}

// Version returns a text that is another one when anything in the store has changed.
func (s *Store) Version(ctx context.Context) (string, error) {
	databases, problems := s.options.Databases()
	var b strings.Builder
	for _, d := range databases {
		version, err := d.Version(ctx)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s %s\n", d.Path, version)
	}
	for _, p := range problems {
		fmt.Fprintf(&b, "%s %v\n", p.Path, p.Err)
	}
	return b.String(), nil
}

// Open implements [store.Store].
func (s *Store) Open(ctx context.Context) (store.Session, []store.Problem, error) {
	databases, problems := s.options.Databases()
	opened := &session{store: s}
	for _, d := range databases {
		shared := &database{d.Share(), s, d.Path}
		err := sqlitefile.Each(ctx, func() (sqlitefile.Cursor, error) {
			rows, _, err := shared.Query(ctx, func(*Form) string { return "SELECT 1 WHERE FALSE" })
			return rows, err
		}, func(sqlitefile.Cursor) error { return nil })
		switch {
		case err == nil:
			opened.databases = append(opened.databases, shared)
			continue
		case ctx.Err() != nil:
			shared.Release()
			opened.Close()
			return nil, nil, ctx.Err()
		case !errors.Is(err, ErrAbsent):
			problems = append(problems, history.Problem("", store.Unreadable, d.Path, err))
		}
		shared.Release()
	}
	if len(opened.databases) == 0 && len(problems) > 0 && problems[0].Kind != store.Unnamed {
		return nil, nil, fmt.Errorf("opening the conversations in %s: %w", problems[0].Path, problems[0].Err)
	}
	opened.unread = problems
	return opened, slices.Clone(problems), nil
}
