package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

const (
	everythingServer  = "server-everything"
	everythingPackage = "@modelcontextprotocol/server-everything"
	everythingVersion = "2026.8.31"
)

// installEverything fetches the reference server of the protocol from npm. Where
// that cannot be done, missing says why.
func (b *builds) installEverything(ctx context.Context, progress func(string)) (everything program, missing string) {
	node, err := exec.LookPath("node")
	if err != nil {
		return program{}, "node is missing"
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return program{}, "npm is missing"
	}
	progress("fetching " + everythingPackage + " from npm")
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	dir := filepath.Join(b.dir, "npm")
	install := program{path: npm, args: []string{
		"install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error",
		"--fetch-retries=0", everythingPackage + "@" + everythingVersion,
	}}
	if _, err := install.output(ctx, b.dataDir); err != nil {
		progress(fmt.Sprintf("npm could not fetch %s: %v", everythingPackage, err))
		return program{}, "npm could not fetch it"
	}
	main := filepath.Join(dir, "node_modules", filepath.FromSlash(everythingPackage), "dist", "index.js")
	return program{path: node, args: []string{main, "stdio"}}, ""
}
