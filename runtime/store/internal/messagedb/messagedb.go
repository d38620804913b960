// Package messagedb is a store of conversations in databases with a table of messages: it lists
// them with one query, and reads the messages of one with another. The packages that use it define the
// queries, and decode the messages.
//
// It only reads. It reads SQLite databases through package sqlitefile, takes no lock and waits for no
// writer.
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

// Store is the conversations in databases. It implements [store.Store].
type Store struct {
	*history.IDs
	Kind string // its name
	Path string // for people
	// Databases returns the databases, and the problems of those that cannot be read. A conversation in
	// several databases is read from the first.
	Databases func() ([]Database, []store.Problem)
}

// Database is a database of a store.
type Database struct {
	Path string // for people
	// Version returns a text that changes when the database does.
	Version func(context.Context) (string, error)
	// Open opens the database. The error is [ErrAbsent] if it does not exist.
	Open func(context.Context) (*sqlitefile.DB, error)
	// Queries returns the queries of the open database.
	Queries func(context.Context, *sqlitefile.DB) (*Queries, error)
}

// File returns the SQLite database at a path.
func File(path string, queries func(context.Context, *sqlitefile.DB) (*Queries, error)) Database {
	return Database{
		Path:    path,
		Version: func(context.Context) (string, error) { return sqlitefile.Version(path) },
		Open:    func(ctx context.Context) (*sqlitefile.DB, error) { return sqlitefile.Open(ctx, path) },
		Queries: queries,
	}
}

// ErrAbsent is the error for a database that does not exist.
var ErrAbsent = errors.New("there is no such database")

// Queries are the queries of a database. Times in their results are seconds since 1970, as numbers or
// as text, or ISO 8601.
type Queries struct {
	// Conversations selects key, title, time of creation, time of the last change, whether it is archived,
	// a text that changes when the conversation does or NULL, time of the last message or NULL,
	// place in the database, and the id in the export or NULL if that is the key.
	Conversations string
	// Conversation is the same query for the conversations with the key ?1, a text.
	Conversation string
	// Messages selects role, name, time, size of the content in bytes, and content of the messages of the
	// conversation with the key ?1, in order. A content over [MaxMessage] is NULL.
	Messages string
	// Read decodes a message.
	Read func(role, name, content []byte) (kind transcript.Kind, called string, text []byte)
}

const (
	// MaxMessage is the largest content of a message that is read, in bytes.
	MaxMessage = 64 << 20
	// MaxText is the largest number of characters of a title that are read.
	MaxText = 4 << 10
)

// IsURL reports whether the name of a database is the URL of one on a PostgreSQL server.
func IsURL(name string) bool {
	scheme, _, ok := strings.Cut(strings.TrimSpace(name), "://")
	return ok && (scheme == "postgres" || scheme == "postgresql")
}

// Name implements [store.Store].
func (s *Store) Name() string { return s.Kind }

// Place implements [store.Store].
func (s *Store) Place() string { return s.Path }

// IDs returns the form of the ids of a store: a prefix and the key of a conversation, or the hash of a
// key that cannot be part of an id.
func IDs(prefix string) *history.IDs {
	return &history.IDs{Prefix: prefix, Session: isKey, Example: prefix + "c1"}
}

// hashMark begins a hash in place of a key, which has hashBytes bytes.
const hashMark, hashBytes = ".", 16

// isKey reports whether a text is a key that can be part of an id, or the hash of a key.
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

// Version implements [store.Store].
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

