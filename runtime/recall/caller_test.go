package recall_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/caller"
	"github.com/convtools/convtools/runtime/cli/program"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/recall"
	"github.com/convtools/convtools/runtime/recall/conversationcli"
	"github.com/convtools/convtools/runtime/toolset"
)

// Sessions of the project of [callingHost].
const (
	callingSession = "5afd8764-1e4a-4af6-951b-d71a909fd1bc" // has a sub-agent
	earlierSession = "0094ac21-13ab-4d1b-ad39-c5a1f7857783"
	codexThread    = "01a1ffd7-7b57-7ca0-9fa0-3b693e56b89f"
	calledUse      = "toolu_01Fake0001180"
	agentUse       = "toolu_01Fake0001190"
)

// callingHost is a host in a project without a JP workspace: Claude Code has recorded a
// session that makes a call, two sub-agents of it, of which one makes a call too, and an
// earlier session, and Codex a thread.
func callingHost(t *testing.T, env map[string]string) *toolset.Host {
	t.Helper()
	home := t.TempDir()
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	type object = map[string]any
	write := func(name string, lines ...object) {
		t.Helper()
		var text bytes.Buffer
		for _, line := range lines {
			if err := json.NewEncoder(&text).Encode(line); err != nil {
				t.Fatal(err)
			}
		}
		name = filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	record := func(kind, uuid, parent string, content any) object {
		r := object{
			"type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": "2026-05-01T10:00:00Z", "cwd": project,
			"sessionId": callingSession, "version": "2.1.197", "isSidechain": false,
			"message": object{"role": kind, "model": "m", "content": content},
		}
		if parent == "" {
			r["parentUuid"] = nil
		}
		return r
	}
	folder := ".claude/projects/" + regexp.MustCompile("[^A-Za-z0-9]").ReplaceAllString(project, "-") + "/"
	write(folder+callingSession+".jsonl",
		record("user", "a1", "", "How often is the zanderfall gauge read?"),
		record("assistant", "a2", "a1", []object{{"type": "tool_use", "id": calledUse, "name": "mcp__convtools__conversation_grep", "input": object{"pattern": "zanderfall"}}}))
	write(folder+callingSession+"/subagents/agent-a7d54dfb.jsonl",
		record("user", "b1", "", "Count the zanderfall gauges"),
		record("assistant", "b2", "b1", []object{{"type": "text", "text": "Three zanderfall gauges."}}))
	write(folder+callingSession+"/subagents/agent-0e5e7fdd.jsonl",
		record("user", "d1", "", "Look for a zanderfall"),
		record("assistant", "d2", "d1", []object{{"type": "tool_use", "id": agentUse, "name": "mcp__convtools__conversation_grep", "input": object{"pattern": "zanderfall"}}}))
	write(folder+earlierSession+".jsonl",
		record("user", "c1", "", "The zanderfall gauge is read every seven minutes"),
		record("assistant", "c2", "c1", []object{{"type": "tool_use", "id": "toolu_9", "name": "mcp__convtools__conversation_grep", "input": object{"pattern": "zanderfall of before"}}}),
		record("user", "c3", "c2", []object{{"type": "tool_result", "tool_use_id": "toolu_9", "content": "zanderfall was found before"}}))
	event := func(kind string, payload object) object {
		return object{"timestamp": "2026-05-01T10:00:00Z", "type": kind, "payload": payload}
	}
	write(".codex/sessions/2026/05/01/rollout-2026-05-01T00-00-00-"+codexThread+".jsonl",
		event("session_meta", object{"id": codexThread, "timestamp": "2026-05-01T00:00:00Z", "cwd": project}),
		event("event_msg", object{"type": "user_message", "message": "zanderfall in the thread"}),
		event("response_item", object{"type": "function_call", "name": "conversation_grep", "namespace": "mcp__convtools", "call_id": "c1", "arguments": `{"pattern":"zanderfall in vain"}`}),
		event("response_item", object{"type": "function_call_output", "call_id": "c1", "output": "zanderfall in a result"}))
	return &toolset.Host{Dir: project, Now: time.Now, Getenv: func(name string) string {
		switch name {
		case "HOME", "USERPROFILE":
			return home
		}
		return env[name]
	}}
}

func fromClaude(use string) caller.Caller {
	return caller.Caller{Client: "claude-code", Process: caller.Server, Meta: map[string]any{"claudecode/toolUseId": use}}
}

// A program that does not name the conversation it calls from is recognized, and that
// is left out with what belongs to it, or a note says that it could not be.
func TestCurrentRecognized(t *testing.T) {
	t.Parallel()
	claude, agent, earlier, codex := "claude-"+callingSession, "claude-"+callingSession+".a7d54dfb", "claude-"+earlierSession, "codex-"+codexThread
	asking := "claude-" + callingSession + ".0e5e7fdd" // the other sub-agent
	found := func(ids ...string) (want []string) {
		for _, id := range ids {
			want = append(want, `<conversation id="`+id+`"`)
		}
		return want
	}
	const unknown = "Which conversation this is cannot be told, so "
	for name, test := range map[string]struct {
		caller          caller.Caller
		tool, arguments string
		want, not       []string
	}{
		"left out with its sub-agent": {
			fromClaude(calledUse), "conversation_grep", `{"pattern":"zanderfall"}`,
			append(found(earlier, codex), "Left out: the current conversation and what belongs to it: "+claude+", "+asking+", "+agent+" (include_current=true searches it too); 4 matches in calls and results of these tools"),
			append(found(claude, agent, asking), unknown),
		},
		"a sub-agent, with its session and not with the other one": {
			fromClaude(agentUse), "conversation_grep", `{"pattern":"zanderfall"}`,
			append(found(earlier, codex, agent), "Left out: the current conversation and what belongs to it: "+claude+", "+asking+" (include_current=true searches it too)"),
			append(found(claude, asking), unknown),
		},
		"another one": {
			caller.Caller{Client: "codex-mcp-client", Meta: map[string]any{"threadId": codexThread}},
			"conversation_grep", `{"pattern":"zanderfall"}`,
			append(found(earlier, claude, agent), "Left out: the current conversation, "+codex+" (include_current=true searches it too)"),
			found(codex),
		},
		"one that is not recorded": {
			caller.Caller{Meta: map[string]any{"threadId": "01a1ffd7-7b57-7ca0-9fa0-000000000000"}},
			"conversation_grep", `{"pattern":"zanderfall"}`,
			found(earlier, claude, agent, codex),
			[]string{"the current conversation", unknown},
		},
		"included": {
			fromClaude(calledUse), "conversation_grep", `{"pattern":"zanderfall","include_current":true}`,
			found(earlier, claude, agent, codex),
			[]string{"the current conversation", unknown},
		},
		"what belongs to it is named": {
			fromClaude(calledUse), "conversation_grep", `{"pattern":"zanderfall","ids":["` + agent + `"]}`,
			found(agent),
			[]string{"the current conversation"},
		},
		"not known": {
			caller.Caller{Client: "codex-mcp-client"},
			"conversation_grep", `{"pattern":"zanderfall"}`,
			append(found(earlier, claude, agent, codex), unknown+"nothing could be left out as the current conversation."), nil,
		},
		"not known, and no matter": {
			caller.Caller{Client: "codex-mcp-client"},
			"conversation_grep", `{"pattern":"zanderfall","include_current":true}`,
			found(earlier),
			[]string{unknown},
		},
		"another program": {
			caller.Caller{Client: "inspector", Process: caller.Server},
			"conversation_grep", `{"pattern":"zanderfall"}`,
			found(earlier, claude, agent, codex),
			[]string{unknown, "the current conversation"},
		},
		"listed": {
			fromClaude(calledUse), "conversation_list", `{"limit":10}`,
			[]string{`id="` + claude + `"`, `current="true"`, `id="` + agent + `"`},
			[]string{unknown},
		},
		"listed, not known": {
			caller.Caller{Client: "codex-mcp-client"},
			"conversation_list", `{"limit":10}`,
			[]string{unknown + "no conversation could be marked as the current one."},
			[]string{"current="},
		},
		"read": {
			fromClaude(calledUse), "conversation_read", `{"id":"` + claude + `"}`,
			[]string{claude + " is the current conversation"},
			[]string{"gauge read?"},
		},
		"read all the same": {
			fromClaude(calledUse), "conversation_read", `{"id":"` + claude + `","include_current":true}`,
			[]string{"gauge read?", `current="true"`},
			nil,
		},
		"its sub-agent is another one to read": {
			fromClaude(calledUse), "conversation_read", `{"id":"` + agent + `"}`,
			[]string{"Three zanderfall gauges."},
			[]string{"current="},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := callingHost(t, nil)
			family := recall.Family(host, setting, process.Exec{})
			answer, err := family.Call(t.Context(), contract.Call{
				Tool: test.tool, Arguments: []byte(test.arguments), Context: contract.Context{Dir: host.Dir, Caller: test.caller},
			})
			if err != nil {
				answer = err.Error()
			}
			for _, want := range test.want {
				if !strings.Contains(answer, want) {
					t.Errorf("no %s in\n%s", want, answer)
				}
			}
			for _, not := range test.not {
				if strings.Contains(answer, not) {
					t.Errorf("%s in\n%s", not, answer)
				}
			}
		})
	}
}

