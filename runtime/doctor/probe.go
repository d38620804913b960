package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// startLimit is the time that a server has to list its tools, which is that of Codex, the least patient host.
const startLimit = 10 * time.Second

// maxAnswer is the greatest length of an answer, in bytes.
const maxAnswer = 4 << 20

// answer is the answer of a server.
type answer struct {
	tools         int
	name, version string
	took          time.Duration
}

// Connect starts a server. stop ends it and returns its standard error.
func Connect(cmd process.Command) (transport mcp.Transport, stop func() []byte, err error) {
	server, err := process.Exec{}.Start(cmd)
	if err != nil {
		return nil, nil, err
	}
	stop = func() []byte {
		server.Stop()
		return server.Stderr()
	}
	return &mcp.IOTransport{Reader: io.NopCloser(server.Stdout), Writer: server.Stdin, MaxLineLength: maxAnswer}, stop, nil
}

// probe starts a registered command as its host does, and lists its tools.
func (c Config) probe(ctx context.Context, r install.Registration) (answer, error) {
	start := c.Now()
	transport, stop, err := c.Connect(c.command(r, r.Command[1:]))
	if err != nil {
		return answer{}, err
	}
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	got, tools, err := c.ask(limited, transport)
	got.took = c.Now().Sub(start)
	said := firstLine(stop())
	if err == nil {
		return got, c.missing(got, tools)
	}
	if limited.Err() != nil {
		err = fmt.Errorf("it hangs: it was stopped after %v without an answer to tools/list", startLimit)
	} else {
		err = fmt.Errorf("it does not list its tools: %s", shortened(err.Error()))
	}
	if said != "" {
		err = fmt.Errorf("%w, and says: %s", err, shortened(said))
	}
	return answer{}, err
}

// ask returns the name and the tools of a server.
func (c Config) ask(ctx context.Context, transport mcp.Transport) (got answer, tools map[string]bool, err error) {
	client := mcp.NewClient(&mcp.Implementation{Name: c.Install.Name + "-doctor", Version: c.Version}, nil)
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return got, nil, err
	}
	if server := session.InitializeResult().ServerInfo; server != nil {
		got.name, got.version = shortened(server.Name), shortened(server.Version)
	}
	tools = map[string]bool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return got, nil, err
		}
		tools[tool.Name] = true
	}
	got.tools = len(tools)
	return got, tools, nil
}

// missing returns the error for a server that lacks tools that this program always offers.
func (c Config) missing(got answer, tools map[string]bool) error {
	var missing []string
	for _, f := range c.Registry.Families() {
		for _, tool := range f.Declared() {
			if f.Offered == nil && !tools[tool.Name] {
				missing = append(missing, tool.Name)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("it is another program, or another version of this one: it is %s %s and has no %s", got.name, got.version, strings.Join(missing, ", "))
}

// command returns a registered command in the project, with the environment that a host gives it.
func (c Config) command(r install.Registration, args []string) process.Command {
	env := process.DefaultEnv("JP_*", toolset.Variable(c.Install.Name, "*"))
	if r.Scope == install.User {
		env = append(env, r.Env...)
	}
	return process.Command{
		Path: r.Command[0], Args: args, Dir: c.Install.Project, Env: env,
		Limits: process.Limits{Timeout: startLimit, Stdout: maxAnswer},
	}
}

// firstLine returns the first line that is not blank.
func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(line)
}

// maxSaid is how many characters of a program's output a finding repeats.
const maxSaid = 200

func shortened(said string) string { return text.Cut(said, maxSaid+1) }

// probeJP has a tool format arguments, as JP does before a call. That has no effect.
func (c Config) probeJP(ctx context.Context, r install.Registration) error {
	tool := c.Registry.Names()[0]
	args := make([]string, 0, len(r.Command))
	for _, word := range r.Command[1:] {
		word = strings.ReplaceAll(word, "{{context}}", `{"action":"format_arguments"}`)
		word = strings.ReplaceAll(word, "{{tool}}", `{"name":"`+tool+`","arguments":{}}`)
		args = append(args, word)
	}
	result, err := c.Runner.Run(ctx, c.command(r, args))
	if err != nil {
		return err
	}
	var outcome struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(result.Stdout, &outcome); err != nil || outcome.Type == "" {
		return errors.New("what it answers is not an outcome of a tool")
	}
	if outcome.Type != "success" {
		return fmt.Errorf("it answers with an error: %s", shortened(outcome.Message))
	}
	return nil
}
