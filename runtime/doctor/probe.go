package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/install"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// startLimit is how long a server may take to list its tools. Codex, the least
// patient of the hosts, gives up after this long.
const startLimit = 10 * time.Second

// maxAnswer bounds what a server may say, in bytes.
const maxAnswer = 4 << 20

// answer is what a server reports about itself.
type answer struct {
	tools         int
	name, version string
}

// probe starts a registered command as its host does. JP's tools say nothing
// about themselves.
func (c Config) probe(ctx context.Context, r install.Registration) (answer, error) {
	if r.Host == "jp" {
		return answer{}, c.probeJP(ctx, r)
	}
	out, err := c.run(ctx, r, r.Command[1:], []byte(handshake(c.Install.Name, c.Version)))
	if err != nil {
		return answer{}, err
	}
	tools, got, err := listedTools(out)
	if err != nil {
		return answer{}, err
	}
	var missing []string
	for _, f := range c.Registry.Families() {
		if f.Offered != nil { // not always the same
			continue
		}
		for _, tool := range f.Declared() {
			if !tools[tool.Name] {
				missing = append(missing, tool.Name)
			}
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		return answer{}, fmt.Errorf("it is another program, or another version of this one: it is %s %s and has no %s", got.name, got.version, strings.Join(missing, ", "))
	}
	return got, nil
}

// run runs the registered program to its end, in the project, with the
// environment a host gives it.
func (c Config) run(ctx context.Context, r install.Registration, args []string, stdin []byte) ([]byte, error) {
	env := process.DefaultEnv("JP_*", toolset.Variable(c.Install.Name, "*"))
	if r.Scope == install.User {
		env = append(env, r.Env...)
	}
	result, err := c.Runner.Run(ctx, process.Command{
		Path: r.Command[0], Args: args, Dir: c.Install.Project, Env: env, Stdin: stdin,
		Limits: process.Limits{Timeout: startLimit, Stdout: maxAnswer},
	})
	var failure *process.Error
	if errors.As(err, &failure) && failure.Kind == process.Timeout {
		hangs := fmt.Errorf("it hangs: it was stopped after %v without an answer to tools/list", startLimit)
		if said := firstLine(failure.Stderr); said != "" {
			hangs = fmt.Errorf("%w, and says: %s", hangs, shortened(said))
		}
		return nil, hangs
	}
	if err != nil {
		return nil, err
	}
	if len(result.Stdout) == 0 {
		said := firstLine(result.Stderr)
		if said == "" {
			said = "nothing"
		}
		return nil, fmt.Errorf("it ends with exit code %d without an answer, and says: %s", result.ExitCode, shortened(said))
	}
	return result.Stdout, nil
}

// firstLine returns the first line with something on it.
func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return strings.TrimSpace(line)
}

// maxSaid is how much is repeated of what a program prints, in characters.
const maxSaid = 200

func shortened(said string) string { return text.Cut(said, maxSaid+1) }

// handshake is what a client sends until it knows the tools, in the revision of
// the protocol that most of them speak.
func handshake(name, version string) string {
	client, err := json.Marshal(map[string]string{"name": name + "-doctor", "version": version})
	if err != nil {
		client = []byte(`{}`)
	}
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":` + string(client) + `}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`
}

// listedTools finds the answers to initialize and tools/list among the lines a
// server wrote.
func listedTools(out []byte) (tools map[string]bool, got answer, err error) {
	for line := range bytes.Lines(out) {
		var message struct {
			ID     json.RawMessage `json:"id"`
			Result *struct {
				ServerInfo struct {
					Name    string `json:"name"`
					Version string `json:"version"`
				} `json:"serverInfo"`
				Tools []struct {
					Name string `json:"name"`
				} `json:"tools"`
			} `json:"result"`
			Error *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(line, &message); err != nil {
			return nil, answer{}, fmt.Errorf("it writes something to standard output that is not MCP: %s", shortened(strings.TrimSpace(string(line))))
		}
		switch {
		case string(message.ID) != "1" && string(message.ID) != "2":
		case message.Error != nil:
			return nil, answer{}, fmt.Errorf("it answers with an error: %s", shortened(message.Error.Message))
		case message.Result == nil:
		case string(message.ID) == "1":
			got.name, got.version = shortened(message.Result.ServerInfo.Name), shortened(message.Result.ServerInfo.Version)
		default:
			tools = map[string]bool{}
			for _, tool := range message.Result.Tools {
				tools[tool.Name] = true
			}
			got.tools = len(tools)
			return tools, got, nil
		}
	}
	return nil, answer{}, errors.New("it ends without listing its tools")
}

// probeJP has a tool format arguments, which JP does before a call and which
// has no effect.
func (c Config) probeJP(ctx context.Context, r install.Registration) error {
	tool := c.Registry.Names()[0]
	args := make([]string, 0, len(r.Command))
	for _, word := range r.Command[1:] {
		word = strings.ReplaceAll(word, "{{context}}", `{"action":"format_arguments"}`)
		word = strings.ReplaceAll(word, "{{tool}}", `{"name":"`+tool+`","arguments":{}}`)
		args = append(args, word)
	}
	out, err := c.run(ctx, r, args, nil)
	if err != nil {
		return err
	}
	var outcome struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(out, &outcome); err != nil || outcome.Type == "" {
		return errors.New("what it answers is not an outcome of a tool")
	}
	if outcome.Type != "success" {
		return fmt.Errorf("it answers with an error: %s", shortened(outcome.Message))
	}
	return nil
}
