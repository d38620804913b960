package main

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite" // the driver that convtools reads such databases with

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// messageBench measures searches of the messages of a corpus, which are in a canonical database and
// in one file of text.
type messageBench struct {
	*builds
	corpus   *corpus.Corpus
	dir      string // for what this run writes
	kept     string // for what another run can use again
	text     int64  // bytes
	progress func(string)
}

// messages measures searches of messages, and the making of what they need.
func (b *builds) messages(ctx context.Context, t *table.Table, progress func(string)) (err error) {
	m := &messageBench{builds: b, corpus: corpus.New(b.plan.messages), dir: filepath.Join(b.dir, "messages"), progress: progress}
	m.kept = filepath.Join(cmp.Or(b.plan.keep, m.dir), strconv.Itoa(b.plan.messages))
	for _, dir := range []string{m.dir, m.kept} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making a directory: %w", err)
		}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(m.dir)) }()
	for _, part := range []struct {
		name    string
		measure func(context.Context, *table.Table) error
	}{
		{fmt.Sprintf("writing %d", m.corpus.Messages), m.write},
		{"indexing", m.index},
		{"indexing with FTS5", m.fts},
		{"searching", m.search},
		{"recall", m.recall},
	} {
		progress("messages: " + part.name)
		if err := part.measure(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

func (m *messageBench) database() string { return filepath.Join(m.kept, "messages.db") }
func (m *messageBench) peer() string     { return filepath.Join(m.kept, "fts.db") }
func (m *messageBench) flat() string     { return filepath.Join(m.kept, "messages.txt") }

// asks returns convtools working on the messages, and on nothing else.
func (m *messageBench) asks(args ...string) program {
	home := filepath.Join(m.dir, "home")
	return program{path: m.convtools, noMatch: true, args: args, env: []string{
		"HOME=" + home, "USERPROFILE=" + home, "XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home, "AppData=" + home, "LocalAppData=" + home,
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "GEMINI_CLI_HOME=", "OPENCODE_DB=",
		"ORIGIN_CONVERSATION_DB=", "CONVERSATION_DB=" + m.database(),
	}}
}

// keep makes a file, unless an earlier run did. It is there once it is whole.
func keep(path string, make func(path string) error) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	const part = ".part"
	if err := os.RemoveAll(path + part); err != nil {
		return err
	}
	if err := make(path + part); err != nil {
		return err
	}
	return os.Rename(path+part, path)
}

// fill makes a database: it runs statements, and then inserts what rows hands over in one
// transaction.
func fill(ctx context.Context, path, schema string, rows func(exec func(statement string, args ...any) error) error) error {
	// Nothing is lost where this is interrupted.
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=journal_mode(off)&_pragma=synchronous(0)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	return errors.Join(insert(ctx, db, schema, rows), db.Close())
}

func insert(ctx context.Context, db *sql.DB, schema string, rows func(exec func(statement string, args ...any) error) error) error {
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
func (m *messageBench) write(ctx context.Context, _ *table.Table) error {
	err := keep(m.flat(), func(path string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		flat := bufio.NewWriter(f)
		for msg := range m.corpus.All() {
			_, _ = flat.WriteString(msg.Text + "\n") // Flush has the error
		}
		return errors.Join(flat.Flush(), f.Close())
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(m.flat())
	if err != nil {
		return err
	}
	m.text = info.Size() - int64(m.corpus.Messages)
	return keep(m.database(), func(path string) error { return m.writeDatabase(ctx, path) })
}

func (m *messageBench) writeDatabase(ctx context.Context, path string) error {
	return fill(ctx, path, `CREATE TABLE conversations (id TEXT PRIMARY KEY, create_time TEXT, update_time TEXT, title TEXT);
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
				n++
			}
			return nil
		})
}
