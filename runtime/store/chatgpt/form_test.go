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

// The messages of a conversation are found without reading those of others, where there is an index for that, as in
// what the exporter writes.
func TestMessagesAreNotSearchedFor(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"an index": "CREATE TABLE messages (id TEXT PRIMARY KEY, conversation_id, role, content, create_time, position); CREATE INDEX i ON messages (conversation_id)",
		"a key":    "CREATE TABLE messages (conversation_id, position, content, PRIMARY KEY (conversation_id, position)) WITHOUT ROWID",
	} {
		path := filepath.Join(t.TempDir(), "a.db")
		writer, err := sql.Open("sqlite", (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}).String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writer.ExecContext(t.Context(), schema+"; CREATE TABLE conversations (id TEXT PRIMARY KEY, title)"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		writer.Close()
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)); err != nil { // else it may be changing
			t.Fatal(err)
		}
		db, err := sqlitefile.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		q, err := queries(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		if plan := planOf(t.Context(), t, db, q.Messages, "c"); strings.Contains(plan, "SCAN messages") {
			t.Errorf("%s: all messages are read for those of a conversation:\n%s", name, plan)
		}
		db.Close()
	}
}

func planOf(ctx context.Context, t *testing.T, db *sqlitefile.DB, query string, args ...any) string {
	t.Helper()
	var steps []string
	err := db.Each(ctx, func(rows *sql.Rows) error {
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
