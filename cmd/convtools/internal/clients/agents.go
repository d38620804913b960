package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/agents"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model/modeltest"
	"github.com/convtools/convtools/runtime/process"
)

// agent is a program that lets a model call tools.
type agent struct {
	host   string // as "convtools install" calls it
	server string // the namespace of our tools, or what their names begin with
	// configure writes the agent's configuration into home: the model, and the server if
	// that has a URL.
	configure func(home, modelURL, serverURL string) error
	program   []string // its path below the packages of npm
	args      []string // for a question, which is the last argument
	again     []string // to go on with the last session
}

// codex is OpenAI's Codex CLI, as "codex exec" runs it.
func codex() agent {
	return agent{
		host: "codex", server: "mcp__convtools", configure: agents.Codex,
		program: []string{"@openai", "codex", "bin", "codex.js"},
		args: []string{
			"exec", "--skip-git-repo-check", "--sandbox", "read-only", "--json",
			// Nobody is there to be asked about tools that write.
			"-c", `mcp_servers.convtools.default_tools_approval_mode="approve"`,
		},
		again: []string{"resume", "--last"},
	}
}

// opencode is the agent of that name, as "opencode run" runs it.
func opencode() agent {
	return agent{
		host: "opencode", server: "convtools_", configure: agents.Opencode,
		program: []string{"opencode-ai", "bin", "opencode.exe"}, // called so on every system
		args:    []string{"run", "--format", "json"},
		again:   []string{"--continue"},
	}
}

// claudeCode is Anthropic's Claude Code, as "claude -p" runs it. With tool search, its model has to search for tools before it
// can call them.
// https://docs.claude.com/en/docs/claude-code/settings
func claudeCode(toolSearch bool) agent {
	return agent{
		host: "claude-code", server: "mcp__convtools__",
		configure: func(home, modelURL, _ string) error {
			settings := fmt.Sprintf(`{"env": {
				"ANTHROPIC_BASE_URL": %q, "ANTHROPIC_API_KEY": "none",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
				"ENABLE_TOOL_SEARCH": "%t"}}`, strings.TrimSuffix(modelURL, "/v1"), toolSearch)
			return writeFiles(home, map[string]string{".claude/settings.json": settings})
		},
		program: []string{"@anthropic-ai", "claude-code", "bin", "claude.exe"}, // called so on every system
		args:    []string{"--print", "--allowedTools=mcp__convtools", "--output-format=text"},
		again:   []string{"--continue"},
	}
}

// tool returns a tool of ours, or one of the agent's own, as the agent offers it to the model.
func (a agent) tool(offered []modeltest.Tool, name string) (modeltest.Tool, bool) {
	name = strings.ReplaceAll(name, ".", "_") // the interfaces of providers have no dots
	i := slices.IndexFunc(offered, func(t modeltest.Tool) bool {
		return t.Namespace == a.server && t.Name == name || t.Name == a.server+name || t.Namespace == "" && t.Name == name
	})
	if i < 0 {
		return modeltest.Tool{}, false
	}
	return offered[i], true
}

// desk is an agent that is set up: its home directory, a project, and its model.
type desk struct {
	agent
	lab           *lab
	home, project string
	model         *modeltest.Server

	mu  sync.Mutex
	say func(modeltest.Exchange) modeltest.Answer // in the session that runs
}

// innerModel is the model of conversations that the agent begins with conv.create.
const innerModel = "inner"

// with returns a step in which an agent works. On stdio, "convtools install" registers the
// server with it.
func with(a agent, http bool, work func(context.Context, *desk) (string, error)) func(context.Context, *lab) (string, error) {
	return func(ctx context.Context, l *lab) (note string, err error) {
		d := &desk{agent: a, lab: l}
		if http {
			err = l.serve(ctx, append(l.serverCommand(), "--http"), func(ctx context.Context, url string) error {
				note, err = d.work(ctx, url, work)
				return err
			})
			return note, err
		}
		return d.work(ctx, "", work)
	}
}

