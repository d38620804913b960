package main

import (
	"context"
	"path/filepath"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// start measures what it takes to start convtools, against a program that does
// nothing but start.
func (b *builds) start(ctx context.Context, t *table.Table) error {
	const peer = "an empty Go program"
	sample := filepath.Join(b.root, "testdata", "workspaces", "sample")
	where, err := jsonText(map[string]string{"action": "run", "root": sample})
	if err != nil {
		return err
	}
	results, err := inTurn(ctx, b.dataDir, b.plan.starts,
		program{path: b.empty},
		program{path: b.convtools, args: []string{"version"}},
		program{path: b.convtools, args: []string{"tools"}},
		program{path: b.convtools, args: []string{"jp-tool", where, `{"name":"conversation_list","arguments":{}}`}},
	)
	if err != nil {
		return err
	}
	r, ratio := compare("start: convtools version", peer, results[1], results[0])
	r.AtMost(ratio, 2.5) // packages for MCP and HTTP are linked, and set up when the program starts
	t.Add(r)
	r, _ = compare("start: convtools tools, which sets up all commands", peer, results[2], results[0])
	t.Add(r)
	r, _ = compare("start: convtools jp-tool, conversation_list on the sample", peer, results[3], results[0])
	t.Add(r)
	return nil
}
