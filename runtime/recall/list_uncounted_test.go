package recall_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli/program"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/store/facts"
	"github.com/convtools/convtools/runtime/toolset"
)

// largeSession has more than a list reads of a session, of which the middle is 70,000
// characters of a result.
const largeSession = "claude-0b5c2f9e-6a34-4c7e-8d21-3f6a9c1e7b52"

// writeLarge adds the large session to the project of a host, which keeps what it reads in a
// cache directory, by a clock by which every file was changed long ago.
func writeLarge(t *testing.T, host *toolset.Host) {
	t.Helper()
	cache, getenv := t.TempDir(), host.Getenv
	host.Now = func() time.Time { return time.Now().Add(time.Hour) }
	host.Getenv = func(name string) string {
		switch name {
		case "HOME", "USERPROFILE", "XDG_CACHE_HOME", "LocalAppData":
			return cache
		}
		return getenv(name)
	}
	folders, err := filepath.Glob(filepath.Join(getenv("CLAUDE_CONFIG_DIR"), "projects", "*"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	var lines bytes.Buffer
	for n, message := range []map[string]any{
		{"content": "What does the log say?"},
		{"model": "m", "content": []map[string]any{{"type": "tool_use", "id": "c1", "name": "Read", "input": map[string]any{"file_path": "log"}}}},
		{"content": []map[string]any{{"type": "tool_result", "tool_use_id": "c1", "content": strings.Repeat("a line\n", 10_000)}}},
		{"model": "m", "content": []map[string]any{{"type": "text", "text": "The same, again and again."}}},
	} {
		record := map[string]any{
			"type": []string{"user", "assistant"}[n%2], "uuid": fmt.Sprint("l", n), "timestamp": fmt.Sprintf("2026-05-02T10:00:%02dZ", n), "cwd": host.Dir, "message": message,
		}
		if n > 0 {
			record["parentUuid"] = fmt.Sprint("l", n-1)
		}
		if err := json.NewEncoder(&lines).Encode(record); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folders[0], strings.TrimPrefix(largeSession, "claude-")+".jsonl"), lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Of a session of more than 64 KB a list has no counts before they were counted: in its place
// by a person, or by a server behind an answer that is without them.
func TestListOfLargeSession(t *testing.T) {
	t.Parallel()
	const (
		note    = "<note>Counts are missing of 1 conversation of more than 64 KB, of which a list reads no more. %s</note>"
		byShell = "In a shell, convtools conversation ls --format=json --sizes counts them for later lists."
		later   = "They are being counted for later lists."
		counted = `events_count="4" turns="1" requests="1"`
	)
	// list returns the rows of both sessions, and the notes on counts.
	list := func(family *toolset.Family, host *toolset.Host, arguments string) (large, small, notes string) {
		t.Helper()
		answer, err := family.Call(t.Context(), contract.Call{Tool: "conversation_list", Arguments: []byte(arguments), Context: contract.Context{Dir: host.Dir}})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(answer) {
			switch line = strings.TrimSpace(line); {
			case strings.HasPrefix(line, `<conversation id="`+largeSession):
				large = line
			case strings.HasPrefix(line, `<conversation id="`+claudeSession):
				small = line
			case strings.HasPrefix(line, "<note>Counts"):
				notes += line
			}
		}
		if large == "" || !strings.Contains(large, `last_event_at="2026-05-02T10:00:03Z"`) || !strings.Contains(small, counted) {
			t.Fatalf("%s:\n%s", arguments, answer)
		}
		return large, small, notes
	}
	open := func(host *toolset.Host) *toolset.Family {
		family := recall.Family(host, setting, process.Exec{})
		return &family
	}
	needStamps := func(t *testing.T, host *toolset.Host) {
		t.Helper()
		info, err := os.Lstat(host.Dir)
		if err == nil && facts.Of(info) == (facts.Stamp{}) {
			t.Skip("nothing is kept on " + runtime.GOOS)
		}
	}
	isUncounted := func(row string) bool {
		for _, name := range []string{"events_count=", " turns=", "requests=", "chars="} {
			if strings.Contains(row, name) {
				return false
			}
		}
		return true
	}

	t.Run("counted by a person", func(t *testing.T) {
		t.Parallel()
		host := claudeHost(t)
		needStamps(t, host)
		writeLarge(t, host)
		for range 2 { // the first one makes it no more known
			if large, _, notes := list(open(host), host, "{}"); !isUncounted(large) || notes != fmt.Sprintf(note, byShell) {
				t.Errorf("%s\n%s", large, notes)
			}
		}
		if runs := ls(t, host); !strings.Contains(runs, `"events_count":4`) {
			t.Errorf("ls:\n%s", runs)
		}
		if large, _, notes := list(open(host), host, "{}"); !strings.Contains(large, counted) || notes != "" {
			t.Errorf("%s\n%s", large, notes)
		}
	})
	t.Run("with outlines", func(t *testing.T) {
		t.Parallel()
		host := claudeHost(t)
		writeLarge(t, host)
		if large, _, notes := list(open(host), host, `{"outline":true}`); !strings.Contains(large, counted) || notes != "" {
			t.Errorf("%s\n%s", large, notes)
		}
	})
	t.Run("counted by a server", func(t *testing.T) {
		t.Parallel()
		host := claudeHost(t)
		needStamps(t, host)
		writeLarge(t, host)
		family := open(host)
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		var background sync.WaitGroup
		background.Go(func() { family.Background(ctx) })
		defer background.Wait()
		defer stop()
		counting := false
		for ctx.Err() == nil {
			large, _, notes := list(family, host, "{}")
			if notes == "" {
				if !counting || !strings.Contains(large, counted) {
					t.Errorf("counted behind a note %v: %s", counting, large)
				}
				return
			}
			if counting = counting || notes == fmt.Sprintf(note, later); !isUncounted(large) {
				t.Fatalf("%s\n%s", large, notes)
			}
		}
		t.Error("it is not counted")
	})
}

// ls is what the command line prints of all conversations, with their sizes.
func ls(t *testing.T, host *toolset.Host) string {
	t.Helper()
	var out, errs bytes.Buffer
	copied := *host
	copied.Stdout, copied.Stderr, copied.Stdin = &out, &errs, strings.NewReader("")
	line := program.CommandLine{Host: &copied, Registry: new(toolset.Registry), Commands: func() []*cobra.Command { return []*cobra.Command{conversationcli.Command(&copied)} }}
	if exit := line.Run(t.Context(), []string{"-w", host.Dir, "conversation", "ls", "--format=json", "--sizes"}); exit != 0 {
		t.Fatalf("exit %d: %s", exit, errs.String())
	}
	return strings.ReplaceAll(out.String(), ": ", ":")
}