func (d *desk) work(ctx context.Context, serverURL string, work func(context.Context, *desk) (string, error)) (note string, err error) {
	home, err1 := d.lab.home()
	project, err2 := d.lab.home()
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	d.home, d.project = home, project
	d.model = &modeltest.Server{AnyKey: true, Answer: d.answer}
	modelURL := d.model.Start()
	defer d.model.Close()
	inner := fmt.Sprintf("[model.inner]\napi = \"chat\"\nmodel = %q\nbase_url = %q\n", innerModel, modelURL)
	if err := errors.Join(
		writeFiles(home, map[string]string{".config/convtools/convtools.toml": inner}),
		d.configure(home, modelURL, serverURL),
	); err != nil {
		return "", fmt.Errorf("configuring the agent: %w", err)
	}
	if serverURL == "" {
		install := process.Command{Path: d.lab.convtools, Args: []string{"install", d.host, "--scope", "user", "--yes"}, Dir: project, Env: d.lab.env(home)}
		if _, err := runOK(ctx, install); err != nil {
			return "", fmt.Errorf("registering with the agent: %w", err)
		}
	}
	return work(ctx, d)
}

// answer is the model of everybody here.
func (d *desk) answer(e modeltest.Exchange) modeltest.Answer {
	switch {
	case e.Model == innerModel:
		return modeltest.Answer{Pieces: []string{"You asked: " + e.Last}}
	case len(e.Tools) == 0:
		return modeltest.Answer{Pieces: []string{"Gauges"}} // agents also have a title made for the session
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.say(e)
}

// next returns the call that follows on the answers to the earlier ones of this session, or
// false where there is none.
type next func(answers []string) (c call, more bool, err error)

// ask runs the agent in dir for one question. The model calls tools, and then says the
// conclusion. It returns the answers to the calls, as the model was shown them.
func (d *desk) ask(ctx context.Context, dir, question string, again bool, conclusion string, calls next) (answers []string, err error) {
	before := -1 // answers in earlier sessions, which a session that goes on has too
	var wrong error
	d.mu.Lock()
	d.say = func(e modeltest.Exchange) modeltest.Answer {
		if before < 0 {
			before = len(e.Outputs)
		}
		answers = nil
		for _, output := range e.Outputs[min(before, len(e.Outputs)):] {
			answers = append(answers, unwrap(output.Text))
		}
		c, more, err := calls(answers)
		tool, offered := d.tool(e.Tools, c.Tool)
		switch {
		case err == nil && more && !offered:
			err = fmt.Errorf("the agent does not offer %s", c.Tool)
		case err == nil && !more:
			return modeltest.Answer{Pieces: []string{conclusion}}
		}
		arguments, encoding := json.Marshal(c.Arguments)
		if wrong = errors.Join(wrong, err, encoding); wrong != nil {
			return modeltest.Answer{Status: 400, Type: "invalid_request_error", Message: wrong.Error()}
		}
		id := fmt.Sprintf("call_%d", len(e.Outputs)+1)
		return modeltest.Answer{Calls: []modeltest.Call{{ID: id, Namespace: tool.Namespace, Name: tool.Name, Args: string(arguments)}}}
	}
	d.mu.Unlock()
	output, err := runOK(ctx, d.command(dir, question, again))
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := errors.Join(wrong, err); err != nil {
		return nil, err
	}
	if !strings.Contains(string(output), conclusion) {
		return nil, fmt.Errorf("the agent did not pass on what the model said:\n%s", text.Visible(text.CutMiddle(string(output), 2000)))
	}
	return answers, nil
}

// command returns the command line that asks the agent a question.
func (d *desk) command(dir, question string, again bool) process.Command {
	path, args := d.lab.module(d.program...), slices.Clone(d.args)
	if filepath.Ext(path) == ".js" {
		path, args = d.lab.node, append([]string{path}, args...)
	}
	if again {
		args = append(args, d.again...)
	}
	return process.Command{Path: path, Args: append(args, question), Dir: dir, Env: d.lab.env(d.home), Limits: process.Limits{Timeout: time.Hour}}
}

// unwrap returns the answer of a tool without the time that Codex puts before it.
func unwrap(shown string) string {
	if _, answer, ok := strings.Cut(shown, " seconds\nOutput:"); ok && strings.HasPrefix(shown, "Wall time: ") {
		return strings.TrimPrefix(answer, "\n")
	}
	return shown
}
