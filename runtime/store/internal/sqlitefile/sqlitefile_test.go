package sqlitefile_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

const name = "opencode.db"

// uri returns the address of the database in a directory.
func uri(dir string) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(filepath.Join(dir, name))}).String()
}

// owner is the program that a database belongs to.
type owner struct {
	t   *testing.T
	dir string
	*sql.Conn
}

// own creates a database. What its owner commits stays in the write-ahead log until
// there is a checkpoint.
func own(t *testing.T, statements ...string) *owner {
	t.Helper()
	o := &owner{t: t, dir: t.TempDir()}
	db, err := sql.Open("sqlite", uri(o.dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if o.Conn, err = db.Conn(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	o.exec("PRAGMA journal_mode=wal", "PRAGMA wal_autocheckpoint=0", "CREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT)")
	o.exec(statements...)
	return o
}

func (o *owner) exec(statements ...string) {
	o.t.Helper()
	for _, s := range statements {
		// Not the context of the test, which is done when the database is closed.
		if _, err := o.ExecContext(context.Background(), s); err != nil {
			o.t.Fatalf("%s: %v", s, err)
		}
	}
}

func (o *owner) open() *sqlitefile.DB {
	o.t.Helper()
	db, err := open(o.t, o.dir)
	if err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(func() { db.Close() })
	return db
}

func open(t *testing.T, dir string) (*sqlitefile.DB, error) {
	t.Helper()
	return opened(t.Context(), filepath.Join(dir, name))
}

// opened opens a database that its owner may be changing.
func opened(ctx context.Context, path string) (*sqlitefile.DB, error) {
	for {
		if db, err := sqlitefile.Open(ctx, path); !errors.Is(err, sqlitefile.ErrChanged) {
			return db, err
		}
	}
}

const all = "SELECT n, s FROM t ORDER BY n"

func rows(t *testing.T, db *sqlitefile.DB, query string) (string, error) {
	t.Helper()
	var b strings.Builder
	err := db.Each(t.Context(), func(rows *sql.Rows) error {
		var n int
		var s string
		err := rows.Scan(&n, &s)
		fmt.Fprintf(&b, "%d %s\n", n, s)
		return err
	}, query)
	return b.String(), err
}

func mustRows(t *testing.T, db *sqlitefile.DB) string {
	t.Helper()
	got, err := rows(t, db, all)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// files returns the names and the content of all files of a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "-shm") {
			found[e.Name()] = "" // which the owner has locked on some systems
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = string(data)
	}
	return found
}

// copyTo copies files of a database elsewhere.
func (o *owner) copyTo(dir string, names ...string) {
	o.t.Helper()
	for _, n := range names {
		data, err := os.ReadFile(filepath.Join(o.dir, n))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, n), data, 0o600)
		}
		if err != nil {
			o.t.Fatal(err)
		}
	}
}

func TestWriteAheadLog(t *testing.T) {
	t.Parallel()
	o := own(t, "INSERT INTO t VALUES (1, 'one')")
	before := files(t, o.dir)
	db := o.open()
	if got := mustRows(t, db); got != "1 one\n" {
		t.Errorf("%q", got)
	}
	if _, err := rows(t, db, "INSERT INTO t VALUES (9, 'nine') RETURNING n, s"); err == nil {
		t.Error("a write has no error")
	}
	if diff := cmp.Diff(before, files(t, o.dir)); diff != "" {
		t.Error("reading left something: ", diff)
	}

	o.exec("INSERT INTO t VALUES (2, 'two')")
	if got := mustRows(t, db); got != "1 one\n" {
		t.Errorf("opened before: %q", got)
	}
	if got := mustRows(t, o.open()); got != "1 one\n2 two\n" {
		t.Errorf("%q", got)
	}

	o.exec("BEGIN", "INSERT INTO t VALUES (3, 'three')")
	if got := mustRows(t, o.open()); got != "1 one\n2 two\n" {
		t.Errorf("with a transaction that has not ended: %q", got)
	}
	o.exec("ROLLBACK", "PRAGMA wal_checkpoint(TRUNCATE)")
	if got := mustRows(t, o.open()); got != "1 one\n2 two\n" {
		t.Errorf("after a checkpoint: %q", got)
	}
	o.exec("BEGIN EXCLUSIVE")
	if got := mustRows(t, o.open()); got != "1 one\n2 two\n" {
		t.Errorf("with a lock: %q", got)
	}
	o.exec("ROLLBACK")
}

