package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/model/modeltest"
	"github.com/convtools/convtools/runtime/process"
)

// agent is a program that lets a model call tools, as testdata/agents/agents.toml describes it.
type agent struct {
	Server  string   // the namespace of the tools of convtools, or the prefix of their names
	Config  string   // the path of its configuration, from its home directory
	Program string   // the path of its program, from the packages of npm
	Args    []string // of the program, before the question
	Again   []string // more arguments, to go on with the session before
	Env     []string // more variables; each is a template as the configuration is
	// History is the directory in a home with the records of an agent that convtools reads and does not serve.
	History string
	Source  string // the name of the store, if it differs from the name of the agent
	// Database is the path of a database in History, and Rows are queries of rows in it that are kept, as JSON.
	Database string
	Rows     []string
}

// tool returns the named tool as the agent offers it to the model. The tool is one of convtools or one of the agent's
// own. The second result is false if the agent does not offer it.
func (a agent) tool(offered []modeltest.Tool, name string) (modeltest.Tool, bool) {
	name = strings.ReplaceAll(name, ".", "_") // providers allow no dots
	i := slices.IndexFunc(offered, func(t modeltest.Tool) bool {
		isNamed := t.Name == name && (t.Namespace == a.Server || t.Namespace == "")
		return isNamed || t.Name == a.Server+name // a.Server is a namespace or a prefix of names
	})
	if i < 0 {
		return modeltest.Tool{}, false
	}
	return offered[i], true
}

// worker is an agent with a home directory, a project and a scripted model.
type worker struct {
	agent
	*lab
	name          string
	home, project string
	model         *modeltest.Server
	variables     []string

	mu     sync.Mutex
	answer func(modeltest.Exchange) modeltest.Answer // answers requests of the session that runs
}

// innerModel is the model of conversations that an agent begins with conv.create.
const innerModel = "inner"

// work returns a step in which the named agent does a task of testdata/tasks. If http is false, "convtools install"
// registers a server on stdio. Otherwise the step starts a server on HTTP, which the agent's configuration names.
func work(name string, http bool, taskName string) func(context.Context, *lab) (string, error) {
	return func(ctx context.Context, l *lab) (string, error) {
		var agents map[string]agent
		var t task
		if err := errors.Join(l.readTOML(&agents, "agents", "agents.toml"), l.readTOML(&t, "tasks", taskName+".toml")); err != nil {
			return "", err
		}
		do := func(ctx context.Context, url string) error {
			w := &worker{agent: agents[name], lab: l, name: name}
			w.model = &modeltest.Server{AnyKey: true, Answer: w.respond}
			modelURL := w.model.Start()
			defer w.model.Close()
			if err := w.setUp(ctx, modelURL, url, t); err != nil {
				return err
			}
			return w.do(ctx, t)
		}
		if http {
			return "", l.serve(ctx, do)
		}
		return "", do(ctx, "")
	}
}

// record returns a step in which the named agent does its task of testdata/tasks, and convtools reads its record.
func record(name string) func(context.Context, *lab) (string, error) { return work(name, false, name) }

// setUp makes a home directory and a project for the agent, writes its configuration, and registers convtools with it.
// There is nothing to register in two cases: if serverURL is not empty, the configuration names the server already, and
// if the agent has a History, convtools only reads what the agent records.
func (w *worker) setUp(ctx context.Context, modelURL, serverURL string, work task) error {
	var err1, err2 error
	w.home, err1 = w.makeDir()
	w.project, err2 = w.makeDir()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	values := map[string]any{
		"Model": modelURL, "Origin": strings.TrimSuffix(modelURL, "/v1"), "Key": modeltest.Key, "Server": serverURL, "Project": w.project, "ToolSearch": work.ToolSearch,
	}
	for name, path := range map[string]string{w.name: w.Config, "convtools": ".config/convtools/convtools.toml"} {
		t, err := template.ParseFiles(w.testdata("agents", name+".tmpl"))
		if err != nil {
			return err
		}
		var content bytes.Buffer
		file := filepath.Join(w.home, filepath.FromSlash(path))
		if err := errors.Join(t.Execute(&content, values), os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, content.Bytes(), 0o600)); err != nil {
			return fmt.Errorf("configuring %s: %w", name, err)
		}
	}
	for _, variable := range w.Env {
		var assigned strings.Builder
		t, err := template.New("").Parse(variable)
		if err == nil {
			err = t.Execute(&assigned, values)
		}
		if err != nil {
			return fmt.Errorf("configuring %s: %w", w.name, err)
		}
		w.variables = append(w.variables, assigned.String())
	}
	isOnlyRead := w.History != "" // convtools reads what the agent records, and does not serve it
	if serverURL != "" || isOnlyRead {
		return nil
	}
	args := []string{"install", w.name, "--scope", "user", "--yes"}
	if work.StartHook {
		args = append(args, "--hook")
	}
	_, err := repository.Output(ctx, process.Command{Path: w.convtools, Args: args, Dir: w.project, Env: w.env(w.home)})
	if err == nil && work.StartHook {
		err = w.slowHook()
	}
	return err
}

