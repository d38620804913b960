package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/bench/corpus"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/store/postgres/postgrestest"
)

// Bounds on importing an export.
const (
	importSpeedBound = 40.0 // MB of JSON a second
	importMemory     = 200_000_000
)

// onServer is how many messages are imported into a server at the most: to index them it takes
// minutes for a gigabyte.
const onServer = 100_000

// imports measures the import of the messages as an export of ChatGPT into the archive, and,
// where PostgreSQL is installed, of some of them into one on a server, with the classes of
// queries there beside those in a file.
func (b *builds) imports(ctx context.Context, t *table.Table, progress func(string)) error {
	err := b.imported(b.plan.messages, progress, func(m *importBench) error {
		for _, name := range []string{"import", "import: again, unchanged"} {
			speed, row, err := m.add(ctx, name, "")
			if err != nil {
				return err
			}
			row.Bound, row.Missed = fmt.Sprintf("at least %g MB/s, at most %s", importSpeedBound, megabytes(importMemory)), row.Missed || speed < importSpeedBound
			t.Add(row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	cluster := postgrestest.Cluster{Durable: true}
	defer cluster.Stop()
	err = cluster.Start()
	if errors.Is(err, postgrestest.ErrNotInstalled) {
		t.Add(table.Row{Name: "PostgreSQL", Result: "skipped", Detail: err.Error()})
		return nil
	}
	var url string
	if err == nil {
		_, url, err = cluster.NewRole()
	}
	if err != nil {
		return fmt.Errorf("starting PostgreSQL: %w", err)
	}
	return b.imported(min(b.plan.messages, onServer), progress, func(m *importBench) error {
		return m.server(ctx, t, url, progress)
	})
}

// imported measures with an export of so many messages.
func (b *builds) imported(messages int, progress func(string), measure func(*importBench) error) (err error) {
	m := &importBench{builds: b, corpus: corpus.New(messages), dir: filepath.Join(b.dir, "imports")}
	defer func() { err = errors.Join(err, os.RemoveAll(m.dir)) }()
	progress(fmt.Sprintf("%d messages: writing an export", messages))
	if err := m.write(); err != nil {
		return fmt.Errorf("writing an export: %w", err)
	}
	progress("importing")
	return measure(m)
}

type importBench struct {
	*builds
	corpus *corpus.Corpus
	dir    string
	json   int64 // bytes
}

func (m *importBench) export() string { return filepath.Join(m.dir, "export") }

// asks returns convtools working on the archive in a file, or on the one of a URL.
func (m *importBench) asks(url string, args ...string) program {
	home := filepath.Join(m.dir, "home")
	return program{path: m.convtools, noMatch: true, args: args, env: []string{
		"HOME=" + home, "USERPROFILE=" + home, "XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home, "AppData=" + home, "LocalAppData=" + home,
		"XDG_CACHE_HOME=" + filepath.Join(home, "cache"), "CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "GEMINI_CLI_HOME=", "OPENCODE_DB=",
		"ORIGIN_CONVERSATION_DB=", "CONVERSATION_DB=" + url,
	}}
}

// add imports the export, and returns how many MB of JSON a second that is.
func (m *importBench) add(ctx context.Context, name, url string) (speed float64, row table.Row, err error) {
	one, err := m.once(ctx, m.asks(url, "import", m.export()))
	if err != nil {
		return 0, row, err
	}
	speed = float64(m.json) / 1e6 / one.min().Seconds()
	return speed, table.Row{
		Name: name, Result: fmt.Sprintf("%.1f MB/s of JSON", speed), Missed: one.peak > importMemory,
		Detail: fmt.Sprintf("%s in %s; at most %s resident", megabytes(m.json), milliseconds(one.min()), megabytes(one.peak)),
	}, nil
}

// server measures the archive on a server, of a URL.
func (m *importBench) server(ctx context.Context, t *table.Table, url string, progress func(string)) error {
	for _, args := range [][]string{{"import", m.export()}, {"search", "index"}} {
		if _, err := m.once(ctx, m.asks("", args...)); err != nil {
			return err
		}
	}
	for _, name := range []string{"import into PostgreSQL", "import into PostgreSQL: again, unchanged"} {
		progress(name)
		_, row, err := m.add(ctx, name, url)
		if err != nil {
			return err
		}
		row.Bound = "at most " + megabytes(importMemory)
		t.Add(row)
	}
	progress("searching in PostgreSQL")
	var clients [2]*streamClient
	for i, url := range []string{url, ""} {
		cmd := m.asks(url, "mcp").command(ctx, m.dataDir)
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
		defer func() {
			in.Close()
			_ = cmd.Wait() // its input has ended
		}()
		if clients[i], err = newStreamClient(in, out, request{}); err != nil {
			return err
		}
	}
	for _, class := range m.corpus.Classes() {
		if err := m.class(t, class, clients); err != nil {
			return err
		}
	}
	return nil
}

// class measures queries on the server, beside the same ones in the file.
func (m *importBench) class(t *table.Table, class corpus.Class, clients [2]*streamClient) error {
	var times [len(clients)][]time.Duration
	for _, query := range class.Queries {
		for i, client := range clients {
			client.of = searchOf(query, class)
			best, err := client.fastest(min(m.plan.runs, 3))
			if err != nil {
				return err
			}
			times[i] = append(times[i], best)
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	median := func(times []time.Duration) time.Duration { return times[len(times)/2] }
	slowest := func(times []time.Duration) time.Duration { return times[len(times)-1] }
	t.Add(table.Row{
		Name: "search in PostgreSQL: " + class.Name, Result: fmt.Sprintf("%.1fx of the archive in a file", ratio(median(times[0]), median(times[1]))),
		Detail: fmt.Sprintf("median %s, slowest %s; in a file %s, %s",
			milliseconds(median(times[0])), milliseconds(slowest(times[0])), milliseconds(median(times[1])), milliseconds(slowest(times[1]))),
	})
	return nil
}

// searchOf is the call for a query of a class.
func searchOf(query string, class corpus.Class) request {
	arguments := `{"query":` + quoted(query)
	if !class.Since.IsZero() {
		arguments += fmt.Sprintf(`,"start_date":%q,"end_date":%q`, class.Since.Format(time.RFC3339), class.Until.Format(time.RFC3339))
	}
	return toolCall("conversation_search", arguments+"}")
}

// inShard is how many conversations a file of an export has.
const inShard = 100

// write writes the messages as ChatGPT exports them.
func (m *importBench) write() error {
	if err := os.MkdirAll(m.export(), 0o700); err != nil {
		return err
	}
	var f *os.File
	var w *bufio.Writer
	end := func() error {
		if f == nil {
			return nil
		}
		_, _ = w.WriteString("]") // Flush has the error
		err := w.Flush()
		info, unknown := f.Stat()
		if unknown == nil {
			m.json += info.Size()
		}
		return errors.Join(err, unknown, f.Close())
	}
	for msg := range m.corpus.All() {
		if msg.Number == 1 && msg.Conversation%inShard == 0 {
			if err := end(); err != nil {
				return err
			}
			var err error
			if f, err = os.Create(filepath.Join(m.export(), fmt.Sprintf("conversations-%03d.json", msg.Conversation/inShard))); err != nil {
				return err
			}
			w = bufio.NewWriter(f)
		}
		m.message(w, msg)
	}
	return end()
}

// message writes a message, with what stands before and behind it.
func (m *importBench) message(w *bufio.Writer, msg *corpus.Message) {
	node := func(number int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", msg.Conversation, number) }
	at := float64(msg.Time.UnixMilli()) / 1000
	if msg.Number == 1 {
		separator := ",\n"
		if msg.Conversation%inShard == 0 {
			separator = "["
		}
		fmt.Fprintf(w, `%s{"title":%s,"create_time":%.6f,"update_time":%.6f,"mapping":{"%s":{"id":"%[5]s","message":null,"parent":null,"children":["%[6]s"]}`,
			separator, quoted(m.corpus.Title(msg.Conversation)), at, at, node(0), node(1))
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
