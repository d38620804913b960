package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

const (
	// firstBound and callBound are how much of the time of the peers convgen serve may take
	// from its start to the first answer, and for each answer after that.
	firstBound, callBound = 0.2, 0.5
	// gitCalls is how many calls of git log a run has at most: each starts git.
	gitCalls = 50
)

// gitTool is one tool over git log: as a spec, for FastMCP and for cli-wrap-mcp.
//
//go:embed testdata/git
var gitTool embed.FS

// served measures convgen serve over one spec beside the servers of PyPI that are made for
// the same: all three run git log in the same repository.
func (b *bench) served(ctx context.Context) error {
	dir := filepath.Join(b.dir, "served")
	if err := os.CopyFS(dir, gitTool); err != nil {
		return fmt.Errorf("writing the tool: %w", err)
	}
	dir = filepath.Join(dir, "testdata", "git")
	if err := commits(ctx, dir); err != nil {
		return err
	}
	python, err := python(ctx, filepath.Join(b.dir, "python"))
	if err != nil {
		b.table.Add(table.Row{Name: "convgen serve, beside FastMCP and cli-wrap-mcp", Result: "skipped", Detail: err.Error()})
		return nil
	}
	ours := program{path: b.convgen, args: []string{"serve"}, dir: dir, env: b.home("served")}
	call := toolCall("git_log", `{"limit":5,"text":"commit"}`)
	for _, peer := range []struct {
		name string
		args []string
	}{
		{"FastMCP", []string{"server.py"}},
		{"cli-wrap-mcp", []string{"-c", "import sys; from cli_wrap_mcp.cli import main; sys.exit(main())", "--config", "tools.yml"}},
	} {
		both := [2]program{ours, {path: python, args: peer.args, dir: dir}}
		if err := b.firstAnswer(ctx, "convgen serve: from the start to the first answer", peer.name, both, call, firstBound); err != nil {
			return err
		}
		if err := b.calls(ctx, "convgen serve: a call of git log", peer.name, both, min(gitCalls, b.amount.calls), call, callBound); err != nil {
			return err
		}
	}
	return nil
}

// commits makes a repository with a few commits.
func commits(ctx context.Context, dir string) error {
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "a commit"}, {"commit", "-q", "--allow-empty", "-m", "another commit"}} {
		p := program{path: "git", args: append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, args...), dir: dir}
		if _, err := p.output(ctx); err != nil {
			return err
		}
	}
	return nil
}

// python returns a Python that has the peers.
func python(ctx context.Context, dir string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	found, err := exec.LookPath("python3")
	if err != nil {
		return "", err
	}
	interpreter := filepath.Join(dir, "bin", "python")
	for _, p := range []program{
		{path: found, args: []string{"-m", "venv", dir}},
		{path: interpreter, args: []string{"-m", "pip", "install", "--quiet", "fastmcp==3.4.10", "cli-wrap-mcp==0.2.1"}},
	} {
		if _, err := p.output(ctx); err != nil {
			return "", err
		}
	}
	return interpreter, nil
}
