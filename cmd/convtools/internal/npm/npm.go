// Package npm fetches what other people have written from npm, for the programs that measure and try convtools.
//
// No package runs a script of its own accord: the ones that have to put their program into place for this machine are
// asked to. The package must never write outside of the directory that it is given.
package npm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
)

// setups are the scripts that put a program into place.
func setups() map[string]string {
	return map[string]string{
		"node":                      "installArchSpecificPackage.js",
		"opencode-ai":               "postinstall.mjs",
		"@anthropic-ai/claude-code": "install.cjs",
	}
}

// Install fetches packages into a directory, each in the version given, unless an earlier call fetched the same ones.
func Install(ctx context.Context, dir string, versions map[string]string) error {
	manifest, err := json.MarshalIndent(map[string]any{"private": true, "dependencies": versions}, "", "  ")
	if err != nil {
		return fmt.Errorf("describing packages: %w", err)
	}
	// What an earlier call completed says so in this file.
	done := filepath.Join(dir, "installed.json")
	if old, err := os.ReadFile(done); err == nil && bytes.Equal(old, manifest) {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making a directory for packages: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), manifest, 0o600); err != nil {
		return fmt.Errorf("writing package.json: %w", err)
	}
	commands := []process.Command{{
		Path: "npm", Args: []string{
			"install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error",
			"--fetch-retries=1",
		}, Dir: dir,
	}}
	for name := range versions {
		if script := setups()[name]; script != "" {
			commands = append(commands, process.Command{Path: "node", Args: []string{script}, Dir: Module(dir, name)})
		}
	}
	for _, command := range commands {
		command.Env = os.Environ()
		command.Limits.Timeout = 10 * time.Minute
		result, err := process.Exec{}.Run(ctx, command)
		if err == nil && result.ExitCode != 0 {
			err = fmt.Errorf("exit code %d: %s", result.ExitCode, strings.TrimSpace(text.Visible(text.CutMiddle(string(result.Stderr), 2000))))
		}
		if err != nil {
			return fmt.Errorf("fetching packages: %w", err)
		}
	}
	if err := os.WriteFile(done, manifest, 0o600); err != nil {
		return fmt.Errorf("noting what is installed: %w", err)
	}
	return nil
}

// Module returns the path of a file of a package that is installed in a directory.
func Module(dir, name string, elem ...string) string {
	return filepath.Join(append([]string{dir, "node_modules", filepath.FromSlash(name)}, elem...)...)
}
