package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// recallQueries is how many questions are measured.
const recallQueries = 15

// questions returns questions of six words each, which follow each other in a message.
func (m *messageBench) questions() (all []string) {
	const words = 6
	every := m.corpus.Messages / recallQueries
	n := 0
	for msg := range m.corpus.All() {
		if n++; n%every != 0 {
			continue
		}
		fields := strings.FieldsFunc(msg.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if len(fields) >= words {
			all = append(all, strings.Join(fields[:words], " "))
		}
	}
	return all
}

// recall measures conversation_recall in a server, with an index, beside FTS5 with stems and bm25.
func (m *messageBench) recall(ctx context.Context, t *table.Table) error {
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
	if err := cmd.Start(); err != nil {
		return err
	}
	client, err := newStreamClient(in, out, request{})
	var ours, found []time.Duration
	for _, question := range m.questions() {
		if err != nil {
			break
		}
		client.of = toolCall("conversation_recall", fmt.Sprintf(`{"query":%s,"sources":["chatgpt"]}`, quoted(question)))
		var took time.Duration
		if took, err = client.fastest(m.plan.runs); err != nil {
			break
		}
		ours = append(ours, took)
		match := `"` + strings.Join(strings.Fields(question), `" OR "`) + `"`
		took, err = fastest(min(m.plan.runs, 3), func() error {
			return read(ctx, fts, `SELECT m.role, m.text, m.time, '' FROM ranked JOIN messages m ON m.number = ranked.rowid
				WHERE ranked MATCH ? ORDER BY bm25(ranked) LIMIT 20`, match)
		})
		found = append(found, took)
	}
	if err := errors.Join(err, in.Close(), cmd.Wait()); err != nil {
		return err
	}
	slices.Sort(ours)
	slices.Sort(found)
	median, peer := ours[len(ours)/2], found[len(found)/2]
	row := table.Row{
		Name: "recall: six words", Result: fmt.Sprintf("%.2fx of FTS5 with bm25", ratio(median, peer)),
		Detail: fmt.Sprintf("median %s, slowest %s; FTS5 %s", milliseconds(median), milliseconds(ours[len(ours)-1]), milliseconds(peer)),
	}
	row.AtMost(ratio(median, peer), recallOfFTSBound)
	row.Missed = row.Missed || median > recallMost
	row.Bound += ", " + milliseconds(recallMost)
	t.Add(row)
	return nil
}
