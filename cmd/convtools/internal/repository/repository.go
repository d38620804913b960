// Package repository builds the programs of this repository and runs them, for the commands that measure and try them.
package repository

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
)

// Main parses the flags of a command that has no arguments, runs it until it is
// interrupted, and exits with 1 if it fails.
func Main(usage string, run func(ctx context.Context) error) {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "error: unexpected argument %q\n%s", flag.Arg(0), usage)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

// Root returns the root directory of the repository.
func Root(ctx context.Context) (string, error) {
	dir, err := Output(ctx, process.Command{
		Path: "go", Args: []string{"list", "-m", "-f", "{{.Dir}}", "github.com/convtools/convtools"}, Env: os.Environ(),
	})
	return strings.TrimSpace(string(dir)), err
}

// Build builds a package of the repository into a directory, with the flags of
// a release, and returns the path of the program.
func Build(ctx context.Context, root, pkg, dir string) (string, error) {
	name := strings.TrimSuffix(filepath.Base(pkg), ".go")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	program := filepath.Join(dir, name)
	_, err := Output(ctx, process.Command{
		Path: "go", Args: []string{"build", "-trimpath", "-ldflags=-s -w", "-o", program, pkg},
		Dir: root, Env: append(os.Environ(), "CGO_ENABLED=0"), Limits: process.Limits{Timeout: 5 * time.Minute},
	})
	return program, err
}

// Output runs a command that has to exit with 0 and returns its standard
// output. The error of a command that fails has its output.
func Output(ctx context.Context, command process.Command) ([]byte, error) {
	result, err := process.Exec{}.Run(ctx, command)
	if err == nil && result.ExitCode != 0 {
		err = ExitError(result)
	}
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", filepath.Base(command.Path), err)
	}
	return result.Stdout, nil
}

// ExitError returns an error with the exit code and the output of a command.
func ExitError(result process.Result) error {
	output := text.CutMiddle(string(result.Stderr), 2000) + "\n" + text.CutMiddle(string(result.Stdout), 2000)
	return fmt.Errorf("exit code %d\n%s", result.ExitCode, strings.TrimSpace(text.Visible(output)))
}

// Environ returns the environment of this process with another home directory, and then more. A program with it finds
// only sessions and settings below home, and writes its caches there.
func Environ(home string, more ...string) []string {
	env := append(os.Environ(), "HOME="+home, "USERPROFILE="+home)
	for _, dir := range [][]string{
		{"cache", "XDG_CACHE_HOME", "LocalAppData"},
		{"config", "XDG_CONFIG_HOME", "AppData"},
		{"data", "XDG_DATA_HOME"},
		{"jp", "JP_USER_DATA_DIR"},
	} {
		for _, name := range dir[1:] {
			env = append(env, name+"="+filepath.Join(home, dir[0]))
		}
	}
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_DB", "ORIGIN_CONVERSATION_DB", "CONVERSATION_DB"} {
		env = append(env, name+"=")
	}
	return append(env, more...)
}
