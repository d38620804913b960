// Package table prints measurements as a table. Each line has a measured figure and the bound of that figure.
package table

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Row is one line of a table. All texts but the name may be empty.
type Row struct {
	Name   string
	Result string // the figure; of a ratio also what it is a ratio to
	Bound  string // what the result should keep to
	Missed bool   // the result is beyond the bound
	Detail string // absolute figures
}

// Table is what was measured, in the order of measuring.
type Table struct{ rows []Row }

// Add appends a row.
func (t *Table) Add(r Row) { t.rows = append(t.rows, r) }

// Write prints the table, and below it the number of bounds that were missed.
func (t *Table) Write(w io.Writer) error {
	missed := 0
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "MEASURED\tRESULT\tBOUND\tABSOLUTE")
	for _, r := range t.rows {
		bound := r.Bound
		if r.Missed {
			missed++
			bound += " MISSED"
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", r.Name, r.Result, bound, r.Detail)
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nbounds missed: %d\n", missed)
	return err
}

// AtMost sets the bound of the row to limit, and Missed if ratio exceeds it.
func (r *Row) AtMost(ratio, limit float64) {
	r.Bound, r.Missed = fmt.Sprintf("at most %gx", limit), ratio > limit
}
