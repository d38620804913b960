package sqlitetable_test

import (
	"bytes"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/convtools/convtools/runtime/store/internal/sqlitetable"
)

// database returns the file of a database that statements make.
func database(t testing.TB, statements ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	uri := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	db, err := sql.Open("sqlite", uri.String())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// seeds are databases with one table, whose first page is 2: with rows that are longer than a
// page, and with a tree of two and of three levels.
func seeds(t testing.TB) [][]byte {
	t.Helper()
	const rows = "WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c WHERE n < %) INSERT INTO t SELECT n, hex(zeroblob(n % 50)) || 'needle' FROM c"
	return [][]byte{
		database(t, "PRAGMA page_size=512", "CREATE TABLE t (a, s)", "INSERT INTO t VALUES (1, hex(zeroblob(2000)) || 'needle'), (2, 'needle'), (3, 4)"),
		database(t, "PRAGMA page_size=512", "CREATE TABLE t (a, s)", strings.Replace(rows, "%", "100", 1)),
		database(t, "PRAGMA page_size=512", "CREATE TABLE t (a, s)", strings.Replace(rows, "%", "2000", 1)),
	}
}

func sift(t testing.TB, data []byte, root uint32) (int64, error) {
	t.Helper()
	table := sqlitetable.Table{File: bytes.NewReader(data), Size: int64(len(data)), Root: root, Columns: []int{1}}
	var found atomic.Int64
	err := table.Sift(t.Context(), func(part []byte) bool { return bytes.Contains(part, []byte("needle")) }, func(int64) bool {
		found.Add(1)
		return true
	})
	return found.Load(), err
}

// Pages that lead back to others, or out of the file, are damage, and never read without end.
func TestDamaged(t *testing.T) {
	t.Parallel()
	const pageSize = 512
	all := seeds(t)
	for i, want := range []int64{3, 100, 2000} {
		if found, err := sift(t, all[i], 2); err != nil || found != want {
			t.Errorf("seed %d: %d rows, %v", i, found, err)
		}
	}
	long, flat, deep := all[0], all[1], all[2]
	change := func(data []byte, at int, to ...byte) []byte {
		data = bytes.Clone(data)
		copy(data[at:], to)
		return data
	}
	rightmost := pageSize + 8 // of the root, in page 2
	cell := func(data []byte, n int) int {
		at := pageSize + 8 + 2*n
		return pageSize + int(data[at])<<8 + int(data[at+1])
	}
	// The first row of long: what has no room in the page is in others.
	next := cell(long, 0)
	for long[next] >= 0x80 {
		next++
	}
	next += 2 // behind the size and the rowid
	local := (pageSize-12)*32/255 - 23
	if k := local + (4000+6+6-local)%(pageSize-4); k <= pageSize-35 {
		local = k
	}
	// A leaf with one cell 100 times.
	overlapping := change(long, pageSize+3, 0, 100)
	for i := range 100 {
		overlapping = change(overlapping, pageSize+8+2*i, long[pageSize+8:pageSize+10]...)
	}
	for name, data := range map[string][]byte{
		"the root below itself":        change(deep, rightmost, 0, 0, 0, 2),
		"a page behind the end":        change(flat, rightmost, 0xff, 0xff, 0xff, 0xff),
		"page 0":                       change(flat, rightmost, 0, 0, 0, 0),
		"page 1":                       change(flat, rightmost, 0, 0, 0, 1),
		"more cells than have room":    change(flat, pageSize+3, 0xff, 0xff),
		"a cell behind the page":       change(long, pageSize+8, 0xff, 0xff),
		"a cell at its end":            change(long, pageSize+8, 0x01, 0xff),
		"a page of an index":           change(long, pageSize, 0x0a),
		"no magic":                     change(long, 0, 'x'),
		"pages of 3 bytes":             change(long, 16, 0, 3),
		"all of a page reserved":       change(long, 20, 255),
		"a file that ends":             flat[:len(flat)-pageSize],
		"no page":                      flat[:100],
		"a row that is larger":         change(long, cell(long, 0), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		"a row that goes on nowhere":   change(long, next+local, 0xff, 0, 0, 3),
		"cells in the place of others": overlapping,
	} {
		if _, err := sift(t, data, 2); !errors.Is(err, sqlitetable.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sift(t, change(long, 59, 2), 2); !errors.Is(err, sqlitetable.ErrOther) {
		t.Errorf("UTF-16: %v", err)
	}
	if _, err := sift(t, nil, 2); err == nil {
		t.Error("an empty file is a table")
	}
}

// Whatever is in a file, reading it ends, and nothing outside of it is read.
func FuzzSift(f *testing.F) {
	for _, data := range seeds(f)[:2] {
		f.Add(data, uint32(2))
	}
	f.Fuzz(func(t *testing.T, data []byte, root uint32) {
		found, err := sift(t, data, root)
		if err == nil && found > int64(len(data)) {
			t.Errorf("%d rows in %d bytes", found, len(data))
		}
	})
}