// More than the log has pages for is read in part from the database.
func TestLogOverDatabase(t *testing.T) {
	t.Parallel()
	o := own(t)
	o.exec("WITH RECURSIVE c(value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM c WHERE value < 2000) INSERT INTO t SELECT value, hex(randomblob(500)) FROM c", "PRAGMA wal_checkpoint(TRUNCATE)")
	o.exec("UPDATE t SET s = 'changed' WHERE n % 100 = 0", "DELETE FROM t WHERE n > 1500")
	want, got := map[int]string{}, map[int]string{}
	owned, err := o.QueryContext(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	defer owned.Close()
	for owned.Next() {
		var n int
		var s string
		if err := owned.Scan(&n, &s); err != nil {
			t.Fatal(err)
		}
		want[n] = s
	}
	err = o.open().Each(t.Context(), func(rows *sql.Rows) error {
		var n int
		var s string
		err := rows.Scan(&n, &s)
		got[n] = s
		return err
	}, all)
	if diff := cmp.Diff(want, got); diff != "" || err != nil || len(got) != 1500 {
		t.Error(err, len(got), diff)
	}
}

// A change of the file that is read in place is noticed. A copy is what it was.
func TestChanged(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, change []string
		want           error
	}{
		"a log that is moved":   {[]string{"PRAGMA wal_checkpoint(TRUNCATE)"}, []string{"UPDATE t SET s = 'new'", "PRAGMA wal_checkpoint"}, sqlitefile.ErrChanged},
		"a log alone":           {[]string{"PRAGMA wal_checkpoint(TRUNCATE)"}, []string{"UPDATE t SET s = 'new'"}, nil},
		"a vacuum":              {[]string{"PRAGMA journal_mode=delete"}, []string{"DELETE FROM t WHERE n < 900", "VACUUM"}, sqlitefile.ErrChanged},
		"without a log":         {[]string{"PRAGMA journal_mode=delete"}, []string{"UPDATE t SET s = 'new' WHERE n = 500"}, sqlitefile.ErrChanged},
		"with a journal kept":   {[]string{"PRAGMA journal_mode=persist", "DELETE FROM t WHERE n = 0"}, []string{"UPDATE t SET s = 'new' WHERE n = 500"}, sqlitefile.ErrChanged},
		"a checkpoint":          {nil, []string{"UPDATE t SET s = 'new'", "PRAGMA wal_checkpoint(TRUNCATE)"}, nil},
		"another log":           {nil, []string{"PRAGMA wal_checkpoint(RESTART)", "UPDATE t SET s = 'new'"}, nil},
		"a vacuum behind a log": {nil, []string{"DELETE FROM t WHERE n < 900", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := own(t, "WITH RECURSIVE c(value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM c WHERE value < 1000) INSERT INTO t SELECT value, 'old ' || hex(randomblob(1000)) FROM c")
			o.exec(test.before...)
			db := o.open()
			o.exec(test.change...)
			read := 0
			err := db.Each(t.Context(), func(rows *sql.Rows) error {
				var n int
				var s string
				if err := rows.Scan(&n, &s); err != nil {
					return err
				}
				if read++; !strings.HasPrefix(s, "old ") {
					t.Fatalf("row %d is %q", n, s)
				}
				return nil
			}, all)
			if !errors.Is(err, test.want) || test.want == nil && read != 1000 {
				t.Errorf("%d rows, error %v, want %v", read, err, test.want)
			}
		})
	}
}

// A log is read up to its last commit that is whole, wherever it ends or is damaged.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	o := own(t)
	for n := range 20 {
		o.exec(fmt.Sprintf("INSERT INTO t VALUES (%d, 'row')", n+1))
	}
	random := rand.New(rand.NewPCG(1, 1))
	whole := []byte(files(t, o.dir)[name+"-wal"])
	for n := range 60 {
		dir := t.TempDir()
		o.copyTo(dir, name)
		log := append([]byte(nil), whole...)
		at := random.IntN(len(log))
		if n%2 == 0 {
			log = log[:at]
		} else {
			log[at] ^= 1 << random.IntN(8)
		}
		if err := os.WriteFile(filepath.Join(dir, name+"-wal"), log, 0o600); err != nil {
			t.Fatal(err)
		}
		got := readAll(t, dir)
		// SQLite reads the same from a copy that it may write.
		if want := readBySQLite(t, dir); got != want {
			t.Errorf("cut or damaged at %d of %d: %q, want %q", at, len(log), got, want)
		}
	}
}

// readAll returns the rows of a database, or that there is none.
func readAll(t *testing.T, dir string) string {
	t.Helper()
	db, err := open(t, dir)
	if err != nil {
		return "failed"
	}
	defer db.Close()
	got, err := rows(t, db, all)
	if err != nil {
		return "failed"
	}
	return got
}

