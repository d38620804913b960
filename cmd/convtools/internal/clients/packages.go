package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/convtools/convtools/runtime/process"
)

// testdata is the scripts that run in Node.js, and what is known to fail.
//
//go:embed testdata
var testdata embed.FS

// packages returns what is fetched, in the versions that are proved to work.
// Raise them together with a run.
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
		"@openai/codex":                     "0.169.0",
		"opencode-ai":                       "1.18.33",
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
	manifest, err := json.MarshalIndent(map[string]any{"private": true, "dependencies": packages()}, "", "  ")
	if err != nil {
		return fmt.Errorf("describing the packages: %w", err)
	}
	// What an earlier run completed says so in this file.
	done := filepath.Join(l.dir, "installed.json")
	if old, err := os.ReadFile(done); err == nil && bytes.Equal(old, manifest) {
		return nil
	}
	if err := os.WriteFile(filepath.Join(l.dir, "package.json"), manifest, 0o600); err != nil {
		return fmt.Errorf("writing package.json: %w", err)
	}
	progress("fetching packages from npm")
	// No package runs a script of its own accord; the three that have to put
	// their program into place for this machine are asked to below.
	for _, command := range []process.Command{
		{Path: "npm", Args: []string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"}, Dir: l.dir},
		{Path: "node", Args: []string{"installArchSpecificPackage.js"}, Dir: l.module("node")},
		{Path: "node", Args: []string{"postinstall.mjs"}, Dir: l.module("opencode-ai")},
		{Path: "node", Args: []string{"install.cjs"}, Dir: l.module("@anthropic-ai", "claude-code")},
	} {
		command.Env = os.Environ()
		command.Limits.Timeout = 10 * time.Minute
		if _, err := runOK(ctx, command); err != nil {
			return fmt.Errorf("fetching packages: %w", err)
		}
	}
	if err := os.WriteFile(done, manifest, 0o600); err != nil {
		return fmt.Errorf("noting what is installed: %w", err)
	}
	return nil
}
