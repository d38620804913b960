package chatgpt

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/convtools/convtools/runtime/store/internal/sqlitefile"
)

// The messages of a conversation are found without reading those of others, whether or not
// there is an index for that.
func TestMessagesAreNotSearchedFor(t *testing.T) {
	t.Parallel()
	const table = "CREATE TABLE messages (id TEXT PRIMARY KEY, conversation_id, role, content, create_time, position)"
	for name, c := range map[string]struct {
		schema string
		ranged bool
	}{
		"no index":              {table, true},
		"an index":              {table + "; CREATE INDEX i ON messages (conversation_id)", true},
		"an index of something": {table + "; CREATE INDEX i ON messages (role, conversation_id)", true},
		"an index of some":      {table + "; CREATE INDEX i ON messages (conversation_id) WHERE role = 'user'", true},
		"a key":                 {"CREATE TABLE messages (conversation_id, position, content, PRIMARY KEY (conversation_id, position)) WITHOUT ROWID", false},
		"a view of an index":    {"CREATE TABLE m (c, t); CREATE INDEX i ON m (c); CREATE VIEW messages AS SELECT c AS conversation_id, t AS content FROM m", false},
	} {
		path := filepath.Join(t.TempDir(), "a.db")
		writer, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writer.ExecContext(t.Context(), c.schema); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		writer.Close()
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil { // else it may be changing
			t.Fatal(err)
		}
		db, err := sqlitefile.OpenPath(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		form, err := formOf(t.Context(), db, true)
		if err != nil {
			t.Fatal(err)
		}
		if form.IsRanged != c.ranged {
			t.Errorf("%s: %s", name, form.Messages)
		}
		args := []any{"c"}
		if form.IsRanged {
			args = append(args, 1, 2)
		}
		if plan := planOf(t.Context(), t, db, form.Messages, args...); strings.Contains(plan, "SCAN messages") || strings.Contains(plan, "SCAN m") {
			t.Errorf("%s: all messages are read for those of a conversation:\n%s", name, plan)
		}
		db.Close()
	}
}

func planOf(ctx context.Context, t *testing.T, db *sqlitefile.DB, query string, args ...any) string {
	t.Helper()
	var steps []string
	err := sqlitefile.Each(ctx, db.DB, func(rows *sql.Rows) error {
		var id, parent, unused int
		var step string
		err := rows.Scan(&id, &parent, &unused, &step)
		steps = append(steps, step)
		return err
	}, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil || len(steps) == 0 {
		t.Fatalf("%q, %v", steps, err)
	}
	return strings.Join(steps, "\n")
}
