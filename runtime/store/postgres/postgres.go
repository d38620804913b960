// Package postgres is the archive of imported conversations on a server of PostgreSQL,
// which several people share: [Open] reads it, as a [store.Store], and [Create] writes into
// it. It has the name, the ids and the conversations that package archive has in a file.
//
// Whose a conversation is says the role that logs in, which sees its own alone: the server
// sees to that, by row-level security. Nothing of a URL but its host, port and database is
// ever shown, recorded or a part of an error.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
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

// URL returns the URL of the archive that the environment names, or "".
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

// Home returns where the archive is that the environment names, for people, or "".
func Home(getenv func(string) string) string {
	if text := URL(getenv); text != "" {
		return parse(text).place
	}
	return ""
}

// Open returns the archive that the environment names, and false where it names none.
func Open(o store.Options) (*messagedb.Store, bool) {
	text := URL(o.Env())
	if text == "" || o.Home != "" {
		return nil, false
	}
	s := parse(text)
	database := messagedb.Database{Path: s.place, Version: s.version, Open: s.openArchive}
	return &messagedb.Store{
		IDs: archive.IDs(), Kind: archive.Name, Path: s.place,
		Databases: func() ([]messagedb.Database, []store.Problem) { return []messagedb.Database{database}, nil },
	}, true
}

// server is a database on a server.
type server struct {
	place  string          // for people
	config *pgx.ConnConfig // nil where the URL cannot be used
}

const (
	// connectTimeout is how long connecting may take where the URL does not say.
	connectTimeout = 10 * time.Second
	// cancelTimeout is how long the server may take to end a query that is cancelled.
	cancelTimeout = 2 * time.Second
	application   = "convtools"
)

func parse(text string) *server {
	config, err := pgx.ParseConfig(text)
	if err != nil {
		s := &server{place: "postgres://"}
		if u, err := url.Parse(text); err == nil {
			s.place = (&url.URL{Scheme: "postgres", Host: u.Host, Path: u.Path}).String()
		}
		return s
	}
	place := url.URL{Scheme: "postgres", Path: "/" + config.Database}
	if strings.HasPrefix(config.Host, "/") {
		place.RawQuery = "host=" + config.Host + "&port=" + strconv.Itoa(int(config.Port))
	} else {
		place.Host = net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	}
	if u, err := url.Parse(text); err != nil || !u.Query().Has("connect_timeout") {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = application
	}
	// The server is asked to end a query that is cancelled, and says when it has.
	config.BuildContextWatcherHandler = func(c *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: c, DeadlineDelay: cancelTimeout}
	}
	return &server{place: place.String(), config: config}
}

// Error is why a database cannot be used. It has nothing of its URL.
type Error struct {
	Code   string // of PostgreSQL, such as "28P01"; empty where the server did not answer
	Reason string
}

func (e *Error) Error() string {
	if e.Code == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s (SQLSTATE %s)", e.Reason, e.Code)
}

// ForModel is what a model is told: what a server says may have names in it.
func (e *Error) ForModel() string {
	if e.Code == "" {
		return "the connection to the server failed"
	}
	return fmt.Sprintf("the server has refused it (SQLSTATE %s)", e.Code)
}

// failure returns why something failed. What the driver says has the names in the URL, and
// an error of its holds all of it: neither goes on from here.
func (s *server) failure(ctx context.Context, err error) error {
	var known *Error
	var newer *archive.NewerError
	var answer *pgconn.PgError
	var network *net.OpError
	var timeout interface{ Timeout() bool }
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &known), errors.As(err, &newer), errors.Is(err, messagedb.ErrAbsent):
		return err
	case errors.As(err, &answer):
		return &Error{Code: answer.Code, Reason: answer.Message}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return &Error{Reason: "the server does not answer"}
	case errors.As(err, &network):
		return &Error{Reason: "the server cannot be reached: " + network.Err.Error()}
	}
	return &Error{Reason: "the connection to the server failed"}
}
