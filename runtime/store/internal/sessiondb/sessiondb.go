// Package sessiondb is a store of the sessions that a program keeps in SQLite databases. A package that
// uses it says where the databases are, selects sessions and messages from them, and decodes a message.
//
// It only reads, through package sqlitefile: it takes no lock and leaves no trace. It reads plain tables
// without generated columns, and bounds every value.
package sessiondb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// Store is the sessions of a program. It implements [store.Store].
type Store struct {
	history.Store
	Format
	// Databases returns the databases, and the problems of finding them. A session in several databases
	// is read from the first.
	Databases func() ([]Database, []store.Problem)
}

// Database is a database of a store.
type Database struct {
	Path string
	Dir  string // the working directory of its sessions for which it has none; may be empty
	// Dirs returns more working directories, by the keys of sessions. It can be nil.
	Dirs func(context.Context) map[string]string
}

// Format is the form of the databases of a program.
type Format struct {
	// Queries returns two queries. The first selects the sessions that have messages, in columns called key,
	// parent (the key of another session), agent (whether a sub-agent is recorded), title, dir, created,
	// updated, archived and version (of the session). The second selects the messages of the session with
	// the key ?1, in columns called role, at, about, data and place (by which they are ordered).
	//
	// has reports whether there is a column. ok is false if a necessary one is missing.
	Queries func(has func(table, column string) bool) (sessions, messages string, ok bool)
	// Key returns the session and the part in the id of the session with a key, as [history.IDs] has them, and
	// false if it has no id. If it is nil, the key is that of a session.
	Key func(key string) (session, part string, ok bool)
	// Dirs returns the working directories in the column dir. If it is nil, there is one.
	Dirs func(recorded string) []string
	// Inquiry is the tool with which the assistant asks the user; empty if there is none.
	Inquiry string
	// Record adds the events of a message.
	Record func(to *history.Recorder, m *Message)
}

// Message is a row of a table of messages.
type Message struct {
	Role  string
	At    time.Time
	About []byte // more about the message
	Data  []byte
}

const (
	maxData = 64 << 20 // bytes of a message that is read
	maxText = 64 << 10 // characters of other values that are read
)

// errForm is the error for a database with other tables.
var errForm error = store.StateError("its tables have another form, which may be that of a later version")

// Version implements [store.Store].
func (s *Store) Version(context.Context) (string, error) {
	databases, _ := s.Databases()
	var b strings.Builder
	for _, d := range databases {
		version, err := sqlitefile.Version(d.Path)
		fmt.Fprintln(&b, d.Path, version, err)
	}
	return b.String(), nil
}

// List implements [store.Store].
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
		found, err := d.sessions(ctx)
		switch {
		case ctx.Err() != nil:
			l.Close()
			return nil, ctx.Err()
		case err == nil:
			read++
		case !errors.Is(err, fs.ErrNotExist):
			l.Problems = append(l.Problems, history.Problem("", store.Unreadable, known.Path, err))
		}
		for _, r := range found {
			c := &r.conversation
			if !seen[c.ID] && s.Project.Has(c.Dir) && scope.Has(c.ID, c.Archived) {
				l.Conversations = append(l.Conversations, r.entry(ctx))
			}
			seen[c.ID] = true
		}
	}
	if p := l.Problems; read == 0 && len(p) > 0 {
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
	store *Store
}

// open returns a database with one user.
func (s *Store) open(known Database) *database {
	d := &database{Database: known, store: s}
	d.Open = func(ctx context.Context) (*sqlitefile.DB, error) { return sqlitefile.Open(ctx, known.Path) }
	d.Retain()
	return d
}

// withQueries calls do with the open database and its queries, and again if its owner changes the database meanwhile.
// The error is errForm if the database has other tables.
func (d *database) withQueries(ctx context.Context, do func(db *sqlitefile.DB, sessions, messages string) error) error {
	return d.Do(ctx, func(db *sqlitefile.DB) error {
		columns, err := columns(ctx, db)
		if err != nil {
			return err
		}
		has := func(table, column string) bool { return columns[table+"."+column] }
		sessions, messages, ok := d.store.Queries(has)
		if !ok {
			return errForm
		}
		return do(db, sessions, messages)
	})
}

// columns returns the plain columns of plain tables, as TABLE.COLUMN. It leaves out views and virtual tables, which have
// no root page.
func columns(ctx context.Context, db *sqlitefile.DB) (map[string]bool, error) {
	found := map[string]bool{}
	err := db.Each(ctx, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		found[name] = true
		return err
	}, "SELECT t.name || '.' || c.name FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' AND t.rootpage > 0 AND c.hidden = 0")
	return found, err
}

// record is a session in a database. It implements [store.Record].
type record struct {
	database     *database
	key, version string
	agent        bool
	conversation store.Conversation // without what only its messages tell
}

// sessions returns the sessions of the database.
func (d *database) sessions(ctx context.Context) (found []*record, err error) {
	var dirs map[string]string
	if d.Dirs != nil {
		dirs = d.Dirs(ctx)
	}
	err = d.withQueries(ctx, func(db *sqlitefile.DB, sessions, _ string) error {
		found = nil
		var query strings.Builder
		query.WriteString("SELECT agent, archived, " + plain("created") + ", " + plain("updated"))
		for _, column := range []string{"key", "parent", "title", "dir", "version"} {
			fmt.Fprintf(&query, ", coalesce(substr(CAST(%s AS TEXT), 1, %d), '')", column, maxText)
		}
		fmt.Fprintf(&query, " FROM (%s)", sessions)
		return db.Each(ctx, func(rows *sql.Rows) error {
			r, err := d.scan(rows, dirs)
			if r != nil {
				r.version = cmp.Or(r.version, db.Stamp)
				found = append(found, r)
			}
			return err
		}, query.String())
	})
	return found, err
}

