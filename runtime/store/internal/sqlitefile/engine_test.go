package sqlitefile_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

const endless = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n, hex(zeroblob(100)) AS s FROM r"

func drain(ctx context.Context, db *sqlitefile.DB, query string, args ...any) (n int, err error) {
	err = sqlitefile.Each(ctx, db.DB, func(rows *sql.Rows) error {
		n++
		return nil
	}, query, args...)
	return n, err
}

// Whatever a view does, reading it ends with the context: before the first row, and after it.
func TestViewsEndWithTheContext(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		view string
		rows int
	}{
		"before the first row": {endless + " WHERE n < 0", 0},
		"after some rows":      {endless + " WHERE n < 3", 2},
		"for each row":         {"SELECT n, (SELECT max(n) FROM (" + endless + ")) AS s FROM t", 0},
		"of a product":         {"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 100) SELECT count(*) AS n, '' AS s FROM r a, r b, r c, r d, r e, r f", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := own(t, "INSERT INTO t VALUES (1, 'a')", "CREATE VIEW v AS "+test.view).open()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(50*time.Millisecond, cancel)
			n, err := drain(ctx, db, "SELECT n, s FROM v")
			if !errors.Is(err, context.Canceled) || n != test.rows {
				t.Errorf("%d rows, %v", n, err)
			}
			// The connection can be used again, and is not interrupted.
			if n, err := drain(t.Context(), db, all); n != 1 || err != nil {
				t.Errorf("afterwards: %d rows, %v", n, err)
			}
		})
	}
}

// Without anybody who cancels it, reading a view that never ends comes to an end, and nothing
// more is read of the database.
func TestViewsEndByThemselves(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		view string
		want error
	}{
		"slow": {endless + " WHERE n < 3", sqlitefile.ErrSlow},
		"rows": {endless, sqlitefile.ErrTooMuch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := own(t, "CREATE VIEW v AS "+test.view).open()
			sqlitefile.SetTime(db, time.Minute)
			sqlitefile.SetRows(db, 1000)
			if name == "slow" {
				sqlitefile.SetTime(db, 50*time.Millisecond)
			}
			if n, err := drain(t.Context(), db, "SELECT n, s FROM v"); !errors.Is(err, test.want) {
				t.Errorf("%d rows, %v", n, err)
			}
			if n, err := drain(t.Context(), db, all); !errors.Is(err, test.want) {
				t.Errorf("afterwards: %d rows, %v", n, err)
			}
		})
	}
}

// The time that a row is looked at is not that of the database.
func TestTimeOfTheReader(t *testing.T) {
	t.Parallel()
	db := own(t, "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')").open()
	sqlitefile.SetTime(db, 20*time.Second)
	before := sqlitefile.Time(db)
	const looked = 200 * time.Millisecond
	err := sqlitefile.Each(t.Context(), db.DB, func(*sql.Rows) error {
		for begun := time.Now(); time.Since(begun) < looked; {
			runtime.Gosched()
		}
		return nil
	}, all)
	if err != nil {
		t.Fatal(err)
	}
	if took := before - sqlitefile.Time(db); took <= 0 || took > 3*looked {
		t.Errorf("three rows took %v", took)
	}
}

// A value that takes no room in the database is bounded, and so is what is sorted.
func TestComputedValues(t *testing.T) {
	t.Parallel()
	const most = sqlitefile.MaxComputed
	for name, test := range map[string]struct {
		value string
		want  error
	}{
		"large":        {"hex(zeroblob(1000000))", nil},
		"too large":    {"hex(zeroblob(200000000))", sqlitefile.ErrTooLarge},
		"a little":     {fmt.Sprintf("zeroblob(%d)", most+1), sqlitefile.ErrTooLarge},
		"many to sort": {"(SELECT group_concat(length(b)) FROM (SELECT hex(zeroblob(1000000)) || n AS b FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 1000) SELECT n FROM r) ORDER BY b))", sqlitefile.ErrTooMuch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := own(t, "INSERT INTO t VALUES (1, 'a')", "CREATE VIEW v AS SELECT 1 AS n, "+test.value+" AS s").open()
			sqlitefile.SetTime(db, time.Minute)
			db.BoundComputed()
			if n, err := drain(t.Context(), db, "SELECT n, s FROM v"); !errors.Is(err, test.want) {
				t.Errorf("%d rows, %v", n, err)
			}
			if n, err := drain(t.Context(), db, all); n != 1 || err != nil {
				t.Errorf("afterwards: %d rows, %v", n, err)
			}
		})
	}
}

// What is stored and too large is known by its size, without being read.
func TestStoredValues(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	db := own(t, "INSERT INTO t VALUES (1, 'a'), (2, zeroblob(100000000))").open()
	var sizes []string
	err := sqlitefile.Each(t.Context(), db.DB, func(rows *sql.Rows) error {
		var size string
		err := rows.Scan(&size)
		sizes = append(sizes, size)
		return err
	}, "SELECT octet_length(s) FROM t ORDER BY n")
	if got := strings.Join(sizes, " "); got != "1 100000000" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if n, err := drain(t.Context(), db, "SELECT s FROM t WHERE n = 2"); !errors.Is(err, sqlitefile.ErrTooLarge) {
		t.Errorf("%d rows, %v", n, err)
	}
}
