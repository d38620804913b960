package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A server follows changes of its specs: a new or changed tool is listed as writing until the user approves it, a
// tool with a wrong spec stays as it was, and clients are notified.
func TestServe(t *testing.T) {
	t.Parallel()
	dir, state := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	convgen := func(args ...string) *exec.Cmd {
		cmd := exec.Command(self, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "CONVGEN_MAIN=1", "XDG_STATE_HOME="+state, "HOME="+state)
		return cmd
	}
	const tool = `name = "say_rows"
summary = "Print rows"
description = "Prints rows."
effect = "read"
answer = "json"
structured = true
[parameters.text]
type = "string"
default = "a"
summary = "A text"
[command]
cli = "say"
args = ["[{{\"text\":\"{text}\"}}]"]
`
	write("tools.toml", "specs = [\"specs/**/*.toml\"]\n[cli.say]\ncommand = [\"echo\"]\n")
	write("specs/say/rows.toml", tool)
	changed := make(chan struct{}, 10)
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{ToolListChangedHandler: func(_ context.Context, _ *mcp.ToolListChangedRequest) { changed <- struct{}{} }})
	server := convgen("serve", "--workspace", dir)
	var stderr syncBuilder
	server.Stderr = &stderr
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	list := func() map[string]*mcp.Tool {
		t.Helper()
		result, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		tools := map[string]*mcp.Tool{}
		for _, tool := range result.Tools {
			tools[tool.Name] = tool
		}
		return tools
	}
	if got := list()["say_rows"]; got == nil || reads(got) || !strings.Contains(got.Description, "convgen approve") || got.Title != "Say rows" || got.OutputSchema == nil {
		t.Fatalf("a tool that nobody approved: %+v", got)
	}
	if out, err := convgen("approve").CombinedOutput(); err != nil || !strings.Contains(string(out), "say_rows (read, new) runs echo") {
		t.Fatalf("approve: %v, %s", err, out)
	}
	if got := list()["say_rows"]; !reads(got) || strings.Contains(got.Description, "convgen approve") {
		t.Errorf("an approved tool: %+v", got.Annotations)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "say_rows", Arguments: map[string]any{"text": "-x"}})
	if err != nil || result.IsError {
		t.Fatalf("call: %v, %+v", err, result)
	}
	const want = `{"records":[{"text":"-x"}]}`
	structured, _ := json.Marshal(result.StructuredContent)
	if text := result.Content[0].(*mcp.TextContent).Text; text != want || string(structured) != want {
		t.Errorf("answer %s, structured %s", text, structured)
	}
	// A wrong spec leaves the tool as it was; a new tool is added, as writing.
	write("specs/say/rows.toml", strings.Replace(tool, "{text}", "{txt}", 1))
	write("specs/say/more.toml", strings.Replace(tool, "say_rows", "say_more", 1))
	tools := list()
	if tools["say_rows"] == nil || !reads(tools["say_rows"]) || tools["say_more"] == nil || reads(tools["say_more"]) {
		t.Errorf("after a mistake and a new spec: %v", tools)
	}
	// A listed tool can be called: the host has asked the user.
	if result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "say_more"}); err != nil || result.IsError {
		t.Errorf("a call of a tool that is new: %v, %+v", err, result)
	}
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) { // the notification may come after the answer
		printed := stderr.String()
		if strings.Contains(printed, `there is no parameter "txt"`) && strings.Contains(printed, "^^^") && strings.Contains(printed, "specs/say/rows.toml is wrong: say_rows stays as it was before") {
			break
		}
		if time.Since(start) > 10*time.Second {
			t.Fatalf("standard error: %s", printed)
		}
	}
	// The command has changed: the tool is writing again.
	write("specs/say/rows.toml", strings.Replace(tool, `"[{{`, `"--x", "[{{`, 1))
	if got := list()["say_rows"]; reads(got) {
		t.Error("another command line is offered as reading")
	}
	// A client with the old list, in which the tool is reading, cannot run it.
	result, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "say_rows"})
	if err != nil || !result.IsError || !strings.Contains(result.Content[0].(*mcp.TextContent).Text, "convgen approve") {
		t.Errorf("a call of another command line: %v, %+v", err, result)
	}
	select {
	case <-changed:
	case <-time.After(20 * time.Second):
		t.Error("no client was told of changes")
	}
}

// syncBuilder is a string builder that is safe for concurrent use.
type syncBuilder struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuilder) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuilder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// reads reports whether clients treat a tool as reading.
func reads(tool *mcp.Tool) bool { return tool.Annotations != nil && tool.Annotations.ReadOnlyHint }
