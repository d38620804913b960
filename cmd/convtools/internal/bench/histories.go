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

	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/store/jp/jptest"
)

// Bounds on reading the histories of other programs.
const (
	historyGrepBound  = 1.5
	historyListBound  = 3
	historyMemory     = 64_000_000 // bytes, and the longest line
	recallOfGrepBound = 1.5
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

// searchHistory measures a search for a rare word, by people and by an assistant, against
// ripgrep over the same files.
func (b *builds) searchHistory(ctx context.Context, t *table.Table, h *history) error {
	grep := b.asks(h, "conversation", "grep", "-F", "json", "--ignore-case", jptest.Needle)
	matches, err := b.matches(ctx, grep)
	if err != nil {
		return err
	}
	if matches != h.needles {
		return fmt.Errorf("%q is on %d lines and was found on %d", jptest.Needle, h.needles, matches)
	}
	call := b.asks(h, "call", "conversation_grep", "pattern="+jptest.Needle)
	out, err := call.output(ctx, b.dataDir)
	if err != nil {
		return err
	}
	if !bytes.Contains(out, []byte(jptest.Needle)) {
		return fmt.Errorf("a tool call does not find %q", jptest.Needle)
	}
	programs := []program{grep, call, {path: b.empty}}
	if b.ripgrep != "" {
		programs = append(programs, program{path: b.ripgrep, noMatch: true, args: []string{"-i", "--no-ignore", "--hidden", "--", jptest.Needle, h.files}})
	}
	results, err := inTurn(ctx, b.dataDir, b.plan.runs, programs...)
	if err != nil {
		return err
	}
	for i, name := range []string{"grep", "call conversation_grep"} {
		name = fmt.Sprintf("%s: %s for a rare word, %d hits in %s", h.program, name, matches, megabytes(h.bytes))
		if b.ripgrep == "" {
			t.Add(table.Row{Name: name, Result: "not compared: rg is missing"})
			continue
		}
		row, ratio := compare(name, "rg -i", results[i], results[3])
		row.AtMost(ratio, []float64{historyGrepBound, recallOfGrepBound}[i])
		row.Detail += "; CPU " + milliseconds(results[i].cpu) + ", peer " + milliseconds(results[3].cpu)
		t.Add(row)
	}
	peak := max(results[0].peak, results[1].peak)
	if peak == 0 {
		return nil
	}
	bound := int64(historyMemory) + h.longest
	row := table.Row{
		Name: h.program + ": grep: peak memory", Result: fmt.Sprintf("%.2fx of %s", float64(peak)/float64(bound), megabytes(bound)),
		Detail: fmt.Sprintf("%s; longest line %s; an empty Go program %s", megabytes(peak), megabytes(h.longest), megabytes(results[2].peak)),
	}
	row.AtMost(float64(peak)/float64(bound), 1)
	t.Add(row)
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
