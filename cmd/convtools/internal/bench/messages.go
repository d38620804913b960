package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	_ "modernc.org/sqlite" // the driver that convtools reads such databases with

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// Bounds on the index of messages and on searches with it.
const (
	indexOfTextBound = 1.4
	indexSpeedBound  = 25.0 // MB of text a second
	indexMemoryBound = 250_000_000
	searchOfFTSBound = 1.5
	searchMost       = 20 * time.Millisecond
	recallOfFTSBound = 2.0
	recallMost       = 60 * time.Millisecond
	newest           = 50 // messages of an answer
	recallQueries    = 15
)

// messageBench measures searches of the messages of a corpus, which are in a canonical
// database for convtools, and in one with FTS5.
type messageBench struct {
	*bench
	corpus *corpus.Corpus
	text   int64 // bytes
}

// messages measures the making of the index, and searches with it.
func (b *bench) messages(ctx context.Context) error {
	m := &messageBench{bench: b, corpus: corpus.New(b.amount.messages)}
	for msg := range m.corpus.All() {
		m.text += int64(len(msg.Text))
	}
	b.progress("messages: writing %d", b.amount.messages)
	if err := m.writeDatabase(ctx); err != nil {
		return err
	}
	b.progress("messages: indexing with FTS5")
	if err := m.writePeer(ctx); err != nil {
		return err
	}
	b.progress("messages: indexing")
	if err := m.index(ctx); err != nil {
		return err
	}
	b.progress("messages: searching")
	return m.search(ctx)
}

func (m *messageBench) database() string { return filepath.Join(m.dir, "messages.db") }
func (m *messageBench) peer() string     { return filepath.Join(m.dir, "fts.db") }

func (m *messageBench) asks(args ...string) program {
	return program{path: m.convtools, noMatch: true, args: args, env: m.home("messages", "CONVERSATION_DB="+m.database())}
}

