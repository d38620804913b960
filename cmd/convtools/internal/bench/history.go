package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/claudehome"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// Bounds on the sessions of another program. Those that are written here are nearly all
// text: 18 MB a second of it are 369 MB of real sessions, with 62 MB of text, in 3.5 s.
const (
	firstSearchBound = 18
	searchBound      = 40 * time.Millisecond
)

// history measures the first search of the sessions of Claude Code, which reads all that
// is recorded, and then searches and lists of fresh processes.
func (b *bench) history(ctx context.Context) error {
	dir := filepath.Join(b.dir, "history")
	h := claudehome.Home{Dir: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project")}
	b.progress("writing %d sessions, %s", b.amount.sessions, megabytes(b.amount.history))
	needles, err := writeSessions(h, b.amount.history, b.amount.sessions)
	if err != nil {
		return fmt.Errorf("writing sessions: %w", err)
	}
	size, err := sizeOf(h.Dir)
	if err != nil {
		return err
	}
	asks := func(args ...string) program {
		return program{
			path: b.convtools, noMatch: true, args: append(args, "--workspace", h.Project),
			env: b.home("history", "CLAUDE_CONFIG_DIR="+h.Dir),
		}
	}
	grep := asks("conversation", "grep", "-F", "json", "--ignore-case", "--output=count", needle)
	start := time.Now()
	out, err := grep.output(ctx)
	if err != nil {
		return err
	}
	took := time.Since(start)
	var counts []struct{ Count int }
	if err := json.Unmarshal(out, &counts); err != nil {
		return err
	}
	lines := 0
	for _, c := range counts {
		lines += c.Count
	}
	if lines != needles {
		return fmt.Errorf("%q is on %d lines, and a search counts %d", needle, needles, lines)
	}
	speed := float64(size) / 1e6 / took.Seconds()
	b.table.Add(table.Row{
		Name: "sessions: first search of " + megabytes(size), Result: fmt.Sprintf("%.0f MB/s", speed), Detail: milliseconds(took),
		Bound: fmt.Sprintf("at least %d MB/s", firstSearchBound), Missed: speed < firstSearchBound,
	})
	list := asks("conversation", "ls", "-F", "json")
	if out, err = list.output(ctx); err != nil {
		return err
	}
	var listed []struct{}
	if err := json.Unmarshal(out, &listed); err != nil || len(listed) != b.amount.sessions {
		return fmt.Errorf("%d sessions are listed of %d: %w", len(listed), b.amount.sessions, err)
	}
	programs := []program{
		grep, asks("call", "conversation_grep", "pattern="+needle), asks("call", "conversation_recall", "query="+needle),
		asks("call", "conversation_list", "limit=50"), list,
		{path: b.empty},
	}
	results, err := inTurn(ctx, b.amount.runs, programs...)
	if err != nil {
		return err
	}
	empty := len(programs) - 1
	for i, p := range programs[:empty] {
		name := "sessions: " + strings.Join(p.args[:2], " ")
		b.table.Add(within(name, results[i].median(), searchBound, "median; an empty Go program "+milliseconds(results[empty].median())))
	}
	return os.RemoveAll(dir)
}

// needle is a word of a few results of tools.
const needle = "zanderquoll"

// writeSessions writes so many sessions, of about size bytes together, and returns how many
// messages have the needle.
func writeSessions(h claudehome.Home, size int64, sessions int) (needles int, err error) {
	const record = 1000 // bytes of a message with its record, about
	messages := int(size / record)
	next, stop := iter.Pull(corpus.New(messages).All())
	defer stop()
	for n := range sessions {
		err := h.Write(fmt.Sprintf("00000000-0000-4000-8000-%012d", n), time.Date(2026, 3, 1, n, 0, 0, 0, time.UTC), func(yield func(claudehome.Message) bool) {
			for range messages / sessions {
				m, ok := next()
				if !ok {
					return
				}
				if m.Role == "tool" && m.Number == corpus.PerConversation && m.Conversation%20 == 0 {
					m.Text += "\n" + needle
					needles++
				}
				if !yield(claudehome.Message{Role: m.Role, Text: m.Text}) {
					return
				}
			}
		})
		if err != nil {
			return 0, err
		}
	}
	return needles, nil
}
