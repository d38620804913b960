package postgres

import (
	"context"
	"database/sql"
	"sync"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// shared is the database of a server, which several use at a time. It is connected to where
// it is used first. It implements [messagedb.Shared].
type shared struct {
	server *server

	mu    sync.Mutex
	users int
	db    *sql.DB // nil where there is no connection
}

// open returns the database, whose schema it has not looked at.
func (s *server) open(ctx context.Context) (*sql.DB, error) {
	if s.config == nil {
		return nil, &Error{Reason: "it is no URL of a PostgreSQL database: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, with what is special in a password as %XX"}
	}
	db := stdlib.OpenDB(*s.config)
	if err := db.PingContext(ctx); err != nil {
		db.Close()
		return nil, s.failure(ctx, err)
	}
	return db, nil
}

// openArchive returns the database, which has an archive of a known form.
func (s *server) openArchive(ctx context.Context) (*sql.DB, error) {
	db, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	version, err := schemaVersion(ctx, db)
	switch {
	case err != nil:
	case version == 0:
		err = messagedb.ErrAbsent
	case version > len(migrations()):
		err = &archive.NewerError{Version: version, Known: len(migrations())}
	}
	if err != nil {
		db.Close()
		return nil, s.failure(ctx, err)
	}
	return db, nil
}

// version returns a text that is another one when the owner's archive has changed.
func (s *server) version(ctx context.Context) (string, error) {
	db, err := s.openArchive(ctx)
	if err != nil {
		return "", err
	}
	defer db.Close()
	var version string
	err = db.QueryRowContext(ctx, `SELECT concat_ws(' ', session_user, count(*), max(change), sum(change))
		FROM convtools.conversations WHERE owner = session_user::text`).Scan(&version)
	return version, s.failure(ctx, err)
}

// Retain implements [messagedb.Shared].
func (s *shared) Retain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users++
}

// Release implements [messagedb.Shared].
func (s *shared) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users == 0 && s.db != nil {
		s.db.Close()
		s.db = nil
	}
}

// connected returns the database.
func (s *shared) connected(ctx context.Context) (*sql.DB, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.db == nil {
		db, err := s.server.openArchive(ctx)
		if err != nil {
			return nil, err
		}
		s.db = db
	}
	return s.db, nil
}

// query begins a query. Texts among args are those of names, which are recorded as bytes.
func (s *shared) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	db, err := s.connected(ctx)
	if err != nil {
		return nil, err
	}
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = []byte(text)
		}
	}
	rows, err := db.QueryContext(ctx, query, args...)
	return rows, s.server.failure(ctx, err)
}

// Query implements [messagedb.Shared].
func (s *shared) Query(ctx context.Context, query func(*messagedb.Form) string, args ...any) (sqlitefile.Cursor, *messagedb.Form, error) {
	f := form()
	r, err := s.query(ctx, query(f), args...)
	if err != nil {
		return nil, nil, err
	}
	return &rows{r, ctx, s.server}, f, nil
}

// rows implements [sqlitefile.Cursor].
type rows struct {
	*sql.Rows
	ctx    context.Context
	server *server
}

// Err implements [sqlitefile.Cursor].
func (r *rows) Err() error { return r.server.failure(r.ctx, r.Rows.Err()) }

// Close implements [sqlitefile.Cursor].
func (r *rows) Close() { r.Rows.Close() }
