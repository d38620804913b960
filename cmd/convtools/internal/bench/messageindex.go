package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/index"
)

// Bounds on the index of messages.
const (
	indexOfTextBound    = 1.2
	postingsOfTextBound = 0.6
	indexSpeedBound     = 25.0 // MB of text a second
	searchStartBound    = 30 * time.Millisecond
	searchMemory        = 200_000_000
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

// indexSize adds rows on how large the index is.
func (m *messageBench) indexSize(t *table.Table) error {
	var size, postings int64
	err := filepath.WalkDir(filepath.Join(m.dir, "home", "cache"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			info, err := d.Info()
			if err == nil {
				size += info.Size()
			}
			return err
		}
		x := index.Open(path)
		defer x.Close()
		view, err := x.View()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it is no directory of an index
		} else if err != nil {
			return err
		}
		defer view.Close()
		postings += view.Info().Postings
		return nil
	})
	if err != nil {
		return err
	}
	for _, part := range []struct {
		name  string
		size  int64
		bound float64
	}{{"side files", size, indexOfTextBound}, {"postings", postings, postingsOfTextBound}} {
		share := float64(part.size) / float64(m.text)
		row := table.Row{Name: "search index: " + part.name, Result: fmt.Sprintf("%.3fx of the text", share), Detail: megabytes(part.size)}
		row.AtMost(share, part.bound)
		t.Add(row)
	}
	return nil
}
