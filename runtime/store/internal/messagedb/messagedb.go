// Package messagedb is a store of conversations in databases with a table of messages: it lists
// them by one query, and reads the messages of one by another. What these queries are, and how
// a message is read, is up to the packages that use it.
//
// It only reads. SQLite it reads through package sqlitefile: it takes no lock and waits for
// no writer.
package messagedb

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/iso8601"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/history"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
	"github.com/convtools/convtools/runtime/transcript"
)

// Store is the conversations of databases, as a [store.Store].
type Store struct {
	*history.IDs
	Kind string // its name
	Path string // for people
	// Databases returns the databases, the one that counts most first, and those that
	// cannot be read.
	Databases func() ([]Database, []store.Problem)
}

// Database is a database of a store.
type Database struct {
	Path string // for people
	// Version returns a text that is another one when the database has changed, or is
	// another one.
	Version func(context.Context) (string, error)
	// Open opens the database. The error is [ErrAbsent] where there turns out to be none.
	Open func(context.Context) (*DB, error)
}

// File returns the SQLite database of a path. describe finds out how it is read.
func File(path string, describe func(context.Context, *sqlitefile.DB) (*DB, error)) Database {
	return Database{
		Path:    path,
		Version: func(context.Context) (string, error) { return sqlitefile.Version(path) },
		Open: func(ctx context.Context) (*DB, error) {
			db, err := sqlitefile.OpenPath(ctx, path)
			if err != nil {
				return nil, err
			}
			opened, err := describe(ctx, db)
			if err != nil {
				db.Close()
			}
			return opened, err
		},
	}
}

// ErrAbsent is the error for a database that there is none of.
var ErrAbsent = errors.New("there is no such database")

// DB is an opened database, and how it is read. Times in it are seconds since 1970, as numbers
// or as text, or ISO 8601.
type DB struct {
	sqlitefile.Queries
	// Conversations is the query for conversations: their key, title, time of creation,
	// time of the last change, whether they are archived, a text that changes when
	// anything of it has changed, or NULL, time of the last message or NULL, its place in
	// the database, and the id that it was recorded with, or NULL where that is the key.
	Conversations string
	// Conversation is the same for those with the key ?1.
	Conversation string
	// Messages is the query for the messages of the conversation with the key ?1, in
	// order: role, name, time, size of the content in bytes, and the content, which is
	// NULL where the size is over [MaxMessage].
	Messages string
	// Read reads a message: its kind, name and text.
	Read func(role, name, content []byte) (kind transcript.Kind, called string, text []byte)
	// Stamp is the text that changes with anything in the database, for conversations of
	// which it has none.
	Stamp string
}

// MaxMessage is the largest content of a message that is read, in bytes. A larger one is
// left out.
const MaxMessage = 64 << 20

// IsURL reports whether a text that names a database is the URL of one on a server of
// PostgreSQL.
func IsURL(text string) bool {
	scheme, _, ok := strings.Cut(strings.TrimSpace(text), "://")
	return ok && (scheme == "postgres" || scheme == "postgresql")
}

// Name implements [store.Store].
func (s *Store) Name() string { return s.Kind }

// Place implements [store.Store].
func (s *Store) Place() string { return s.Path }

// IDs returns what the ids of a store are: a prefix and the key of a conversation, or a hash of one
// that cannot be a part of an id.
func IDs(prefix string) *history.IDs {
	return &history.IDs{Prefix: prefix, Session: isKey, Example: prefix + "c1"}
}

const hashMark, hashBytes = ".", 16

func isKey(text string) bool {
	hash, isHash := strings.CutPrefix(text, hashMark)
	sum, err := hex.DecodeString(hash)
	return history.IsName(text) || isHash && err == nil && hex.EncodeToString(sum) == hash && len(sum) == hashBytes
}

// ID returns the id of the conversation with a key.
func ID(ids *history.IDs, key string) transcript.ID {
	if !history.IsName(key) {
		sum := sha256.Sum256([]byte(key))
		key = hashMark + hex.EncodeToString(sum[:hashBytes])
	}
	return ids.ID(key, "")
}

// Version returns a text that is another one when anything in the store has changed.
func (s *Store) Version(ctx context.Context) (string, error) {
	databases, problems := s.Databases()
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

// Moment returns the time that a recorded value is: seconds since 1970 as a number or as
// text, or ISO 8601; the zero time for what is none, or out of the years 0 to 9999.
func Moment(value any) time.Time {
	switch v := value.(type) {
	case int64:
		return seconds(float64(v))
	case float64:
		return seconds(v)
	case []byte:
		return Moment(string(v))
	case string:
		text := strings.TrimSpace(v)
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return seconds(n)
		}
		if span, err := iso8601.Parse(text[:min(len(text), maxTime)]); err == nil {
			return transcript.InRange(span.First)
		}
	}
	return time.Time{}
}

// maxTime is how many bytes a time may have.
const maxTime = 64

// seconds returns the time of so many seconds since 1970, to the microsecond: a float
// does not have more.
func seconds(n float64) time.Time {
	const most = 1 << 38 // the year 9999 is before
	if !(math.Abs(n) < most) {
		return time.Time{}
	}
	return transcript.InRange(time.UnixMicro(int64(math.Round(n * 1e6))).UTC())
}

// database is a database of a listing.
type database struct {
	sqlitefile.Shared[*DB]
	store *Store
}

