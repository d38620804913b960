package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// Bounds on reading the histories of other programs.
const (
	historyListBound = 3
	firstSearchBound = 18 // MB a second, of files that are mostly text: 369 MB of sessions with 62 MB of text in 3.5 s
	knownSearchBound = 40 * time.Millisecond
)

// histories measures searching and listing what other programs than JP record. Each
// history is written and removed in its turn.
func (b *builds) histories(ctx context.Context, t *table.Table, progress func(string)) error {
	for _, form := range []struct {
		program, env, files string
		line                func(*writtenSession, part) string
		name                func(*writtenSession) string
	}{
		{"Claude Code", "CLAUDE_CONFIG_DIR", "projects", claudeLine, claudeName},
		{"Codex", "CODEX_HOME", "", codexLine, codexName},
	} {
		dir := filepath.Join(b.dir, "history")
		h := &history{
			program: form.program, env: form.env, home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project"), sessions: b.plan.sessions,
		}
		h.files = filepath.Join(h.home, form.files)
		if form.files != "" { // a folder for each project, by its path
			h.files = filepath.Join(h.files, strings.Map(func(r rune) rune {
				if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
					return r
				}
				return '-'
			}, h.project))
		}
		progress(fmt.Sprintf("%s: %d sessions, %s", h.program, h.sessions, megabytes(b.plan.history)))
		if err := os.MkdirAll(h.project, 0o755); err != nil {
			return fmt.Errorf("making a project: %w", err)
		}
		err := h.writeHistory(b.plan.history, form.line, form.name)
		if err == nil {
			err = b.searchHistory(ctx, t, h)
		}
		if err == nil {
			err = b.listHistory(ctx, t, h)
		}
		if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
			return fmt.Errorf("measuring the history of %s: %w", h.program, err)
		}
	}
	return nil
}

// asks returns convtools working on a history, and on no other one.
func (b *builds) asks(h *history, args ...string) program {
	nowhere := filepath.Join(b.dir, "nobody")
	return program{path: b.convtools, noMatch: true, args: append(args, "--workspace", h.project), env: []string{
		"HOME=" + nowhere, "USERPROFILE=" + nowhere, "XDG_DATA_HOME=" + nowhere, "XDG_CONFIG_HOME=" + nowhere, "AppData=" + nowhere,
		"XDG_CACHE_HOME=" + filepath.Join(b.dir, "cache"), "LocalAppData=" + filepath.Join(b.dir, "cache"),
		"CLAUDE_CONFIG_DIR=", "CODEX_HOME=", "GEMINI_CLI_HOME=", "OPENCODE_DB=", h.env + "=" + h.home,
	}}
}

// searchHistory measures the first search, which reads all that is recorded, and those after it,
// by people and by an assistant.
func (b *builds) searchHistory(ctx context.Context, t *table.Table, h *history) error {
	grep := b.asks(h, "conversation", "grep", "-F", "json", "--ignore-case", "--summary", "--max-hits=1", jptest.Needle)
	start := time.Now()
	out, err := grep.output(ctx, b.dataDir)
	if err != nil {
		return err
	}
	took := time.Since(start)
	if want := fmt.Sprintf(`"matches":%d,`, h.needles); !bytes.Contains(out, []byte(want)) {
		return fmt.Errorf("%q is on %d lines, and the summary of a search is %s", jptest.Needle, h.needles, out)
	}
	speed := float64(h.bytes) / 1e6 / took.Seconds()
	t.Add(table.Row{
		Name: fmt.Sprintf("%s: first search of %s", h.program, megabytes(h.bytes)), Result: fmt.Sprintf("%.0f MB/s", speed),
		Bound: fmt.Sprintf("at least %d MB/s", firstSearchBound), Missed: speed < firstSearchBound, Detail: milliseconds(took),
	})
	results, err := inTurn(ctx, b.dataDir, b.plan.runs,
		grep, b.asks(h, "call", "conversation_grep", "pattern="+jptest.Needle), b.asks(h, "call", "conversation_recall", "query="+jptest.Needle), program{path: b.empty})
	if err != nil {
		return err
	}
	for i, name := range []string{"grep", "call conversation_grep", "call conversation_recall"} {
		median := results[i].median()
		t.Add(table.Row{
			Name: fmt.Sprintf("%s: %s for a rare word", h.program, name), Result: milliseconds(median),
			Bound: "at most " + milliseconds(knownSearchBound), Missed: median > knownSearchBound,
			Detail: "median; an empty Go program " + milliseconds(results[3].median()),
		})
	}
	return nil
}

// listHistory measures listing sessions, for a program and for an assistant, against ls
// of their files.
func (b *builds) listHistory(ctx context.Context, t *table.Table, h *history) error {
	ls := b.asks(h, "conversation", "ls", "-F", "json")
	out, err := ls.output(ctx, b.dataDir)
	if err != nil {
		return err
	}
	var listed []struct{}
	if err := json.Unmarshal(out, &listed); err != nil {
		return fmt.Errorf("reading a list: %w", err)
	}
	if len(listed) != h.sessions {
		return fmt.Errorf("%d sessions were listed of %d", len(listed), h.sessions)
	}
	programs := []program{ls, b.asks(h, "call", "conversation_list", "limit=50")}
	if path, err := exec.LookPath("ls"); err == nil {
		programs = append(programs, program{path: path, args: []string{"-lR", h.files}})
	}
	results, err := inTurn(ctx, b.dataDir, b.plan.runs, programs...)
	if err != nil || len(results) < 3 {
		return err
	}
	for i, name := range []string{"ls", "call conversation_list"} {
		row, ratio := compare(fmt.Sprintf("%s: %s of %d sessions", h.program, name, h.sessions), "ls -lR", results[i], results[2])
		row.AtMost(ratio, historyListBound)
		row.Detail += "; CPU " + milliseconds(results[i].cpu) + ", peer " + milliseconds(results[2].cpu)
		t.Add(row)
	}
	return nil
}

// jsonQuoted returns a text as a JSON string with nothing escaped that need not be.
func jsonQuoted(text string) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(text)
	return strings.TrimSuffix(b.String(), "\n"), err
}