// A program is told what becomes of its conversation before it calls.
func TestInstructionsForCallers(t *testing.T) {
	t.Parallel()
	host := callingHost(t, map[string]string{"CLAUDECODE": "1"})
	family := recall.Family(host, setting, process.Exec{})
	for want, caller := range map[string]caller.Caller{
		"is left out of the results, with what belongs to it": {Process: caller.Server},
		"Which conversation you are in is not known here":     {Client: "inspector", Process: caller.Server},
	} {
		got := family.Instructions(t.Context(), contract.Context{Dir: host.Dir, Caller: caller})
		if !strings.Contains(got, want) || len([]rune(got)) > 2048 {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// In a shell the environment tells, and what is left out is said beside the output.
func TestCallerOnTheCommandLine(t *testing.T) {
	t.Parallel()
	claude, agent, earlier, codex := "claude-"+callingSession, "claude-"+callingSession+".a7d54dfb", "claude-"+earlierSession, "codex-"+codexThread
	inClaude := map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": callingSession}
	both := map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": callingSession, "CODEX_THREAD_ID": codexThread}
	const leftOut, unknown = "left out as the conversation that runs this command", "which conversation runs this command cannot be told"
	for name, test := range map[string]struct {
		env       map[string]string
		args      []string
		want, not []string
		said      string
	}{
		"of a person":       {nil, []string{"--output=ids", "zanderfall"}, []string{claude, agent, earlier, codex}, nil, ""},
		"in Claude Code":    {inClaude, []string{"--output=ids", "zanderfall"}, []string{earlier, codex}, []string{claude, agent}, leftOut},
		"quiet":             {inClaude, []string{"--quiet", "zanderfall"}, nil, nil, ""},
		"in Codex":          {map[string]string{"CODEX_THREAD_ID": codexThread}, []string{"--output=ids", "zanderfall"}, []string{claude, agent, earlier}, []string{codex}, leftOut},
		"in both":           {both, []string{"--output=ids", "zanderfall"}, []string{claude, agent, earlier, codex}, nil, unknown},
		"named":             {inClaude, []string{"--output=ids", "--id", claude, "zanderfall"}, []string{claude}, []string{agent, earlier}, ""},
		"in another one":    {map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": earlierSession}, []string{"--output=ids", "zanderfall"}, []string{claude, agent, codex}, []string{earlier}, leftOut},
		"without a session": {map[string]string{"CLAUDECODE": "1"}, []string{"--output=ids", "zanderfall"}, []string{claude, agent, earlier, codex}, nil, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := callingHost(t, test.env)
			var out, errs bytes.Buffer
			host.Stdout, host.Stderr, host.Stdin = &out, &errs, strings.NewReader("")
			line := program.CommandLine{Host: host, Registry: new(toolset.Registry), Commands: func() []*cobra.Command { return []*cobra.Command{conversationcli.Command(host)} }}
			if exit := line.Run(t.Context(), append([]string{"-w", host.Dir, "conversation", "grep"}, test.args...)); exit != 0 {
				t.Fatalf("exit %d: %s", exit, errs.String())
			}
			lines := strings.Fields(out.String())
			for _, want := range test.want {
				if !contains(lines, want) {
					t.Errorf("no %s in %q", want, lines)
				}
			}
			for _, not := range test.not {
				if contains(lines, not) {
					t.Errorf("%s in %q", not, lines)
				}
			}
			if test.said == "" && errs.Len() > 0 || !strings.Contains(errs.String(), test.said) {
				t.Errorf("said %q, want %q", errs.String(), test.said)
			}
		})
	}
}

func contains(lines []string, id string) bool {
	for _, line := range lines {
		if line == id || strings.HasPrefix(line, id+":") {
			return true
		}
	}
	return false
}
