// Package messagedb is a store of conversations in databases with a table of messages.
// What its queries are, and how a message is read, is up to the packages that use it.
//
// It only reads. SQLite it reads through package sqlitefile: it takes no lock and waits for
// no writer.
package messagedb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
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
	// Each calls row for each row of a query, which may depend on the form of the database.
	// Where it has to start again, it calls begin before.
	Each(ctx context.Context, begin func(), row func(*sql.Rows) error, query func(*Form) string, args ...any) error
	// Query begins a query.
	Query(ctx context.Context, query func(*Form) string, args ...any) (Rows, *Form, error)
}

// Rows are the rows of a query, which are read one after the other.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	// Failure returns why there is no next row: nil at the end.
	Failure(context.Context) error
	Close()
}

// SQLite returns what shares an SQLite database, which open opens and finds out the form
// of.
func SQLite(open func(context.Context) (*sqlitefile.DB, *Form, error)) func() Shared {
	return func() Shared { return sqlite{sqlitefile.Share(open)} }
}

type sqlite struct{ *sqlitefile.Shared[*Form] }

// Each implements [Shared].
func (s sqlite) Each(ctx context.Context, begin func(), row func(*sql.Rows) error, query func(*Form) string, args ...any) error {
	return s.Use(ctx, func(db *sqlitefile.DB, form *Form) error {
		begin()
		text := query(form)
		args, err := form.arguments(ctx, db, args)
		if err != nil {
			return err
		}
		return db.Each(ctx, row, text, args...)
	})
}

// Query implements [Shared].
func (s sqlite) Query(ctx context.Context, query func(*Form) string, args ...any) (Rows, *Form, error) {
	rows, err := s.Shared.Query(ctx, func(db *sqlitefile.DB, form *Form) (string, []any, error) {
		text := query(form)
		args, err := form.arguments(ctx, db, args)
		return text, args, err
	})
	if err != nil {
		return nil, nil, err
	}
	return rows, rows.Form, nil
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
	// anything of it has changed, or NULL, time of the last message or NULL, newest time
	// of all messages or NULL, where it stands in the database, and the id that it was
	// recorded with, or NULL where that is the key.
	Conversations string
	// Conversation is the same for those with the key ?1.
	Conversation string
	// Listed is what Conversations has of those with the key ?1, and Sifted are the tables
	// that have all text of messages and titles. Both are empty where reading all of them is
	// not to be spared.
	Listed string
	Sifted []Sifted
	// Messages is the query for the messages of the conversation with the key ?1, in
	// order: role, name, time, size of the content in bytes, and the content, which is
	// NULL where the size is over [MaxMessage], or what is read of the form. With Groups it has them in the rows
	// of the JSON array ?2, and looks at no others.
	Messages string
	// Groups, where no index leads to the messages of a conversation, is the query for the
	// rows of each: where the conversation stands in the database, and a JSON array of
	// rowids. First is the query for where the one with the key ?1 stands, NULL where it has
	// no messages.
	Groups, First string
	// Kind returns the kind of the messages of a role, and their name.
	Kind func(role, name []byte) (transcript.Kind, []byte)
	// AppendPieces appends the text of a message.
	AppendPieces func(dst []recorded.Piece, content []byte) []recorded.Piece

	groups groups
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
		shared := &database{Shared: d.Share(), path: d.Path}
		err := shared.Each(ctx, func() {}, nil, func(*Form) string { return "SELECT 1 WHERE FALSE" })
		switch {
		case err == nil:
			opened.databases = append(opened.databases, shared)
			continue
		case ctx.Err() != nil:
			shared.Release()
			opened.Close()
			return nil, nil, ctx.Err()
		case !errors.Is(err, ErrAbsent):
			problems = append(problems, problem(d.Path, err))
		}
		shared.Release()
	}
	if len(opened.databases) == 0 && len(problems) > 0 && problems[0].Kind != store.Unnamed {
		return nil, nil, fmt.Errorf("opening the conversations in %s: %w", problems[0].Path, problems[0].Err)
	}
	opened.unread = problems
	return opened, slices.Clone(problems), nil
}

func problem(path string, err error) store.Problem {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return store.Problem{Path: path, Err: err}
}
