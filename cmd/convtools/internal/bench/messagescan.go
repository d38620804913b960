package main

import (
	"context"

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

const scanOfGrepBound = 2.0

// scan measures a search without an index.
func (m *messageBench) scan(ctx context.Context, t *table.Table) error {
	if m.ripgrep == "" {
		return nil
	}
	rare := corpus.Planted("rare", 0)
	results, err := inTurn(ctx, m.dataDir, min(m.plan.runs, 3),
		m.asks("search", "--limit", "1", rare), program{path: m.ripgrep, noMatch: true, args: []string{"-i", "--", rare, m.flat()}})
	if err != nil {
		return err
	}
	row, ratio := compare("search: a rare word without an index, in SQLite", "rg -i of one file", results[0], results[1])
	row.AtMost(ratio, scanOfGrepBound)
	t.Add(row)
	return nil
}
