package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver that convtools reads such databases with

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// Bounds on searching messages.
const (
	searchOfLikeBound = 0.02 // of the statement of the server that ours takes the place of
	searchOfFTSBound  = 1.0
	searchMost        = 20 * time.Millisecond
	indexOfTextBound  = 1.2
	indexSpeedBound   = 25.0 // MB of text a second
	searchStartBound  = 30 * time.Millisecond
	scanOfGrepBound   = 2.0
	searchMemory      = 200_000_000
	newest            = 50 // messages of an answer
)

// likeQueries is how many queries of a class the slow peer is measured with, once each.
const likeQueries = 3

// messages measures searches of messages: through the tool in a server, with an index, beside
// the statement that the server it takes the place of runs, and beside SQLite's FTS5 with
// trigrams, both through the same driver; and the making of the index.
func (b *builds) messages(ctx context.Context, t *table.Table, progress func(string)) (err error) {
	m := &messageBench{builds: b, corpus: corpus.New(b.plan.messages), dir: filepath.Join(b.dir, "messages")}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(m.dir)) }()
	progress(fmt.Sprintf("%d messages: writing", m.corpus.Messages))
	if err := m.write(ctx); err != nil {
		return fmt.Errorf("writing messages: %w", err)
	}
	progress("messages: indexing")
	if err := m.build(ctx, t); err != nil {
		return err
	}
	progress("messages: indexing with FTS5")
	if err := m.fts(ctx, t); err != nil {
		return fmt.Errorf("indexing with FTS5: %w", err)
	}
	progress("messages: searching")
	return m.search(ctx, t)
}

type messageBench struct {
	*builds
	corpus *corpus.Corpus
	dir    string
	text   int64 // bytes
}

func (m *messageBench) database() string { return filepath.Join(m.dir, "messages.db") }
func (m *messageBench) peer() string     { return filepath.Join(m.dir, "fts.db") }
func (m *messageBench) flat() string     { return filepath.Join(m.dir, "messages.txt") }

// asks returns convtools working on the messages, and on nothing else.
func (m *messageBench) asks(args ...string) program {
	home := filepath.Join(m.dir, "home")
	return program{path: m.convtools, noMatch: true, args: args, env: []string{
		"HOME=" + home, "USERPROFILE=" + home, "XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home, "AppData=" + home, "LocalAppData=" + home,
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "GEMINI_CLI_HOME=", "OPENCODE_DB=",
		"ORIGIN_CONVERSATION_DB=", "CONVERSATION_DB=" + m.database(),
	}}
}

