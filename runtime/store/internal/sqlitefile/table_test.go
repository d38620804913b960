package sqlitefile_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// holds returns what finds a word.
func holds(word string) func([]byte) bool {
	return func(part []byte) bool { return bytes.Contains(part, []byte(word)) }
}

// sift returns the rowids of the rows of a table in which a column may have something.
func sift(t *testing.T, db *sqlitefile.DB, table, column string, may func([]byte) bool) ([]int64, error) {
	t.Helper()
	pages, err := db.Table(t.Context(), table, column)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var found []int64
	err = db.Sift(t.Context(), pages, may, func(rowid int64) bool {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, rowid)
		return true
	})
	slices.Sort(found)
	return found, err
}

// query returns numbers that SQLite finds.
func query(t *testing.T, db *sqlitefile.DB, statement string, args ...any) []int64 {
	t.Helper()
	var found []int64
	err := db.Each(t.Context(), func(rows *sql.Rows) error {
		var n int64
		err := rows.Scan(&n)
		found = append(found, n)
		return err
	}, statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestSiftAgainstSQLite finds in the pages of random databases what SQLite finds: with pages
// of all sizes, bytes reserved in them, rows that are longer than pages, deleted ones, values
// of all types, columns that were added later, and what a log has that is committed or not.
func TestSiftAgainstSQLite(t *testing.T) {
	t.Parallel()
	words := []string{"needle", "天", "zq"}
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			size := 512 << rng.IntN(8)
			o := &owner{t: t, dir: t.TempDir()}
			reserved := []byte{0, 0, 1, 32}[rng.IntN(4)]
			if err := os.WriteFile(filepath.Join(o.dir, name), emptyDatabase(size, reserved), 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", uri(o.dir))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			if o.Conn, err = db.Conn(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { o.Close() })
			o.exec(fmt.Sprintf("PRAGMA auto_vacuum=%d", rng.IntN(3)), "PRAGMA synchronous=off", "PRAGMA wal_autocheckpoint=0")
			if rng.IntN(2) == 0 {
				o.exec("PRAGMA journal_mode=wal")
			}
			o.exec("CREATE TABLE t (a, text, c)", "CREATE INDEX i ON t (text)", "INSERT INTO t VALUES (0, 'needle of the first schema', 0)",
				"ALTER TABLE t ADD COLUMN late DEFAULT 'a needle that stands in no row'")
			value := func() any {
				switch rng.IntN(12) {
				case 0:
					return nil
				case 1:
					return rng.Int64() >> rng.IntN(64)
				case 2:
					return rng.NormFloat64()
				case 3:
					return []byte(words[rng.IntN(3)])
				}
				length := rng.IntN(60)
				if rng.IntN(5) == 0 {
					length = rng.IntN(3 * size)
				}
				text := strings.Repeat("haystack ", length/9)
				if rng.IntN(3) == 0 {
					at := rng.IntN(len(text) + 1)
					text = text[:at] + words[rng.IntN(3)] + text[at:]
				}
				return text
			}
			insert := func() {
				if _, err := o.ExecContext(context.Background(), "INSERT INTO t VALUES (?, ?, random(), ?)", value(), value(), value()); err != nil {
					t.Fatal(err)
				}
			}
			o.exec("BEGIN")
			for range rng.IntN(300) {
				insert()
			}
			o.exec("COMMIT", "DELETE FROM t WHERE rowid % 7 = 1", "UPDATE t SET text = late WHERE rowid % 11 = 2")
			if rng.IntN(3) == 0 {
				o.exec("PRAGMA wal_checkpoint", "INSERT INTO t VALUES (1, 'a needle in the log', -1, NULL)")
			}
			if rng.IntN(2) == 0 {
				o.exec("PRAGMA cache_size=2", "BEGIN") // what is not committed is written too
				for range 100 {
					insert()
				}
				o.exec("DELETE FROM t WHERE rowid % 3 = 1")
			}
			read := o.open()
			for _, column := range []string{"a", "text", "late"} {
				for _, word := range words {
					got, err := sift(t, read, "t", column, holds(word))
					if err != nil {
						t.Fatal(err)
					}
					// Of numbers, and of what is not recorded, nothing is known: all rows with one are there.
					unknown := ""
					if column == "late" {
						unknown = "OR c = 0"
					}
					want := query(t, read, fmt.Sprintf("SELECT rowid FROM t WHERE typeof(%[1]s) IN ('integer', 'real') OR instr(CAST(%[1]s AS BLOB), CAST(?1 AS BLOB)) %[2]s ORDER BY rowid", column, unknown), word)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%q in %s, pages of %d, %d reserved (-SQLite +ours):\n%s", word, column, size, reserved, diff)
					}
				}
			}
		})
	}
}

