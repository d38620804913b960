// Package messagedb is a store of conversations in databases: it lists them with one query, and reads the messages of
// one with another. A package that uses it says where the databases are, defines the queries, and decodes a message.
//
// It only reads, and bounds every value. It reads SQLite databases through package sqlitefile: it takes no lock, waits
// for no writer and leaves no trace.
package messagedb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// Store is the conversations in databases. It implements [store.Store]. Without a project it has all of them.
type Store struct {
	history.Store
	// Databases returns the databases, and the problems of finding them. A conversation in several databases
	// is read from the first.
	Databases func() ([]Database, []store.Problem)
	// Queries returns the queries of an open database.
	Queries func(context.Context, *sqlitefile.DB) (*Queries, error)
	// IDOf returns the id of the conversation with a key; "" for one that is left out. If it is nil, the key is
	// the program's own id.
	IDOf func(key string) transcript.ID
	// Record adds the events of a message.
	Record func(to *history.Recorder, m *Message)
}

// Database is a database of a store.
type Database struct {
	Path string // of a file; of a server for people
	Dir  string // the working directory of its conversations for which it has none; may be empty
	// Dirs returns more working directories, by the keys of conversations. It can be nil.
	Dirs func(context.Context) map[string]string
	// Open opens a database on a server, and Version returns a text that changes when that does. They are nil for
	// a file. The error is [fs.ErrNotExist] for a database that does not exist.
	Open    func(context.Context) (*sqlitefile.DB, error)
	Version func(context.Context) (string, error)
}

// Queries are the queries of a database. Their columns are not NULL, unless this says so. Times are as [history.Moment]
// reads them, or NULL.
type Queries struct {
	// Conversations selects the key, the key of the parent or '', whether a sub-agent is recorded, the title, the
	// working directories, each on a line, the times of creation and of the last change, whether it is archived,
	// a text that changes when the conversation does or '', the time of the last message, the place in the
	// database, and the id in an export or ''.
	Conversations string
	// Messages selects role, more about the message or NULL, time and data of the messages of the conversation with
	// the key ?1, in order. Data over [MaxMessage] is NULL.
	Messages string
}

// Message is a row of a table of messages.
type Message struct {
	Role  string
	About []byte // more about the message
	At    time.Time
	Data  []byte
}

// Text returns the data as UTF-8, with U+FFFD for each byte that is not. It returns the data itself if it is UTF-8.
func (m *Message) Text() []byte {
	if utf8.Valid(m.Data) {
		return m.Data
	}
	return transcript.AppendValid(nil, m.Data)
}

const (
	MaxMessage = 64 << 20 // the largest data of a message that is read, in bytes
	// MaxText is the largest number of characters of other values that are read.
	MaxText  = 64 << 10
	maxTitle = 4 << 10 // characters
)

// Version implements [store.Store].
func (s *Store) Version(ctx context.Context) (string, error) {
	databases, problems := s.Databases()
	var b strings.Builder
	for _, d := range databases {
		version := func(context.Context) (string, error) { return sqlitefile.Version(d.Path) }
		if d.Version != nil {
			version = d.Version
		}
		now, err := version(ctx)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		fmt.Fprintln(&b, d.Path, now)
	}
	for _, p := range problems {
		fmt.Fprintln(&b, p.Path, p.Err)
	}
	return b.String(), nil
}

// List implements [store.Store]. If no database could be read, the error is that of the first problem.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	databases, problems := s.Databases()
	var opened []*database
	l := &store.Listing{Problems: problems, Release: func() {
		for _, d := range opened {
			d.Release()
		}
	}}
	seen := map[transcript.ID]bool{}
	read := 0
	for _, known := range databases {
		d := s.open(known)
		opened = append(opened, d)
		found, err := d.conversations(ctx)
		switch {
		case ctx.Err() != nil:
			l.Close()
			return nil, ctx.Err()
		case err == nil:
			read++
		case !errors.Is(err, fs.ErrNotExist):
			l.Problems = append(l.Problems, history.Problem("", store.Unreadable, known.Path, err))
		}
		for _, c := range found {
			isHere := s.Project == nil || s.Project.Has(c.Dir)
			if !seen[c.ID] && isHere && scope.Has(c.ID, c.Archived) {
				d.addRequest(ctx, &c)
				l.Conversations = append(l.Conversations, c)
			}
			seen[c.ID] = true
		}
	}
	if p := l.Problems; read == 0 && len(p) > 0 && p[0].Kind != store.Unnamed { // unnamed databases are left out on purpose
		l.Close()
		return nil, fmt.Errorf("opening the conversations in %s: %w", p[0].Path, p[0].Err)
	}
	l.Keep(scope)
	return l, nil
}

// database is an open database of a listing.
type database struct {
	Database
	sqlitefile.Shared
	store   *Store
	queries sync.Map // *Queries, by *sqlitefile.DB
}

// open returns a database that is opened at its first use. The caller is a user of it until Release.
func (s *Store) open(known Database) *database {
	d := &database{Database: known, store: s}
	d.Shared.Path, d.Shared.Open = known.Path, known.Open
	d.Retain()
	return d
}

// withQueries calls do with the open database and its queries, and again if its owner changes the database meanwhile.
func (d *database) withQueries(ctx context.Context, do func(*sqlitefile.DB, *Queries) error) error {
	return d.Do(ctx, func(db *sqlitefile.DB) error {
		known, isKnown := d.queries.Load(db)
		if !isKnown {
			q, err := d.store.Queries(ctx, db)
			if err != nil {
				return err
			}
			known, _ = d.queries.LoadOrStore(db, q)
		}
		return do(db, known.(*Queries))
	})
}

