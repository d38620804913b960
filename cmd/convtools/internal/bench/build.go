package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// module is the path of the module that is measured.
const module = "github.com/convtools/convtools"

// builds is the programs to measure, and how much to measure.
type builds struct {
	plan      plan
	dir       string // for everything that is written
	dataDir   string // empty; see program.command
	goCommand string
	root      string // of the module that is measured

	convtools   string
	convgen     string
	empty       string // an empty Go program
	minimal     string // an MCP server with next to nothing in it
	mkworkspace string

	ripgrep        string // empty where it is missing
	ripgrepVersion string
}

// build builds everything that is measured into dir.
func build(ctx context.Context, dir string) (*builds, error) {
	b := &builds{dir: dir, dataDir: filepath.Join(dir, "data")}
	var err error
	if b.goCommand, err = exec.LookPath("go"); err != nil {
		return nil, fmt.Errorf("bench builds what it measures: %w", err)
	}
	root, err := b.goRun(ctx, "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return nil, fmt.Errorf("finding the module that is measured: %w", err)
	}
	b.root = strings.TrimSpace(string(root))
	source := filepath.Join(dir, "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		return nil, fmt.Errorf("writing an empty program: %w", err)
	}
	for _, target := range []struct {
		name, in, pkg string
		path          *string
	}{
		{"convtools", b.root, module + "/cmd/convtools", &b.convtools},
		{"convgen", b.root, module + "/cmd/convgen", &b.convgen},
		{"mkworkspace", b.root, module + "/runtime/store/jp/jptest/cmd/mkworkspace", &b.mkworkspace},
		{"empty", b.root, source, &b.empty},
		{"minimal", ".", module + "/cmd/convtools/internal/bench/minimal", &b.minimal},
	} {
		*target.path = filepath.Join(dir, target.name)
		if runtime.GOOS == "windows" {
			*target.path += ".exe"
		}
		if _, err := b.goRun(ctx, "-C", target.in, "build", "-trimpath", "-ldflags=-s -w", "-o", *target.path, target.pkg); err != nil {
			return nil, err
		}
	}
	b.ripgrepVersion = "no ripgrep"
	if path, err := exec.LookPath("rg"); err == nil {
		version, err := program{path: path, args: []string{"--version"}}.output(ctx, b.dataDir)
		if err != nil {
			return nil, err
		}
		b.ripgrep = path
		b.ripgrepVersion, _, _ = strings.Cut(string(version), "\n")
	}
	return b, nil
}

// goRun runs the go command and returns what it printed. Packages of the module
// that is measured are built in its root, with the versions that it asks for.
func (b *builds) goRun(ctx context.Context, args ...string) ([]byte, error) {
	return program{path: b.goCommand, args: args}.output(ctx, b.dataDir)
}