// emptyDatabase returns a database without a table, which says how large its pages are and
// what of them is reserved.
func emptyDatabase(size int, reserved byte) []byte {
	page := make([]byte, size)
	copy(page, "SQLite format 3\x00")
	page[16], page[17] = byte(size>>8), byte(size>>16|size)
	if size == 64<<10 {
		page[16], page[17] = 0, 1
	}
	page[18], page[19], page[20], page[21], page[22], page[23] = 1, 1, reserved, 64, 32, 32
	page[31], page[47], page[59] = 1, 4, 1 // pages; version of the schema; UTF-8
	page[27], page[95] = 1, 1              // changes
	page[96], page[97], page[98], page[99] = 0, 46, 0, 0
	page[100] = 0x0d // an empty leaf, whose content begins at the end
	page[105], page[106] = byte((size-int(reserved))>>8), byte(size-int(reserved))
	return page
}

// TestTable says which tables can be sifted.
func TestTable(t *testing.T) {
	t.Parallel()
	o := own(t, "CREATE TABLE Plain (a, Text)", "CREATE VIEW v AS SELECT * FROM plain", "CREATE TABLE w (a PRIMARY KEY, text) WITHOUT ROWID",
		"CREATE TABLE made (a, text AS (a || 'x'))", "CREATE TABLE kept (a, b AS (a) STORED, text)", "CREATE VIRTUAL TABLE f USING fts5 (a, text)",
		"CREATE TABLE hides (rowid, text)", "CREATE TABLE key (text INTEGER PRIMARY KEY)", "CREATE TABLE lacks (a)")
	db := o.open()
	for table, want := range map[string]error{
		"plain": nil, "v": sqlitefile.ErrNoTable, "w": sqlitefile.ErrNoTable, "made": sqlitefile.ErrNoTable, "kept": sqlitefile.ErrNoTable,
		"f": sqlitefile.ErrNoTable, "hides": sqlitefile.ErrNoTable, "key": sqlitefile.ErrNoTable, "lacks": sqlitefile.ErrNoTable, "missing": sqlitefile.ErrNoTable,
	} {
		if _, err := sift(t, db, table, "text", holds("x")); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", table, err, want)
		}
	}
}

// TestSiftUTF16 shows that text in another encoding is left to SQLite.
func TestSiftUTF16(t *testing.T) {
	t.Parallel()
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
	o.exec("PRAGMA encoding = 'UTF-16le'", "CREATE TABLE t (text)", "INSERT INTO t VALUES ('needle')")
	if _, err := sift(t, o.open(), "t", "text", holds("needle")); err == nil {
		t.Error("text in UTF-16 was searched as if it were in UTF-8")
	}
}

// TestSiftChanged shows that a change of what is being read is noticed.
func TestSiftChanged(t *testing.T) {
	t.Parallel()
	o := own(t, "INSERT INTO t VALUES (1, 'needle')")
	db := o.open()
	o.exec("INSERT INTO t VALUES (2, 'needle')", "PRAGMA wal_checkpoint(truncate)", "INSERT INTO t VALUES (3, 'needle')")
	if found, err := sift(t, db, "t", "s", holds("needle")); !errors.Is(err, sqlitefile.ErrChanged) {
		t.Errorf("%v, %v", found, err)
	}
}

// TestSiftEnds shows that nothing more is read once enough was found.
func TestSiftEnds(t *testing.T) {
	t.Parallel()
	o := own(t, "WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < 2000) INSERT INTO t SELECT n, 'needle' FROM c")
	db := o.open()
	pages, err := db.Table(t.Context(), "t", "s")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	n := 0
	err = db.Sift(t.Context(), pages, holds("needle"), func(int64) bool {
		mu.Lock()
		defer mu.Unlock()
		n++
		return n < 3
	})
	if err != nil || n < 3 || n > 100 {
		t.Errorf("%d rows, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Sift(ctx, pages, holds("needle"), func(int64) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that is called off: %v", err)
	}
}
