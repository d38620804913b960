// Command clients tries convtools with programs that were written elsewhere: MCP Inspector, the MCP conformance suite,
// the clients of the TypeScript SDK, agents whose model is scripted, and agents whose histories convtools reads. The
// SDKs of OpenAI and Anthropic check the requests of the adapters for models.
//
// It installs pinned versions of these programs from npm. Each step prints one line and has a time limit. The command
// reads only workspaces, configurations and home directories that it makes itself.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
)

const usage = `usage: clients [-dir DIR] [-only PREFIX] [-keep DIR] [-list]

Runs real MCP clients and agents against convtools, built from this tree. make
clients runs it. It needs npm, and about 2.2 GB below the temporary directory.

  -dir DIR      work in DIR, which is new or was left by an earlier run, and
                leave it; packages in it are used again
  -only PREFIX  run the steps whose name has this prefix
  -keep DIR     keep the histories of the steps NAME/recorded in DIR/NAME
  -list         print the names of all steps
`

func main() {
	dir := flag.String("dir", "", "")
	only := flag.String("only", "", "")
	keep := flag.String("keep", "", "")
	list := flag.Bool("list", false, "")
	repository.Main(usage, func(ctx context.Context) error {
		if *list {
			for _, step := range steps() {
				fmt.Println(step.name)
			}
			return nil
		}
		return run(ctx, *dir, *only, *keep)
	})
}

// run prepares a directory and runs the steps in it. If dir is empty, the directory is
// a temporary one, which run removes.
func run(ctx context.Context, dir, only, keep string) (err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "convtools-clients-"); err != nil {
			return fmt.Errorf("creating a directory to work in: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if dir, err = ownDir(dir); err != nil {
		return err
	}
	l, err := prepare(ctx, dir)
	if err != nil {
		return err
	}
	if keep != "" {
		if l.kept, err = filepath.Abs(keep); err != nil {
			return err
		}
	}
	return runSteps(ctx, l, steps(), only, os.Stdout)
}

// ownDir makes a directory, marks it as made by this command, and returns its absolute path. If the directory exists,
// it must be empty or have the mark: the command would overwrite other files in it.
func ownDir(dir string) (string, error) {
	dir, err1 := filepath.Abs(dir)
	err2 := os.MkdirAll(dir, 0o700)
	entries, err3 := os.ReadDir(dir)
	mark := filepath.Join(dir, "made-by-convtools-clients")
	if _, err := os.Stat(mark); err != nil && len(entries) > 0 {
		return "", fmt.Errorf("%s holds other files; name a directory that does not exist", dir)
	}
	return dir, errors.Join(err1, err2, err3, os.WriteFile(mark, nil, 0o600))
}

// runSteps runs the steps whose names begin with only, and prints a line for each. It returns an error if a step
// failed, if there is no such step, or if it is interrupted.
func runSteps(ctx context.Context, l *lab, all []step, only string, stdout io.Writer) error {
	ran, failed := 0, 0
	for _, s := range all {
		if !strings.HasPrefix(s.name, only) {
			continue
		}
		if ctx.Err() != nil {
			return fmt.Errorf("before %s: %w", s.name, context.Cause(ctx))
		}
		ran++
		start := time.Now()
		limited, cancel := context.WithTimeoutCause(ctx, s.limit, fmt.Errorf("not done after %v", s.limit))
		note, err := s.run(limited, l)
		if err != nil && limited.Err() != nil {
			err = fmt.Errorf("%w (%w)", context.Cause(limited), err)
		}
		cancel()
		verdict := "ok  "
		if err != nil {
			verdict, note = "FAIL", note+"\n"+err.Error()
			failed++
		}
		fmt.Fprintf(stdout, "%s  %-28s %6.1fs\n", verdict, s.name, time.Since(start).Seconds())
		if note = strings.TrimSpace(note); note != "" {
			fmt.Fprintf(stdout, "      %s\n", strings.ReplaceAll(note, "\n", "\n      "))
		}
	}
	fmt.Fprintf(stdout, "\n%d of %d steps passed\n", ran-failed, ran)
	switch {
	case ran == 0:
		return fmt.Errorf("no step begins with %q; -list names all", only)
	case failed > 0:
		return fmt.Errorf("%d steps failed", failed)
	}
	return nil
}
