package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
)

// Bounds on importing an export.
const (
	importSpeedBound  = 40.0 // MB of JSON a second
	importMemoryBound = 200_000_000
)

// imports measures the import of messages as an export of ChatGPT, the first time and with
// nothing new in it.
func (b *bench) imports(ctx context.Context) error {
	dir := filepath.Join(b.dir, "export")
	size, err := writeExport(dir, corpus.New(b.amount.messages))
	if err != nil {
		return fmt.Errorf("writing an export: %w", err)
	}
	for _, name := range []string{"import", "import: again, unchanged"} {
		one, err := once(ctx, program{path: b.convtools, args: []string{"import", dir}, env: b.home("import")})
		if err != nil {
			return err
		}
		speed := float64(size) / 1e6 / one.min().Seconds()
		b.table.Add(table.Row{
			Name: name, Result: fmt.Sprintf("%.1f MB/s of JSON", speed),
			Bound:  fmt.Sprintf("at least %g MB/s, at most %s resident", importSpeedBound, megabytes(importMemoryBound)),
			Missed: speed < importSpeedBound || one.peak > importMemoryBound,
			Detail: fmt.Sprintf("%s in %s; at most %s resident", megabytes(size), milliseconds(one.min()), megabytes(one.peak)),
		})
	}
	return os.RemoveAll(dir)
}

// inShard is how many conversations a file of an export has.
const inShard = 100

// writeExport writes messages as ChatGPT exports them, and returns their size in bytes.
func writeExport(dir string, c *corpus.Corpus) (size int64, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	var f *os.File
	var w *bufio.Writer
	end := func() error {
		if f == nil {
			return nil
		}
		_, _ = w.WriteString("]") // Flush returns the error
		err := w.Flush()
		info, unknown := f.Stat()
		if unknown == nil {
			size += info.Size()
		}
		return errors.Join(err, unknown, f.Close())
	}
	for msg := range c.All() {
		if msg.Number == 1 && msg.Conversation%inShard == 0 {
			if err := end(); err != nil {
				return 0, err
			}
			if f, err = os.Create(filepath.Join(dir, fmt.Sprintf("conversations-%03d.json", msg.Conversation/inShard))); err != nil {
				return 0, err
			}
			w = bufio.NewWriter(f)
		}
		exportMessage(w, c, msg)
	}
	err = end()
	return size, err
}

// exportMessage writes a message, with the beginning or the end of its conversation where it
// is the first or the last one.
func exportMessage(w *bufio.Writer, c *corpus.Corpus, msg *corpus.Message) {
	node := func(number int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", msg.Conversation, number) }
	at := float64(msg.Time.UnixMilli()) / 1000
	if msg.Number == 1 {
		separator := ",\n"
		if msg.Conversation%inShard == 0 {
			separator = "["
		}
		fmt.Fprintf(w, `%s{"title":%s,"create_time":%.6f,"update_time":%.6f,"mapping":{"%s":{"id":"%[5]s","message":null,"parent":null,"children":["%[6]s"]}`,
			separator, quoted(c.Title(msg.Conversation)), at, at, node(0), node(1))
	}
	children := ""
	if msg.Number < corpus.PerConversation {
		children = `"` + node(msg.Number+1) + `"`
	}
	fmt.Fprintf(w, `,"%s":{"id":"%[1]s","message":{"id":"%[1]s","author":{"role":"%[2]s","name":null,"metadata":{}},"create_time":%.6[3]f,"update_time":null,`+
		`"content":{"content_type":"text","parts":[%[4]s]},"status":"finished_successfully","end_turn":true,"weight":1.0,"metadata":{"is_complete":true,`+
		`"model_slug":"gpt-5","parent_id":"%[5]s"},"recipient":"all","channel":null},"parent":"%[5]s","children":[%[6]s]}`,
		node(msg.Number), msg.Role, at, quoted(msg.Text), node(msg.Number-1), children)
	if msg.Number == corpus.PerConversation {
		fmt.Fprintf(w, `},"moderation_results":[],"current_node":"%s","conversation_id":"c-%07d","id":"c-%07[2]d","is_archived":false,"default_model_slug":"gpt-5"}`,
			node(msg.Number), msg.Conversation)
	}
}
