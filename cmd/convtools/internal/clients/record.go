package main

import (
	"bytes"
	stdcmp "cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite" // for the histories in databases

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/process"
)

// recorded is a conversation as convtools reads it.
type recorded struct {
	Title  string
	Parent bool   // it has a parent: it is a fork, or a sub-agent recorded it
	Events string // a letter for each event, see letters, and "!" after the result of a call that failed
}

// checkRecorded compares the conversations of the agent that convtools lists for the project with want, which it sorts.
func (w *worker) checkRecorded(ctx context.Context, want []recorded) error {
	var listed []struct {
		ID, Title string
		Parent    string `json:"parent_id"`
	}
	if err := w.read(ctx, &listed, "ls", "--source", stdcmp.Or(w.Source, w.name)); err != nil {
		return err
	}
	var got []recorded
	for _, c := range listed {
		var events []struct {
			Type   string
			Failed bool `json:"is_error"`
		}
		if err := w.read(ctx, &events, "print", c.ID); err != nil {
			return err
		}
		types := ""
		for _, e := range events {
			types += letters()[e.Type]
			if e.Failed {
				types += "!"
			}
		}
		got = append(got, recorded{c.Title, c.Parent != "", types})
	}
	order := func(a, b recorded) int { return strings.Compare(a.Events, b.Events) }
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("convtools reads other conversations (-want +got):\n%s", diff)
	}
	return nil
}

// letters returns the letter that stands for each type of events: user, assistant, call, result of a tool.
func letters() map[string]string {
	return map[string]string{"chat_request": "u", "chat_response": "a", "tool_call_request": "c", "tool_call_response": "t"}
}

// read runs convtools conversation with args and decodes the JSON that it prints.
func (w *worker) read(ctx context.Context, into any, args ...string) error {
	printed, err := repository.Output(ctx, process.Command{
		Path: w.convtools, Args: append([]string{"conversation"}, append(args, "--format", "json")...), Dir: w.project, Env: w.env(w.home),
	})
	if err != nil {
		return err
	}
	return json.Unmarshal(printed, into)
}

// maxRecorded is the maximum length of a quoted string in a kept history, in bytes. A longer one is a text of the
// program's vendor, which is not kept.
const maxRecorded = 300

// keep copies the JSON files of the history, or the rows of its database, into the directory of -keep, if there is one.
// In the copies, paths are in the home directory of Mina, every port is 80, and a long string is "…".
func (w *worker) keep(ctx context.Context) error {
	if w.kept == "" {
		return nil
	}
	to := filepath.Join(w.kept, w.name)
	if err := errors.Join(os.RemoveAll(to), os.MkdirAll(to, 0o750)); err != nil {
		return fmt.Errorf("keeping the history: %w", err)
	}
	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	port := regexp.MustCompile(`127\.0\.0\.1:\d+`)
	shorten := func(s string) string {
		if len(s) > maxRecorded {
			return `"…"`
		}
		return s
	}
	names := w.renames()
	scrub := func(data []byte) []byte {
		renamed := names.Replace(string(port.ReplaceAll(data, []byte("127.0.0.1:80"))))
		return []byte(quoted.ReplaceAllStringFunc(renamed, shorten))
	}
	if w.Database != "" {
		data, err := w.rows(ctx)
		return errors.Join(err, os.WriteFile(filepath.Join(to, "rows.jsonl"), scrub(data), 0o600))
	}
	from := filepath.Join(w.home, filepath.FromSlash(w.History))
	return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasPrefix(filepath.Ext(path), ".json") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		file := filepath.Join(to, names.Replace(name))
		return errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o750), os.WriteFile(file, scrub(data), 0o600))
	})
}

// rows returns the rows that the queries in w.Rows read from the agent's database, each on a line.
func (w *worker) rows(ctx context.Context) ([]byte, error) {
	db, err := sql.Open("sqlite", filepath.Join(w.home, filepath.FromSlash(w.History), w.Database))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, strings.Join(w.Rows, " UNION ALL "))
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	defer rows.Close()
	var lines bytes.Buffer
	for rows.Next() {
		var line sql.RawBytes
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		lines.Write(append(line, '\n'))
	}
	return lines.Bytes(), rows.Err()
}

// renames returns a replacer of the paths of the home directory, the project and the lab. It also replaces these paths
// where they are written with hyphens, as in names of folders.
func (w *worker) renames() *strings.Replacer {
	folder := regexp.MustCompile("[^A-Za-z0-9]")
	var pairs []string
	for _, pair := range [][2]string{{w.project, "/home/mina/tides"}, {w.home, "/home/mina"}, {w.dir, "/opt/lab"}} {
		path, name := pair[0], pair[1]
		pairs = append(pairs, path, name, folder.ReplaceAllString(path, "-"), folder.ReplaceAllString(name, "-"))
	}
	return strings.NewReplacer(pairs...)
}
