package recall_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/convtools/convtools/generated/conversation"
	"github.com/convtools/convtools/runtime/cli/program"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/toolset"
)

const claudeSession = "claude-5afd8764-1e4a-4af6-951b-d71a909fd1bc"

// claudeHost is a host in a project without a JP workspace, in which Claude Code has
// recorded a session.
func claudeHost(t *testing.T) *toolset.Host {
	t.Helper()
	home := t.TempDir()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(home, "projects", regexp.MustCompile("[^A-Za-z0-9]").ReplaceAllString(project, "-"))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	add := func(n int, kind string, message any) {
		record := map[string]any{"type": kind, "uuid": fmt.Sprint(n), "timestamp": fmt.Sprintf("2026-05-01T10:00:%02dZ", n), "cwd": project, "message": message}
		if n > 1 {
			record["parentUuid"] = fmt.Sprint(n - 1)
		}
		if err := json.NewEncoder(&lines).Encode(record); err != nil {
			t.Fatal(err)
		}
	}
	type block = map[string]any
	add(1, "user", block{"content": "How often do we retry?"})
	add(2, "assistant", block{"model": "m", "content": []block{{"type": "tool_use", "id": "c1", "name": "Bash", "input": block{"command": "rg retry"}}}})
	add(3, "user", block{"content": []block{{"type": "tool_result", "tool_use_id": "c1", "content": "retries = 5"}}})
	add(4, "assistant", block{"model": "m", "content": []block{{"type": "text", "text": "Five times, then it gives up."}}})
	name := strings.TrimPrefix(claudeSession, "claude-") + ".jsonl"
	if err := os.WriteFile(filepath.Join(folder, name), lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return &toolset.Host{Dir: project, Now: time.Now, Getenv: func(name string) string {
		if name == "CLAUDE_CONFIG_DIR" {
			return home
		}
		return ""
	}}
}

// Where another program recorded something, no JP workspace is needed.
func TestSessionsOfAnotherProgram(t *testing.T) {
	t.Parallel()
	host := claudeHost(t)
	family := recall.Family(host, setting, process.Exec{})
	where := contract.Context{Dir: host.Dir}
	if text := family.Instructions(t.Context(), where); strings.Contains(text, "No earlier conversation") {
		t.Errorf("instructions:\n%s", text)
	}
	for _, check := range family.Checks(t.Context()) {
		if check.Name == "workspace" && (check.Status != toolset.Off || !strings.Contains(check.Detail, "conversations of other programs")) {
			t.Errorf("%+v", check)
		}
	}
	for _, test := range []struct {
		tool, arguments string
		want            []string
	}{
		{"conversation_list", `{"outline":true}`, []string{`id="` + claudeSession + `"`, "How often do we retry?"}},
		{"conversation_grep", `{"pattern":"retries"}`, []string{`id="` + claudeSession + `"`, `event="3"`, "= 5"}},
		{"conversation_read", `{"id":"` + claudeSession + `"}`, []string{"How often do we retry?", "rg retry", "retries = 5", "Five times, then it gives up."}},
	} {
		answer, err := family.Call(t.Context(), contract.Call{Tool: test.tool, Arguments: []byte(test.arguments), Context: where})
		if err != nil {
			t.Fatalf("%s: %v", test.tool, err)
		}
		for _, want := range test.want {
			if !strings.Contains(answer, want) {
				t.Errorf("%s: no %q in\n%s", test.tool, want, answer)
			}
		}
	}
}

// People and scripts see them too, with the keys that JP's conversations have.
func TestSessionsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"ls", "--format=json"}, []string{`"id":"` + claudeSession + `"`, `"source":"claude-code"`, `"events_count":4`}},
		{[]string{"print", claudeSession, "--format=json"}, []string{
			`"type":"chat_request"`, `"type":"tool_call_request"`, `"arguments":{"command":"rg retry"}`, `"type":"tool_call_response"`, `"message":"Five times, then it gives up."`,
		}},
		{[]string{"grep", "--format=json", "gives up"}, []string{`"scope":"assistant"`}},
	} {
		host := claudeHost(t)
		var out, errs bytes.Buffer
		host.Stdout, host.Stderr, host.Stdin = &out, &errs, strings.NewReader("")
		line := program.CommandLine{Host: host, Registry: new(toolset.Registry), Commands: func() []*cobra.Command { return []*cobra.Command{conversationcli.Command(host)} }}
		if exit := line.Run(t.Context(), append([]string{"-w", host.Dir, "conversation"}, test.args...)); exit != 0 {
			t.Fatalf("%v: exit %d: %s", test.args, exit, errs.String())
		}
		for _, want := range test.want {
			if !strings.Contains(strings.ReplaceAll(out.String(), ": ", ":"), want) {
				t.Errorf("%v: no %s in\n%s", test.args, want, out.String())
			}
		}
	}
}

// The parameter sources takes the name of every kind of store.
func TestSourcesAreStores(t *testing.T) {
	t.Parallel()
	for _, tool := range []contract.Tool{conversation.ListTool(), conversation.GrepTool(), conversation.SearchTool()} {
		i := slices.IndexFunc(tool.Parameters, func(p contract.Parameter) bool { return p.Name == "sources" })
		if diff := cmp.Diff(conversations.Sources(), tool.Parameters[i].Values()); diff != "" {
			t.Errorf("%s: %s", tool.Name, diff)
		}
	}
}
