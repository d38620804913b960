package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/npm"
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
	progress("fetching " + everythingPackage + " from npm")
	dir := filepath.Join(b.dir, "npm")
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := npm.Install(ctx, dir, map[string]string{everythingPackage: everythingVersion}); err != nil {
		progress(fmt.Sprintf("npm could not fetch %s: %v", everythingPackage, err))
		return program{}, "npm could not fetch it"
	}
	main := npm.Module(dir, everythingPackage, "dist", "index.js")
	return program{path: node, args: []string{main, "stdio"}}, ""
}
