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

// startLimit is the time that a server has to list its tools: as long as Codex, the least patient host, waits for it.
const startLimit = 10 * time.Second

// maxAnswer is the greatest length in bytes of what a program answers or prints.
const maxAnswer = 4 << 20

// answer is what a server says of itself.
type answer struct {
	tools         int
	name, version string
	duration      time.Duration // from its start to the list of its tools
}

// Connect starts a server, and returns a connection to it. stop ends the server and returns its standard error.
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

// probe starts a registered command as the host does, asks the server for its tools, and ends the server. A command that
// does not start and a server that does not list its tools in time are errors; so is an error of [Config.checkTools].
func (c Config) probe(ctx context.Context, r install.Registration) (answer, error) {
	start := c.Now()
	transport, stop, err := c.Connect(c.command(r, r.Command[1:]))
	if err != nil {
		return answer{}, err
	}
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	answered, tools, err := c.listTools(limited, transport)
	answered.duration = c.Now().Sub(start)
	stderr := firstLine(stop())
	if err == nil {
		return answered, c.checkTools(answered, tools)
	}
	if limited.Err() != nil {
		err = fmt.Errorf("it hangs: it was stopped after %v without an answer to tools/list", startLimit)
	} else {
		err = fmt.Errorf("it does not list its tools: %s", shortened(err.Error()))
	}
	if stderr != "" {
		err = fmt.Errorf("%w, and says: %s", err, shortened(stderr))
	}
	return answer{}, err
}

// listTools returns the answer of a server, without the duration, and the names of its tools.
func (c Config) listTools(ctx context.Context, transport mcp.Transport) (answered answer, tools map[string]bool, err error) {
	client := mcp.NewClient(&mcp.Implementation{Name: c.Install.Name + "-doctor", Version: c.Version}, nil)
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return answered, nil, err
	}
	if server := session.InitializeResult().ServerInfo; server != nil {
		answered.name, answered.version = shortened(server.Name), shortened(server.Version)
	}
	tools = map[string]bool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return answered, nil, err
		}
		tools[tool.Name] = true
	}
	answered.tools = len(tools)
	return answered, tools, nil
}

// checkTools returns an error if the tools of a server, by name, lack one that this program always offers.
func (c Config) checkTools(answered answer, tools map[string]bool) error {
	var missing []string
	for _, f := range c.Registry.Families() {
		for _, tool := range f.Declared() {
			if f.Offered == nil && !tools[tool.Name] { // without Offered, a family always offers its tools
				missing = append(missing, tool.Name)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("it is another program, or another version of this one: it is %s %s and has no %s", answered.name, answered.version, strings.Join(missing, ", "))
}

// command returns the command to start for a registration: its program with args, in the project, with the environment
// of a host. The registration's own variables are set only if it is in the user's file: a project's file, which others
// may have written, must not decide what the program does.
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

// firstLine returns the first line of an output that is not blank, or "".
func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(line)
}

// maxQuoted is how many characters of a program's output a finding repeats.
const maxQuoted = 200

// shortened returns an output as a finding repeats it.
func shortened(output string) string { return text.Cut(output, maxQuoted+1) }

// probeJP runs the registered command as JP does before a call: a tool formats its arguments, which has no other
// effect. The error is that the command fails, or does not answer with success.
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
