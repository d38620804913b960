package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// workspaceVariable names the environment variable with the workspace that benchmarks run on.
const workspaceVariable = "CONVTOOLS_BENCH_WORKSPACE"

const (
	minimalServer = "a minimal go-sdk server"
	// maxCallRatio is what a call may take of the time it takes a server that has
	// only what the SDK gives it, with the same tool, which does nothing;
	// maxRefusedRatio is the same of one that our tool refuses, and theirs does not.
	maxCallRatio    = 1.1
	maxRefusedRatio = 1.2
	// atOnce is how many calls are in flight where throughput is measured.
	atOnce = 32
	// inFlight is how many are where memory is.
	inFlight = 1000
)

// mcp measures the MCP server: calls, the start, and memory.
func (b *builds) mcp(ctx context.Context, t *table.Table, progress func(string)) error {
	empty := filepath.Join(b.dir, "no-conversations")
	if err := os.MkdirAll(filepath.Join(empty, ".jp"), 0o700); err != nil {
		return fmt.Errorf("making an empty workspace: %w", err)
	}
	everything, missing := b.installEverything(ctx, progress)
	progress("MCP calls")
	if err := b.serverAlone(ctx, t); err != nil {
		return fmt.Errorf("measuring the MCP server without tools: %w", err)
	}
	ours := program{path: b.convtools, args: []string{"mcp", "--workspace", empty}}
	tool, err := b.toolAlone(ctx, empty)
	if err != nil {
		return fmt.Errorf("measuring a tool without a server: %w", err)
	}
	for _, of := range []struct {
		name string
		call request
		// bounded leaves out what the tool itself does, of which the peer has none.
		bounded bool
		tool    string
	}{
		{"a call that is refused", toolCall("conversation_grep", `{}`), true, ""},
		{"conversation_list of nothing", toolCall("conversation_list", `{"limit":1}`), false, "; the tool takes " + microseconds(tool)},
	} {
		minimal, err := b.minimalFor(ctx, ours, of.call)
		if err != nil {
			return err
		}
		for _, transport := range []struct {
			name  string
			flags []string
			serve func(program) (*served, error)
		}{
			{"stdio", nil, func(p program) (*served, error) { return serveStdio(ctx, b.dataDir, p, of.call) }},
			{"HTTP", []string{"--http", "127.0.0.1:0"}, func(p program) (*served, error) { return serveHTTP(ctx, b.dataDir, p, atOnce, of.call) }},
		} {
			results, err := b.calls(transport.serve, with(ours, transport.flags), with(minimal, transport.flags))
			if err != nil {
				return fmt.Errorf("measuring MCP calls over %s: %w", transport.name, err)
			}
			for i, how := range []string{"one at a time", fmt.Sprintf("%d at once", atOnce)} {
				r, ratio := compare(fmt.Sprintf("MCP %s: %s, %s", transport.name, of.name, how), minimalServer, results[i][0], results[i][1])
				r.Detail += of.tool
				if of.bounded {
					r.AtMost(ratio, maxRefusedRatio)
				}
				t.Add(r)
			}
		}
		if of.bounded && missing == "" {
			if err := b.callsOfEverything(ctx, t, ours, everything, of.call); err != nil {
				return fmt.Errorf("measuring server-everything: %w", err)
			}
		}
	}
	progress("MCP start")
	if err := b.mcpStart(ctx, t, ours, everything, missing); err != nil {
		return fmt.Errorf("measuring the start of MCP servers: %w", err)
	}
	progress("MCP memory")
	if err := b.mcpMemory(ctx, t, ours); err != nil {
		return fmt.Errorf("measuring the memory of MCP servers: %w", err)
	}
	return nil
}

// with returns the program with more arguments.
func with(p program, args []string) program {
	p.args = slices.Concat(p.args, args)
	return p
}

// minimalFor returns the minimal server, with a tool that answers what ours
// answers to a call.
func (b *builds) minimalFor(ctx context.Context, ours program, of request) (program, error) {
	server, err := serveStdio(ctx, b.dataDir, ours, of)
	if err != nil {
		return program{}, err
	}
	text, err := server.text()
	if _, ended := server.end(); err != nil || ended != nil {
		return program{}, errors.Join(err, ended)
	}
	return program{path: b.minimal, args: []string{"-tool", of.tool, "-text", text}}, nil
}

