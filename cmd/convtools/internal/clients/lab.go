package main

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/agents"
	"github.com/convtools/convtools/cmd/convtools/internal/npm"
	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
)

// testdata is the scripts that run in Node.js, and the failures that are expected.
//
//go:embed testdata
var testdata embed.FS

// packages returns the packages of npm, in the versions that are proved to work. Raise them
// together with a run.
func packages() map[string]string {
	all := map[string]string{
		"node":                              "22.23.3", // Inspector and the suite do not start in older ones
		"@modelcontextprotocol/inspector":   "2.12.0",
		"@modelcontextprotocol/conformance": "0.2.0-alpha.12",
		"@modelcontextprotocol/client":      "2.4.0",
		"@modelcontextprotocol/sdk":         "1.32.2",
		"openai":                            "7.57.0",
		"@anthropic-ai/sdk":                 "1.12.0",
		"typescript":                        "7.0.2",
		"@anthropic-ai/claude-code":         "2.1.328",
	}
	maps.Copy(all, agents.Packages())
	return all
}

// lab is the directory everything happens in.
type lab struct {
	dir       string
	convtools string
	fixture   string     // a server with the tools that the conformance suite wants
	workspace string     // a copy of the bundled sample, with a topic of knowledge
	node      string     // the program
	tools     []seenTool // that every client has to show
}

// prepare builds and fetches everything into dir.
func prepare(ctx context.Context, dir string, progress func(string)) (*lab, error) {
	l := &lab{dir: dir, workspace: filepath.Join(dir, "workspace")}
	l.node = l.module("node", "bin", "node")
	if runtime.GOOS == "windows" {
		l.node += ".exe"
	}
	progress("building convtools")
	root, err := repository.Root(ctx)
	if err != nil {
		return nil, err
	}
	if l.convtools, err = repository.Build(ctx, root, "./cmd/convtools", dir); err != nil {
		return nil, err
	}
	if l.fixture, err = repository.Build(ctx, filepath.Join(root, "cmd", "convtools", "internal"), "./clients/fixture", dir); err != nil {
		return nil, err
	}
	if err := errors.Join(
		os.RemoveAll(l.workspace), os.RemoveAll(filepath.Join(dir, "testdata")), os.RemoveAll(filepath.Join(dir, "homes")),
		os.CopyFS(l.workspace, os.DirFS(filepath.Join(root, "testdata", "workspaces", "sample"))), os.CopyFS(dir, testdata),
		os.MkdirAll(filepath.Join(dir, "homes"), 0o700), os.MkdirAll(filepath.Join(dir, "tmp"), 0o700),
		l.writeKnowledge(), l.readTools(root),
	); err != nil {
		return nil, fmt.Errorf("preparing the directory to work in: %w", err)
	}
	progress("fetching packages from npm")
	return l, npm.Install(ctx, dir, packages())
}

// The knowledge base of the lab.
const (
	topics        = "\n\nTopics:\n- notes (**Field notes**): What is known of the gauges."
	gaugesURI     = "kb://notes/gauges"
	northURI      = "kb://notes/stations/north%20shore"
	northText     = "The north shore has two gauges."
	hiddenURI     = "kb://notes/keys"
	hiddenText    = "The key of the shed is at the office."
	knowledgeBase = `[kb.topic.notes]
title = "Field notes"
introduction = "What is known of the gauges."
subjects = "docs/notes"
learned = ["gauges"]
`
)

// writeKnowledge gives the workspace a knowledge base.
func (l *lab) writeKnowledge() error {
	return writeFiles(l.workspace, map[string]string{
		"convtools.toml":                  knowledgeBase,
		"docs/notes/gauges.md":            "# Gauges\n\nGauges report every ten minutes.\n",
		"docs/notes/stations/north shore": northText + "\n",
		"docs/notes/.keys.txt":            hiddenText + "\n",
	})
}

// readTools reads the generated list of tools, which clients have to show as it is, with the
// topics after the description of learn.
func (l *lab) readTools(root string) error {
	list, err := os.ReadFile(filepath.Join(root, "generated", "mcp", "tools.json"))
	if err == nil {
		err = json.Unmarshal(list, &l.tools)
	}
	// No model is configured in the lab, for conversations to have.
	l.tools = slices.DeleteFunc(l.tools, func(t seenTool) bool { return strings.HasPrefix(t.Name, "conv.") })
	for i := range l.tools {
		if l.tools[i].Name == "learn" {
			l.tools[i].Description += topics
		}
	}
	return err
}

// module returns the path of a file of an installed package.
func (l *lab) module(elem ...string) string {
	return filepath.Join(append([]string{l.dir, "node_modules"}, elem...)...)
}

// home makes an empty directory: a home, or a project.
func (l *lab) home() (string, error) { return os.MkdirTemp(filepath.Join(l.dir, "homes"), "") }

