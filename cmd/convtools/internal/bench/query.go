package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/agents"
	"github.com/convtools/convtools/cmd/convtools/internal/npm"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/model/modeltest"
)

// queryBound is what convtools query takes at most of the time and the memory of an agent.
const queryBound = 0.5

// queryRuns is how often each program is asked at most: one of them takes seconds.
const queryRuns = 5

const (
	queryQuestion = "Is it done?"
	queryAnswer   = "It is done."
)

// asking is a program that asks a model a question and prints what happens, an event a line.
type asking struct {
	program
	first measured // from the start to the first event
	whole measured
}

// query measures convtools query beside two agents that ask the same model, which answers at once: all the time that
// they take is their own. Each shows events in JSON and keeps its session, as convtools does. An agent that cannot be
// fetched is a row that states so.
func (b *builds) query(ctx context.Context, t *table.Table, dir string) (err error) {
	model := &modeltest.Server{Lenient: true, Answer: func(modeltest.Exchange) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"It is ", "done."}, Usage: modeltest.Usage{Input: 100, Output: 3}}
	}}
	modelURL, err := model.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	dir = filepath.Join(dir, "query")
	project := filepath.Join(dir, "project")
	if err := os.MkdirAll(project, 0o700); err != nil {
		return err
	}
	ours, err := b.convtoolsQuery(filepath.Join(dir, "convtools"), modelURL)
	if err != nil {
		return err
	}
	for _, peer := range []struct {
		name, api string
		agent     func(context.Context, string, string) (program, error)
	}{
		{"codex exec", "responses", codexExec},
		{"opencode run", "chat", opencodeRun},
	} {
		name := "query, beside " + peer.name
		theirs, err := peer.agent(ctx, filepath.Join(dir, peer.name), modelURL)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			t.Add(table.Row{Name: name, Result: "skipped", Detail: lastLine(err.Error())})
			continue
		}
		programs := []*asking{{program: ours(peer.api)}, {program: theirs}}
		if err := askInTurn(ctx, project, min(b.plan.runs, queryRuns), programs); err != nil {
			return err
		}
		addQuery(t, name, peer.name, programs[0], programs[1])
	}
	return nil
}

func addQuery(t *table.Table, name, peer string, ours, theirs *asking) {
	first, firstRatio := compare(name+": until the first event", peer, ours.first, theirs.first)
	first.AtMost(firstRatio, queryBound)
	whole, wholeRatio := compare(name+": the whole run, all of it overhead", peer, ours.whole, theirs.whole)
	whole.AtMost(wholeRatio, queryBound)
	whole.Detail += fmt.Sprintf("; of processors %s, peer %s", milliseconds(ours.whole.cpu), milliseconds(theirs.whole.cpu))
	memory := float64(ours.whole.peak) / float64(max(theirs.whole.peak, 1))
	resident := table.Row{
		Name: name + ": peak memory", Result: fmt.Sprintf("%.2fx of %s", memory, peer),
		Detail: "at most " + megabytes(ours.whole.peak) + " resident; peer " + megabytes(theirs.whole.peak),
	}
	if theirs.whole.peak == 0 {
		resident.Result, resident.Detail = "not known", "this system does not report it"
	} else {
		resident.AtMost(memory, queryBound)
	}
	for _, row := range []table.Row{first, whole, resident} {
		t.Add(row)
	}
}

// convtoolsQuery configures convtools and returns its command line for an interface.
func (b *builds) convtoolsQuery(home, modelURL string) (func(api string) program, error) {
	config := ""
	for _, api := range []string{"responses", "chat"} {
		config += fmt.Sprintf("[model.%s]\napi = %q\nbase_url = %q\nmodel = \"scripted\"\nkey_env = \"MODEL_KEY\"\n\n", api, api, modelURL)
	}
	dir := filepath.Join(home, "config", "convtools")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte(config), 0o600); err != nil {
		return nil, err
	}
	return func(api string) program {
		return program{
			path: b.convtools, args: []string{"query", "--model", api, "--json", queryQuestion},
			env: agentEnv(home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_DATA_HOME="+filepath.Join(home, "data"), "MODEL_KEY="+agents.Key),
		}
	}, nil
}

