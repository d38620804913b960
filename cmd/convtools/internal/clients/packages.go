package main

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/convtools/convtools/cmd/convtools/internal/agents"
	"github.com/convtools/convtools/cmd/convtools/internal/npm"
)

// testdata is the scripts that run in Node.js, and what is known to fail.
//
//go:embed testdata
var testdata embed.FS

// packages returns what is fetched besides the agents that others use too, in the
// versions that are proved to work. Raise them together with a run.
func packages() map[string]string {
	return map[string]string{
		"node":                              "22.23.3", // Inspector and the suite do not start in older ones
		"@modelcontextprotocol/inspector":   "2.12.0",
		"@modelcontextprotocol/conformance": "0.2.0-alpha.12",
		"@modelcontextprotocol/client":      "2.4.0",
		"@modelcontextprotocol/sdk":         "1.32.2",
		"openai":                            "7.57.0",
		"@anthropic-ai/sdk":                 "1.12.0",
		"typescript":                        "7.0.2",
		"@anthropic-ai/claude-code":         "2.1.328",
	}
}

// install fetches the packages, unless an earlier run fetched the same ones.
func (l *lab) install(ctx context.Context, progress func(string)) error {
	scripts := filepath.Join(l.dir, "testdata")
	if err := os.RemoveAll(scripts); err != nil {
		return fmt.Errorf("removing old scripts: %w", err)
	}
	if err := os.CopyFS(l.dir, testdata); err != nil {
		return fmt.Errorf("writing the scripts: %w", err)
	}
	progress("fetching packages from npm")
	all := packages()
	maps.Copy(all, agents.Packages())
	return npm.Install(ctx, l.dir, all)
}
