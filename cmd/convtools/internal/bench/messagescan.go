package main

import (
	"context"

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

const scanOfGrepBound = 2.0

// scan measures searches without an index, of a database, beside ripgrep on one file of the
// text in it.
func (m *messageBench) scan(ctx context.Context, t *table.Table) error {
	if m.ripgrep == "" {
		return nil
	}
	peak := int64(0)
	for _, search := range []struct{ name, word string }{
		{"a rare word", corpus.Planted("rare", 0)},
		{"a word that is nowhere", "keelhauling"},
	} {
		results, err := inTurn(ctx, m.dataDir, min(m.plan.runs, 3),
			m.asks("search", "--limit", "1", search.word), program{path: m.ripgrep, noMatch: true, args: []string{"-i", "--", search.word, m.flat()}})
		if err != nil {
			return err
		}
		row, ratio := compare("search: "+search.name+" without an index, in SQLite", "rg -i of one file", results[0], results[1])
		row.AtMost(ratio, scanOfGrepBound)
		row.Detail += "; CPU " + milliseconds(results[0].cpu) + ", peer " + milliseconds(results[1].cpu)
		t.Add(row)
		peak = max(peak, results[0].peak)
	}
	if peak > 0 {
		row := table.Row{Name: "search: peak memory without an index", Result: megabytes(peak), Bound: "at most " + megabytes(searchMemory), Missed: peak > searchMemory}
		t.Add(row)
	}
	return nil
}
