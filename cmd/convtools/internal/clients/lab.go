package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// lab is the directory everything happens in.
type lab struct {
	dir       string
	convtools string
	fixture   string // a server of what the conformance suite wants
	workspace string // a copy of the bundled sample
	node      string
}

// prepare builds and fetches everything into dir.
func prepare(ctx context.Context, dir string, progress func(string)) (*lab, error) {
	l := openLab(dir)
	progress("building convtools")
	root, err := repository.Root(ctx)
	if err != nil {
		return nil, err
	}
	for _, program := range []struct{ dir, out, pkg string }{
		{root, l.convtools, "./cmd/convtools"},
		{filepath.Join(root, "cmd", "convtools", "internal"), l.fixture, "./clients/fixture"},
	} {
		if err := repository.Build(ctx, program.dir, program.out, program.pkg); err != nil {
			return nil, err
		}
	}
	if err := os.RemoveAll(l.workspace); err != nil {
		return nil, fmt.Errorf("removing an old workspace: %w", err)
	}
	if err := os.CopyFS(l.workspace, os.DirFS(filepath.Join(root, "testdata", "workspaces", "sample"))); err != nil {
		return nil, fmt.Errorf("copying the sample workspace: %w", err)
	}
	if err := l.writeKnowledge(); err != nil {
		return nil, err
	}
	if err := l.copyTools(root); err != nil {
		return nil, err
	}
	for _, name := range []string{"home", "tmp", "data"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, fmt.Errorf("making a directory: %w", err)
		}
	}
	return l, l.install(ctx, progress)
}

// openLab returns the lab that was prepared, or is to be prepared, in dir.
func openLab(dir string) *lab {
	l := &lab{
		dir:       dir,
		convtools: filepath.Join(dir, "convtools"),
		fixture:   filepath.Join(dir, "fixture"),
		workspace: filepath.Join(dir, "workspace"),
		node:      filepath.Join(dir, "node_modules", "node", "bin", "node"),
	}
	if runtime.GOOS == "windows" {
		l.convtools += ".exe"
		l.fixture += ".exe"
		l.node += ".exe"
	}
	return l
}

// copyTools puts the generated list of tools where the steps find it.
func (l *lab) copyTools(root string) error {
	tools, err := os.ReadFile(filepath.Join(root, "generated", "mcp", "tools.json"))
	if err != nil {
		return fmt.Errorf("reading the generated list of tools: %w", err)
	}
	if err := os.WriteFile(filepath.Join(l.dir, "tools.json"), tools, 0o600); err != nil {
		return fmt.Errorf("copying the generated list of tools: %w", err)
	}
	return nil
}

// tools returns the generated list of tools, which clients have to show as it is, with the
// topics there are behind the description of learn.
func (l *lab) tools() ([]seenTool, error) {
	text, err := os.ReadFile(filepath.Join(l.dir, "tools.json"))
	if err != nil {
		return nil, fmt.Errorf("reading the generated list of tools: %w", err)
	}
	var tools []seenTool
	if err := json.Unmarshal(text, &tools); err != nil {
		return nil, fmt.Errorf("reading the generated list of tools: %w", err)
	}
	// No model is configured in the lab, for conversations to have.
	tools = slices.DeleteFunc(tools, func(t seenTool) bool { return strings.HasPrefix(t.Name, "conv.") })
	for i := range tools {
		if tools[i].Name == "learn" {
			tools[i].Description += topics
		}
	}
	return tools, nil
}

// module returns the path of a file of an installed package.
func (l *lab) module(elem ...string) string {
	return filepath.Join(append([]string{l.dir, "node_modules"}, elem...)...)
}

// env is the environment of everything that runs here: nothing of the person
// who runs it but where programs are. home stands in for their home directory.
func (l *lab) env(home string, also ...string) []string {
	env := []string{
		"PATH=" + filepath.Dir(l.node) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + home,
		"TMPDIR=" + filepath.Join(l.dir, "tmp"),
		"JP_USER_DATA_DIR=" + filepath.Join(l.dir, "data"),
		"LANG=C.UTF-8", "NO_COLOR=1", "TERM=dumb",
	}
	if root := os.Getenv("SystemRoot"); root != "" {
		env = append(env, "SystemRoot="+root)
	}
	return append(env, also...)
}

