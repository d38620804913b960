package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

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
	h := &sessions{home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	if err := os.MkdirAll(h.project, 0o755); err != nil {
		return fmt.Errorf("making a project: %w", err)
	}
	b.progress("writing %d sessions, %s", b.amount.sessions, megabytes(b.amount.history))
	if err := h.write(b.amount.history, b.amount.sessions); err != nil {
		return err
	}
	asks := func(args ...string) program {
		return program{
			path: b.convtools, noMatch: true, args: append(args, "--workspace", h.project),
			env: b.home("history", "CLAUDE_CONFIG_DIR="+h.home),
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
	if lines != h.needles {
		return fmt.Errorf("%q is on %d lines, and a search counts %d", needle, h.needles, lines)
	}
	speed := float64(h.bytes) / 1e6 / took.Seconds()
	b.table.Add(table.Row{
		Name: "sessions: first search of " + megabytes(h.bytes), Result: fmt.Sprintf("%.0f MB/s", speed), Detail: milliseconds(took),
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
