package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	_ "modernc.org/sqlite" // the driver of convtools

	"github.com/convtools/convtools/cmd/convtools/internal/mcpclient"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/conversations/excerpt"
)

// The bounds of the index of messages and of searches with it.
const (
	indexOfTextBound = 1.4
	indexSpeedBound  = 25.0        // MB of text a second
	indexMemoryBound = 250_000_000 // bytes
	searchBound      = 20 * time.Millisecond
	searchOfFTSBound = 1.5
	recallBound      = 60 * time.Millisecond
	recallOfFTSBound = 2.0
)

// The database of convtools.
const (
	schema = `
CREATE TABLE conversations (id TEXT PRIMARY KEY, create_time TEXT, update_time TEXT, title TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, role TEXT, content TEXT, create_time TEXT, update_time TEXT, position INTEGER NOT NULL);
CREATE INDEX messages_of ON messages (conversation_id);
BEGIN`
	insertConversation = `INSERT INTO conversations VALUES (?, ?, ?, ?)`
	insertMessage      = `INSERT INTO messages VALUES (?, ?, ?, ?, ?, NULL, ?)`
)

// The database of FTS5, with the same messages. A larger table in memory makes indexing faster.
const (
	peerSchema = `
ATTACH ? AS convtools;
CREATE TABLE messages AS SELECT role, content AS text, create_time AS time FROM convtools.messages ORDER BY rowid;
CREATE VIRTUAL TABLE literal USING fts5 (text, tokenize = 'trigram', content = 'messages');
INSERT INTO literal (literal, rank) VALUES ('hashsize', 67108864);
INSERT INTO literal (literal) VALUES ('rebuild');
CREATE VIRTUAL TABLE ranked USING fts5 (text, tokenize = 'porter unicode61', content = 'messages');
INSERT INTO ranked (ranked, rank) VALUES ('hashsize', 67108864);
INSERT INTO ranked (ranked) VALUES ('rebuild')`
	// The last column is the number of matches, which an answer of conversation_search has too: up to 3,000.
	peerSearch = `SELECT m.role, m.text, m.time, (SELECT count(*) FROM (SELECT 1 FROM literal WHERE literal MATCH ?1 LIMIT 3000))
FROM literal JOIN messages m ON m.rowid = literal.rowid
WHERE literal MATCH ?1 AND m.time BETWEEN ?2 AND ?3 ORDER BY literal.rowid DESC LIMIT 50`
	peerRecall = `SELECT m.role, m.text, m.time, 0 FROM ranked JOIN messages m ON m.rowid = ranked.rowid
WHERE ranked MATCH ? ORDER BY bm25(ranked) LIMIT 20`
)