// home makes an empty home directory.
func (l *lab) home() (string, error) {
	home, err := os.MkdirTemp(filepath.Join(l.dir, "home"), "")
	if err != nil {
		return "", fmt.Errorf("making a home directory: %w", err)
	}
	return home, nil
}

// serverCommand is how clients start the server on stdio.
func (l *lab) serverCommand() []string {
	return []string{l.convtools, "mcp", "--workspace", l.workspace}
}

// runNode runs a JavaScript program and returns what it printed. Exit codes
// other than 0 are for the caller to judge.
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

// runOK runs a command that has to end with exit code 0.
func runOK(ctx context.Context, cmd process.Command) ([]byte, error) {
	result, err := process.Exec{}.Run(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", filepath.Base(cmd.Path), err)
	}
	if result.ExitCode != 0 {
		return nil, exitError(result)
	}
	return result.Stdout, nil
}

// exitError describes a command that failed by what it said last.
func exitError(result process.Result) error {
	said := strings.TrimSpace(text.Visible(text.CutMiddle(string(result.Stderr), 2000) + "\n" + text.CutMiddle(string(result.Stdout), 2000)))
	return fmt.Errorf("exit code %d\n%s", result.ExitCode, said)
}

// call is one tool call.
type call struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// answer is what a model is told by JP's protocol: what every client has to show, to the letter.
func (l *lab) answer(ctx context.Context, c call) (text string, failed bool, err error) {
	request, err := json.Marshal(map[string]any{"name": c.Tool, "arguments": c.Arguments})
	if err != nil {
		return "", false, fmt.Errorf("writing the arguments of %s: %w", c.Tool, err)
	}
	where, err := json.Marshal(map[string]string{"root": l.workspace})
	if err != nil {
		return "", false, fmt.Errorf("writing the context of %s: %w", c.Tool, err)
	}
	said, err := runOK(ctx, process.Command{
		Path: l.convtools, Args: []string{"jp-tool", string(where), string(request)}, Env: l.env(filepath.Join(l.dir, "home")),
	})
	if err != nil {
		return "", false, fmt.Errorf("calling %s: %w", c.Tool, err)
	}
	var outcome struct{ Type, Content, Message string }
	if err := json.Unmarshal(said, &outcome); err != nil {
		return "", false, fmt.Errorf("reading the outcome of %s: %w", c.Tool, err)
	}
	if outcome.Type == "error" {
		return outcome.Message, true, nil
	}
	return outcome.Content, false, nil
}

// serveHTTP starts the server on loopback, hands do its URL, and stops it. do's
// context ends with the server.
func (l *lab) serveHTTP(ctx context.Context, do func(ctx context.Context, url string) error) error {
	return l.serveProgram(ctx, append(l.serverCommand(), "--http"), do)
}

// serveProgram is serveHTTP with a program of which the last argument is the
// address.
func (l *lab) serveProgram(ctx context.Context, command []string, do func(ctx context.Context, url string) error) (err error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	command = append(command, address)
	said := new(strings.Builder)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:forbidigo,gosec // a server runs until it is told to stop; runtime/process has nothing for that
	cmd.Env = l.env(filepath.Join(l.dir, "home"))
	cmd.Stderr = said
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the HTTP server: %w", err)
	}
	ended := make(chan struct{})
	var exit error
	go func() {
		exit = cmd.Wait()
		cancel(errors.New("the HTTP server ended"))
		close(ended)
	}()
	// Once the server has ended, said is complete and nobody writes to it.
	defer func() {
		cancel(nil)
		<-ended
		var failed *exec.ExitError
		if err == nil && errors.As(exit, &failed) {
			err = fmt.Errorf("stopping the HTTP server: %w", exit)
		}
		if err != nil && said.Len() > 0 {
			err = fmt.Errorf("%w\nthe HTTP server said: %s", err, text.Visible(text.CutMiddle(said.String(), 2000)))
		}
	}()
	if err := waitFor(ctx, address, ended); err != nil {
		return fmt.Errorf("starting the HTTP server: %w", err)
	}
	return do(ctx, "http://"+address+"/mcp")
}
