package main

import (
	"context"
	"path/filepath"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
)

// startBound is how many times as long as an empty Go program convtools may take to start:
// it links packages for MCP, HTTP and databases, which are set up when it starts.
const startBound = 2.7

// start measures starting, and one small call.
func (b *bench) start(ctx context.Context) error {
	const peer = "an empty Go program"
	root, err := repository.Root(ctx)
	if err != nil {
		return err
	}
	sample := filepath.Join(root, "testdata", "workspaces", "sample")
	env := b.home("start")
	results, err := inTurn(ctx, b.amount.starts,
		program{path: b.empty},
		program{path: b.convtools, args: []string{"version"}, env: env},
		program{path: b.convtools, args: []string{"call", "--workspace", sample, "conversation_list", "{}"}, env: env},
	)
	if err != nil {
		return err
	}
	b.table.Add(compare("start: convtools version", peer, results[1], results[0], startBound))
	b.table.Add(compare("start: convtools call conversation_list, on the sample", "convtools version", results[2], results[1], 0))
	return nil
}