// plain returns an expression with the value of a column. The driver converts columns by their declared types.
func plain(column string) string { return "coalesce(" + column + ", NULL)" }

// scan returns the session in a row, or nil if it has no id.
func (d *database) scan(rows *sql.Rows, dirs map[string]string) (*record, error) {
	r := &record{database: d}
	c := &r.conversation
	var created, updated any
	var parent, dir string
	err := rows.Scan(&r.agent, &c.Archived, &created, &updated, &r.key, &parent, &c.Title, &dir, &r.version)
	if err != nil {
		return nil, err
	}
	if c.ID = d.store.id(r.key); c.ID == "" {
		return nil, nil
	}
	if c.Parent = d.store.id(parent); c.Parent == c.ID {
		c.Parent = ""
	}
	c.Source, c.Record = d.store.Kind, r
	c.Title = strings.ToValidUTF8(c.Title, "\ufffd")
	c.CreatedAt, c.LastActivatedAt = Moment(created), Moment(updated)
	c.Dir = d.store.dir(cmp.Or(dir, dirs[r.key], d.Dir))
	return r, nil
}

// id returns the id of the session with a key, or "".
func (s *Store) id(key string) transcript.ID {
	session, part, ok := key, "", s.Key == nil && s.isSession(key)
	if s.Key != nil {
		session, part, ok = s.Key(key)
	}
	if !ok {
		return ""
	}
	return s.IDs.ID(session, part)
}

// isSession reports whether a key is the id of a session, in its normal spelling.
func (s *Store) isSession(key string) bool {
	session, part, ok := s.Split(s.Prefix + key)
	return ok && session == key && part == ""
}

// dir returns the working directory in the column dir. Of several it is one that is excluded, or else one of the
// project, or else the first; "" if there is none.
func (s *Store) dir(recorded string) string {
	if s.Dirs == nil {
		return recorded
	}
	dirs := s.Dirs(recorded)
	for _, isWanted := range []func(string) bool{s.Project.Excludes, s.Project.Has} {
		if i := slices.IndexFunc(dirs, isWanted); i >= 0 {
			return dirs[i]
		}
	}
	return strings.Join(dirs[:min(len(dirs), 1)], "")
}

// entry returns the list's entry of a session, with its first request if it has no title.
func (r *record) entry(ctx context.Context) store.Conversation {
	c := r.conversation
	if strings.TrimSpace(c.Title) == "" {
		var to history.Recorder
		to.Yield = func(*transcript.Event) bool { return to.Request == "" }
		_ = r.messages(ctx, &to) // reading the session reports the error
		c.Title, c.Request = "", to.Request
	}
	return c
}

// Version implements [store.Record]. It is the version at the time of the listing.
func (r *record) Version(context.Context) (string, error) { return r.version, nil }

// Read implements [store.Record].
func (r *record) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	to := &history.Recorder{Yield: yield}
	r.database.Retain()
	defer r.database.Release()
	err := r.messages(ctx, to)
	if errors.Is(err, sqlitefile.ErrCorrupt) {
		err = &store.DamageError{Err: err}
	}
	return to.End(r.conversation.ID, err)
}

var errStopped = errors.New("no more messages are needed")

// messages adds the events of the messages to a recorder, until it wants no more. If the owner changes the
// database meanwhile, the messages that were not added are read from the new state of the database.
func (r *record) messages(ctx context.Context, to *history.Recorder) error {
	to.Agent, to.Inquiry = r.agent, r.database.store.Inquiry
	added := 0
	err := r.database.withQueries(ctx, func(db *sqlitefile.DB, _, messages string) error {
		query := fmt.Sprintf(`SELECT coalesce(CAST(role AS TEXT), ''), `+plain("at")+`, CAST(substr(about, 1, %d) AS BLOB),
			CASE WHEN octet_length(data) <= %d THEN CAST(data AS BLOB) END FROM (%s) WHERE data IS NOT NULL ORDER BY place`, maxText, maxData, messages)
		seen := 0
		return db.Each(ctx, func(rows *sql.Rows) error {
			if seen++; seen <= added {
				return nil // it was added before the database changed
			}
			added = seen
			return r.addMessage(to, rows)
		}, query, r.key)
	})
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

// addMessage adds the events of the message in a row to a recorder. The error is errStopped if the recorder wants no
// more.
func (r *record) addMessage(to *history.Recorder, rows *sql.Rows) error {
	var m Message
	var at any
	if err := rows.Scan(&m.Role, &at, &m.About, &m.Data); err != nil {
		return err
	}
	if m.Data == nil {
		to.Totals.Skipped++
		to.Totals.TooLarge++
		return nil
	}
	m.At = Moment(at)
	r.database.store.Record(to, &m)
	if to.Stopped {
		return errStopped
	}
	return nil
}

// Moment returns the time that is recorded as seconds or milliseconds since 1970, a number or a text, or
// in ISO 8601. It is zero for the number 0 and for other values.
func Moment(value any) time.Time {
	const leastMilli = 1e11 // 1973 in milliseconds, and the year 5138 in seconds
	switch n, _ := value.(int64); {
	case value == int64(0):
		return time.Time{}
	case n >= leastMilli:
		return transcript.InRange(time.UnixMilli(n).UTC())
	}
	return messagedb.Moment(value)
}