// MaxText is how many characters of a title are read.
const MaxText = 4 << 10

// scan returns the conversation of a row.
func (d *database) scan(db *DB, rows *sql.Rows) (c store.Conversation, err error) {
	r := &record{database: d}
	var title, version, native sql.NullString
	var created, updated, last any
	var order sql.NullInt64
	if err := rows.Scan(&r.key, &title, &created, &updated, &c.Archived, &version, &last, &order, &native); err != nil {
		return c, err
	}
	name := ""
	switch key := r.key.(type) {
	case nil:
	case []byte:
		name = string(key)
	default:
		name = fmt.Sprint(key)
	}
	r.version = cmp.Or(version.String, db.Stamp)
	r.id = ID(d.store.IDs, name)
	c.ID, c.Source, c.Record, c.NativeID = r.id, d.store.Kind, r, name
	if native.Valid {
		c.NativeID = native.String
	}
	c.Title = strings.ToValidUTF8(text.Cut(title.String, MaxText), "\ufffd")
	c.CreatedAt, c.LastActivatedAt, c.LastAt, c.Order = Moment(created), Moment(updated), Moment(last), order.Int64
	return c, nil
}

// List implements [store.Store]. Where several databases have a conversation, the first of them
// counts.
func (s *Store) List(ctx context.Context, scope store.Scope) (*store.Listing, error) {
	databases, problems := s.Databases()
	var opened []*database
	l := &store.Listing{Problems: problems, Release: func() {
		for _, d := range opened {
			d.Release()
		}
	}}
	read := 0
	for _, at := range databases {
		d := &database{store: s}
		d.Open = at.Open
		d.Retain()
		opened = append(opened, d)
		found, err := d.list(ctx, scope)
		switch {
		case ctx.Err() != nil:
			l.Close()
			return nil, ctx.Err()
		case err == nil:
			read++
		case !errors.Is(err, ErrAbsent):
			l.Problems = append(l.Problems, history.Problem("", store.Unreadable, at.Path, err))
		}
		l.Conversations = append(l.Conversations, found...)
	}
	if p := l.Problems; read == 0 && len(p) > 0 && p[0].Kind != store.Unnamed {
		l.Close()
		return nil, fmt.Errorf("opening the conversations in %s: %w", p[0].Path, p[0].Err)
	}
	slices.SortStableFunc(l.Conversations, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	l.Conversations = slices.CompactFunc(l.Conversations, func(a, b store.Conversation) bool { return a.ID == b.ID })
	l.Keep(scope)
	return l, nil
}

// list returns the conversations of the database, and where only some are wanted, at least these.
func (d *database) list(ctx context.Context, scope store.Scope) (found []store.Conversation, err error) {
	all := len(scope.IDs) == 0
	for _, id := range scope.IDs {
		if key, ok := strings.CutPrefix(string(id), d.store.Prefix); ok {
			some, err := sqlitefile.Rows(ctx, &d.Shared, d.scan, func(db *DB) string { return db.Conversation }, key)
			if err != nil {
				return nil, err
			}
			found, all = append(found, some...), all || len(some) == 0
		}
	}
	if all { // a key need not be a text, and an id has a hash in place of some
		return sqlitefile.Rows(ctx, &d.Shared, d.scan, func(db *DB) string { return db.Conversations })
	}
	return found, nil
}

// record is where a conversation is recorded. It implements [store.Record].
type record struct {
	database *database
	id       transcript.ID
	key      any
	version  string
}

// Version implements [store.Record]: it is that of when the conversation was listed.
func (r *record) Version(context.Context) (string, error) { return r.version, nil }

// Read implements [store.Record]. Where the owner of the database changes it meanwhile, the messages
// that follow are read of what it has then.
func (r *record) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	t := history.Recorder{Yield: yield}
	read := 0
	err := r.database.Do(ctx, func(db *DB) error {
		query := db.Messages
		if read > 0 {
			query += fmt.Sprintf(" LIMIT -1 OFFSET %d", read)
		}
		return db.Each(ctx, func(rows *sql.Rows) error {
			read++
			err := tell(&t, db, rows)
			if t.Stopped {
				err = errStopped
			}
			return err
		}, query, r.key)
	})
	if errors.Is(err, sqlitefile.ErrCorrupt) {
		err = &store.DamageError{Err: err}
	}
	return t.End(r.id, err)
}

var errStopped = errors.New("no more messages are wanted")

// tell tells the message of a row. Messages before the first one of the user are of the first turn.
func tell(t *history.Recorder, db *DB, rows *sql.Rows) error {
	var role, name sql.RawBytes
	var content []byte
	var at any
	var size int
	if err := rows.Scan(&role, &name, &at, &size, &content); err != nil {
		return err
	}
	if size > MaxMessage {
		t.Totals.Skipped++
		t.Totals.TooLarge++
		return nil
	}
	x := transcript.Event{Time: Moment(at)}
	x.Kind, x.Name, x.Text = db.Read(role, name, content)
	if x.Kind == transcript.KindUser && t.Readable || t.Totals.Turns == 0 {
		t.Totals.Turns++
	}
	t.Readable = t.Readable || x.Kind == transcript.KindUser // the turn has a message of the user
	x.Turn = t.Totals.Turns
	t.AddNumbered(x)
	return nil
}
