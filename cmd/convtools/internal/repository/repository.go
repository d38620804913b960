// Package repository finds this repository and builds programs in it, for the
// programs that measure and try them. It must not read what the tools read.
package repository

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
)

const module = "github.com/convtools/convtools"

// Root returns the directory of the module that convtools is in.
func Root(ctx context.Context) (string, error) {
	root, err := goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", fmt.Errorf("finding the root of the repository: %w", err)
	}
	return strings.TrimSpace(string(root)), nil
}

// Build builds a package as it is seen from a directory, as releases are built.
func Build(ctx context.Context, dir, out, pkg string) error {
	if _, err := goCommand(ctx, "-C", dir, "build", "-trimpath", "-ldflags=-s -w", "-o", out, pkg); err != nil {
		return fmt.Errorf("building %s: %w", pkg, err)
	}
	return nil
}

// Program returns the path of a program of that name in a directory.
func Program(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

func goCommand(ctx context.Context, args ...string) ([]byte, error) {
	result, err := process.Exec{}.Run(ctx, process.Command{
		Path: "go", Args: args, Env: append(os.Environ(), "CGO_ENABLED=0"),
		Limits: process.Limits{Timeout: 5 * time.Minute},
	})
	switch {
	case err != nil:
		return nil, err
	case result.ExitCode != 0:
		return nil, fmt.Errorf("exit code %d\n%s", result.ExitCode, text.Visible(text.CutMiddle(string(result.Stderr), 4000)))
	}
	return result.Stdout, nil
}
