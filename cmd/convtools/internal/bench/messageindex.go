package main

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// Bounds on the index of messages.
const (
	indexOfTextBound = 1.4
	indexSpeedBound  = 25.0 // MB of text a second
	searchStartBound = 40 * time.Millisecond
	searchMemory     = 250_000_000
)

// index measures the making of the index, how large it is, and how soon a process that starts
// answers with it.
func (m *messageBench) index(ctx context.Context, t *table.Table) error {
	cmd := m.asks("search", "index").command(ctx, m.dataDir)
	start := time.Now()
	forgetPeak()
	if err := cmd.Start(); err != nil {
		return err
	}
	end := watch(ctx, cmd)
	err := cmd.Wait()
	anonymous := end()
	if err != nil {
		return fmt.Errorf("search index: %w", err)
	}
	took := time.Since(start)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	speed := float64(m.text) / 1e6 / took.Seconds()
	t.Add(table.Row{
		Name: "search index: of " + megabytes(m.text) + " of text", Result: fmt.Sprintf("%.1f MB/s", speed),
		Bound: fmt.Sprintf("at least %g MB/s", indexSpeedBound), Missed: speed < indexSpeedBound,
		Detail: fmt.Sprintf("%s, %s of processors", milliseconds(took), milliseconds(cpu)),
	})
	t.Add(memoryRow("search index: peak memory", anonymous, cmd.ProcessState))
	if err := m.indexSize(t); err != nil {
		return err
	}
	first, err := inTurn(ctx, m.dataDir, 3*m.plan.runs, m.asks("search", "--limit", "1", corpus.Planted("rare", 0)), program{path: m.empty})
	if err != nil {
		return err
	}
	best := first[0].min()
	t.Add(table.Row{
		Name: "search: first answer of a fresh process", Result: milliseconds(best), Bound: "at most " + milliseconds(searchStartBound), Missed: best > searchStartBound,
		Detail: fmt.Sprintf("median %s; an empty Go program %s", milliseconds(first[0].median()), milliseconds(first[1].min())),
	})
	return nil
}

// indexSize adds a row on how large the index is.
func (m *messageBench) indexSize(t *table.Table) error {
	var size int64
	err := filepath.WalkDir(filepath.Join(m.dir, "home", "cache"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		return err
	}
	share := float64(size) / float64(m.text)
	row := table.Row{Name: "search index: side files", Result: fmt.Sprintf("%.3fx of the text", share), Detail: megabytes(size)}
	row.AtMost(share, indexOfTextBound)
	t.Add(row)
	return nil
}
