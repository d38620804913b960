package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/npm"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

const (
	minimalServer     = "a minimal go-sdk server"
	referenceServer   = "server-everything"
	everythingPackage = "@modelcontextprotocol/server-everything"
	everythingVersion = "2026.8.31"
	// refusedBound is how many times as long as the minimal server ours may take for a call
	// that its tool refuses at once.
	refusedBound = 1.2
)

// mcp measures calls and the start of the MCP server.
func (b *bench) mcp(ctx context.Context) error {
	workspace := filepath.Join(b.dir, "no-conversations")
	if err := os.MkdirAll(filepath.Join(workspace, ".jp"), 0o700); err != nil {
		return fmt.Errorf("making an empty workspace: %w", err)
	}
	ours := program{path: b.convtools, args: []string{"mcp", "--workspace", workspace}, env: b.home("mcp")}
	for _, call := range []struct {
		name, tool, arguments string
		bound                 float64 // 0 if the tool itself has work that the peer has not
	}{
		{"a call that is refused", "conversation_grep", `{}`, refusedBound},
		{"conversation_list of nothing", "conversation_list", `{"limit":1}`, 0},
	} {
		if err := b.mcpCall(ctx, ours, call.name, call.tool, toolCall(call.tool, call.arguments), call.bound); err != nil {
			return err
		}
	}
	peers := map[string]program{minimalServer: {path: b.minimal}}
	everything, err := b.everything(ctx)
	if err != nil {
		b.table.Add(table.Row{Name: "MCP: start, beside " + referenceServer, Result: "skipped", Detail: err.Error()})
	} else {
		peers[referenceServer] = everything
	}
	for name, peer := range peers {
		row, err := b.mcpStart(ctx, name, ours, peer)
		if err != nil {
			return err
		}
		b.table.Add(row)
	}
	return nil
}

// mcpCall measures calls of ours and of the minimal server, which answers the same text.
func (b *bench) mcpCall(ctx context.Context, ours program, name, tool string, call request, bound float64) (err error) {
	own, err := serve(ctx, ours)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, own.end()) }()
	text, err := own.text(call)
	if err != nil {
		return err
	}
	minimal, err := serve(ctx, program{path: b.minimal, args: []string{"-tool", tool, "-text", text}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, minimal.end()) }()
	var results [2]measured
	for range b.amount.runs {
		for i, s := range []*server{own, minimal} {
			start := time.Now()
			for range b.amount.calls {
				if _, err := s.call(call); err != nil {
					return err
				}
			}
			results[i].add(time.Since(start)/time.Duration(b.amount.calls), nil)
		}
	}
	row, ratio := compare("MCP: "+name, minimalServer, results[0], results[1])
	if bound > 0 {
		row.AtMost(ratio, bound)
	}
	b.table.Add(row)
	return nil
}

// mcpStart measures the time from the start of a server to its answer to tools/list.
func (b *bench) mcpStart(ctx context.Context, name string, ours, peer program) (table.Row, error) {
	var results [2]measured
	for round := range b.amount.runs + 1 {
		for _, i := range rand.Perm(2) {
			start := time.Now()
			s, err := serve(ctx, []program{ours, peer}[i])
			if err != nil {
				return table.Row{}, err
			}
			_, err = s.call(request{"tools/list", `{}`})
			took := time.Since(start)
			if err := errors.Join(err, s.kill()); err != nil {
				return table.Row{}, err
			}
			if round > 0 {
				results[i].add(took, nil)
			}
		}
	}
	row, _ := compare("MCP: from the start to the answer of tools/list", name, results[0], results[1])
	return row, nil
}

// everything installs the reference server of the protocol from npm.
func (b *bench) everything(ctx context.Context) (program, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return program{}, errors.New("node is missing")
	}
	dir := filepath.Join(b.dir, "npm")
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := npm.Install(ctx, dir, map[string]string{everythingPackage: everythingVersion}); err != nil {
		return program{}, err
	}
	return program{path: node, args: []string{npm.Module(dir, everythingPackage, "dist", "index.js"), "stdio"}}, nil
}