// calls measures calls of each program: results[0] one at a time, results[1]
// many at once.
func (b *builds) calls(serve func(program) (*served, error), programs ...program) (results [2][]measured, err error) {
	servers := make([]*served, 0, len(programs))
	defer func() {
		for _, s := range servers {
			// A server that waits for its answers to be read does not end by itself.
			if err != nil {
				err = errors.Join(err, kill(s.cmd))
				continue
			}
			_, err = s.end()
		}
	}()
	for _, p := range programs {
		s, err := serve(p)
		if err != nil {
			return results, err
		}
		servers = append(servers, s)
	}
	for i, concurrent := range []int{1, atOnce} {
		results[i], err = callsInTurn(b.plan.rounds, b.plan.calls, concurrent, servers)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// callsInTurn lets every server answer so many calls, n times, one server after
// the other, and once before to warm up. The times are of one call.
func callsInTurn(n, calls, concurrent int, servers []*served) ([]measured, error) {
	results := make([]measured, len(servers))
	for round := range n + 1 {
		for _, i := range rand.Perm(len(servers)) {
			start := time.Now()
			err := servers[i].each(calls, concurrent)
			took := time.Since(start)
			if err != nil {
				return nil, fmt.Errorf("calling %s: %w", servers[i].cmd.Path, err)
			}
			if round > 0 {
				results[i].times = append(results[i].times, took/time.Duration(calls))
			}
		}
	}
	for _, r := range results {
		slices.Sort(r.times)
	}
	return results, nil
}

// callsOfEverything compares with a server on another SDK. Its echo answers what
// ours does to the call, and a word more.
func (b *builds) callsOfEverything(ctx context.Context, t *table.Table, ours, everything program, of request) error {
	server, err := serveStdio(ctx, b.dataDir, ours, of)
	if err != nil {
		return err
	}
	text, err := server.text()
	if _, ended := server.end(); err != nil || ended != nil {
		return errors.Join(err, ended)
	}
	message, err := jsonText(map[string]string{"message": text})
	if err != nil {
		return err
	}
	serve := func(p program) (*served, error) {
		call := of
		if p.path == everything.path {
			call = toolCall("echo", message)
		}
		return serveStdio(ctx, b.dataDir, p, call)
	}
	results, err := b.calls(serve, ours, everything)
	if err != nil {
		return err
	}
	for i, how := range []string{"one at a time", fmt.Sprintf("%d at once", atOnce)} {
		r, _ := compare("MCP stdio: a call that is refused, "+how, everythingServer, results[i][0], results[i][1])
		t.Add(r)
	}
	return nil
}

// The benchmark in runtime/mcpserver whose results are read: the server in this
// process, with a tool that does nothing, beside one of the SDK alone.
const benchServer = "BenchmarkCall"

// serverAlone compares the servers with the same client, without the rest of
// either program.
func (b *builds) serverAlone(ctx context.Context, t *table.Table) error {
	var out []byte
	for range b.plan.counts {
		run, err := b.goRun(ctx, "-C", b.root, "test", "-run", "^$", "-bench", "^"+benchServer+"$", "-benchmem",
			"-benchtime", b.plan.benchtime, module+"/runtime/mcpserver")
		if err != nil {
			return err
		}
		out = append(out, run...)
	}
	results, err := parseBenchmarks(out)
	if err != nil {
		return err
	}
	for _, transport := range []struct{ part, name string }{{"streams", "streams"}, {"http", "HTTP"}} {
		for _, how := range []struct{ part, name string }{{"one", "one at a time"}, {"many", "one a core"}} {
			ours, found := results[benchServer+"/"+transport.part+"/ours/"+how.part]
			theirs, foundToo := results[benchServer+"/"+transport.part+"/minimal/"+how.part]
			if !found || !foundToo {
				return fmt.Errorf("%s/%s/*/%s is missing from the output of go test:\n%s", benchServer, transport.part, how.part, out)
			}
			ratio := ours.nanoseconds / theirs.nanoseconds
			r := table.Row{
				Name:   fmt.Sprintf("MCP %s, server and client in one process: %s", transport.name, how.name),
				Result: fmt.Sprintf("%.2fx of %s", ratio, minimalServer),
				Detail: fmt.Sprintf("min %s with %d allocations; peer %s with %d, both with those of the client",
					microseconds(ours.duration()), ours.allocs, microseconds(theirs.duration()), theirs.allocs),
			}
			r.AtMost(ratio, maxCallRatio)
			t.Add(r)
		}
	}
	return nil
}

// toolAlone returns how long conversation_list takes in a workspace, without a
// server around it.
func (b *builds) toolAlone(ctx context.Context, dir string) (time.Duration, error) {
	const name = "BenchmarkListTool"
	test := program{
		path: b.goCommand,
		args: []string{
			"test", "-run", "^$", "-bench", "^" + name + "$", "-benchmem", "-benchtime", b.plan.benchtime,
			"-count", fmt.Sprint(b.plan.counts), module + "/cmd/convtools/internal/bench",
		},
		env: []string{workspaceVariable + "=" + dir},
	}
	out, err := test.output(ctx, b.dataDir)
	if err != nil {
		return 0, err
	}
	results, err := parseBenchmarks(out)
	if err != nil {
		return 0, err
	}
	result, ok := results[name]
	if !ok {
		return 0, fmt.Errorf("%s is missing from the output of go test:\n%s", name, out)
	}
	return result.duration(), nil
}

// mcpStart measures the time until a server that was just started has answered
// tools/list.
func (b *builds) mcpStart(ctx context.Context, t *table.Table, ours, everything program, missing string) error {
	const name = "MCP stdio: from the start to the answer of tools/list"
	peers := []struct {
		name  string
		p     program
		times int
	}{{minimalServer, program{path: b.minimal}, b.plan.starts / 3}}
	if missing == "" {
		// It takes a second, so few must do.
		peers = append(peers, struct {
			name  string
			p     program
			times int
		}{everythingServer, everything, b.plan.runs})
	}
	for _, peer := range peers {
		results, err := b.startsInTurn(ctx, peer.times, ours, peer.p)
		if err != nil {
			return err
		}
		r, _ := compare(name, peer.name, results[0], results[1])
		t.Add(r)
	}
	if missing != "" {
		t.Add(table.Row{Name: name, Result: "not compared with " + everythingServer + ": " + missing})
	}
	return nil
}

// startsInTurn is inTurn for servers that are asked for their tools, and killed
// when they have answered.
func (b *builds) startsInTurn(ctx context.Context, n int, programs ...program) ([]measured, error) {
	results := make([]measured, len(programs))
	for round := range n + 1 {
		for _, i := range rand.Perm(len(programs)) {
			start := time.Now()
			server, err := serveStdio(ctx, b.dataDir, programs[i], request{method: "tools/list", params: `{}`})
			if err != nil {
				return nil, err
			}
			err = server.each(1, 1)
			took := time.Since(start)
			if err := errors.Join(err, kill(server.cmd)); err != nil {
				return nil, err
			}
			if round > 0 {
				results[i].times = append(results[i].times, took)
			}
		}
	}
	for _, r := range results {
		slices.Sort(r.times)
	}
	return results, nil
}

// mcpMemory measures the most memory that servers have while many calls are in
// flight: all are sent before the first answer is read.
func (b *builds) mcpMemory(ctx context.Context, t *table.Table, ours program) error {
	call := toolCall("conversation_list", `{"limit":1}`)
	minimal, err := b.minimalFor(ctx, ours, call)
	if err != nil {
		return err
	}
	for _, transport := range []struct {
		name  string
		flags []string
		serve func(program) (*served, error)
	}{
		{"stdio", nil, func(p program) (*served, error) { return serveStdio(ctx, b.dataDir, p, call) }},
		{"HTTP", []string{"--http", "127.0.0.1:0"}, func(p program) (*served, error) { return serveHTTP(ctx, b.dataDir, p, inFlight, call) }},
	} {
		var peaks [2]int64
		for i, p := range []program{ours, minimal} {
			server, err := transport.serve(with(p, transport.flags))
			if err != nil {
				return err
			}
			if err := server.each(inFlight, inFlight); err != nil {
				return errors.Join(fmt.Errorf("%d calls over %s: %w", inFlight, transport.name, err), kill(server.cmd))
			}
			peak, err := server.end()
			if err != nil {
				return fmt.Errorf("%d calls over %s: %w", inFlight, transport.name, err)
			}
			peaks[i] = peak
		}
		if peaks[0] == 0 || peaks[1] == 0 {
			return nil
		}
		ratio := float64(peaks[0]) / float64(peaks[1])
		t.Add(table.Row{
			Name:   fmt.Sprintf("MCP %s: peak memory, %d calls in flight", transport.name, inFlight),
			Result: fmt.Sprintf("%.2fx of %s", ratio, minimalServer),
			Detail: fmt.Sprintf("%s; peer %s", megabytes(peaks[0]), megabytes(peaks[1])),
		})
	}
	return nil
}
