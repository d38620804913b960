package main

import (
	"fmt"
	"io"
	"iter"
	"text/tabwriter"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// What twelve questions may cost.
const (
	dozen      = 12
	maxCalls   = 24
	maxChars   = 50_000
	questionAt = 72 // characters of a question that are printed
)

// report is what all questions cost.
type report struct {
	sets    []askedSet
	skipped []string
}

// questions yields all questions that were asked, with their numbers, from 1.
func (r *report) questions() iter.Seq2[int, *asked] {
	return func(yield func(int, *asked) bool) {
		n := 0
		for _, set := range r.sets {
			for i := range set.asked {
				if n++; !yield(n, &set.asked[i]) {
					return
				}
			}
		}
	}
}

func (r *report) failed() bool {
	for _, q := range r.questions() {
		if !q.found {
			return true
		}
	}
	return false
}

// write prints the questions, the totals, and which questions failed.
func (r *report) write(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "\tCALLS\tCHARS\tKIND\tQUESTION\n")
	for n, q := range r.questions() {
		fmt.Fprintf(tab, "%d\t%d\t%d\t%s\t%.*s\n", n, q.calls, q.chars, q.Kind, questionAt, q.Asked)
	}
	if err := tab.Flush(); err != nil {
		return fmt.Errorf("writing the questions: %w", err)
	}
	for _, s := range r.skipped {
		fmt.Fprintln(w, s)
	}
	fmt.Fprintln(w)
	var t table.Table
	for _, set := range r.sets {
		set.total(&t)
	}
	if err := t.Write(w); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	for n, q := range r.questions() {
		if !q.found {
			fmt.Fprintf(w, "failed: question %d, %q: %s\n", n, q.Asked, q.why)
		}
	}
	return nil
}

// total adds the rows of all questions of a set.
func (s *askedSet) total(t *table.Table) {
	var calls, chars, answered int
	for _, q := range s.asked {
		calls, chars = calls+q.calls, chars+q.chars
		if q.found {
			answered++
		}
	}
	n := len(s.asked)
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

// show prints the calls of one question, and the answers.
func (r *report) show(w io.Writer, number int) error {
	for n, q := range r.questions() {
		if n != number {
			continue
		}
		fmt.Fprintf(w, "%s\n", q.Asked)
		for _, m := range q.made {
			fmt.Fprintf(w, "\n> %s\n%s\n", m.call, m.answer)
		}
		if !q.found {
			fmt.Fprintf(w, "\nfailed: %s\n", q.why)
		}
		return nil
	}
	return fmt.Errorf("there is no question %d among those that were asked", number)
}