// codexExec fetches Codex and returns its command line: that of the program itself, without the Node.js that starts it.
func codexExec(ctx context.Context, home, modelURL string) (program, error) {
	path, err := fetch(ctx, home, "@openai/codex", filepath.Join("@openai", "codex-*", "vendor", "*", "bin", "codex*"), "codex")
	if err == nil {
		err = agents.Codex(home, modelURL, "")
	}
	return program{
		path: path, args: []string{"exec", "--skip-git-repo-check", "--sandbox", "read-only", "--json", queryQuestion}, env: agentEnv(home),
	}, err
}

// opencodeRun fetches opencode and returns its command line.
func opencodeRun(ctx context.Context, home, modelURL string) (program, error) {
	path, err := fetch(ctx, home, "opencode-ai", filepath.Join("opencode-ai", "bin", "opencode*"), "opencode") // .exe on every system
	if err == nil {
		err = agents.Opencode(home, modelURL, "")
	}
	return program{path: path, args: []string{"run", "--format", "json", queryQuestion}, env: agentEnv(home, "OPENCODE_DISABLE_MODELS_FETCH=1")}, err
}

// fetch fetches a package of npm and returns the path of its program, which is called name, with or without an
// extension.
func fetch(ctx context.Context, home, pkg, pattern, name string) (string, error) {
	dir := filepath.Join(home, "npm")
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := npm.Install(ctx, dir, map[string]string{pkg: agents.Packages()[pkg]}); err != nil {
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(dir, "node_modules", pattern))
	if err != nil {
		return "", err
	}
	for _, path := range found {
		if base := filepath.Base(path); strings.TrimSuffix(base, filepath.Ext(base)) == name {
			return path, nil
		}
	}
	return "", fmt.Errorf("npm has no program of %s for this system", pkg)
}

// agentEnv is the environment of what is asked: nothing of whoever runs this but where programs are. Only this machine can
// be reached.
func agentEnv(home string, also ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + home, "SystemRoot=" + os.Getenv("SystemRoot"),
		"LANG=C.UTF-8", "NO_COLOR=1", "TERM=dumb",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
	}
	return append(env, also...)
}

// askInTurn runs every program once to warm up, and then n times, one after the other in changing order.
func askInTurn(ctx context.Context, dir string, n int, programs []*asking) error {
	for round := range n + 1 {
		for _, i := range rand.Perm(len(programs)) {
			if err := programs[i].ask(ctx, dir, round > 0); err != nil {
				return err
			}
		}
	}
	for _, p := range programs {
		slices.Sort(p.first.times)
		slices.Sort(p.whole.times)
	}
	return nil
}

// ask runs the program once.
func (a *asking) ask(ctx context.Context, dir string, counts bool) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.path, a.args...) //nolint:forbidigo,gosec // running the programs that it compares is what bench is for
	cmd.Dir, cmd.Env = dir, a.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	forgetPeak()
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", filepath.Base(a.path), err)
	}
	printed := make([]byte, 1)
	_, err = io.ReadFull(out, printed)
	first := time.Since(start)
	rest, restErr := io.ReadAll(out)
	err = errors.Join(err, restErr, cmd.Wait())
	whole := time.Since(start)
	if err == nil && !strings.Contains(string(rest), queryAnswer) {
		err = errors.New("the model's answer is not in what it prints")
	}
	if err != nil {
		return fmt.Errorf("running %s: %w\n%s%s%s", filepath.Base(a.path), err, printed, rest, &stderr)
	}
	if counts {
		a.first.times, a.whole.times = append(a.first.times, first), append(a.whole.times, whole)
		a.whole.peak = max(a.whole.peak, peakMemory(cmd.ProcessState))
		if cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(); a.whole.cpu == 0 || cpu < a.whole.cpu {
			a.whole.cpu = cpu
		}
	}
	return nil
}
