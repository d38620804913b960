package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/mcpclient"
	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// startBound is how many times as long as an empty program convtools may take to
// start. It links packages for MCP, HTTP and databases.
const startBound = 2.7

// start measures how long convtools takes to start, beside an empty program, and
// how long one small call of a tool takes, beside starting convtools.
func (b *bench) start(ctx context.Context) error {
	root, err := repository.Root(ctx)
	if err != nil {
		return err
	}
	sample := filepath.Join(root, "testdata", "workspaces", "sample")
	home := b.home("start")
	results, err := inTurn(b.size.starts,
		program{path: b.empty, home: home}.run(ctx),
		program{path: b.convtools, args: []string{"version"}, home: home}.run(ctx),
		program{path: b.convtools, args: []string{"call", "--workspace", sample, "conversation_list", "{}"}, home: home}.run(ctx),
	)
	if err != nil {
		return err
	}
	empty, version, call := results[0].fastest(), results[1].fastest(), results[2].fastest()
	b.table.Add(compared("start: convtools version", "an empty Go program", version, empty, startBound))
	b.table.Add(compared("start: convtools call conversation_list, on the sample", "convtools version", call, version, 0))
	return nil
}

// The bounds of listing conversations: the ratio to cat where no index may be
// written, so that all events are read, and the time where they are indexed.
const (
	listBound        = 1.5
	listIndexedBound = 60 * time.Millisecond
)

// list measures listing conversations of JP with an index. If there is a shell, it
// also measures listing them without an index, beside cat of the same files.
func (b *bench) list(ctx context.Context) error {
	dir := filepath.Join(b.dir, "list", "workspace")
	if err := jptest.Large(dir, b.size.bytes, b.size.conversations); err != nil {
		return err
	}
	indexed := program{path: b.convtools, args: []string{"conversation", "ls", "--workspace", dir, "-F", "json"}, home: b.home("list")}
	runs := []run{indexed.run(ctx)} // inTurn makes the runs below, when the index exists
	if sh, err := exec.LookPath("sh"); err == nil {
		unindexed := indexed
		unindexed.env = []string{"XDG_CACHE_HOME=" + os.DevNull} // no index can be written
		cat := program{path: sh, args: []string{"-c", `find "$1" -name '*.json' -exec cat {} + >/dev/null`, "sh", filepath.Join(dir, ".jp")}}
		runs = append(runs, unindexed.run(ctx), cat.run(ctx))
	}
	index := program{path: b.convtools, args: []string{"search", "index", "--workspace", dir}, home: indexed.home}
	if _, err := index.output(ctx); err != nil {
		return err
	}
	results, err := inTurn(b.size.runs, runs...) // in the order of runs: indexed, unindexed, cat
	if err != nil {
		return err
	}
	name := fmt.Sprintf("ls of %d conversations, %s", b.size.conversations, megabytes(b.size.bytes))
	if len(results) > 1 {
		b.table.Add(compared(name+", without an index", "cat of the same files", results[1].fastest(), results[2].fastest(), listBound))
	}
	b.table.Add(within(name+", indexed", results[0].fastest(), listIndexedBound, "median "+milliseconds(results[0].median())))
	return os.RemoveAll(dir)
}

// The bounds of convgen serve: the ratios to peers of the time from the start to the first answer, and of a call.
const (
	firstBound = 0.2
	callBound  = 0.5
)

// serve measures convgen serve over one spec beside two servers of PyPI with the same purpose: all three run git log in
// the same repository. If the two servers cannot be installed, the row says "skipped".
func (b *bench) serve(ctx context.Context) error {
	root, err := repository.Root(ctx)
	if err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "serve", "git")
	tool := os.DirFS(filepath.Join(root, "cmd", "convtools", "internal", "bench", "testdata", "git"))
	if err := os.CopyFS(dir, tool); err != nil {
		return fmt.Errorf("writing the tool: %w", err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "a commit"}, {"commit", "-q", "--allow-empty", "-m", "another commit"}} {
		git := program{path: "git", args: append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, args...), dir: dir}
		if _, err := git.output(ctx); err != nil {
			return err
		}
	}
	python, err := installPeers(ctx, filepath.Join(b.dir, "python"), "fastmcp==3.4.10", "cli-wrap-mcp==0.2.1")
	if err != nil {
		b.table.Add(table.Row{Name: "convgen serve, beside FastMCP and cli-wrap-mcp", Result: "skipped", Detail: err.Error()})
		return nil
	}
	ours := program{path: b.convgen, args: []string{"serve"}, dir: dir, home: b.home("serve")}
	for _, peer := range []struct {
		name string
		args []string
	}{
		{"FastMCP", []string{"server.py"}},
		{"cli-wrap-mcp", []string{"-c", "import sys; from cli_wrap_mcp.cli import main; sys.exit(main())", "--config", "tools.yml"}},
	} {
		if err := b.serveBeside(ctx, peer.name, ours, program{path: python, args: peer.args, dir: dir, home: ours.home}); err != nil {
			return err
		}
	}
	return nil
}

// installPeers installs packages of PyPI in an environment of Python in dir, and returns its program python.
func installPeers(ctx context.Context, dir string, packages ...string) (python string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	python = filepath.Join(dir, "bin", "python")
	for _, p := range []program{
		{path: "python3", args: []string{"-m", "venv", dir}},
		{path: python, args: append([]string{"-m", "pip", "install", "--quiet"}, packages...)},
	} {
		if _, err := p.output(ctx); err != nil {
			return "", err
		}
	}
	return python, nil
}

// serveBeside measures convgen serve beside the named peer: the time from the start to the first answer, and the time
// of a call in a running server. programs are convgen serve and the peer.
func (b *bench) serveBeside(ctx context.Context, name string, programs ...program) error {
	const tool = "git_log"
	arguments := map[string]any{"limit": 5, "text": "commit"}
	var firstRuns, callRuns []run
	for _, p := range programs {
		firstRuns = append(firstRuns, func() (time.Duration, error) {
			start := time.Now()
			server, err := mcpclient.Start(ctx, p.command(ctx))
			if err != nil {
				return 0, err
			}
			_, err = server.Call(ctx, tool, arguments)
			took := time.Since(start) // without closing
			return took, errors.Join(err, server.Close())
		})
		server, err := mcpclient.Start(ctx, p.command(ctx))
		if err != nil {
			return err
		}
		defer server.Close() //nolint:errcheck // everything is measured
		callRuns = append(callRuns, calls(ctx, server, tool, arguments))
	}
	first, err1 := inTurn(b.size.runs, firstRuns...)
	call, err2 := inTurn(b.size.runs*10, callRuns...)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	b.table.Add(compared("convgen serve: from the start to the first answer", name, first[0].fastest(), first[1].fastest(), firstBound))
	b.table.Add(compared("convgen serve: a call of git log", name, call[0].median(), call[1].median(), callBound))
	return nil
}
