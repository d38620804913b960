package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
)

// lab is the directory of all work, with the packages of npm and a copy of testdata.
type lab struct {
	dir       string
	convtools string // the program
	workspace string // a copy of the sample workspace, with a topic of knowledge
	node      string // the program
	tools     []tool // that every client has to show
	kept      string // the directory where histories are kept; may be empty
}

// tool is a tool as a server lists it.
type tool struct {
	Name         string
	Description  string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	Annotations  map[string]*bool
}

// prepare makes a lab in dir: it builds convtools, copies testdata and the workspace,
// and installs the packages of testdata/package.json.
func prepare(ctx context.Context, dir string) (l *lab, err error) {
	l = &lab{dir: dir, workspace: filepath.Join(dir, "workspace")}
	l.node = l.module("node", "bin", "node")
	if runtime.GOOS == "windows" {
		l.node += ".exe"
	}
	fmt.Fprintln(os.Stderr, "clients: building convtools")
	root, err := repository.Root(ctx)
	if err != nil {
		return nil, err
	}
	if l.convtools, err = repository.Build(ctx, root, "./cmd/convtools", dir); err != nil {
		return nil, err
	}
	for _, name := range []string{"workspace", "testdata", "homes"} {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, name)))
	}
	testdata := filepath.Join(root, "cmd", "convtools", "internal", "clients", "testdata")
	err = errors.Join(err,
		os.CopyFS(filepath.Join(dir, "testdata"), os.DirFS(testdata)),
		os.CopyFS(l.workspace, os.DirFS(filepath.Join(root, "testdata", "workspaces", "sample"))),
		os.CopyFS(l.workspace, os.DirFS(filepath.Join(testdata, "workspace"))),
		os.MkdirAll(filepath.Join(dir, "homes"), 0o700), os.MkdirAll(filepath.Join(dir, "tmp"), 0o700),
		l.readTools(filepath.Join(root, "generated", "mcp", "tools.json")),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing the directory to work in: %w", err)
	}
	fmt.Fprintln(os.Stderr, "clients: installing packages from npm")
	return l, install(ctx, dir, filepath.Join(testdata, "package.json"))
}

// install installs the packages of a manifest into dir, unless an earlier run did. It
// runs only the scripts of packages that fetch a program for this machine.
func install(ctx context.Context, dir, manifest string) error {
	const retries = "--fetch-retries=1"
	want, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	installed := filepath.Join(dir, "installed.json")
	if got, err := os.ReadFile(installed); err == nil && bytes.Equal(got, want) {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), want, 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error", retries},
		{"rebuild", "--ignore-scripts=false", "--loglevel=error", retries, "node", "opencode-ai", "@anthropic-ai/claude-code"},
	} {
		npm := process.Command{Path: "npm", Args: args, Dir: dir, Env: os.Environ(), Limits: process.Limits{Timeout: 10 * time.Minute}}
		if _, err := repository.Output(ctx, npm); err != nil {
			return err
		}
	}
	return os.WriteFile(installed, want, 0o600)
}

// readTools sets the tools that clients have to show, from the generated list in the file at path. It changes the list
// as the server of the lab does: the server has no model, which the conv tools need, so these are left out. The server
// adds the topics of the workspace to the description of learn.
func (l *lab) readTools(path string) error {
	list, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(list, &l.tools); err != nil {
		return err
	}
	l.tools = slices.DeleteFunc(l.tools, func(t tool) bool { return strings.HasPrefix(t.Name, "conv.") })
	for i := range l.tools {
		if l.tools[i].Name == "learn" {
			l.tools[i].Description += "\n\nTopics:\n- notes (**Field notes**): What is known of the gauges."
		}
	}
	return nil
}

// module returns the path of a file of a package.
func (l *lab) module(elem ...string) string {
	return filepath.Join(append([]string{l.dir, "node_modules"}, elem...)...)
}

// testdata returns the path of a file of testdata.
func (l *lab) testdata(elem ...string) string {
	return filepath.Join(append([]string{l.dir, "testdata"}, elem...)...)
}

// makeDir makes an empty directory for a home or a project.
func (l *lab) makeDir() (string, error) { return os.MkdirTemp(filepath.Join(l.dir, "homes"), "") }

