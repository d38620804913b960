package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// row is one line of the table. All texts but the name may be empty.
type row struct {
	name   string
	result string // the ratio, and to what
	bound  string // what the ratio should keep to
	missed bool
	detail string // absolute figures
}

// table is what was measured, in the order of measuring.
type table struct{ rows []row }

func (t *table) add(r row) { t.rows = append(t.rows, r) }

// write prints the table. Below it stands how many bounds were missed.
func (t *table) write(w io.Writer) error {
	missed := 0
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "MEASURED\tRESULT\tBOUND\tABSOLUTE")
	for _, r := range t.rows {
		bound := r.bound
		if r.missed {
			missed++
			bound += " MISSED"
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", r.name, r.result, bound, r.detail)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nbounds missed: %d\n", missed)
	return err
}

// atMost sets a bound that the ratio must not exceed.
func (r *row) atMost(ratio, limit float64) {
	r.bound, r.missed = fmt.Sprintf("at most %gx", limit), ratio > limit
}

// atLeast sets a bound that the ratio must reach.
func (r *row) atLeast(ratio, limit float64) {
	r.bound, r.missed = fmt.Sprintf("at least %gx", limit), ratio < limit
}

// compare returns a row on the times of ours beside those of a peer, and the
// ratio of the fastest runs.
func compare(name, peer string, ours, theirs measured) (row, float64) {
	ratio := ratio(ours.min(), theirs.min())
	return row{
		name:   name,
		result: fmt.Sprintf("%.2fx (%.2fx) of %s", ratio, ours.median().Seconds()/theirs.median().Seconds(), peer),
		detail: fmt.Sprintf("min %s, median %s; peer %s, %s",
			milliseconds(ours.min()), milliseconds(ours.median()), milliseconds(theirs.min()), milliseconds(theirs.median())),
	}, ratio
}

func ratio(a, b time.Duration) float64 { return a.Seconds() / b.Seconds() }

func milliseconds(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	if ms < 10 {
		return fmt.Sprintf("%.2f ms", ms)
	}
	return fmt.Sprintf("%.0f ms", ms)
}

func microseconds(d time.Duration) string {
	return fmt.Sprintf("%.0f µs", float64(d)/float64(time.Microsecond))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