// env is the environment of everything that runs here. Of the person who runs it, it has the
// places of programs only; all that it can reach is this machine.
func (l *lab) env(home string) []string {
	const nowhere = "http://127.0.0.1:9"
	return []string{
		"PATH=" + filepath.Dir(l.node) + string(os.PathListSeparator) + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"),
		"HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + home, "TMPDIR=" + filepath.Join(l.dir, "tmp"),
		"JP_USER_DATA_DIR=" + filepath.Join(home, "jp"), "LANG=C.UTF-8", "NO_COLOR=1", "TERM=dumb",
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "NO_PROXY=127.0.0.1,localhost", "OPENCODE_DISABLE_MODELS_FETCH=1",
	}
}

// serverCommand is how clients start the server on stdio.
func (l *lab) serverCommand() []string {
	return []string{l.convtools, "mcp", "--workspace", l.workspace}
}

// runNode runs a JavaScript program. Exit codes other than 0 are for the caller to judge.
func (l *lab) runNode(ctx context.Context, script string, args ...string) (process.Result, error) {
	home, err := l.home()
	if err != nil {
		return process.Result{}, err
	}
	result, err := process.Exec{}.Run(ctx, process.Command{
		Path: l.node, Args: append([]string{script}, args...),
		Dir: l.workspace, Env: l.env(home), Limits: process.Limits{Timeout: time.Hour},
	})
	if err != nil {
		return result, fmt.Errorf("running %s: %w", filepath.Base(script), err)
	}
	return result, nil
}

// runJSON runs one of the scripts with an argument in JSON and reads what it prints.
func (l *lab) runJSON(ctx context.Context, script string, argument, printed any) error {
	encoded, err := json.Marshal(argument)
	if err != nil {
		return err
	}
	result, err := l.runNode(ctx, filepath.Join(l.dir, "testdata", "typescript", script), string(encoded))
	switch {
	case err != nil:
		return err
	case result.ExitCode != 0:
		return exitError(result)
	}
	return json.Unmarshal(result.Stdout, printed)
}

// runOK runs a command that has to end with exit code 0.
func runOK(ctx context.Context, cmd process.Command) ([]byte, error) {
	result, err := process.Exec{}.Run(ctx, cmd)
	if err == nil && result.ExitCode != 0 {
		err = exitError(result)
	}
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", filepath.Base(cmd.Path), err)
	}
	return result.Stdout, nil
}

// exitError describes a command that failed by the end of its output.
func exitError(result process.Result) error {
	said := text.CutMiddle(string(result.Stderr), 2000) + "\n" + text.CutMiddle(string(result.Stdout), 2000)
	return fmt.Errorf("exit code %d\n%s", result.ExitCode, strings.TrimSpace(text.Visible(said)))
}

// call is one tool call.
type call struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// answer returns the answer to a call by JP's protocol: every client has to show it, to the letter.
func (l *lab) answer(ctx context.Context, c call) (text string, failed bool, err error) {
	where, err1 := json.Marshal(map[string]string{"root": l.workspace})
	request, err2 := json.Marshal(map[string]any{"name": c.Tool, "arguments": c.Arguments})
	if err := errors.Join(err1, err2); err != nil {
		return "", false, err
	}
	said, err := runOK(ctx, process.Command{
		Path: l.convtools, Args: []string{"jp-tool", string(where), string(request)}, Env: l.env(filepath.Join(l.dir, "homes")),
	})
	if err != nil {
		return "", false, err
	}
	var outcome struct{ Type, Content, Message string }
	if err := json.Unmarshal(said, &outcome); err != nil {
		return "", false, fmt.Errorf("reading the outcome of %s: %w", c.Tool, err)
	}
	return outcome.Content + outcome.Message, outcome.Type == "error", nil
}

// serve starts a server on loopback, passes its URL to do, and stops it. The last argument
// of the command is the address. do's context ends with the server.
func (l *lab) serve(ctx context.Context, command []string, do func(ctx context.Context, url string) error) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], "127.0.0.1:0")...) //nolint:forbidigo,gosec // a server runs until it is told to stop; runtime/process has nothing for that
	cmd.Env = l.env(filepath.Join(l.dir, "homes"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the HTTP server: %w", err)
	}
	urls, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- l.follow(cmd, bufio.NewScanner(stderr), urls, cancel) }()
	select {
	case url := <-urls:
		err = do(ctx, url)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	cancel(nil)
	if exit := new(exec.ExitError); err == nil {
		if stopped := <-ended; errors.As(stopped, &exit) {
			err = fmt.Errorf("stopping the HTTP server: %w", stopped)
		}
	}
	return err
}

// follow sends the URL in what a server says, and waits until it has ended.
func (l *lab) follow(cmd *exec.Cmd, said *bufio.Scanner, urls chan<- string, cancel context.CancelCauseFunc) error {
	var lines strings.Builder
	for said.Scan() {
		fmt.Fprintln(&lines, said.Text())
		if _, url, ok := strings.Cut(said.Text(), "MCP at "); ok && len(urls) == 0 {
			urls <- url
		}
	}
	err := cmd.Wait()
	cancel(fmt.Errorf("the HTTP server ended: %s", text.Visible(text.CutMiddle(lines.String(), 2000))))
	return err
}

// writeFiles writes files below a directory.
func writeFiles(dir string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			return err
		}
	}
	return nil
}
