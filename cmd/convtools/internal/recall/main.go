// Command recall asks convtools questions about recorded conversations and prints what the answers cost an assistant:
// calls, and characters until the sentence that answers a question is in view. With -locomo or -sessions it asks the
// questions of public corpora and prints how often the answers have the evidence, beside SQLite FTS5.
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
	"path/filepath"
	"text/tabwriter"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

const usage = `usage: recall [-data DIR] [-show N] [-locomo DIR] [-sessions DIR] [-blame DIR]

Asks convtools a fixed set of questions and prints what the answers cost.
make recall runs it.

  -data DIR      the directory of workspaces that are not in the repository
                 (default ../shared/data beside the repository); questions
                 about a workspace that does not exist are skipped
  -show N        print only the calls of question N and their answers
  -locomo DIR    ask the questions of LoCoMo instead, beside SQLite FTS5
  -sessions DIR  ask for the coding session that made a commit instead,
                 beside SQLite FTS5
  -blame DIR     ask blame for the coding session that brought a line of a
                 commit
`

func main() {
	var o options
	flag.StringVar(&o.data, "data", "", "")
	flag.StringVar(&o.locomo, "locomo", "", "")
	flag.StringVar(&o.sessions, "sessions", "", "")
	flag.StringVar(&o.blame, "blame", "", "")
	flag.IntVar(&o.show, "show", 0, "")
	repository.Main(usage, func(ctx context.Context) error { return measure(ctx, o, os.Stdout) })
}

// options are the flags.
type options struct {
	data, locomo, sessions, blame string
	show                          int
}

// measure asks the questions that the options choose and prints the figures. The
// error names the questions of the fixed set that were not answered.
func measure(ctx context.Context, o options, stdout io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "convtools-recall-")
	if err != nil {
		return fmt.Errorf("creating a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := repository.Root(ctx)
	if err != nil {
		return err
	}
	convtools, err := repository.Build(ctx, root, "./cmd/convtools", dir)
	if err != nil {
		return err
	}
	if o.locomo != "" || o.sessions != "" {
		return measureCorpora(ctx, convtools, o, dir, stdout)
	}
	if o.blame != "" {
		corpora, err := loadSessions(ctx, o.blame, dir)
		if err != nil {
			return err
		}
		return corpora[0].measureBlame(ctx, convtools, filepath.Join(o.blame, "labels.json"), stdout)
	}
	sets, err := loadQuestions()
	if err != nil {
		return err
	}
	if o.data == "" {
		o.data = filepath.Join(filepath.Dir(root), "shared", "data")
	}
	for i := range sets {
		set := &sets[i]
		workspace := filepath.Join(root, set.Workspace)
		if set.Data != "" {
			workspace = filepath.Join(o.data, set.Data)
		}
		if _, err := os.Stat(workspace); errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(stdout, "skipped %d questions: there is no %s\n", len(set.Questions), workspace)
			set.Questions = nil
			continue
		}
		if err := set.ask(ctx, convtools, workspace, filepath.Join(dir, set.Name)); err != nil {
			return fmt.Errorf("asking about %s: %w", workspace, err)
		}
	}
	return report(stdout, sets, o.show)
}

// The bounds for twelve questions.
const (
	dozen    = 12
	maxCalls = 24
	maxChars = 50_000
)

// report prints the questions and totals. If show is not 0, it prints only the calls of the question with that number.
// The error names the printed questions that were not answered.
func report(w io.Writer, sets []questionSet, show int) error {
	var failed []error
	var totals table.Table
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "\tCALLS\tCHARS\tKIND\tQUESTION\n")
	number := 0
	for _, set := range sets {
		for _, q := range set.Questions {
			number++
			if number == show {
				fmt.Fprintf(w, "%s\n%s", q.Asked, q.transcript)
				return q.failure
			}
			fmt.Fprintf(tab, "%d\t%d\t%d\t%s\t%.72s\n", number, q.calls, q.chars, q.Kind, q.Asked)
			if q.failure != nil {
				failed = append(failed, fmt.Errorf("question %d, %q: %w", number, q.Asked, q.failure))
			}
		}
		set.addTotals(&totals)
	}
	if show > 0 {
		return fmt.Errorf("no question %d was asked", show)
	}
	return errors.Join(tab.Flush(), totals.Write(w), errors.Join(failed...))
}

// addTotals adds the totals of a set to a table, unless it has no questions.
func (s *questionSet) addTotals(t *table.Table) {
	n := len(s.Questions)
	if n == 0 {
		return
	}
	var calls, chars, answered int
	for _, q := range s.Questions {
		calls, chars = calls+q.calls, chars+q.chars
		if q.failure == nil {
			answered++
		}
	}
	t.Add(table.Row{Name: s.Name + ": questions answered", Result: fmt.Sprintf("%d of %d", answered, n), Bound: "all", Missed: answered < n})
	for _, sum := range []struct {
		name         string
		count, bound int
	}{{"calls", calls, maxCalls}, {"characters", chars, maxChars}} {
		perDozen := float64(sum.count*dozen) / float64(n)
		t.Add(table.Row{
			Name: fmt.Sprintf("%s: %s for 12 questions", s.Name, sum.name), Result: fmt.Sprintf("%.0f", perDozen),
			Bound: fmt.Sprintf("at most %d", sum.bound), Missed: perDozen > float64(sum.bound), Detail: fmt.Sprintf("%d for %d", sum.count, n),
		})
	}
}
