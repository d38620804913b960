//go:build unix

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Opening a FIFO waits for a writer, who never comes. convtools does not wait if a FIFO is in the place of a file or a
// directory that it opens.
func TestFIFOInPlaceOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home, project := filepath.Join(dir, "home"), filepath.Join(dir, "project")
	for name, text := range map[string]string{
		"home/.config/convtools/convtools.toml": "[model.demo]\napi = \"scripted\"\nscript = \"script.toml\"\n",
		"home/.config/convtools/script.toml":    "[[conversation]]\n[[conversation.response]]\ntext = \"Good.\"\nrepeat = true\n",
		"home/.claude/projects/x/y":             "", "home/.codex/sessions/y": "", "home/.codex/archived_sessions/y": "", "home/.gemini/tmp/x/chats/y": "",
		"home/.local/share/opencode/storage/session/x/y": "",
		"home/.copilot/session-state/y":                  "", "home/.local/share/crush/projects.json": "{}", "home/.local/share/goose/sessions/y": "", "home/.local/share/zed/threads/y": "",
		"project/convtools.toml": "[kb.topic.notes]\nsubjects = \"notes\"\n",
		"project/notes/tide.md":  "# Tide\nIt rises.\n",
		"tmp/y":                  "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(project, os.DirFS(filepath.Join("..", "..", "testdata", "workspaces", "sample"))); err != nil {
		t.Fatal(err)
	}
	exports, err := filepath.Abs(filepath.Join("..", "..", "testdata", "exports", "chatgpt"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, "convtools", args...) // the test binary, see TestMain
		cmd.Dir, cmd.Env = project, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(dir, "tmp")}
		out, err := cmd.CombinedOutput()
		if ctx.Err() != nil {
			return string(out), ctx.Err()
		}
		return string(out), err
	}
	const conversation = "17853741095"
	const edit = "conversation edit " + conversation + " --title Tides"
	for _, args := range [][]string{{"query", "Hello"}, {"import", exports}, {"conversation", "edit", conversation, "--title", "Tide"}, {"install", "claude-code", "--yes"}} {
		if out, err := run(args...); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	listed, err := run("session", "ls")
	session := regexp.MustCompile(`^\S+`).FindString(listed)
	if err != nil || session == "" {
		t.Fatalf("%v: %s", err, listed)
	}
	const data, jp = "home/.local/share/convtools/", "project/.jp/"
	sessionLog := data + "sessions/" + session + ".jsonl"
	conversationDir, err := filepath.Glob(filepath.Join(dir, jp, "conversations", conversation+"*"))
	if err != nil || len(conversationDir) != 1 {
		t.Fatalf("%q, %v", conversationDir, err)
	}
	inJP := jp + "conversations/" + filepath.Base(conversationDir[0]) + "/"
	for _, tc := range []struct {
		places string // paths below dir, separated by spaces; paths separated by commas become FIFOs together
		calls  string // commands, separated by semicolons
	}{
		{"home/.config/convtools/convtools.toml home/.config/convtools", "doctor; query Hi; knowledge ls; search x; session ls"},
		{"home/.config/convtools/script.toml", "query Hi"},
		{"project/convtools.toml project/.jp/kb.toml project/.jp/config.toml", "knowledge check; doctor; query Hi"},
		{"project/notes project/notes/tide.md", "knowledge show notes/tide; call learn topic=notes subjects=tide; knowledge new notes/ebb"},
		{"project/.git project/.convtools-exclude", "conversation ls"},
		{jp + " " + jp + ".id " + jp + "conversations home/.local/share/jp home/.local/share/jp/workspace", "conversation ls; " + edit},
		{inJP + "events.json " + inJP + "metadata.json " + inJP + "base_config.json " + inJP, "conversation print " + conversation + "; " + edit + "; conversation fork " + conversation},
		{
			"home/.claude,home/.codex,home/.gemini,home/.local/share/opencode,home/.copilot,home/.local/share/crush,home/.local/share/goose,home/.local/share/zed/threads," +
				"home/.config/Code/User,home/.config/Cursor/User,home/.cursor,home/.qwen,home/.pi/agent,home/.cline/data,home/.local/share/kilo " +
				"home/.claude/projects,home/.codex/sessions,home/.gemini/tmp,home/.local/share/opencode/storage,home/.copilot/session-state,home/.local/share/crush/projects.json," +
				"home/.local/share/goose/sessions,home/.local/share/zed/threads/threads.db,home/.config/Code/User/workspaceStorage,home/.config/Cursor/User/globalStorage/state.vscdb," +
				"home/.cursor/chats,home/.qwen/projects,home/.pi/agent/sessions,home/.cline/data/sessions,home/.local/share/kilo/kilo.db " +
				"home/.claude/sessions,home/.codex/session_index.jsonl,home/.gemini/projects.json,home/.local/share/opencode/opencode.db,home/.local/share/goose/sessions/sessions.db," +
				"home/.config/Code/User/workspaceStorage/a/workspace.json,home/.cursor/chats/a/b/store.db,home/.qwen/projects/a/chats " +
				"home/.codex/state_5.sqlite,home/.config/Code/User/workspaceStorage/a/chatSessions,home/.cursor/chats/a/b/meta.json",
			"stores",
		},
		{data + " " + data + "sessions " + sessionLog, "session ls; session events " + session + "; session resume " + session + "; query Hi; stores; session gc --older-than 90"},
		{data + "archive.db " + data + "archive.db-wal " + data + "archive.db-shm " + data + "archive.db-journal", "search x; import " + exports + "; import --dry-run " + exports},
		{"home/.cache home/.cache/convtools home/.cache/convtools/index home/.cache/convtools/index/v13", "search index; conversation ls; search index --clear"},
		{"home/.claude.json home/.local/state/convtools home/.local/state/convtools/install", "install claude-code --yes; uninstall claude-code --yes --dry-run; doctor"},
		{"project/.mcp.json project/.codex/config.toml", "install claude-code --scope project --yes; install codex --scope project --yes"},
		{"project/man/convtools.1 project/man", "man man"},
	} {
		for _, places := range strings.Fields(tc.places) {
			var restore []func() error
			for place := range strings.SplitSeq(places, ",") {
				restore = append(restore, putFIFO(t, filepath.Join(dir, place)))
			}
			for call := range strings.SplitSeq(tc.calls, "; ") {
				if out, err := run(strings.Fields(call)...); errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("convtools %s waits for %s:\n%s", call, places, out)
				}
			}
			for _, restored := range restore {
				if err := restored(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// putFIFO puts a FIFO in the place of what a path names, and returns a function that undoes this.
func putFIFO(t *testing.T, path string) (restore func() error) {
	t.Helper()
	before := filepath.Join(t.TempDir(), "before") // what is in the place otherwise
	renameErr := os.Rename(path, before)
	if renameErr != nil && !errors.Is(renameErr, fs.ErrNotExist) {
		t.Fatal(renameErr)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("this file system has no FIFOs: %v", err)
	}
	return func() error {
		err := os.RemoveAll(path)
		if renameErr == nil && err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Rename(before, path))
		}
		return err
	}
}
