package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// Bounds on searching messages.
const (
	searchOfLikeBound = 0.02 // of the statement of the server that ours takes the place of
	searchOfFTSBound  = 1.5
	recallOfFTSBound  = 2.0
	searchMost        = 20 * time.Millisecond
	recallMost        = 60 * time.Millisecond
	newest            = 50 // messages of an answer
)

// likeQueries is how many queries of a class the slow peer is measured with, once each.
const likeQueries = 3

// search measures each class of queries: through the tool in a server, with an index, beside
// the statement that the server it takes the place of runs, and beside FTS5, both through the
// driver that convtools has. A search takes until all of its answer is here.
func (m *messageBench) search(ctx context.Context, t *table.Table) error {
	like, err := readOnly(m.database())
	if err != nil {
		return err
	}
	defer like.Close()
	fts, err := readOnly(m.peer())
	if err != nil {
		return err
	}
	defer fts.Close()
	cmd := m.asks("mcp").command(ctx, m.dataDir)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	forgetPeak()
	if err := cmd.Start(); err != nil {
		return err
	}
	end := watch(ctx, cmd)
	client, err := newStreamClient(in, out, request{})
	for _, class := range m.corpus.Classes() {
		if err == nil {
			m.progress("messages: searching: " + class.Name)
			err = m.searchClass(ctx, t, class, client, like, fts)
		}
	}
	err = errors.Join(err, in.Close(), cmd.Wait())
	anonymous := end()
	if err == nil {
		t.Add(memoryRow("search: peak memory of the server", anonymous, cmd.ProcessState))
	}
	return err
}

func (m *messageBench) searchClass(ctx context.Context, t *table.Table, class corpus.Class, client *streamClient, like, fts *sql.DB) error {
	var ours, likes, long, found []time.Duration
	for i, query := range class.Queries {
		arguments := fmt.Sprintf(`{"query":%s`, quoted(query))
		if !class.Since.IsZero() {
			arguments += fmt.Sprintf(`,"start_date":%q,"end_date":%q`, class.Since.Format(time.RFC3339), class.Until.Format(time.RFC3339))
		}
		client.of = toolCall("conversation_search", arguments+"}")
		best, err := client.fastest(m.plan.runs)
		if err != nil {
			return err
		}
		ours = append(ours, best)
		if i < likeQueries {
			took, err := fastest(1, func() error { return m.like(ctx, like, query, !class.Since.IsZero()) })
			if err != nil {
				return err
			}
			likes = append(likes, took)
		}
		if len([]rune(query)) < 3 {
			continue
		}
		took, err := fastest(min(m.plan.runs, 3), func() error { return m.match(ctx, fts, query, class) })
		if err != nil {
			return err
		}
		long, found = append(long, best), append(found, took)
	}
	for _, times := range [][]time.Duration{ours, likes, long, found} {
		slices.Sort(times)
	}
	median := func(times []time.Duration) time.Duration { return times[len(times)/2] }
	slowest := ours[len(ours)-1]
	ratioOfLike := ratio(median(ours), median(likes))
	row := table.Row{
		Name: "search: " + class.Name, Result: fmt.Sprintf("%.4fx of the statement with LIKE", ratioOfLike),
		Detail: fmt.Sprintf("median %s, slowest %s; LIKE %s", milliseconds(median(ours)), milliseconds(slowest), milliseconds(median(likes))),
	}
	row.AtMost(ratioOfLike, searchOfLikeBound)
	row.Missed = row.Missed || slowest > searchMost
	row.Bound += ", " + milliseconds(searchMost)
	t.Add(row)
	if len(found) == 0 {
		return nil
	}
	ratioOfFTS := ratio(median(long), median(found))
	row = table.Row{
		Name: "search: " + class.Name + ", 3 characters and more", Result: fmt.Sprintf("%.2fx of FTS5", ratioOfFTS),
		Detail: fmt.Sprintf("median of %d %s; FTS5 %s", len(long), milliseconds(median(long)), milliseconds(median(found))),
	}
	row.AtMost(ratioOfFTS, searchOfFTSBound)
	t.Add(row)
	return nil
}

// fastest returns what the fastest of n calls takes. What a client makes of an answer is
// no part of it: only that of a call before them is decoded.
func (c *streamClient) fastest(n int) (time.Duration, error) {
	if _, err := c.text(); err != nil {
		return 0, err
	}
	return fastest(n, func() error { return c.each(1, 1) })
}

// fastest returns what the fastest of n runs takes.
func fastest(n int, run func() error) (best time.Duration, err error) {
	for i := range n {
		start := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		if took := time.Since(start); i == 0 || took < best {
			best = took
		}
	}
	return best, nil
}
