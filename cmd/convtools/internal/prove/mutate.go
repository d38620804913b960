package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// mutation is one way to break the code: a text that is in a file once, and what stands there instead. The tests of its
// package have to notice.
type mutation struct {
	name     string
	file     string
	old, new string
}

// mutations returns what code of this kind gets wrong.
func mutations() []mutation {
	const dir = "runtime/session/"
	return []mutation{
		{
			name: "the calls of a called one wait behind those of its caller", file: dir + "apply.go",
			old: "s.stack = append(s.stack, cloneStack([]Batch{b.Batch})...)",
			new: "s.stack = append(cloneStack([]Batch{b.Batch}), s.stack...)",
		},
		{
			name: "what waits outside comes before what was called", file: dir + "schedule.go",
			old: "		case f != nil:\n			d.startFrame(*f)\n",
			new: "		case len(d.state.queue) > 0:\n			d.startSubmission(d.state.queue[0])\n		case f != nil:\n			d.startFrame(*f)\n",
		},
		{
			name: "a call is answered when its target is replaced", file: dir + "call.go",
			old: "	d.emit(caller, TurnAborted{Reason: Replaced})\n",
			new: "	d.emit(caller, TurnAborted{Reason: Replaced})\n	d.resolve(*turn, Result{Status: StatusCompleted})\n",
		},
		{
			name: "an output is made up when the caller is replaced", file: dir + "call.go",
			old: "	d.emit(caller, TurnAborted{Reason: Replaced})\n",
			new: "	for _, f := range batch.Frames {\n		d.refuse(f.Call, refuseInterrupted())\n	}\n	d.emit(caller, TurnAborted{Reason: Replaced})\n",
		},
		{
			name: "the caller continues after the first of several calls", file: dir + "state.go",
			old: "return f.Result == nil })",
			new: "return f.Result == nil && f.ID == b.Frames[0].ID })",
		},
		{
			name: "the answer is the last message of an earlier turn", file: dir + "apply.go",
			old: "		c.turn = &LogicalTurn{",
			new: "		stale := \"\"\n		for _, item := range c.Items() {\n			if item.Kind == AgentMessage {\n				stale = item.text()\n			}\n		}\n		c.turn = &LogicalTurn{Message: stale, ",
		},
		{
			name: "destroyed conversations are addressed", file: dir + "refusal.go",
			old: "	case c.Destroyed:\n",
			new: "	case false:\n",
		},
		{
			name: "an allowlist gives what the caller does not have", file: dir + "limit.go",
			old: "narrowed.MCP = append(narrowed.MCP, intersect(c.MCP, name)...)",
			new: "narrowed.MCP = append(narrowed.MCP, name)",
		},
		{
			name: "what an interrupted turn has used is forgotten", file: dir + "apply.go",
			old: "			c.turn.Usage.Add(b.Result.Usage)\n",
			new: "			if b.Result.Status != StatusInterrupted {\n				c.turn.Usage.Add(b.Result.Usage)\n			}\n",
		},
		{
			name: "what a replaced task has used is forgotten", file: dir + "decide.go",
			old: "	d.emit(conversation, TokenCount{Usage: in.Usage})\n	switch {\n",
			new: "	if calls {\n		in.Usage = Usage{Samples: 1}\n	}\n	d.emit(conversation, TokenCount{Usage: in.Usage})\n	switch {\n",
		},
		{
			name: "a task that is being stopped asks the model", file: dir + "apply.go",
			old: " && s.task.stop == nil // a task",
			new: " // a task",
		},
		{
			name: "after a crash the model is not asked again", file: dir + "decide.go",
			old: "	case t.sampling:\n		d.sample()\n",
			new: "	case t.sampling:\n",
		},
		{
			name: "records are not synced", file: dir + "sessionlog/log.go",
			old: "		err = l.file.Sync()\n", new: "",
		},
	}
}

// mutate breaks the code and has the tests find it.
func (l *lab) mutate(ctx context.Context) error {
	var survived error
	for i, m := range mutations() {
		killer, err := l.kill(ctx, m, i)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", m.name, err)
		case killer == "":
			survived = errors.Join(survived, fmt.Errorf("no test notices that %s", m.name))
		default:
			fmt.Fprintf(l.out, "mutation %s: noticed by %s\n", m.name, killer)
		}
	}
	return survived
}

// kill returns the first test that fails with a mutation, and an empty text where none does.
func (l *lab) kill(ctx context.Context, m mutation, n int) (string, error) {
	path := filepath.Join(l.root, filepath.FromSlash(m.file))
	source, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if count := strings.Count(string(source), m.old); count != 1 {
		return "", fmt.Errorf("%q is %d times in %s, want once", m.old, count, m.file)
	}
	mutant := filepath.Join(l.dir, fmt.Sprint("mutant", n, ".go"))
	if err := os.WriteFile(mutant, []byte(strings.Replace(string(source), m.old, m.new, 1)), 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: mutant}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(l.dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return "", err
	}
	command := []string{
		"go", "test", "-count=1", "-failfast", "-vet=off", "-timeout=3m", "-overlay=" + file, "./" + filepath.ToSlash(filepath.Dir(m.file)),
	}
	printed, ok, err := run(ctx, l.root, command...)
	if err != nil || ok {
		return "", err
	}
	if strings.Contains(printed, "[build failed]") {
		return "", fmt.Errorf("it does not compile: %s", said(printed))
	}
	for line := range strings.Lines(printed) {
		if name, found := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); found {
			name, _, _ = strings.Cut(name, " ")
			return name, nil
		}
	}
	return "a panic or a time limit", nil
}
