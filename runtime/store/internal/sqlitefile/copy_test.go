package sqlitefile_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// listing is the names, sizes, times and modes of the files of a directory.
func listing(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = fmt.Sprint(info.Size(), info.ModTime(), info.Mode())
	}
	return found
}

// Reading leaves nothing beside a database, and no copy in the directory for temporary files.
func TestNoTrace(t *testing.T) { // alone: it sets where copies are
	copies := t.TempDir()
	for _, variable := range []string{"TMPDIR", "TMP"} {
		t.Setenv(variable, copies)
	}
	for test, statements := range map[string][]string{
		"a log":                  {"INSERT INTO t VALUES (1, 'one')"},
		"an empty log":           {"INSERT INTO t VALUES (1, 'one')", "PRAGMA wal_checkpoint(TRUNCATE)"},
		"no log":                 {"INSERT INTO t VALUES (1, 'one')", "PRAGMA journal_mode=delete"},
		"a journal that is over": {"PRAGMA journal_mode=persist", "INSERT INTO t VALUES (1, 'one')"},
		"a journal":              {"PRAGMA journal_mode=delete", "INSERT INTO t VALUES (1, 'one')", "BEGIN EXCLUSIVE", "UPDATE t SET s = 'two'"},
	} {
		o := own(t, statements...)
		before := listing(t, o.dir)
		db := o.open()
		if got := mustRows(t, db); got != "1 one\n" {
			t.Errorf("%s: %q", test, got)
		}
		db.Close()
		if diff := cmp.Diff(before, listing(t, o.dir)); diff != "" {
			t.Errorf("%s: reading left something (-before +after):\n%s", test, diff)
		}
		if left := listing(t, copies); len(left) > 0 {
			t.Errorf("%s: copies are left: %v", test, left)
		}
	}
	// What a process left that was killed is removed, and not what one may be making.
	day := time.Now().Add(-25 * time.Hour)
	for _, dir := range []string{"convtools-sqlite-old", "convtools-sqlite-new"} {
		err := os.Mkdir(filepath.Join(copies, dir), 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(copies, dir, "database"), []byte("private"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(filepath.Join(copies, "convtools-sqlite-old"), day, day); err != nil {
		t.Fatal(err)
	}
	own(t, "INSERT INTO t VALUES (1, 'one')").open().Close()
	if left := listing(t, copies); len(left) != 1 || left["convtools-sqlite-new"] == "" {
		t.Errorf("left: %v", left)
	}
	if err := os.RemoveAll(filepath.Join(copies, "convtools-sqlite-new")); err != nil {
		t.Fatal(err)
	}
	// A copy that is called off, and one of another kind of file, are removed too.
	o := own(t, "INSERT INTO t VALUES (1, 'one')")
	o.open().Close() // its last change is settled
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlitefile.Open(ctx, filepath.Join(o.dir, name)); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
	dir := t.TempDir()
	for _, file := range []string{name, name + "-wal"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := open(t, dir); !errors.Is(err, sqlitefile.ErrNotDatabase) {
		t.Errorf("no database: %v", err)
	}
	if left := listing(t, copies); len(left) > 0 {
		t.Errorf("copies are left: %v", left)
	}
}

// What cannot be copied is an error with its size, and nothing of it is read. Without a log it
// is read in place.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	o := own(t, "INSERT INTO t VALUES (1, 'one')")
	dir := t.TempDir()
	o.copyTo(dir, name, name+"-wal")
	const size = 3 << 30
	if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
		t.Skip("there are no files with holes: ", err)
	}
	_, err := open(t, dir)
	var large *store.CopyTooLargeError
	if !errors.As(err, &large) || large.Size < size || large.Most != 2<<30 {
		t.Errorf("%v", err)
	}
	if err := os.Truncate(filepath.Join(dir, name+"-wal"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir); err != nil {
		t.Errorf("without a log: %v", err)
	}
}

// A log that nobody has moved into its database, as a program left it.
func TestUnmerged(t *testing.T) {
	t.Parallel()
	db, err := sqlitefile.Open(t.Context(), filepath.Join("testdata", "unmerged.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := mustRows(t, db); got != "1 merged\n2 in the log\n" {
		t.Errorf("%q", got)
	}
}

// The journal of a transaction in several databases has the name of a file, which may be any.
// The database is not read: SQLite would open that file.
func TestNameInAJournal(t *testing.T) {
	t.Parallel()
	o := own(t, "PRAGMA journal_mode=delete", "PRAGMA synchronous=off", "INSERT INTO t VALUES (1, 'one')", "BEGIN EXCLUSIVE", "UPDATE t SET s = 'two'")
	const other = "/precious"
	// https://www.sqlite.org/fileformat2.html#the_rollback_journal: the page that is never
	// used, the name, its length, the sum of its bytes, the mark of a journal.
	record := binary.BigEndian.AppendUint32(nil, 1<<30/4096+1)
	record = binary.BigEndian.AppendUint32(append(record, other...), uint32(len(other)))
	sum := uint32(0)
	for _, b := range []byte(other) {
		sum += uint32(b)
	}
	record = append(binary.BigEndian.AppendUint32(record, sum), "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"...)
	journal, err := os.ReadFile(filepath.Join(o.dir, name+"-journal"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	o.copyTo(dir, name)
	if err := os.WriteFile(filepath.Join(dir, name+"-journal"), append(journal, record...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir); !errors.Is(err, sqlitefile.ErrJoint) {
		t.Errorf("%v", err)
	}
}

// writing, in the environment, has TestWrite write in a journal mode into the database of a
// directory until it is killed: some transactions for each line that it gets.
const (
	writing   = "SQLITEFILE_TEST_MODE"
	writingTo = "SQLITEFILE_TEST_DIR"
	perLine   = 5
)

// TestWrite is another process that writes pairs of rows, each in a transaction of its own,
// and says so.
func TestWrite(t *testing.T) {
	mode := os.Getenv(writing)
	if mode == "" {
		t.Skip("it is for another test")
	}
	db, err := sql.Open("sqlite", uri(os.Getenv(writingTo)))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "PRAGMA journal_mode="+mode+"; PRAGMA wal_autocheckpoint=30; PRAGMA synchronous=off; PRAGMA cache_size=2; CREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT)"); err != nil {
		t.Fatal(err)
	}
	for n, in := 0, bufio.NewScanner(os.Stdin); ; n++ {
		if n%perLine == 0 {
			if fmt.Println("written"); !in.Scan() {
				return
			}
		}
		if _, err := db.ExecContext(t.Context(), "BEGIN; INSERT INTO t (s) VALUES (hex(randomblob(3000))); INSERT INTO t (s) SELECT s FROM t ORDER BY n DESC LIMIT 1; UPDATE t SET s = s || '.' WHERE n < 5; COMMIT"); err != nil {
			t.Fatal(err)
		}
	}
}

// What another process writes is read while it does, and after it was killed: transactions as
// a whole, and none is lost.
func TestLiveWriter(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"wal", "delete", "persist"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writer := exec.Command(os.Args[0], "-test.run=^TestWrite$")
			writer.Env = append(os.Environ(), writing+"="+mode, writingTo+"="+dir)
			in, err := writer.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := writer.StdoutPipe()
			if err == nil {
				err = writer.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer writer.Process.Kill()
			lines := bufio.NewScanner(out)
			for written := 0; written < 40*perLine; written += perLine {
				if !lines.Scan() {
					t.Fatal("the writer has ended")
				}
				if _, err := io.WriteString(in, "\n"); err != nil {
					t.Fatal(err)
				}
				if n := pairs(t, dir); n < written { // while it writes more
					t.Errorf("%d transactions, and at least %d were written", n, written)
				}
			}
			if err := writer.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = writer.Wait() // it was killed
			before := listing(t, dir)
			n := pairs(t, dir)
			if diff := cmp.Diff(before, listing(t, dir)); diff != "" || n < 39*perLine {
				t.Errorf("after it was killed: %d transactions\n%s", n, diff)
			}
			if want := strings.Count(readBySQLite(t, dir), "\n"); 2*n != want {
				t.Errorf("after it was killed: %d rows, SQLite reads %d", 2*n, want)
			}
		})
	}
}

// pairs returns how many pairs of rows a database has, which are equal.
func pairs(t *testing.T, dir string) int {
	t.Helper()
	found := map[string]int{}
	shared := sqlitefile.Shared{Open: func(ctx context.Context) (*sqlitefile.DB, error) {
		return sqlitefile.Open(ctx, filepath.Join(dir, name))
	}}
	err := shared.Do(t.Context(), func(db *sqlitefile.DB) error {
		clear(found)
		return db.Each(t.Context(), func(rows *sql.Rows) error {
			var n int
			var s string
			err := rows.Scan(&n, &s)
			found[s]++
			return err
		}, all)
	})
	if err != nil {
		t.Fatal(err)
	}
	for s, n := range found {
		if n != 2 {
			t.Errorf("%d rows with %.20q", n, s)
		}
	}
	return len(found)
}