// open opens a database to be filled: nothing is lost where that is interrupted.
func open(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=journal_mode(off)&_pragma=synchronous(0)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// fill runs statements, and then inserts what rows hands over in one transaction.
func fill(ctx context.Context, db *sql.DB, schema string, rows func(exec func(statement string, args ...any) error) error) error {
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	prepared := map[string]*sql.Stmt{}
	err = rows(func(statement string, args ...any) error {
		s := prepared[statement]
		if s == nil {
			var err error
			if s, err = tx.PrepareContext(ctx, statement); err != nil {
				return err
			}
			prepared[statement] = s
		}
		_, err := s.ExecContext(ctx, args...)
		return err
	})
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// write writes the messages as a canonical database and as one file of text.
func (m *messageBench) write(ctx context.Context) (err error) {
	f, err := os.Create(m.flat())
	if err != nil {
		return err
	}
	flat := bufio.NewWriter(f)
	db, err := open(m.database())
	if err != nil {
		return err
	}
	err = fill(ctx, db, `CREATE TABLE conversations (id TEXT PRIMARY KEY, create_time TEXT, update_time TEXT, title TEXT);
		CREATE TABLE messages (id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, role TEXT, content TEXT, create_time TEXT, update_time TEXT, position INTEGER NOT NULL);
		CREATE INDEX messages_of ON messages (conversation_id)`,
		func(exec func(string, ...any) error) error {
			n := 0
			for msg := range m.corpus.All() {
				at := fmt.Sprintf("%.3f", float64(msg.Time.UnixMilli())/1000)
				conversation := fmt.Sprintf("conversation-%07d", msg.Conversation)
				if msg.Number == 1 {
					if err := exec("INSERT INTO conversations VALUES (?, ?, ?, ?)", conversation, at, at, m.corpus.Title(msg.Conversation)); err != nil {
						return err
					}
				}
				if err := exec("INSERT INTO messages VALUES (?, ?, ?, ?, ?, NULL, ?)", fmt.Sprintf("message-%09d", n), conversation, msg.Role, msg.Text, at, msg.Number); err != nil {
					return err
				}
				_, _ = flat.WriteString(msg.Text + "\n") // Flush has the error
				m.text += int64(len(msg.Text))
				n++
			}
			return nil
		})
	return errors.Join(err, db.Close(), flat.Flush(), f.Close())
}

// build measures the making of the index, and a search without one.
func (m *messageBench) build(ctx context.Context, t *table.Table) error {
	rare := corpus.Planted("rare", 0)
	scan := m.asks("search", "--limit", "1", rare)
	if m.ripgrep != "" {
		results, err := inTurn(ctx, m.dataDir, min(m.plan.runs, 3), scan, program{path: m.ripgrep, noMatch: true, args: []string{"-i", "--", rare, m.flat()}})
		if err != nil {
			return err
		}
		row, ratio := compare("search: a rare word without an index, in SQLite", "rg -i of one file", results[0], results[1])
		row.AtMost(ratio, scanOfGrepBound)
		t.Add(row)
	}
	index, err := m.once(ctx, m.asks("search", "index"))
	if err != nil {
		return err
	}
	speed := float64(m.text) / 1e6 / index.min().Seconds()
	row := table.Row{Name: "search index: of " + megabytes(m.text) + " of text", Result: fmt.Sprintf("%.1f MB/s", speed), Bound: fmt.Sprintf("at least %g MB/s", indexSpeedBound), Missed: speed < indexSpeedBound}
	row.Detail = fmt.Sprintf("%s; at most %s resident, mapped files too", milliseconds(index.min()), megabytes(index.peak))
	t.Add(row)
	size, err := sizeBelow(filepath.Join(m.dir, "home", "cache"))
	if err != nil {
		return err
	}
	row = table.Row{Name: "search index: side files", Result: fmt.Sprintf("%.2fx of the text", float64(size)/float64(m.text)), Detail: megabytes(size)}
	row.AtMost(float64(size)/float64(m.text), indexOfTextBound)
	t.Add(row)
	first, err := inTurn(ctx, m.dataDir, m.plan.runs, m.asks("search", "--limit", "1", rare), program{path: m.empty})
	if err != nil {
		return err
	}
	took := first[0].min()
	t.Add(table.Row{
		Name: "search: first answer of a fresh process", Result: milliseconds(took), Bound: "at most " + milliseconds(searchStartBound), Missed: took > searchStartBound,
		Detail: fmt.Sprintf("median %s; an empty Go program %s", milliseconds(first[0].median()), milliseconds(first[1].min())),
	})
	return nil
}

func sizeBelow(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}

// fts indexes the messages with FTS5, by trigrams, the newest behind the others.
func (m *messageBench) fts(ctx context.Context, t *table.Table) error {
	db, err := open(m.peer())
	if err != nil {
		return err
	}
	start := time.Now()
	err = fill(ctx, db, `CREATE TABLE messages (number INTEGER PRIMARY KEY, time REAL, role TEXT, text TEXT);
		CREATE VIRTUAL TABLE found USING fts5 (text, tokenize = 'trigram', content = 'messages', content_rowid = 'number')`,
		func(exec func(string, ...any) error) error {
			n := 0
			for msg := range m.corpus.All() {
				n++
				if err := exec("INSERT INTO messages VALUES (?, ?, ?, ?)", n, float64(msg.Time.UnixMilli())/1000, msg.Role, msg.Text); err != nil {
					return err
				}
				if err := exec("INSERT INTO found (rowid, text) VALUES (?, ?)", n, msg.Text); err != nil {
					return err
				}
			}
			return nil
		})
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	took := time.Since(start)
	info, err := os.Stat(m.peer())
	if err != nil {
		return err
	}
	t.Add(table.Row{
		Name: "beside: FTS5 trigram", Result: fmt.Sprintf("%.2fx of the text", float64(info.Size()-m.text)/float64(m.text)),
		Detail: fmt.Sprintf("%.1f MB/s", float64(m.text)/1e6/took.Seconds()),
	})
	return nil
}

// search measures each class of queries.
func (m *messageBench) search(ctx context.Context, t *table.Table) error {
	like, err := sql.Open("sqlite", "file:"+filepath.ToSlash(m.database())+"?mode=ro")
	if err != nil {
		return err
	}
	defer like.Close()
	fts, err := sql.Open("sqlite", "file:"+filepath.ToSlash(m.peer())+"?mode=ro")
	if err != nil {
		return err
	}
	defer fts.Close()
	cmd := m.asks("mcp").command(ctx, m.dataDir)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	client, err := newStreamClient(in, out, request{})
	for _, class := range m.corpus.Classes() {
		if err == nil {
			err = m.searchClass(ctx, t, class, client, like, fts)
		}
	}
	if err := errors.Join(err, in.Close(), cmd.Wait()); err != nil {
		return err
	}
	peak := peakMemory(cmd.ProcessState)
	t.Add(table.Row{Name: "search: peak memory of the server", Result: megabytes(peak), Detail: "with what is mapped of the index; without that at most " + megabytes(searchMemory)})
	return nil
}

func (m *messageBench) searchClass(ctx context.Context, t *table.Table, class corpus.Class, client *streamClient, like, fts *sql.DB) error {
	var ours, likes, found []time.Duration
	most := time.Duration(0)
	for i, query := range class.Queries {
		arguments := fmt.Sprintf(`{"query":%s`, quoted(query))
		if !class.Since.IsZero() {
			arguments += fmt.Sprintf(`,"start_date":%q,"end_date":%q`, class.Since.Format(time.RFC3339), class.Until.Format(time.RFC3339))
		}
		client.of = toolCall("conversation_search", arguments+"}")
		best, err := fastest(m.plan.runs, func() error {
			_, err := client.text()
			return err
		})
		if err != nil {
			return err
		}
		ours, most = append(ours, best), max(most, best)
		if i < likeQueries {
			took, err := fastest(1, func() error { return m.like(ctx, like, query, !class.Since.IsZero()) })
			if err != nil {
				return err
			}
			likes = append(likes, took)
		}
		if len([]rune(query)) >= 3 {
			took, err := fastest(min(m.plan.runs, 3), func() error { return m.match(ctx, fts, query, class) })
			if err != nil {
				return err
			}
			found = append(found, took)
		}
	}
	for _, times := range [][]time.Duration{ours, likes, found} {
		slices.Sort(times)
	}
	median := func(times []time.Duration) time.Duration { return times[len(times)/2] }
	ratioOfLike := ratio(median(ours), median(likes))
	row := table.Row{
		Name: "search: " + class.Name, Result: fmt.Sprintf("%.4fx of the statement with LIKE", ratioOfLike),
		Detail: fmt.Sprintf("median %s, slowest %s; LIKE %s", milliseconds(median(ours)), milliseconds(most), milliseconds(median(likes))),
	}
	row.AtMost(ratioOfLike, searchOfLikeBound)
	row.Missed = row.Missed || most > searchMost
	row.Bound += ", " + milliseconds(searchMost)
	t.Add(row)
	if len(found) == 0 {
		return nil
	}
	ratioOfFTS := ratio(median(ours), median(found))
	row = table.Row{Name: "search: " + class.Name + ", 3 characters and more", Result: fmt.Sprintf("%.2fx of FTS5", ratioOfFTS), Detail: "FTS5 " + milliseconds(median(found))}
	row.AtMost(ratioOfFTS, searchOfFTSBound)
	t.Add(row)
	return nil
}

// fastest returns what the fastest of n runs takes.
func fastest(n int, run func() error) (best time.Duration, err error) {
	for i := range n {
		start := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		if took := time.Since(start); i == 0 || took < best {
			best = took
		}
	}
	return best, nil
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