// Moment returns the time that is recorded as seconds since 1970, a number or a text, or in ISO 8601. It
// is zero for other values, and for times outside the years 0 to 9999.
func Moment(value any) time.Time {
	const maxTime = 64 // bytes
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

// seconds returns a time from seconds since 1970, rounded to microseconds: a float64 is not more exact.
func seconds(n float64) time.Time {
	const most = 1 << 38 // after the year 9999
	if !(math.Abs(n) < most) {
		return time.Time{}
	}
	return transcript.InRange(time.UnixMicro(int64(math.Round(n * 1e6))).UTC())
}

// database is an open database of a listing.
type database struct {
	Database
	sqlitefile.Shared
	store *Store
}

// withQueries calls do with the open database and its queries, and again if its owner changes the database meanwhile.
func (d *database) withQueries(ctx context.Context, do func(*sqlitefile.DB, *Queries) error) error {
	return d.Shared.Do(ctx, func(db *sqlitefile.DB) error {
		q, err := d.Queries(ctx, db)
		if err != nil {
			return err
		}
		return do(db, q)
	})
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
	read := 0
	for _, known := range databases {
		d := &database{Database: known, Shared: sqlitefile.Shared{Open: known.Open}, store: s}
		d.Retain()
		opened = append(opened, d)
		found, err := d.list(ctx, scope.IDs)
		switch {
		case ctx.Err() != nil:
			l.Close()
			return nil, ctx.Err()
		case err == nil:
			read++
		case !errors.Is(err, ErrAbsent):
			l.Problems = append(l.Problems, history.Problem("", store.Unreadable, known.Path, err))
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

// list returns the conversations of the database. If there are ids, it needs to return only those with these ids, and
// may return all.
func (d *database) list(ctx context.Context, ids []transcript.ID) (found []store.Conversation, err error) {
	err = d.withQueries(ctx, func(db *sqlitefile.DB, q *Queries) error {
		found = nil
		scan := func(rows *sql.Rows) error {
			c, err := d.scan(db, rows)
			found = append(found, c)
			return err
		}
		needsAll := len(ids) == 0
		for _, id := range ids {
			key, isOurs := strings.CutPrefix(string(id), d.store.Prefix)
			if !isOurs {
				continue
			}
			before := len(found)
			if err := db.Each(ctx, scan, q.Conversation, key); err != nil {
				return err
			}
			needsAll = needsAll || len(found) == before // the key may be no text, or the id may have its hash
		}
		if !needsAll {
			return nil
		}
		found = nil
		return db.Each(ctx, scan, q.Conversations)
	})
	return found, err
}

// scan returns the conversation in a row of the query Conversations.
func (d *database) scan(db *sqlitefile.DB, rows *sql.Rows) (c store.Conversation, err error) {
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

// record is a conversation in a database. It implements [store.Record].
type record struct {
	database *database
	id       transcript.ID
	key      any
	version  string
}

// Version implements [store.Record]. It is the version at the time of the listing.
func (r *record) Version(context.Context) (string, error) { return r.version, nil }

// Read implements [store.Record]. If the owner changes the database meanwhile, the rest of the messages is
// read from its new state.
func (r *record) Read(ctx context.Context, yield func(*transcript.Event) bool) (store.Totals, error) {
	t := history.Recorder{Yield: yield}
	read := 0
	err := r.database.withQueries(ctx, func(db *sqlitefile.DB, q *Queries) error {
		query := q.Messages
		if read > 0 {
			query += fmt.Sprintf(" LIMIT -1 OFFSET %d", read)
		}
		return db.Each(ctx, func(rows *sql.Rows) error {
			read++
			err := addMessage(&t, q, rows)
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

var errStopped = errors.New("no more messages are needed")

// addMessage adds the event of the message in a row to a recorder. A message of the user begins a turn, except the
// first one: messages before it are in its turn.
func addMessage(t *history.Recorder, q *Queries, rows *sql.Rows) error {
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
	e := transcript.Event{Time: Moment(at)}
	e.Kind, e.Name, e.Text = q.Read(role, name, content)
	if e.Kind == transcript.KindUser && t.Readable || t.Totals.Turns == 0 {
		t.Totals.Turns++
	}
	t.Readable = t.Readable || e.Kind == transcript.KindUser // the turn has a message of the user
	e.Turn = t.Totals.Turns
	t.AddNumbered(e)
	return nil
}
