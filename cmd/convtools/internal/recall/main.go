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
	"path/filepath"
	"text/tabwriter"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
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
	var o options
	flag.StringVar(&o.data, "data", "", "")
	flag.StringVar(&o.locomo, "locomo", "", "")
	flag.StringVar(&o.sessions, "sessions", "", "")
	flag.IntVar(&o.show, "show", 0, "")
	repository.Main(usage, func(ctx context.Context) error { return measure(ctx, o, os.Stdout) })
}

// options are what the flags say.
type options struct {
	data, locomo, sessions string
	show                   int
}

// measure asks all questions and prints what they cost. The error names those that failed.
func measure(ctx context.Context, o options, stdout io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "convtools-recall-")
	if err != nil {
		return fmt.Errorf("creating a directory for what is built: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := repository.Root(ctx)
	if err != nil {
		return err
	}
	convtools := repository.Program(dir, "convtools")
	if err := repository.Build(ctx, root, convtools, "./cmd/convtools"); err != nil {
		return err
	}
	if o.locomo != "" || o.sessions != "" {
		return measurePublic(ctx, convtools, o.locomo, o.sessions, dir, stdout)
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

// What twelve questions may cost.
const (
	dozen    = 12
	maxCalls = 24
	maxChars = 50_000
)

// report prints the questions, the totals, and which questions failed; or the calls of one
// question, with the answers.
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
				return q.write(w)
			}
			fmt.Fprintf(tab, "%d\t%d\t%d\t%s\t%.72s\n", number, len(q.made), q.chars, q.Kind, q.Asked)
			if q.missed != nil {
				failed = append(failed, fmt.Errorf("question %d, %q: %w", number, q.Asked, q.missed))
			}
		}
		set.total(&totals)
	}
	if show > 0 {
		return fmt.Errorf("there is no question %d among those that were asked", show)
	}
	return errors.Join(tab.Flush(), totals.Write(w), errors.Join(failed...))
}

// write prints the calls of a question, and the answers.
func (q *question) write(w io.Writer) error {
	fmt.Fprintf(w, "%s\n", q.Asked)
	for _, m := range q.made {
		fmt.Fprintf(w, "\n> %s\n%s\n", m.call, m.answer)
	}
	return q.missed
}

// total adds the rows of all questions of a set.
func (s *questionSet) total(t *table.Table) {
	n := len(s.Questions)
	if n == 0 {
		return
	}
	var calls, chars, answered int
	for _, q := range s.Questions {
		calls, chars = calls+len(q.made), chars+q.chars
		if q.missed == nil {
			answered++
		}
	}
	t.Add(table.Row{Name: s.Name + ": questions answered", Result: fmt.Sprintf("%d of %d", answered, n), Bound: "all", Missed: answered < n})
	for _, of := range []struct {
		name         string
		count, limit int
	}{{"calls", calls, maxCalls}, {"characters", chars, maxChars}} {
		perDozen := float64(of.count*dozen) / float64(n)
		t.Add(table.Row{
			Name: fmt.Sprintf("%s: %s for 12 questions", s.Name, of.name), Result: fmt.Sprintf("%.0f", perDozen),
			Bound: fmt.Sprintf("at most %d", of.limit), Missed: perDozen > float64(of.limit), Detail: fmt.Sprintf("%d for %d", of.count, n),
		})
	}
}