// conversations returns the conversations of the database, without their first requests.
func (d *database) conversations(ctx context.Context) (found []store.Conversation, err error) {
	var dirs map[string]string
	if d.Dirs != nil {
		dirs = d.Dirs(ctx)
	}
	err = d.withQueries(ctx, func(db *sqlitefile.DB, q *Queries) error {
		found = nil // withQueries calls this function again if the database changes meanwhile
		return db.Each(ctx, func(rows *sql.Rows) error {
			r := &record{database: d}
			c, err := r.scan(rows, dirs) // c.Record is r
			r.version = cmp.Or(r.version, db.Stamp)
			if c.ID != "" {
				found = append(found, c)
			}
			return err
		}, q.Conversations)
	})
	return found, err
}

// record is a conversation in a database. It implements [store.Record].
type record struct {
	database *database
	id       transcript.ID
	key      any
	version  string
	agent    bool
}

// scan sets the record to a row of conversations, and returns the conversation. dirs has more directories, by key.
func (r *record) scan(rows *sql.Rows, dirs map[string]string) (c store.Conversation, err error) {
	d := r.database
	var created, updated, last any
	var parent, dir string
	err = rows.Scan(&r.key, &parent, &r.agent, &c.Title, &dir, &created, &updated, &c.Archived, &r.version, &last, &c.Order, &c.NativeID)
	if err != nil {
		return c, err
	}
	key := ""
	switch k := r.key.(type) {
	case nil:
	case []byte:
		key = string(k)
	default:
		key = fmt.Sprint(k)
	}
	r.id = d.store.idOf(key)
	c.ID, c.Source, c.Record = r.id, d.store.Kind, r
	if parent != "" && parent != key {
		c.Parent = d.store.idOf(parent)
	}
	c.Title = strings.ToValidUTF8(text.Cut(c.Title, maxTitle), "\ufffd")
	c.CreatedAt, c.LastActivatedAt, c.LastAt = history.Moment(created), history.Moment(updated), history.Moment(last)
	c.Dir = d.store.chooseDir(strings.Split(cmp.Or(dir, dirs[key], d.Dir), "\n")) // a directory is a line
	return c, nil
}

// idOf returns the id of the conversation with a key; "" for none.
func (s *Store) idOf(key string) transcript.ID {
	if s.IDOf != nil {
		return s.IDOf(key)
	}
	if session, part, ok := s.Split(s.Prefix + key); ok && session == key && part == "" { // an id in its normal spelling
		return s.ID(key, "")
	}
	return ""
}

// chooseDir returns the directory of a conversation by which the project selects it. Of several, it is one that the user
// excludes, so that the conversation is left out, or else one in the project, or else the first. Without a project, it is "".
func (s *Store) chooseDir(dirs []string) string {
	if s.Project == nil {
		return ""
	}
	for _, isWanted := range []func(string) bool{s.Project.Excludes, s.Project.Has} {
		if i := slices.IndexFunc(dirs, isWanted); i >= 0 {
			return dirs[i]
		}
	}
	return dirs[0]
}

// addRequest adds the first request to a project's conversation without a title.
func (d *database) addRequest(ctx context.Context, c *store.Conversation) {
	if strings.TrimSpace(c.Title) == "" && d.store.Project != nil {
		var to history.Recorder
		to.Yield = func(*transcript.Event) bool { return to.Request == "" }
		_ = c.Record.(*record).addMessages(ctx, &to) // reading the conversation reports the error
		c.Title, c.Request = "", to.Request
	}
}

// Version implements [store.Record]. It is the version at the time of the listing.
func (r *record) Version(context.Context) (string, error) { return r.version, nil }

// Read implements [store.Record].
func (r *record) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	to := &history.Recorder{Yield: yield}
	err := r.addMessages(ctx, to)
	if errors.Is(err, sqlitefile.ErrCorrupt) {
		err = &store.DamageError{Err: err}
	}
	return to.End(r.id, err)
}

var errStopped = errors.New("no more messages are needed")

// addMessages adds the events of the messages to a recorder. The error is errStopped if the recorder wants no more. If
// the owner of the database changes it meanwhile, addMessages queries it again, and skips messages already added.
func (r *record) addMessages(ctx context.Context, to *history.Recorder) error {
	to.Agent = r.agent
	added := 0
	return r.database.withQueries(ctx, func(db *sqlitefile.DB, q *Queries) error { // runs again after a change of the database
		seen := 0
		return db.Each(ctx, func(rows *sql.Rows) error {
			if seen++; seen <= added { // the message was added before the database changed
				return nil
			}
			added = seen
			return r.addMessage(to, rows)
		}, q.Messages, r.key)
	})
}

// addMessage adds the message in a row, unless it was too large to select. The error is errStopped if no more is wanted.
func (r *record) addMessage(to *history.Recorder, rows *sql.Rows) error {
	var m Message
	var at any
	if err := rows.Scan(&m.Role, &m.About, &at, &m.Data); err != nil {
		return err
	}
	if m.Data == nil {
		to.Totals.Skipped++
		to.Totals.TooLarge++
		return nil
	}
	m.At = history.Moment(at)
	r.database.store.Record(to, &m)
	if to.Stopped {
		return errStopped
	}
	return nil
}
