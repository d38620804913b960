// Command recall asks convtools a fixed set of questions about recorded
// conversations, and prints what the answers cost an assistant that pays for
// them: calls, and characters until the sentence that answers a question is in
// view. It also asks the questions of public corpora, beside SQLite FTS5.
//
// The questions, the sentences and the calls are data, in questions. A call uses
// only what the one who asks knows, and what earlier answers showed. A question
// whose sentence is never in view has failed, and then the exit code is 1.
//
// The command writes to a temporary directory only, which it removes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
)

const usage = `usage: recall [-data DIR] [-show N] [-locomo DIR] [-sessions DIR]

Asks convtools a fixed set of questions and prints what the answers cost.
make recall runs it.

  -data DIR  where the workspaces are that are not part of the repository;
             ../shared/data beside the repository when absent. Questions about
             a workspace that is not there are skipped
  -locomo DIR, -sessions DIR
             ask the questions of conversations of LoCoMo, or of coding sessions
             with labels, in one call each, beside SQLite FTS5, and nothing else
  -show N    print the calls of question N with their answers, and nothing else
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("recall", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	data := flags.String("data", "", "")
	show := flags.Int("show", 0, "")
	locomo := flags.String("locomo", "", "")
	sessions := flags.String("sessions", "", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "error: %v\n%s", err, usage)
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "error: recall takes no arguments, got %q\n%s", flags.Arg(0), usage)
		return 2
	}
	failed, err := measure(ctx, options{*data, *locomo, *sessions, *show}, stdout, stderr)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "error: %v\n", err)
		return 1
	case failed:
		return 1
	}
	return 0
}

// options are what the flags say.
type options struct {
	data, locomo, sessions string
	show                   int
}

// measure asks all questions and prints the report. It reports whether one of
// them failed.
func measure(ctx context.Context, o options, stdout, stderr io.Writer) (failed bool, err error) {
	data, show := o.data, o.show
	sets, err := loadQuestions()
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "convtools-recall-")
	if err != nil {
		return false, fmt.Errorf("creating a directory for what is built: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := repository.Root(ctx)
	if err != nil {
		return false, err
	}
	if data == "" {
		data = filepath.Join(filepath.Dir(root), "shared", "data")
	}
	convtools := filepath.Join(dir, "convtools")
	if runtime.GOOS == "windows" {
		convtools += ".exe"
	}
	if err := repository.Build(ctx, root, convtools, "./cmd/convtools"); err != nil {
		return false, err
	}
	if o.locomo != "" || o.sessions != "" {
		return false, measurePublic(ctx, convtools, o.locomo, o.sessions, dir, stdout)
	}

	var r report
	for _, set := range sets {
		workspace := filepath.Join(root, set.Workspace)
		if set.Data != "" {
			workspace = filepath.Join(data, set.Data)
		}
		if _, err := os.Stat(workspace); errors.Is(err, os.ErrNotExist) {
			r.skipped = append(r.skipped, fmt.Sprintf("skipped %d questions: there is no %s", len(set.Questions), workspace))
			continue
		}
		asking, err := open(ctx, convtools, workspace, filepath.Join(dir, set.Name))
		if err != nil {
			return false, fmt.Errorf("opening %s: %w", workspace, err)
		}
		asked, err := asking.ask(ctx, set)
		if err := errors.Join(err, asking.Close()); err != nil {
			return false, fmt.Errorf("asking about %s: %w", workspace, err)
		}
		r.sets = append(r.sets, asked)
		fmt.Fprintf(stderr, "recall: asked %d questions about %s\n", len(set.Questions), set.Name)
	}
	if show > 0 {
		return false, r.show(stdout, show)
	}
	return r.failed(), r.write(stdout)
}
