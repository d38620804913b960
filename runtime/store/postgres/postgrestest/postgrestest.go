// Package postgrestest runs a server of PostgreSQL for the tests of a package, where one is
// installed: a cluster of its own in a temporary directory, on a socket there.
//
// Only tests and benches import it.
package postgrestest

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// Cluster is a server that is started where it is asked for first. It ends with the process
// that started it, however that ends. What it writes is not made lasting.
type Cluster struct {
	once  sync.Once
	err   error // why there is no server
	dir   string
	stdin io.Closer
	done  func() error
	count atomic.Int64
}

// binaries returns the directory with the programs of PostgreSQL: of those in PATH, or of
// the newest that Debian has installed.
func binaries() (string, error) {
	debian, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Reverse(debian)
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), debian...) {
		if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err == nil {
			return dir, nil
		}
	}
	return "", errNotInstalled
}

var errNotInstalled = errors.New("PostgreSQL is not installed: initdb is neither in PATH nor in /usr/lib/postgresql/*/bin")

// script makes a cluster in $1 with the programs in $2, starts it with the options in $3, and
// stops it when its standard input ends. PostgreSQL does not run as root: nobody runs it then.
const script = `
if [ "$(id -u)" = 0 ] && [ "$4" = "" ]; then
	chown -R nobody "$1" && exec setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups sh -c "$0" "$0" "$1" "$2" "$3" nobody
fi
"$2/initdb" -D "$1/data" -U postgres -A scram-sha-256 --pwfile="$1/password" -E UTF8 --locale=C.UTF-8 --no-sync >"$1/log" 2>&1 &&
"$2/pg_ctl" -D "$1/data" -w -t 120 -l "$1/log" -o "-c listen_addresses='' -k '$1' $3" start >>"$1/log" 2>&1 &&
echo ready
cat >/dev/null
"$2/pg_ctl" -D "$1/data" -m immediate stop >/dev/null 2>&1
rm -rf "$1"
`

// password is that of the administrator, with characters that are special in URLs.
const password = "s3cret:/@%?#'"

func (c *Cluster) start() error {
	bin, err := binaries()
	if err != nil {
		return err
	}
	// The path of a socket is short.
	if c.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, "password"), []byte(password), 0o600); err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", script, script, c.dir, bin, "-c fsync=off -c full_page_writes=off -c autovacuum=off")
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	c.stdin, c.done = stdin, cmd.Wait
	if line, _ := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		log, _ := os.ReadFile(filepath.Join(c.dir, "log"))
		c.Stop()
		return fmt.Errorf("PostgreSQL does not start: %s", log)
	}
	return c.exec("CREATE DATABASE archive; GRANT CREATE ON DATABASE archive TO PUBLIC")
}

// Stop stops the server, if it was started.
func (c *Cluster) Stop() {
	if c.stdin != nil {
		c.stdin.Close()
		_ = c.done()
		c.stdin = nil
	}
}

// Need starts the server where it is not yet. A test is skipped where PostgreSQL is not
// installed.
func (c *Cluster) Need(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a server of PostgreSQL takes seconds to start")
	}
	c.once.Do(func() { c.err = c.start() })
	switch {
	case errors.Is(c.err, errNotInstalled):
		t.Skip(c.err)
	case c.err != nil:
		t.Fatal(c.err)
	}
}

// url returns that of a database for a role.
func (c *Cluster) url(role, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(role, password), Path: "/" + database, RawQuery: url.Values{"host": {c.dir}, "sslmode": {"disable"}}.Encode()}
	return u.String()
}

// Admin returns the URL of a database for the administrator.
func (c *Cluster) Admin(database string) string { return c.url("postgres", database) }

// Role makes a role that may log in, and returns its name and the URL of the database
// "archive" for it.
func (c *Cluster) Role(t testing.TB) (name, url string) {
	t.Helper()
	name = c.create(t, "role", "CREATE ROLE %[1]s LOGIN PASSWORD '"+strings.ReplaceAll(strings.ReplaceAll(password, "'", "''"), "%", "%%")+"'")
	return name, c.url(name, "archive")
}

// Database makes a database in which every role may create what it likes, and returns its
// name.
func (c *Cluster) Database(t testing.TB) string {
	t.Helper()
	return c.create(t, "database", "CREATE DATABASE %[1]s; GRANT CREATE ON DATABASE %[1]s TO PUBLIC")
}

// create makes something of a name of its own.
func (c *Cluster) create(t testing.TB, kind, queries string) (name string) {
	t.Helper()
	c.Need(t)
	name = fmt.Sprintf("%s_%d", kind, c.count.Add(1))
	if err := c.exec(fmt.Sprintf(queries, name)); err != nil {
		t.Fatal(err)
	}
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

func (c *Cluster) exec(queries string) error {
	db, err := sql.Open("pgx", c.Admin("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	for query := range strings.SplitSeq(queries, "; ") {
		if _, err := db.ExecContext(context.Background(), query); err != nil {
			return err
		}
	}
	return nil
}
