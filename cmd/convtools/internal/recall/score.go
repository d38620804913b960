package main

import (
	"context"
	"database/sql"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	_ "modernc.org/sqlite" // the peer

	"github.com/convtools/convtools/cmd/convtools/internal/mcpclient"
)

// score counts the questions whose answers have the evidence.
type score struct {
	questions, withEvidence int // all questions, and those whose evidence is known
	all, some               int // all or some evidence is in the answer
	first, five             int // a right session is the first one, or among the first five
	chars, longest          int // of all answers, and of the longest one
	times                   []time.Duration
}

// answer is the sessions and messages that an engine answers with, best first.
type answer struct {
	sessions []string
	messages []message
	chars    int
}

// addAnswer counts the answer to a question. took is the time until the answer came.
func (s *score) addAnswer(q publicQuestion, a answer, took time.Duration) {
	s.questions++
	s.chars += a.chars
	s.longest = max(s.longest, a.chars)
	s.times = append(s.times, took)
	isRight := func(session string) bool { return slices.Contains(q.sessions, session) }
	if slices.ContainsFunc(a.sessions[:min(1, len(a.sessions))], isRight) {
		s.first++
	}
	if slices.ContainsFunc(a.sessions[:min(5, len(a.sessions))], isRight) {
		s.five++
	}
	if len(q.evidence) == 0 {
		return
	}
	s.withEvidence++
	found := 0
	for _, e := range q.evidence {
		isPart := func(m message) bool { return m.session == e.session && strings.Contains(e.text, m.text) } // of the evidence e
		if slices.ContainsFunc(a.messages, isPart) {
			found++
		}
	}
	if found == len(q.evidence) {
		s.all++
	}
	if found > 0 {
		s.some++
	}
}

// write prints the score of the named engine as a line.
func (s *score) write(w io.Writer, name string) {
	percent := func(n, total int) string {
		if total == 0 {
			return "     –"
		}
		return fmt.Sprintf("%5.1f%%", 100*float64(n)/float64(total))
	}
	fmt.Fprintf(w, "  %-28s %s  %s  %s  %s  %6d  %6d  %6.1f ms\n", name, percent(s.all, s.withEvidence), percent(s.some, s.withEvidence),
		percent(s.first, s.questions), percent(s.five, s.questions), s.chars/max(s.questions, 1), s.longest, median(s.times).Seconds()*1000)
}

// median returns the median of times, which it sorts; 0 if there are none.
func median(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// engine answers the questions of a corpus.
type engine interface {
	ask(ctx context.Context, question string) (answer, error)
	Close() error
}

// measureCorpora asks the questions of the public corpora that the options name. It asks each question as it is, in one
// call of conversation_recall and of FTS5, and prints the scores of both.
func measureCorpora(ctx context.Context, convtools string, o options, scratch string, stdout io.Writer) error {
	for _, source := range []struct {
		name, dir string
		load      func(ctx context.Context, dir, scratch string) ([]corpus, error)
	}{{"locomo", o.locomo, loadLoCoMo}, {"sessions", o.sessions, loadSessions}} {
		if source.dir == "" {
			continue
		}
		corpora, err := source.load(ctx, source.dir, filepath.Join(scratch, source.name))
		if err != nil {
			return err
		}
		var ours, peers score
		for _, c := range corpora {
			err1 := c.measure(ctx, &ours, func() (engine, error) {
				session, err := serve(ctx, convtools, c.Project, c.Dir)
				return recallEngine{session}, err
			})
			err2 := c.measure(ctx, &peers, func() (engine, error) { return openFTS(ctx, c) })
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
		}
		fmt.Fprintf(stdout, "%s: %d questions\n  %-28s %6s  %6s  %6s  %6s  %6s  %6s  %9s\n",
			source.name, ours.questions, "", "all", "some", "first", "five", "chars", "most", "median")
		ours.write(stdout, "conversation_recall")
		peers.write(stdout, "SQLite FTS5, porter, bm25")
	}
	return nil
}

// measure opens an engine, asks it the questions of a corpus, and adds the answers to a score.
func (c *corpus) measure(ctx context.Context, s *score, open func() (engine, error)) (err error) {
	e, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	for _, q := range c.questions {
		start := time.Now()
		a, err := e.ask(ctx, q.asked)
		if err != nil {
			return fmt.Errorf("%q: %w", q.asked, err)
		}
		s.addAnswer(q, a, time.Since(start))
	}
	return nil
}

// recallEngine is conversation_recall.
type recallEngine struct{ *mcpclient.Session }

// ask calls conversation_recall.
func (e recallEngine) ask(ctx context.Context, question string) (answer, error) {
	page, err := e.CallText(ctx, "conversation_recall", map[string]any{"query": question})
	if err != nil {
		return answer{}, err
	}
	return parseRecall(page)
}

// parseRecall returns the sessions and passages in an answer of conversation_recall.
func parseRecall(page string) (answer, error) {
	var recall struct {
		Conversations []struct {
			ID       string   `xml:"id,attr"`
			Passages []string `xml:"passage"`
		} `xml:"conversation"`
	}
	if err := xml.Unmarshal([]byte(page), &recall); err != nil {
		return answer{}, fmt.Errorf("%w: %s", err, page)
	}
	a := answer{chars: utf8.RuneCountInString(page)}
	for _, c := range recall.Conversations {
		session := strings.TrimPrefix(c.ID, "claude-")
		a.sessions = append(a.sessions, session)
		for _, passage := range c.Passages {
			text := strings.Trim(strings.TrimSpace(passage), "…")
			a.messages = append(a.messages, message{session, strings.TrimSpace(text)})
		}
	}
	return a, nil
}

// ftsEngine is a table of SQLite FTS5 in memory.
type ftsEngine struct{ *sql.DB }

// openFTS returns an FTS5 engine with all messages of a corpus.
func openFTS(ctx context.Context, c corpus) (engine, error) {
	messages, err := c.messages()
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(ctx, `CREATE VIRTUAL TABLE texts USING fts5(session UNINDEXED, text, tokenize = 'porter unicode61'); BEGIN`)
	for _, m := range messages {
		if err == nil {
			_, err = db.ExecContext(ctx, `INSERT INTO texts VALUES (?, ?)`, m.session, m.text)
		}
	}
	if err == nil {
		_, err = db.ExecContext(ctx, `COMMIT`)
	}
	return ftsEngine{db}, err
}

// ask returns the twenty messages that have words of the question and rank best.
func (e ftsEngine) ask(ctx context.Context, question string) (a answer, err error) {
	words := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	rows, err := e.QueryContext(ctx, `SELECT session, text FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 20`,
		`"`+strings.Join(words, `" OR "`)+`"`)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var m message
		if err := rows.Scan(&m.session, &m.text); err != nil {
			return a, err
		}
		if !slices.Contains(a.sessions, m.session) {
			a.sessions = append(a.sessions, m.session)
		}
		a.messages = append(a.messages, m)
		a.chars += utf8.RuneCountInString(m.text)
	}
	return a, rows.Err()
}
