// Package postgres is the archive of imported conversations on a PostgreSQL server, which several people can
// share: [Open] returns it as a [store.Store], and [Create] opens it for writing. It has the name, the ids
// and the conversations of the archive that package archive keeps in a file.
//
// A conversation belongs to the role that logs in, and the server shows it to no other, by row-level
// security. Of a URL only host, port and database are ever shown, recorded or part of an error.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/archive"
	"github.com/convtools/convtools/runtime/store/chatgpt"
	"github.com/convtools/convtools/runtime/store/internal/messagedb"
)

// URL returns the URL of the archive in the environment, or "" if the first variable that is set names no server.
func URL(getenv func(string) string) string {
	for _, variable := range chatgpt.Variables() {
		if value := strings.TrimSpace(getenv(variable)); value != "" {
			if messagedb.IsURL(value) {
				return value
			}
			return ""
		}
	}
	return ""
}

// Home returns the place of the archive in the environment, for people, or "".
func Home(getenv func(string) string) string {
	if text := URL(getenv); text != "" {
		return parse(text).place
	}
	return ""
}

// Open returns the archive on the server that the environment names, and false if it names no server or o.Home is set.
func Open(o store.Options) (*messagedb.Store, bool) {
	text := URL(o.Env())
	if text == "" || o.Home != "" {
		return nil, false
	}
	s := parse(text)
	return archive.NewStore(messagedb.Database{Path: s.place, Version: s.version, Open: s.openArchive}, queries), true
}

// server is a database on a server.
type server struct {
	place  string          // for people
	config *pgx.ConnConfig // nil if the URL cannot be used
}

const (
	connectTimeout = 10 * time.Second // unless the URL has another
	cancelTimeout  = 2 * time.Second  // for the server to end a cancelled query
	application    = "convtools"
)

// parse returns the database at a URL. Its place has no user and no parameters. It has no config if the URL is wrong.
func parse(text string) *server {
	s := &server{place: "postgres://"}
	u, err := url.Parse(text)
	if err != nil {
		return s
	}
	s.place = (&url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}).String()
	config, err := pgx.ParseConfig(text)
	if err != nil {
		return s
	}
	s.config = config
	if !u.Query().Has("connect_timeout") {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = application
	}
	// A cancelled query ends on the server too.
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: cancelTimeout}
	}
	return s
}

// Error is the reason why a database cannot be used. It has nothing of its URL.
type Error struct {
	Code   string // of PostgreSQL, such as "28P01"; empty if the server did not answer
	Reason string
}

func (e *Error) Error() string {
	if e.Code == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s (SQLSTATE %s)", e.Reason, e.Code)
}

// ForModel returns the text for a model, without the server's own words: they can have names in them.
func (e *Error) ForModel() string {
	if e.Code == "" {
		return "the connection to the server failed"
	}
	return fmt.Sprintf("the server has refused it (SQLSTATE %s)", e.Code)
}

// failure returns the error of the context if the context is done; err itself if err is nil or an error of this
// program; and otherwise an [*Error] in place of err, which is an error of the driver and can have parts of the URL.
func failure(ctx context.Context, err error) error {
	var known *Error
	var other store.StateError
	var answer *pgconn.PgError
	var network *net.OpError
	var timeout interface{ Timeout() bool }
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &known), errors.As(err, &other), errors.Is(err, fs.ErrNotExist): // of this program
		return err
	case errors.As(err, &answer):
		return &Error{Code: answer.Code, Reason: answer.Message}
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		return &Error{Reason: "the server does not answer"}
	case errors.As(err, &network):
		return &Error{Reason: "the server cannot be reached: " + network.Err.Error()}
	}
	return &Error{Reason: "the connection to the server failed"}
}
