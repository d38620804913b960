package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

const (
	minimalServer = "a minimal go-sdk server"
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
	return b.firstAnswer(ctx, "MCP: from the start to the answer of tools/list", minimalServer, [2]program{ours, {path: b.minimal}}, request{"tools/list", `{}`}, 0)
}

// mcpCall measures calls of ours and of the minimal server, which answers the same text.
func (b *bench) mcpCall(ctx context.Context, ours program, name, tool string, call request, bound float64) error {
	own, err := serve(ctx, ours)
	if err != nil {
		return err
	}
	text, err := own.text(call)
	if err := errors.Join(err, own.end()); err != nil {
		return err
	}
	minimal := program{path: b.minimal, args: []string{"-tool", tool, "-text", text}}
	return b.calls(ctx, "MCP: "+name, minimalServer, [2]program{ours, minimal}, b.amount.calls, call, bound)
}

// calls measures calls of our server beside those of another one.
func (b *bench) calls(ctx context.Context, name, peer string, programs [2]program, n int, call request, bound float64) (err error) {
	var servers [2]*server
	for i, p := range programs {
		if servers[i], err = serve(ctx, p); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, servers[i].kill()) }()
		if _, err := servers[i].text(call); err != nil {
			return err
		}
	}
	var results [2]measured
	for range b.amount.runs {
		for i, s := range servers {
			start := time.Now()
			for range n {
				if _, err := s.call(call); err != nil {
					return err
				}
			}
			results[i].add(time.Since(start)/time.Duration(n), nil)
		}
	}
	b.table.Add(compare(name, peer, results[0], results[1], bound))
	return nil
}

// firstAnswer measures the time from the start of our server to its answer to a request
// beside that of another one.
func (b *bench) firstAnswer(ctx context.Context, name, peer string, programs [2]program, r request, bound float64) error {
	var results [2]measured
	for round := range b.amount.runs + 1 {
		for _, i := range rand.Perm(2) {
			start := time.Now()
			s, err := serve(ctx, programs[i])
			if err != nil {
				return err
			}
			_, err = s.call(r)
			took := time.Since(start)
			if err := errors.Join(err, s.kill()); err != nil {
				return err
			}
			if round > 0 {
				results[i].add(took, nil)
			}
		}
	}
	b.table.Add(compare(name, peer, results[0], results[1], bound))
	return nil
}