// env returns the environment of the programs in the lab. With it they find the
// programs of this machine, but no settings of its user, and reach no other machine.
func (l *lab) env(home string) []string {
	const unreachable = "http://127.0.0.1:9"
	return []string{
		"PATH=" + filepath.Dir(l.node) + string(os.PathListSeparator) + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"),
		"HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + home, "TMPDIR=" + filepath.Join(l.dir, "tmp"),
		"JP_USER_DATA_DIR=" + filepath.Join(home, "jp"), "LANG=C.UTF-8", "NO_COLOR=1", "TERM=dumb",
		"HTTP_PROXY=" + unreachable, "HTTPS_PROXY=" + unreachable, "NO_PROXY=127.0.0.1,localhost", "OPENCODE_DISABLE_MODELS_FETCH=1", "KILO_DISABLE_MODELS_FETCH=1",
	}
}

// runNode runs a JavaScript program with a home directory of its own. An exit code
// other than 0 is no error, but in the result.
func (l *lab) runNode(ctx context.Context, script string, args ...string) (process.Result, error) {
	home, err := l.makeDir()
	if err != nil {
		return process.Result{}, err
	}
	result, err := process.Exec{}.Run(ctx, process.Command{
		Path: l.node, Args: append([]string{script}, args...), Dir: l.workspace, Env: l.env(home), Limits: process.Limits{Timeout: time.Hour},
	})
	if err != nil {
		return result, fmt.Errorf("running %s: %w", filepath.Base(script), err)
	}
	return result, nil
}

// runScript runs a script of testdata with an argument in JSON and reads the JSON that it prints.
func (l *lab) runScript(ctx context.Context, script string, argument, printed any) error {
	encoded, err := json.Marshal(argument)
	if err != nil {
		return err
	}
	result, err := l.runNode(ctx, l.testdata("typescript", script), string(encoded))
	if err == nil && result.ExitCode != 0 {
		err = repository.ExitError(result)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(result.Stdout, printed)
}

// serverCommand returns the command line of the server on stdio.
func (l *lab) serverCommand() []string {
	return []string{l.convtools, "mcp", "--workspace", l.workspace}
}

// serve starts a server on HTTP, calls do with its URL, and stops the server. It returns
// the error of do, joined with one if the server did not stop properly.
func (l *lab) serve(ctx context.Context, do func(ctx context.Context, url string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.convtools, "mcp", "--workspace", l.workspace, "--http", "127.0.0.1:0") //nolint:forbidigo,gosec // it runs until it is interrupted
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
	var url, printed string
	lines := bufio.NewScanner(stderr)
	for url == "" && lines.Scan() {
		printed += lines.Text() + "\n"
		_, url, _ = strings.Cut(lines.Text(), "MCP at ")
	}
	if url == "" {
		return errors.Join(fmt.Errorf("the HTTP server ended: %s", text.Visible(text.CutMiddle(printed, 2000))), cmd.Wait())
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }() // so that the server can go on writing
	err = do(ctx, url)
	cancel()
	if exit := new(exec.ExitError); errors.As(cmd.Wait(), &exit) {
		err = errors.Join(err, fmt.Errorf("stopping the HTTP server: %w", exit))
	}
	return err
}

// call is a call of a tool.
type call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments"`
}

// answer returns the answer of convtools jp-tool to a call, and whether the tool failed.
// Every client has to show this answer to the letter.
func (l *lab) answer(ctx context.Context, c call) (answer string, failed bool, err error) {
	jpContext, err1 := json.Marshal(map[string]string{"root": l.workspace})
	request, err2 := json.Marshal(c)
	if err := errors.Join(err1, err2); err != nil {
		return "", false, err
	}
	printed, err := repository.Output(ctx, process.Command{
		Path: l.convtools, Args: []string{"jp-tool", string(jpContext), string(request)}, Env: l.env(filepath.Join(l.dir, "homes")),
	})
	if err != nil {
		return "", false, err
	}
	var outcome struct{ Type, Content, Message string }
	if err := json.Unmarshal(printed, &outcome); err != nil {
		return "", false, fmt.Errorf("reading the outcome of %s: %w", c.Name, err)
	}
	return outcome.Content + outcome.Message, outcome.Type == "error", nil // an error has only a message
}