func readBySQLite(t *testing.T, dir string) string {
	t.Helper()
	db, err := sql.Open("sqlite", uri(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found, err := db.QueryContext(t.Context(), all)
	if err != nil {
		return "failed"
	}
	defer found.Close()
	var b strings.Builder
	for found.Next() {
		var n int
		var s string
		if err := found.Scan(&n, &s); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%d %s\n", n, s)
	}
	if found.Err() != nil {
		return "failed"
	}
	return b.String()
}

func TestWithoutLog(t *testing.T) {
	t.Parallel()
	o := own(t, "INSERT INTO t VALUES (1, 'one')", "PRAGMA wal_checkpoint(TRUNCATE)", "INSERT INTO t VALUES (2, 'lost')")
	dir := t.TempDir()
	o.copyTo(dir, name)
	if got := readAll(t, dir); got != "1 one\n" {
		t.Errorf("%q", got)
	}
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("%d files", len(got))
	}
}

func TestPageSizes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{512, 1024, 8192, 65536} {
		dir := t.TempDir()
		db, err := sql.Open("sqlite", uri(dir))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		db.SetMaxOpenConns(1)
		for _, s := range []string{
			fmt.Sprintf("PRAGMA page_size=%d", size), "PRAGMA journal_mode=wal", "CREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT)", "INSERT INTO t VALUES (1, 'one')",
		} {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		if got := readAll(t, dir); got != "1 one\n" {
			t.Errorf("%d: %q", size, got)
		}
	}
}

func TestNoDatabase(t *testing.T) {
	t.Parallel()
	o := own(t, "WITH RECURSIVE c(value) AS (VALUES (1) UNION ALL SELECT value + 1 FROM c WHERE value < 1000) INSERT INTO t SELECT value, 'row' FROM c", "PRAGMA wal_checkpoint(TRUNCATE)")
	whole := files(t, o.dir)[name]
	for test, content := range map[string]map[string]string{
		"nothing":  {},
		"text":     {name: strings.Repeat("no database ", 1000)},
		"cut":      {name: whole[:5000]},
		"a folder": {name + "/x": ""},
	} {
		dir := t.TempDir()
		for file, text := range content {
			file = filepath.Join(dir, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := readAll(t, dir); got != "failed" {
			t.Errorf("%s: %q", test, got)
		}
	}
}

// Whatever the files are: reading ends, and nothing but rows comes of it.
func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	db, err := sql.Open("sqlite", uri(dir))
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"PRAGMA page_size=512", "PRAGMA journal_mode=wal", "CREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT)", "INSERT INTO t VALUES (1, 'one')"} {
		if _, err := db.Exec(s); err != nil {
			f.Fatal(err)
		}
	}
	database, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		f.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, name+"-wal"))
	if err != nil {
		f.Fatal(err)
	}
	db.Close()
	// A journal with one page, which is empty: magic, all pages to the end of the file, a
	// nonce of 0, two pages in the database, sectors and pages of 512 bytes.
	journal := append([]byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x02\x00\x00\x00\x02\x00"), make([]byte, 484)...)
	journal = append(append(journal, 0, 0, 0, 2), make([]byte, 516)...)
	f.Add(database, log, []byte{})
	f.Add(database, []byte{}, journal)
	f.Add([]byte{}, log, journal)
	f.Fuzz(func(t *testing.T, database, log, journal []byte) {
		dir := t.TempDir()
		for file, data := range map[string][]byte{name: database, name + "-wal": log, name + "-journal": journal} {
			if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		hour := time.Now().Add(-time.Hour) // else it may be changing
		if err := os.Chtimes(filepath.Join(dir, name), hour, hour); err != nil {
			t.Fatal(err)
		}
		readAll(t, dir)
	})
}

// A transaction that has written a part of what it is going to write is not there, also
// where the writer holds a lock that would keep SQLite waiting, or was killed.
func TestTransaction(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"delete", "truncate", "persist"} {
		for _, synchronous := range []string{"off", "full"} {
			t.Run(mode+" "+synchronous, func(t *testing.T) {
				t.Parallel()
				o := own(t, "PRAGMA journal_mode="+mode, "PRAGMA synchronous="+synchronous, "PRAGMA cache_size=2")
				o.exec("INSERT INTO t WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 2000) SELECT n, 'before' FROM s")
				before := mustRows(t, o.open())
				for _, end := range []string{"ROLLBACK", "COMMIT"} {
					o.exec("BEGIN EXCLUSIVE", "UPDATE t SET s = 'after, and longer'", "DELETE FROM t WHERE n % 3 = 0", "INSERT INTO t VALUES (0, 'new')")
					journal, err := os.Stat(filepath.Join(o.dir, name+"-journal"))
					if err != nil || journal.Size() < 4096 {
						t.Fatalf("there is no journal with pages: %v, %v", journal, err)
					}
					untouched := files(t, o.dir)
					if got := mustRows(t, o.open()); got != before {
						t.Errorf("in a transaction: %.200s", cmp.Diff(before, got))
					}
					if diff := cmp.Diff(untouched, files(t, o.dir)); diff != "" {
						t.Errorf("reading changed files: %.200s", diff)
					}
					killed := t.TempDir()
					o.copyTo(killed, name, name+"-journal")
					db, err := open(t, killed)
					if err != nil {
						t.Fatal(err)
					}
					if got, err := rows(t, db, all); got != before || err != nil {
						t.Errorf("with what a killed writer left: %.200s %v", cmp.Diff(before, got), err)
					}
					db.Close()
					o.exec(end)
				}
				if got := mustRows(t, o.open()); !strings.HasPrefix(got, "0 new\n1 after, and longer\n2 after, and longer\n4 ") {
					t.Errorf("behind the transaction: %.100s", got)
				}
			})
		}
	}
}
