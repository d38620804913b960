package main

import (
	"fmt"
	"io"
	"iter"
	"text/tabwriter"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// What twelve questions may cost, and how much of an answer of conversation_grep
// with context may be markup.
const (
	dozen      = 12
	maxCalls   = 24
	maxChars   = 50_000
	maxMarkup  = 20 // percent
	shellPeer  = "rg over decoded files"
	linesPeer  = "conversation grep and print"
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
	fmt.Fprintf(tab, "\tCALLS\tCHARS\tSHELL\t\tLINES\t\tKIND\tQUESTION\n")
	for n, q := range r.questions() {
		fmt.Fprintf(tab, "%d\t%s\t%s\t%s\t%s\t%.*s\n", n, q.cost, q.shell, q.lines, q.Kind, questionAt, q.Asked)
	}
	for _, set := range r.sets {
		if set.shell {
			fmt.Fprintf(tab, "\t\t\t%s\t\t\t\tlearning how %s is kept\n", set.learned, set.Name)
		}
	}
	if err := tab.Flush(); err != nil {
		return fmt.Errorf("writing the questions: %w", err)
	}
	fmt.Fprintln(w, "In brackets where the answer was never in view.")
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

// total adds what all questions of a set cost together.
func (s *askedSet) total(t *table.Table) {
	var ours, lines cost
	shell := s.learned
	var answered, shellAnswered, linesAnswered int
	var read, grep, around share
	for _, q := range s.asked {
		ours.add(q.cost)
		shell.add(q.shell)
		lines.add(q.lines)
		answered += count(q.found)
		shellAnswered += count(q.shell.found)
		linesAnswered += count(q.lines.found)
		read.add(q.read)
		grep.add(q.grep)
		around.add(q.grepAround)
	}
	n := len(s.asked)
	t.Add(table.Row{
		Name: s.Name + ": questions answered", Result: fmt.Sprintf("%d of %d", answered, n), Bound: "all", Missed: answered < n,
		Detail: fmt.Sprintf("%s %d; %s %d", shellPeer, shellAnswered, linesPeer, linesAnswered),
	})
	for _, of := range []struct {
		name  string
		limit int
		count func(cost) int
	}{
		{s.Name + ": calls", maxCalls, func(c cost) int { return c.calls }},
		{s.Name + ": characters", maxChars, func(c cost) int { return c.chars }},
	} {
		perDozen := float64(of.count(ours)*dozen) / float64(n)
		t.Add(table.Row{
			Name: of.name + " for 12 questions", Result: fmt.Sprintf("%.0f", perDozen),
			Bound: fmt.Sprintf("at most %d", of.limit), Missed: perDozen > float64(of.limit),
			Detail: fmt.Sprintf("%d for %d", of.count(ours), n),
		})
		if s.shell {
			t.Add(against(of.name, shellPeer, of.count(ours), of.count(shell)))
		} else {
			t.Add(table.Row{Name: of.name, Result: "not compared: rg is missing, see github.com/BurntSushi/ripgrep"})
		}
		t.Add(against(of.name, linesPeer, of.count(ours), of.count(lines)))
	}
	t.Add(read.row(s.Name + ": markup of conversation_read"))
	t.Add(grep.row(s.Name + ": markup of conversation_grep"))
	r := around.row(fmt.Sprintf("%s: the same with %d lines of context", s.Name, linesAround))
	if s.Data != "" { // events of the bundled sample are shorter than what has to be said of them
		r.Bound, r.Missed = fmt.Sprintf("at most %d %%", maxMarkup), around.percent() > maxMarkup
	}
	t.Add(r)
}

func (s share) percent() float64 { return 100 * float64(s.markup) / float64(max(s.all, 1)) }

func (s share) row(name string) table.Row {
	return table.Row{
		Name: name, Result: fmt.Sprintf("%.1f %%", s.percent()),
		Detail: fmt.Sprintf("%d of %d characters", s.markup, s.all),
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

func against(what, peer string, ours, theirs int) table.Row {
	return table.Row{
		Name: what, Result: fmt.Sprintf("%.2fx of %s", float64(ours)/float64(max(theirs, 1)), peer),
		Detail: fmt.Sprintf("%d; peer %d", ours, theirs),
	}
}

func (c *cost) add(of cost) { c.calls, c.chars = c.calls+of.calls, c.chars+of.chars }

func (c cost) String() string {
	if c.found {
		return fmt.Sprintf("%d\t%d", c.calls, c.chars)
	}
	return fmt.Sprintf("(%d)\t(%d)", c.calls, c.chars)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