// fill makes a database: it runs statements, and then inserts rows in one transaction.
func fill(ctx context.Context, path, schema string, rows func(exec func(statement string, args ...any)) error) (err error) {
	// Nothing is lost if this is interrupted.
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=journal_mode(off)&_pragma=synchronous(0)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	prepared := map[string]*sql.Stmt{}
	var failed error
	err = rows(func(statement string, args ...any) {
		if failed != nil {
			return
		}
		if prepared[statement] == nil {
			if prepared[statement], failed = tx.PrepareContext(ctx, statement); failed != nil {
				return
			}
		}
		_, failed = prepared[statement].ExecContext(ctx, args...)
	})
	if err := errors.Join(err, failed); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (m *messageBench) writeDatabase(ctx context.Context) error {
	return fill(ctx, m.database(), `CREATE TABLE conversations (id TEXT PRIMARY KEY, create_time TEXT, update_time TEXT, title TEXT);
		CREATE TABLE messages (id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, role TEXT, content TEXT, create_time TEXT, update_time TEXT, position INTEGER NOT NULL);
		CREATE INDEX messages_of ON messages (conversation_id)`,
		func(exec func(string, ...any)) error {
			n := 0
			for msg := range m.corpus.All() {
				at := fmt.Sprintf("%.3f", float64(msg.Time.UnixMilli())/1000)
				conversation := fmt.Sprintf("conversation-%07d", msg.Conversation)
				if msg.Number == 1 {
					exec("INSERT INTO conversations VALUES (?, ?, ?, ?)", conversation, at, at, m.corpus.Title(msg.Conversation))
				}
				exec("INSERT INTO messages VALUES (?, ?, ?, ?, ?, NULL, ?)", fmt.Sprintf("message-%09d", n), conversation, msg.Role, msg.Text, at, msg.Number)
				n++
			}
			return ctx.Err()
		})
}

// writePeer indexes the messages with FTS5, by trigrams and by stems of words, the newest last.
func (m *messageBench) writePeer(ctx context.Context) error {
	start := time.Now()
	// With a larger table in memory than usual FTS5 merges less often, and is made faster.
	return fill(ctx, m.peer(), `CREATE TABLE messages (number INTEGER PRIMARY KEY, time REAL, role TEXT, text TEXT);
		CREATE TABLE took (seconds REAL);
		CREATE VIRTUAL TABLE found USING fts5 (text, tokenize = 'trigram', content = 'messages', content_rowid = 'number');
		INSERT INTO found (found, rank) VALUES ('hashsize', 67108864);
		CREATE VIRTUAL TABLE ranked USING fts5 (text, tokenize = 'porter unicode61', content = 'messages', content_rowid = 'number');
		INSERT INTO ranked (ranked, rank) VALUES ('hashsize', 67108864)`,
		func(exec func(string, ...any)) error {
			n := 0
			for msg := range m.corpus.All() {
				n++
				exec("INSERT INTO messages VALUES (?, ?, ?, ?)", n, float64(msg.Time.UnixMilli())/1000, msg.Role, msg.Text)
				exec("INSERT INTO found (rowid, text) VALUES (?, ?)", n, msg.Text)
				exec("INSERT INTO ranked (rowid, text) VALUES (?, ?)", n, msg.Text)
			}
			exec("INSERT INTO took VALUES (?)", time.Since(start).Seconds())
			return ctx.Err()
		})
}

// index measures the making of the index, beside that of FTS5, and the size of both.
func (m *messageBench) index(ctx context.Context) error {
	one, err := once(ctx, m.asks("search", "index"))
	if err != nil {
		return err
	}
	speed := float64(m.text) / 1e6 / one.min().Seconds()
	m.table.Add(table.Row{
		Name: "search index: of " + megabytes(m.text) + " of text", Result: fmt.Sprintf("%.1f MB/s", speed),
		Bound:  fmt.Sprintf("at least %g MB/s, at most %s resident", indexSpeedBound, megabytes(indexMemoryBound)),
		Missed: speed < indexSpeedBound || one.peak > indexMemoryBound,
		Detail: fmt.Sprintf("%s, %s of processors, at most %s resident", milliseconds(one.min()), milliseconds(one.cpu), megabytes(one.peak)),
	})
	size, err := sizeOf(filepath.Join(m.dir, "homes", "messages", "cache"))
	if err != nil {
		return err
	}
	share := float64(size) / float64(m.text)
	row := table.Row{Name: "search index: side files", Result: fmt.Sprintf("%.3fx of the text", share), Detail: megabytes(size)}
	row.AtMost(share, indexOfTextBound)
	m.table.Add(row)
	db, err := readOnly(m.peer())
	if err != nil {
		return err
	}
	defer db.Close()
	var seconds float64
	if err := db.QueryRowContext(ctx, "SELECT seconds FROM took").Scan(&seconds); err != nil {
		return err
	}
	if size, err = sizeOf(m.peer()); err != nil {
		return err
	}
	m.table.Add(table.Row{
		Name: "beside: FTS5, trigram and porter", Result: fmt.Sprintf("%.1f MB/s", float64(m.text)/1e6/seconds),
		Detail: fmt.Sprintf("%.2fx of the text", float64(size-m.text)/float64(m.text)),
	})
	return nil
}

// sizeOf returns the bytes of a file, or of all files below a directory.
func sizeOf(root string) (size int64, err error) {
	err = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// readOnly opens a database to read it.
func readOnly(path string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?mode=ro")
}

// search measures each class of queries, and questions, through the tools in a server,
// beside FTS5 through the driver that convtools has.
func (m *messageBench) search(ctx context.Context) (err error) {
	db, err := readOnly(m.peer())
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := serve(ctx, m.asks("mcp"))
	if err != nil {
		return err
	}
	for _, class := range m.corpus.Classes() {
		if err := m.searchClass(ctx, s, db, class); err != nil {
			return errors.Join(err, s.kill())
		}
	}
	if err := m.recall(ctx, s, db); err != nil {
		return errors.Join(err, s.kill())
	}
	return s.end()
}

func (m *messageBench) searchClass(ctx context.Context, s *server, db *sql.DB, class corpus.Class) error {
	var ours, long, theirs measured // long are ours of the queries that FTS5 can answer
	since, until, dates := 0.0, 1e12, ""
	if !class.Since.IsZero() {
		since, until = float64(class.Since.Unix()), float64(class.Until.Unix())
		dates = fmt.Sprintf(`,"start_date":%q,"end_date":%q`, class.Since.Format(time.RFC3339), class.Until.Format(time.RFC3339))
	}
	for _, query := range class.Queries {
		took, err := s.fastest(m.amount.runs, toolCall("conversation_search", `{"query":`+quoted(query)+dates+`}`))
		if err != nil {
			return err
		}
		ours.add(took, nil)
		best := took
		if len([]rune(query)) < 3 { // FTS5 has no trigram to look for
			continue
		}
		phrase := `"` + strings.ReplaceAll(query, `"`, `""`) + `"`
		took, err = fastest(min(m.amount.runs, 3), func() error {
			return readAll(ctx, db, `SELECT m.role, m.text, m.time FROM found JOIN messages m ON m.number = found.rowid
				WHERE found MATCH ? AND m.time BETWEEN ? AND ? ORDER BY found.rowid DESC LIMIT ?`, phrase, since, until, newest)
		})
		if err != nil {
			return err
		}
		long.add(best, nil)
		theirs.add(took, nil)
	}
	m.table.Add(within("search: "+class.Name, ours.max(), searchMost, "the slowest; median "+milliseconds(ours.median())))
	if len(theirs.times) > 0 {
		m.table.Add(beside("search: "+class.Name, "FTS5", long, theirs, searchOfFTSBound))
	}
	return nil
}

// beside returns a row with the median of ours beside that of a peer.
func beside(name, peer string, ours, theirs measured, bound float64) table.Row {
	ratio := ratio(ours.median(), theirs.median())
	row := table.Row{
		Name: name, Result: fmt.Sprintf("%.2fx of %s", ratio, peer),
		Detail: fmt.Sprintf("median of %d %s; %s %s", len(ours.times), milliseconds(ours.median()), peer, milliseconds(theirs.median())),
	}
	row.AtMost(ratio, bound)
	return row
}

// recall measures questions of six words each, which follow each other in a message.
func (m *messageBench) recall(ctx context.Context, s *server, db *sql.DB) error {
	const words = 6
	var ours, theirs measured
	n := 0
	for msg := range m.corpus.All() {
		if n++; n%(m.corpus.Messages/recallQueries) != 0 {
			continue
		}
		fields := strings.FieldsFunc(msg.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if len(fields) < words {
			continue
		}
		question := strings.Join(fields[:words], " ")
		took, err := s.fastest(m.amount.runs, toolCall("conversation_recall", `{"query":`+quoted(question)+`,"sources":["chatgpt"]}`))
		if err != nil {
			return err
		}
		ours.add(took, nil)
		took, err = fastest(min(m.amount.runs, 3), func() error {
			return readAll(ctx, db, `SELECT m.role, m.text, m.time FROM ranked JOIN messages m ON m.number = ranked.rowid
				WHERE ranked MATCH ? ORDER BY bm25(ranked) LIMIT 20`, `"`+strings.Join(fields[:words], `" OR "`)+`"`)
		})
		if err != nil {
			return err
		}
		theirs.add(took, nil)
	}
	m.table.Add(within("recall: six words", ours.median(), recallMost, "median; the slowest "+milliseconds(ours.max())))
	m.table.Add(beside("recall: six words", "FTS5 with bm25", ours, theirs, recallOfFTSBound))
	return nil
}

func readAll(ctx context.Context, db *sql.DB, statement string, args ...any) error {
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var role, text, at sql.NullString
		if err := rows.Scan(&role, &text, &at); err != nil {
			return err
		}
	}
	return rows.Err()
}

// quoted returns a text as a JSON string, with < and > as they are.
func quoted(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}
