//go:build explore

package session

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutation is one way to break the code: a text that is in a file once, and its replacement. A test of the file's package
// has to fail then.
type mutation struct {
	name     string
	file     string
	old, new string
}

// mutations returns the mistakes that are likely in code of this kind.
func mutations() []mutation {
	return []mutation{
		{
			name: "the calls of a called one wait behind those of its caller", file: "apply.go",
			old: "append(s.stack, b), nil",
			new: "append([]batch{b}, s.stack...), nil",
		},
		{
			name: "what waits outside comes before what was called", file: "schedule.go",
			old: "		case len(d.state.stack) > 0:\n			if f := ",
			new: "		case len(d.state.queue) > 0:\n			d.startSubmission(d.state.queue[0])\n		case len(d.state.stack) > 0:\n			if f := ",
		},
		{
			name: "a call is answered when its target is replaced", file: "apply.go",
			old: "	b := batch{caller: c.ID, task: s.task.id}\n",
			new: "	b := batch{caller: c.ID, task: s.task.id}\n	if f := s.awaited(); f != nil {\n		f.result = &Result{Status: StatusCompleted}\n	}\n",
		},
		{
			name: "an output is made up when the caller is replaced", file: "call.go",
			old: "	d.emit(caller, Event{Kind: TurnAborted, Reason: Replaced})\n",
			new: "	for _, call := range slices.Clone(d.state.task.open) {\n		d.record(caller, outputItem(call, \"\", false))\n		d.state.task.open = append(d.state.task.open, call)\n	}\n	d.emit(caller, Event{Kind: TurnAborted, Reason: Replaced})\n",
		},
		{
			name: "the caller continues after the first of several calls", file: "state.go",
			old: "return f.result == nil })\n	if i < 0",
			new: "return f.result == nil && f.id == frames[0].id })\n	if i < 0",
		},
		{
			name: "the answer is the last message of an earlier turn", file: "apply.go",
			old: "	c.turn = &turn{",
			new: "	stale := \"\"\n	for _, item := range c.Items() {\n		if item.Kind == AgentMessage {\n			stale = item.Text()\n		}\n	}\n	c.turn = &turn{message: stale, ",
		},
		{
			name: "destroyed conversations are addressed", file: "state.go",
			old: "	case c != nil && !c.Destroyed:\n",
			new: "	case c != nil:\n",
		},
		{
			name: "an allowlist gives what the caller does not have", file: "limit.go",
			old: "narrowed.MCP = append(narrowed.MCP, entry)",
			new: "narrowed.MCP = append(narrowed.MCP, name)",
		},
		{
			name: "what an interrupted turn has used is forgotten", file: "apply.go",
			old: "		s.edit(s.top().caller).turn.usage.Add(result.Usage)\n",
			new: "		if result.Status != StatusInterrupted {\n			s.edit(s.top().caller).turn.usage.Add(result.Usage)\n		}\n",
		},
		{
			name: "what a replaced task has used is forgotten", file: "decide.go",
			old: "	in.Usage.Samples, in.Usage.Calls = 1, 0\n",
			new: "	in.Usage.Samples, in.Usage.Calls = 1, 0\n	if len(t.open) > 0 {\n		in.Usage = Usage{Samples: 1}\n	}\n",
		},
		{
			name: "a task that is being stopped goes on", file: "decide.go",
			old: "	if t.stop != nil {\n		d.endStopped()\n	} else {\n		d.answerCalls()\n	}\n",
			new: "	d.answerCalls()\n",
		},
		{
			name: "a tool runs again after a crash", file: "decide.go",
			old: "		d.recordRefusal(*call, &Refusal{Code: CodeInterrupted, Reason: \"the session ended while",
			new: "		_ = append([]any{}, *call, &Refusal{Code: CodeInterrupted, Reason: \"the session ended while",
		},
		{
			name: "records are not synced", file: "log/log.go",
			old: "		err = l.File.Sync()\n", new: "",
		},
	}
}

// TestMutations breaks the code in one way after the other and wants a test to fail.
func TestMutations(t *testing.T) {
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			source, err := os.ReadFile(filepath.FromSlash(m.file))
			if err != nil {
				t.Fatal(err)
			}
			if count := strings.Count(string(source), m.old); count != 1 {
				t.Fatalf("%q is %d times in %s, want once", m.old, count, m.file)
			}
			path, err := filepath.Abs(m.file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			mutant, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
			replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: mutant}})
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{mutant: []byte(strings.Replace(string(source), m.old, m.new, 1)), overlay: replace} {
				if err := os.WriteFile(name, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-failfast", "-vet=off", "-timeout=3m", "-overlay="+overlay, "./"+filepath.Dir(m.file)).CombinedOutput()
			switch {
			case err == nil:
				t.Error("no test notices it")
			case strings.Contains(string(out), "[build failed]"):
				t.Errorf("it does not compile:\n%s", out)
			}
		})
	}
}
