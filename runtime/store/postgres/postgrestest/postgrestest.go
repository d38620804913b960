// Package postgrestest runs a PostgreSQL server for the tests of a package, if PostgreSQL is installed: a
// cluster of its own in a temporary directory, with a socket there. Only tests import it.
package postgrestest

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// Cluster is a server that is started when it is first needed. It ends with the process that started it,
// however that ends. What it writes is not synced.
type Cluster struct {
	once  sync.Once
	err   error // the reason why there is no server
	dir   string
	stdin io.Closer
	cmd   *exec.Cmd
	count atomic.Int64
}

// errNotInstalled is the error for a machine without PostgreSQL's programs.
var errNotInstalled = errors.New("PostgreSQL is not installed: initdb is neither in PATH nor in /usr/lib/postgresql/*/bin")

// script makes a cluster in $1 with the password $2, starts it, prints "ready", or "missing" if there is no PostgreSQL, and
// removes the cluster when its standard input ends. The programs are in PATH, or on Debian in a directory of their version.
// PostgreSQL does not run as root, but as nobody.
const script = `
if [ "$(id -u)" = 0 ]; then
	chown -R nobody "$1" && exec setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups sh -c "$0" "$0" "$1" "$2"
fi
PATH="$PATH:$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)"
printf %s "$2" >"$1/password"
if ! command -v initdb >/dev/null; then
	echo missing
else
	initdb -D "$1/data" -U postgres -A scram-sha-256 --pwfile="$1/password" -E UTF8 --locale=C.UTF-8 --no-sync >"$1/log" 2>&1 &&
	pg_ctl -D "$1/data" -w -t 120 -l "$1/log" \
		-o "-c listen_addresses='' -k '$1' -c fsync=off -c full_page_writes=off -c autovacuum=off" start >>"$1/log" 2>&1 &&
	echo ready || cat "$1/log"
fi
cat >/dev/null
pg_ctl -D "$1/data" -m immediate stop >/dev/null 2>&1
rm -rf "$1"
`

// password is the password of all roles, with characters that are special in URLs.
const password = "s3cret:/@%?#'"

// start starts the server, and waits until it is ready. The error is errNotInstalled if PostgreSQL is not installed.
func (c *Cluster) start() (err error) {
	if c.dir, err = os.MkdirTemp(os.Getenv("GOTMPDIR"), "pg"); err != nil { // as testing.T.TempDir does, but the path of a socket must be short
		return err
	}
	c.cmd = exec.Command("sh", "-c", script, script, c.dir, password)
	c.cmd.Dir = c.dir
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	switch line, _ := bufio.NewReader(stdout).ReadString('\n'); line {
	case "ready\n":
		return nil
	case "missing\n":
		err = errNotInstalled
	default:
		err = fmt.Errorf("PostgreSQL does not start: %s", line)
	}
	c.Stop()
	return err
}

// Stop stops the server, if it was started.
func (c *Cluster) Stop() {
	if c.stdin != nil {
		c.stdin.Close()
		_ = c.cmd.Wait()
		c.stdin = nil
	}
}

// Need starts the server if it does not run yet. It skips the test if PostgreSQL is not installed.
func (c *Cluster) Need(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a server of PostgreSQL takes seconds to start")
	}
	c.once.Do(func() {
		if c.err = c.start(); c.err == nil {
			c.exec(t, "CREATE DATABASE archive; GRANT CREATE ON DATABASE archive TO PUBLIC")
		}
	})
	switch {
	case errors.Is(c.err, errNotInstalled):
		t.Skip(c.err)
	case c.err != nil:
		t.Fatal(c.err)
	}
}

// url returns the URL of a database for a role.
func (c *Cluster) url(role, database string) string {
	return "postgres://" + url.UserPassword(role, password).String() + "@/" + database + "?sslmode=disable&host=" + url.QueryEscape(c.dir)
}

// Admin returns the URL of a database for the administrator.
func (c *Cluster) Admin(database string) string { return c.url("postgres", database) }

// Role makes a role that can log in, and returns its name and the URL of the database "archive" for it.
func (c *Cluster) Role(t testing.TB) (name, url string) {
	t.Helper()
	name = c.create(t, "role", "CREATE ROLE $ LOGIN PASSWORD '"+strings.ReplaceAll(password, "'", "''")+"'")
	return name, c.url(name, "archive")
}

// Database makes a database in which every role can create tables, and returns its name.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	return c.create(t, "database", "CREATE DATABASE $; GRANT CREATE ON DATABASE $ TO PUBLIC")
}

// create runs queries with a new name in place of $, and returns it.
func (c *Cluster) create(t testing.TB, kind, queries string) (name string) {
	t.Helper()
	c.Need(t)
	name = fmt.Sprintf("%s_%d", kind, c.count.Add(1))
	c.exec(t, strings.ReplaceAll(queries, "$", name))
	return name
}

// Connect connects to a database.
func Connect(t testing.TB, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// exec runs queries, which "; " separates, as the administrator.
func (c *Cluster) exec(t testing.TB, queries string) {
	t.Helper()
	db := Connect(t, c.Admin("postgres"))
	for query := range strings.SplitSeq(queries, "; ") {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
}
