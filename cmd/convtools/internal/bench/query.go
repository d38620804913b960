package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/convtools/convtools/cmd/convtools/internal/agents"
	"github.com/convtools/convtools/cmd/convtools/internal/npm"
	"github.com/convtools/convtools/cmd/convtools/internal/table"
	"github.com/convtools/convtools/runtime/model/modeltest"
)

const (
	// queryBound is the most of the time and the memory of an agent that convtools query may take.
	queryBound = 0.5
	// queryRuns is how often each program is asked at most: one of them takes seconds.
	queryRuns     = 5
	queryQuestion = "Is it done?"
	queryAnswer   = "It is done."
)

// query measures convtools query beside two agents that ask the same model, which answers
// at once: all the time that they take is their own. Each shows events in JSON and keeps
// its session. An agent that cannot be installed is skipped.
func (b *bench) query(ctx context.Context) (err error) {
	model := &modeltest.Server{AnyKey: true, Answer: func(modeltest.Exchange) modeltest.Answer {
		return modeltest.Answer{Pieces: []string{"It is ", "done."}, Usage: modeltest.Usage{Input: 100, Output: 3}}
	}}
	url, err := model.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	for _, peer := range []struct {
		name, api string
		agent     func(ctx context.Context, home, modelURL string) (program, error)
	}{
		{"codex exec", "responses", codexExec},
		{"opencode run", "chat", opencodeRun},
	} {
		home := filepath.Join(b.dir, peer.name)
		theirs, err := peer.agent(ctx, home, url)
		if err != nil {
			b.table.Add(table.Row{Name: "query, beside " + peer.name, Result: "skipped", Detail: err.Error()})
			continue
		}
		ours, err := b.convtoolsQuery(home, url, peer.api)
		if err != nil {
			return err
		}
		if err := b.besideAgent(ctx, peer.name, ours, theirs); err != nil {
			return err
		}
	}
	return nil
}

// besideAgent runs both programs in turn and adds the rows.
func (b *bench) besideAgent(ctx context.Context, peer string, programs ...program) error {
	first, whole := make([]measured, 2), make([]measured, 2)
	for round := range min(b.amount.runs, queryRuns) + 1 {
		for _, i := range rand.Perm(2) {
			programs[i].dir = b.dir
			printed, one, err := ask(ctx, programs[i])
			if err != nil {
				return err
			}
			if round > 0 {
				first[i].add(printed, nil)
				whole[i].merge(one)
			}
		}
	}
	name := "query, beside " + peer
	b.table.Add(compare(name+": until the first event", peer, first[0], first[1], queryBound))
	row := compare(name+": the whole run", peer, whole[0], whole[1], queryBound)
	row.Detail += fmt.Sprintf("; of processors %s, peer %s", milliseconds(whole[0].cpu), milliseconds(whole[1].cpu))
	b.table.Add(row)
	if theirs := whole[1].peak; theirs > 0 {
		ratio := float64(whole[0].peak) / float64(theirs)
		row = table.Row{Name: name + ": peak memory", Result: fmt.Sprintf("%.2fx of %s", ratio, peer), Detail: megabytes(whole[0].peak) + "; peer " + megabytes(theirs)}
		row.AtMost(ratio, queryBound)
		b.table.Add(row)
	}
	return nil
}

// ask runs a program once, and returns how long it took to print something, and all of it.
func ask(ctx context.Context, p program) (first time.Duration, whole measured, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := p.command(ctx)
	cmd.Env = p.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, whole, err
	}
	forgetPeak()
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, whole, fmt.Errorf("starting %s: %w", filepath.Base(p.path), err)
	}
	printed := make([]byte, 1)
	_, err = io.ReadFull(out, printed)
	first = time.Since(start)
	rest, restErr := io.ReadAll(out)
	err = errors.Join(err, restErr, cmd.Wait())
	whole.add(time.Since(start), cmd.ProcessState)
	if err == nil && !strings.Contains(string(rest), queryAnswer) {
		err = errors.New("the model's answer is not in its output")
	}
	if err != nil {
		return 0, whole, fmt.Errorf("running %s: %w\n%s%s%s", filepath.Base(p.path), err, printed, rest, &stderr)
	}
	return first, whole, nil
}

// convtoolsQuery configures convtools for the model and returns its command line.
func (b *bench) convtoolsQuery(home, modelURL, api string) (program, error) {
	config := fmt.Sprintf("[model.%s]\napi = %q\nbase_url = %q\nmodel = \"scripted\"\nkey_env = \"MODEL_KEY\"\n", api, api, modelURL)
	dir := filepath.Join(home, "config", "convtools")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return program{}, err
	}
	if err := os.WriteFile(filepath.Join(dir, "convtools.toml"), []byte(config), 0o600); err != nil {
		return program{}, err
	}
	return program{
		path: b.convtools, args: []string{"query", "--model", api, "--json", queryQuestion},
		env: agentEnv(home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "XDG_DATA_HOME="+filepath.Join(home, "data"), "MODEL_KEY="+agents.Key),
	}, nil
}

// codexExec installs Codex and returns its command line: the program itself, without the
// Node.js that starts it.
func codexExec(ctx context.Context, home, modelURL string) (program, error) {
	path, err := install(ctx, home, "@openai/codex", filepath.Join("@openai", "codex-*", "vendor", "*", "bin", "codex*"), "codex")
	if err == nil {
		err = agents.Codex(home, modelURL, "")
	}
	return program{
		path: path, args: []string{"exec", "--skip-git-repo-check", "--sandbox", "read-only", "--json", queryQuestion}, env: agentEnv(home),
	}, err
}

// opencodeRun installs opencode and returns its command line.
func opencodeRun(ctx context.Context, home, modelURL string) (program, error) {
	path, err := install(ctx, home, "opencode-ai", filepath.Join("opencode-ai", "bin", "opencode*"), "opencode") // .exe on every system
	if err == nil {
		err = agents.Opencode(home, modelURL, "")
	}
	return program{path: path, args: []string{"run", "--format", "json", queryQuestion}, env: agentEnv(home, "OPENCODE_DISABLE_MODELS_FETCH=1")}, err
}

// install installs a package of npm and returns the path of its program of that name.
func install(ctx context.Context, home, pkg, pattern, name string) (string, error) {
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

// agentEnv is the whole environment of a program that is asked. It can reach this machine only.
func agentEnv(home string, also ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "APPDATA=" + home, "SystemRoot=" + os.Getenv("SystemRoot"),
		"LANG=C.UTF-8", "NO_COLOR=1", "TERM=dumb",
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
	}, also...)
}