// messages measures indexing messages of a database, and searches with the index, beside FTS5 with the same messages.
func (b *bench) messages(ctx context.Context) (err error) {
	dir := filepath.Join(b.dir, "messages")
	home, database := b.home("messages"), filepath.Join(dir, "messages.db")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	corpus := newCorpus()
	text, err := writeMessages(ctx, database, corpus.messages(0, b.size.messages))
	if err != nil {
		return fmt.Errorf("writing messages: %w", err)
	}
	b.progress("messages: indexing")
	convtools := program{path: b.convtools, home: home, env: []string{"CONVERSATION_DB=" + database}}
	if err := b.index(ctx, convtools, text); err != nil {
		return err
	}
	b.progress("messages: indexing with FTS5")
	peer, err := openDatabase(filepath.Join(dir, "fts.db"))
	if err != nil {
		return err
	}
	defer peer.Close() //nolint:errcheck // only measured
	if _, err := peer.ExecContext(ctx, peerSchema, database); err != nil {
		return err
	}
	b.progress("messages: searching")
	convtools.args = []string{"mcp"}
	server, err := mcpclient.Start(ctx, convtools.command(ctx))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	env := map[string]string{}
	for _, entry := range convtools.command(ctx).Env {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	getenv := func(name string) string { return env[name] }
	library, err := conversations.Open(conversations.Options{AllProjects: true, Sources: []string{"chatgpt"}, Getenv: getenv, Indexes: conversations.OpenIndexes(getenv), HideSecrets: true})
	if err != nil {
		return err
	}
	defer library.Close()
	s := search{b, server, peer, library}
	for _, class := range corpus.classes() {
		if err := s.class(ctx, class); err != nil {
			return err
		}
	}
	return s.recall(ctx, corpus)
}

// openDatabase opens a database that need not survive an interruption.
func openDatabase(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=journal_mode(off)&_pragma=synchronous(0)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// writeMessages writes a database of messages for convtools, and returns the number of bytes of their text.
func writeMessages(ctx context.Context, path string, messages iter.Seq[message]) (text int64, err error) {
	db, err := openDatabase(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, schema)          // creates the tables, and begins a transaction
	exec := func(statement string, args ...any) { // does nothing after an error
		if err == nil {
			_, err = db.ExecContext(ctx, statement, args...)
		}
	}
	for m := range messages {
		sent := seconds(m.time)
		conversation := fmt.Sprintf("conversation-%07d", m.conversation)
		if m.number == 1 {
			title, _, _ := strings.Cut(m.text, ".")
			exec(insertConversation, conversation, sent, sent, title)
		}
		exec(insertMessage, fmt.Sprintf("%s-%02d", conversation, m.number), conversation, m.role, m.text, sent, m.number)
		text += int64(len(m.text))
		if err != nil {
			return 0, err
		}
	}
	exec("COMMIT") // schema has BEGIN
	return text, err
}

// seconds returns a time as the database has it: in seconds since 1970.
func seconds(t time.Time) string { return fmt.Sprintf("%.3f", float64(t.UnixMilli())/1000) }

// index measures the time of indexing, its memory and the size of the index. text is
// the number of bytes of text that are indexed.
func (b *bench) index(ctx context.Context, convtools program, text int64) error {
	convtools.args = []string{"search", "index"}
	cmd := convtools.command(ctx)
	forgetPeak()
	took, err := timed(cmd.Run)()
	if err != nil {
		return fmt.Errorf("indexing: %w", err)
	}
	peak := peakMemory(cmd.ProcessState)
	speed := float64(text) / 1e6 / took.Seconds()
	b.table.Add(table.Row{
		Name: "search index: of " + megabytes(text) + " of text", Result: fmt.Sprintf("%.1f MB/s", speed),
		Bound:  fmt.Sprintf("at least %g MB/s, at most %s resident", indexSpeedBound, megabytes(indexMemoryBound)),
		Missed: speed < indexSpeedBound || peak > indexMemoryBound,
		Detail: fmt.Sprintf("%s, at most %s resident", milliseconds(took), megabytes(peak)),
	})
	size, err := sizeOf(filepath.Join(convtools.home, "cache"))
	if err != nil {
		return err
	}
	share := float64(size) / float64(text)
	row := table.Row{Name: "search index: side files", Result: fmt.Sprintf("%.3fx of the text", share), Detail: megabytes(size)}
	row.AtMost(share, indexOfTextBound)
	b.table.Add(row)
	return nil
}

// sizeOf returns the bytes of all files below a directory.
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

// search measures searches by a server and by a library, beside those of FTS5.
type search struct {
	*bench
	server  *mcpclient.Session
	peer    *sql.DB
	library *conversations.Library
}

// class measures a class of literal queries. FTS5 can answer only queries of three
// characters or more, so only these are compared.
func (s search) class(ctx context.Context, class class) error {
	arguments := map[string]any{}
	since, until := "0", "9" // as texts, before and after all times of the database
	if !class.since.IsZero() {
		arguments["start_date"], arguments["end_date"] = class.since.Format(time.RFC3339), class.until.Format(time.RFC3339)
		since, until = seconds(class.since), seconds(class.until)
	}
	var all times                   // of the server, for every query
	var ours, library, theirs times // for the queries that FTS5 can answer
	for _, query := range class.queries {
		arguments["query"] = query
		runs := []run{calls(ctx, s.server, "conversation_search", arguments)}
		if len([]rune(query)) >= 3 {
			runs = append(runs, s.libraryRun(ctx, query, class), s.peerRun(ctx, peerSearch, `"`+query+`"`, since, until))
		}
		results, err := inTurn(s.size.runs, runs...)
		if err != nil {
			return err
		}
		all = append(all, results[0].fastest())
		if len(results) > 1 {
			ours, library, theirs = append(ours, results[0].fastest()), append(library, results[1].fastest()), append(theirs, results[2].fastest())
		}
	}
	s.table.Add(within("search: "+class.name, all.slowest(), searchBound, "the slowest; median "+milliseconds(all.median())))
	if len(theirs) > 0 {
		// A call of the server also encodes the answer as JSON and sends it, which FTS5 does not: only the library has the bound.
		s.table.Add(compared("search: "+class.name, "FTS5", ours.median(), theirs.median(), 0))
		s.table.Add(compared("search: "+class.name+", in one process", "FTS5", library.median(), theirs.median(), searchOfFTSBound))
	}
	return nil
}

// libraryRun returns a run that searches for query between the times of class. It runs in this process, like the search
// with FTS5, and also reads the texts of the messages found, because conversation_search shows them.
func (s search) libraryRun(ctx context.Context, query string, class class) run {
	q := conversations.SearchQuery{Pattern: excerpt.Literal(query, true), Since: class.since, Until: class.until, Order: conversations.Newest, Limit: 50}
	q.Sources = []string{"chatgpt"}
	return timed(func() error {
		found, err := s.library.Search(ctx, q)
		if err != nil {
			return err
		}
		for i := range found.Hits {
			_, readErr := found.Read(&found.Hits[i])
			err = errors.Join(err, readErr)
		}
		return err
	})
}

// recall measures conversation_recall beside FTS5, with the first six words of some messages, spread over the corpus.
func (s search) recall(ctx context.Context, corpus *corpus) error {
	const words = 6
	var ours, theirs times
	n, every := 0, s.size.messages/perClass
	for m := range corpus.messages(0, s.size.messages) {
		n++
		if n%every > 0 {
			continue
		}
		question := strings.FieldsFunc(m.text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		question = question[:min(words, len(question))]
		results, err := inTurn(s.size.runs,
			calls(ctx, s.server, "conversation_recall", map[string]any{"query": strings.Join(question, " "), "sources": []string{"chatgpt"}}),
			s.peerRun(ctx, peerRecall, `"`+strings.Join(question, `" OR "`)+`"`),
		)
		if err != nil {
			return err
		}
		ours, theirs = append(ours, results[0].fastest()), append(theirs, results[1].fastest())
	}
	s.table.Add(within("recall: six words", ours.median(), recallBound, "median; the slowest "+milliseconds(ours.slowest())))
	s.table.Add(compared("recall: six words", "FTS5 with bm25", ours.median(), theirs.median(), recallOfFTSBound))
	return nil
}

// peerRun returns a run of a query of FTS5, which reads all rows of the result.
func (s search) peerRun(ctx context.Context, query string, args ...any) run {
	return timed(func() error {
		rows, err := s.peer.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var role, text, sent sql.NullString
			var matches int
			if err := rows.Scan(&role, &text, &sent, &matches); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}
