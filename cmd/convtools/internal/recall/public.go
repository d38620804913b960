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
)

// score is how often questions found what answers them.
type score struct {
	questions, withEvidence int
	all, some               int // of the evidence was on the page
	first, five             int // the right session was the first one, or among five
	chars                   int
	longest                 int
	times                   []time.Duration
}

// page is what a question was answered with: sessions, best first, and texts of them.
type page struct {
	sessions []string
	texts    []sessionText
	chars    int
}

func (s *score) add(q publicQuestion, p page, took time.Duration) {
	s.questions++
	s.chars += p.chars
	s.longest = max(s.longest, p.chars)
	s.times = append(s.times, took)
	for i, session := range p.sessions[:min(len(p.sessions), 5)] {
		if slices.Contains(q.sessions, session) {
			s.five++
			if i == 0 {
				s.first++
			}
			break
		}
	}
	if len(q.evidence) == 0 {
		return
	}
	s.withEvidence++
	n := 0
	for _, e := range q.evidence {
		if slices.ContainsFunc(p.texts, func(t sessionText) bool { return t.session == e.session && strings.Contains(e.text, t.text) }) {
			n++
		}
	}
	if n == len(q.evidence) {
		s.all++
	}
	if n > 0 {
		s.some++
	}
}

// row writes the score as a line of a table.
func (s *score) row(w io.Writer, name string) {
	share := func(n, of int) string {
		if of == 0 {
			return "     –"
		}
		return fmt.Sprintf("%5.1f%%", 100*float64(n)/float64(of))
	}
	slices.Sort(s.times)
	fmt.Fprintf(w, "  %-28s %s  %s  %s  %s  %6d  %6d  %6.1f ms\n", name, share(s.all, s.withEvidence), share(s.some, s.withEvidence),
		share(s.first, s.questions), share(s.five, s.questions), s.chars/max(s.questions, 1), s.longest, s.times[len(s.times)/2].Seconds()*1000)
}

// measurePublic asks the questions of public corpora in one call each, as they stand.
func measurePublic(ctx context.Context, convtools, locomoDir, sessionsDir, scratch string, stdout io.Writer) error {
	for _, of := range []struct{ name, dir string }{{"locomo", locomoDir}, {"sessions", sessionsDir}} {
		if of.dir == "" {
			continue
		}
		var all []*corpus
		var err error
		if of.name == "locomo" {
			all, err = locomo(of.dir, filepath.Join(scratch, of.name))
		} else {
			var one *corpus
			one, err = codingSessions(ctx, of.dir, filepath.Join(scratch, of.name))
			all = []*corpus{one}
		}
		if err != nil {
			return err
		}
		var ours, peer score
		for _, c := range all {
			if err := errors.Join(c.ask(ctx, convtools, &ours), c.askPeer(ctx, &peer)); err != nil {
				return err
			}
		}
		fmt.Fprintf(stdout, "%s: %d questions\n  %-28s %6s  %6s  %6s  %6s  %6s  %6s  %9s\n", of.name, ours.questions, "", "all", "some", "first", "five", "chars", "most", "median")
		ours.row(stdout, "conversation_recall")
		peer.row(stdout, "SQLite FTS5, porter, bm25")
	}
	return nil
}

// ask asks conversation_recall.
func (c *corpus) ask(ctx context.Context, convtools string, s *score) (err error) {
	tools, err := open(ctx, convtools, c.Project, filepath.Dir(c.Dir))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tools.Close()) }()
	for _, q := range c.questions {
		begun := time.Now()
		answer, err := tools.text(ctx, "conversation_recall", map[string]any{"query": q.asked})
		took := time.Since(begun)
		if err != nil {
			return fmt.Errorf("%q: %w", q.asked, err)
		}
		p, err := parsePage(answer)
		if err != nil {
			return fmt.Errorf("%q: %w: %s", q.asked, err, answer)
		}
		s.add(q, p, took)
	}
	return nil
}

// parsePage reads an answer of conversation_recall.
func parsePage(answer string) (page, error) {
	var parsed struct {
		Conversations []struct {
			ID       string   `xml:"id,attr"`
			Passages []string `xml:"passage"`
		} `xml:"conversation"`
	}
	if err := xml.Unmarshal([]byte(answer), &parsed); err != nil {
		return page{}, err
	}
	p := page{chars: utf8.RuneCountInString(answer)}
	for _, c := range parsed.Conversations {
		session := strings.TrimPrefix(c.ID, "claude-")
		p.sessions = append(p.sessions, session)
		for _, text := range c.Passages {
			text = strings.TrimSpace(strings.Trim(strings.TrimSpace(text), "…"))
			p.texts = append(p.texts, sessionText{session, text})
		}
	}
	return p, nil
}

// peerPage is how many messages the peer returns.
const peerPage = 20

// askPeer asks a table of SQLite FTS5.
func (c *corpus) askPeer(ctx context.Context, s *score) (err error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `CREATE VIRTUAL TABLE texts USING fts5(session UNINDEXED, text, tokenize = 'porter unicode61')`); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range c.texts {
		if _, err := tx.ExecContext(ctx, `INSERT INTO texts VALUES (?, ?)`, t.session, t.text); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for _, q := range c.questions {
		var words []string
		for _, w := range strings.FieldsFunc(q.asked, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			words = append(words, `"`+w+`"`)
		}
		begun := time.Now()
		p, err := peerAnswer(ctx, db, strings.Join(words, " OR "))
		if err != nil {
			return fmt.Errorf("%q: %w", q.asked, err)
		}
		s.add(q, p, time.Since(begun))
	}
	return nil
}

func peerAnswer(ctx context.Context, db *sql.DB, match string) (p page, err error) {
	rows, err := db.QueryContext(ctx, `SELECT session, text FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT ?`, match, peerPage)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var t sessionText
		if err := rows.Scan(&t.session, &t.text); err != nil {
			return p, err
		}
		if !slices.Contains(p.sessions, t.session) {
			p.sessions = append(p.sessions, t.session)
		}
		p.texts = append(p.texts, t)
		p.chars += utf8.RuneCountInString(t.text)
	}
	return p, rows.Err()
}
