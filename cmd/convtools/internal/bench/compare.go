package main

import (
	"fmt"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// compare returns a row on the times of ours beside those of a peer, and the
// ratio of the fastest runs.
func compare(name, peer string, ours, theirs measured) (table.Row, float64) {
	ratio := ratio(ours.min(), theirs.min())
	return table.Row{
		Name:   name,
		Result: fmt.Sprintf("%.2fx (%.2fx) of %s", ratio, ours.median().Seconds()/theirs.median().Seconds(), peer),
		Detail: fmt.Sprintf("min %s, median %s; peer %s, %s",
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