// respond answers a request to any of three models: the agent's, the one that
// writes the titles of its sessions, and the one of the conv tools.
func (w *worker) respond(e modeltest.Exchange) modeltest.Answer {
	switch {
	case e.Model == innerModel:
		return modeltest.Answer{Pieces: []string{"You asked: " + e.Last}}
	case len(e.Tools) == 0: // a request for a title
		return modeltest.Answer{Pieces: []string{"Gauges"}}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answer(e)
}

// ask runs the agent for the question of a session. A dialogue plays the agent's model: it makes the calls of tools that
// next returns, and then gives the reply of the session. ask returns what the tools answered, as the model saw it.
func (w *worker) ask(ctx context.Context, s session, next nextCall) ([]string, error) {
	d := dialogue{worker: w, session: s, next: next, before: -1} // the answers of earlier sessions are not counted yet
	w.mu.Lock()
	w.answer = d.answer
	w.mu.Unlock()
	output, err := repository.Output(ctx, w.command(s))
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := errors.Join(d.failure, err); err != nil {
		return nil, err
	}
	if !strings.Contains(string(output), s.Reply) {
		return nil, fmt.Errorf("the agent did not print the reply of its model:\n%s", text.Visible(text.CutMiddle(string(output), 2000)))
	}
	return d.answers, nil
}

// nextCall returns the next call of the model, and false if there are no more. answers are those to the calls so far.
type nextCall func(answers []string) (c call, more bool, err error)

// dialogue is a session, as its model sees it.
type dialogue struct {
	*worker
	session session
	next    nextCall
	before  int      // the number of answers of earlier sessions; -1 before the first request
	answers []string // of this session
	failure error
}

// answer answers a request of the agent to its model: with the next call or, after the last one, with the reply of the
// session. It answers a sub-agent with the reply for sub-agents. After a call that cannot be made, it answers with errors.
func (d *dialogue) answer(e modeltest.Exchange) modeltest.Answer {
	isSubAgent := d.session.Inner != "" && !bytes.Contains(e.Body, []byte(d.session.Question))
	if isSubAgent {
		return modeltest.Answer{Pieces: []string{d.session.Inner}}
	}
	all := outputs(e)
	if d.before < 0 { // this is the first request of the session
		d.before = len(all)
	}
	d.answers = all[min(d.before, len(all)):] // those of this session
	c, more, err := d.next(d.answers)
	if err == nil && !more {
		return modeltest.Answer{Pieces: []string{d.session.Reply}}
	}
	tool, offered := d.tool(e.Tools, c.Name)
	if err == nil && !offered {
		err = fmt.Errorf("the agent does not offer %s", c.Name)
	}
	arguments, encodingErr := json.Marshal(c.Arguments)
	d.failure = errors.Join(d.failure, err, encodingErr)
	if d.failure != nil {
		return modeltest.Answer{Status: 400, Type: "invalid_request_error", Message: d.failure.Error()}
	}
	id := fmt.Sprintf("call_%d", len(all)+1)
	return modeltest.Answer{Calls: []modeltest.Call{{ID: id, Namespace: tool.Namespace, Name: tool.Name, Args: string(arguments)}}}
}

// command returns the command line that runs the agent for the question of a session.
func (w *worker) command(s session) process.Command {
	path, args := w.module(filepath.FromSlash(w.Program)), slices.Clone(w.Args)
	if filepath.Ext(path) == ".js" { // not a program of its own
		path, args = w.node, append([]string{path}, args...)
	}
	if s.Again {
		args = append(args, w.Again...)
	}
	args = append(args, s.Args...)
	dir := w.project
	if s.Workspace {
		dir = w.workspace
	}
	return process.Command{Path: path, Args: append(args, s.Question), Dir: dir, Env: append(w.env(w.home), w.variables...), Limits: process.Limits{Timeout: time.Hour}}
}

var (
	toolFound = regexp.MustCompile(`"type":"tool_result".*?"tool_name":"([^"]*)"`)
	wallTime  = regexp.MustCompile(`^Wall time: .* seconds\nOutput:\n?`)
)

// outputs returns the answers of tools in a request. The answer of a tool is its text, without the time that Codex
// adds. The answer of a search for tools, which has no text, is the name of the first tool that it found.
func outputs(e modeltest.Exchange) (answers []string) {
	found := toolFound.FindAllSubmatch(e.Body, -1)
	for i, output := range e.Outputs {
		answer := wallTime.ReplaceAllString(output, "")
		if answer == "" && i < len(found) { // a model searches for tools before it calls any other
			answer = string(found[i][1])
		}
		answers = append(answers, answer)
	}
	return answers
}
