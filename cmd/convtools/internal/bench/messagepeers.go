package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// fts indexes the messages with FTS5, by trigrams and by words, the newest after the others.
func (m *messageBench) fts(ctx context.Context, t *table.Table) error {
	if err := keep(m.peer(), func(path string) error { return m.writePeer(ctx, path) }); err != nil {
		return err
	}
	db, err := readOnly(m.peer())
	if err != nil {
		return err
	}
	defer db.Close()
	var seconds float64
	if err := db.QueryRowContext(ctx, "SELECT seconds FROM took").Scan(&seconds); err != nil {
		return err
	}
	info, err := os.Stat(m.peer())
	if err != nil {
		return err
	}
	t.Add(table.Row{
		Name: "beside: FTS5, trigram and porter", Result: fmt.Sprintf("%.2fx of the text", float64(info.Size()-m.text)/float64(m.text)),
		Detail: fmt.Sprintf("%.1f MB/s, when it was made", float64(m.text)/1e6/seconds),
	})
	return nil
}

func (m *messageBench) writePeer(ctx context.Context, path string) error {
	start := time.Now()
	// With a larger table in memory than usual FTS5 merges less often, and is made faster.
	return fill(ctx, path, `CREATE TABLE messages (number INTEGER PRIMARY KEY, time REAL, role TEXT, text TEXT);
		CREATE TABLE took (seconds REAL);
		CREATE VIRTUAL TABLE found USING fts5 (text, tokenize = 'trigram', content = 'messages', content_rowid = 'number');
		INSERT INTO found (found, rank) VALUES ('hashsize', 67108864);
		CREATE VIRTUAL TABLE ranked USING fts5 (text, tokenize = 'porter unicode61', content = 'messages', content_rowid = 'number');
		INSERT INTO ranked (ranked, rank) VALUES ('hashsize', 67108864)`,
		func(exec func(string, ...any) error) error {
			n := 0
			for msg := range m.corpus.All() {
				if n++; n%(m.corpus.Messages/10) == 0 {
					m.progress(fmt.Sprintf("messages: indexing with FTS5: %d", n))
				}
				if err := exec("INSERT INTO messages VALUES (?, ?, ?, ?)", n, float64(msg.Time.UnixMilli())/1000, msg.Role, msg.Text); err != nil {
					return err
				}
				for _, table := range []string{"found", "ranked"} {
					if err := exec("INSERT INTO "+table+" (rowid, text) VALUES (?, ?)", n, msg.Text); err != nil {
						return err
					}
				}
			}
			return exec("INSERT INTO took VALUES (?)", time.Since(start).Seconds())
		})
}

// readOnly opens a database to read it.
func readOnly(path string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?mode=ro")
}

// like runs the statement of the server that ours takes the place of.
func (m *messageBench) like(ctx context.Context, db *sql.DB, query string, dates bool) error {
	limit := min(3*newest, 500)
	if dates {
		limit = 5000
	}
	pattern := "%" + query + "%"
	return read(ctx, db, `SELECT m.role, m.content, m.create_time, c.title FROM messages m INNER JOIN conversations c ON m.conversation_id = c.id
		WHERE (m.content LIKE ? OR c.title LIKE ?) ORDER BY m.create_time DESC LIMIT ?`, pattern, pattern, limit)
}

// match finds the newest messages with FTS5.
func (m *messageBench) match(ctx context.Context, db *sql.DB, query string, class corpus.Class) error {
	phrase := `"` + strings.ReplaceAll(query, `"`, `""`) + `"`
	since, until := 0.0, 1e12
	if !class.Since.IsZero() {
		since, until = float64(class.Since.Unix()), float64(class.Until.Unix())
	}
	return read(ctx, db, `SELECT m.role, m.text, m.time, '' FROM found JOIN messages m ON m.number = found.rowid
		WHERE found MATCH ? AND m.time BETWEEN ? AND ? ORDER BY found.rowid DESC LIMIT ?`, phrase, since, until, newest)
}

func read(ctx context.Context, db *sql.DB, statement string, args ...any) error {
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var role, text, at, title sql.NullString
		if err := rows.Scan(&role, &text, &at, &title); err != nil {
			return err
		}
	}
	return rows.Err()
}
