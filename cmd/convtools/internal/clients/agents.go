package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/convtools/convtools/cmd/convtools/internal/agents"
	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/process"
)

// agent is a program that lets a model call tools.
type agent struct {
	// host is what "convtools install" calls it.
	host     string
	protocol protocol
	// configure writes the agent's configuration into home: the model, and the
	// server if that has a URL.
	configure func(home, modelURL, serverURL string) error
	// command asks the agent a question and lets it work until it has answered.
	command func(l *lab, question string) process.Command
	// recorded is command for a session that the agent records; again goes on with
	// the last one.
	recorded func(l *lab, question string, again bool) process.Command
	// named returns the tool of that name among those the agent offers.
	named func(tools []offer, name string) (offer, bool)
	// instructions returns what the model is told of the server as a whole.
	instructions func(e exchange) string
	// unwrap returns the answer of a tool from what the agent makes of it.
	unwrap func(shown string) string
}

const (
	question   = "How did we settle retries of the gauge feed?"
	conclusion = "Readings are retried."
)

// journey returns a step in which an agent finds an earlier conversation and
// reads it. On stdio, "convtools install" registers the server with it. The model
// is scripted: it learns what concerns the question, calls conversation_grep, and then
// conversation_read with the id and the number of the last event it was shown.
func journey(how string, a agent) func(context.Context, *lab) ([]string, error) {
	return func(ctx context.Context, l *lab) (notes []string, err error) {
		if how == "stdio" {
			return a.journey(ctx, l, "")
		}
		err = l.serveHTTP(ctx, func(ctx context.Context, url string) error {
			notes, err = a.journey(ctx, l, url)
			return err
		})
		return notes, err
	}
}

func (a agent) journey(ctx context.Context, l *lab, serverURL string) (notes []string, err error) {
	home, err := l.home()
	if err != nil {
		return nil, err
	}
	grep := call{"conversation_grep", map[string]any{"pattern": "retry", "scopes": []any{"user"}}}
	var calls []call
	m := &model{protocol: a.protocol}
	m.script = func(_ context.Context, e exchange) (reply, error) {
		if len(e.Tools) == 0 {
			// Agents also have a title made for the session.
			return reply{text: "Retries"}, nil
		}
		next := grep
		switch len(e.Results) {
		case 0:
			next = call{"learn", map[string]any{"topic": "notes", "subjects": []any{"gauges"}}}
		case 1:
		case 2:
			id, number, err := lastEvent(a.unwrap(e.Results[1].Text))
			if err != nil {
				return reply{}, err
			}
			next = call{"conversation_read", map[string]any{"id": id, "event": number}}
		default:
			return reply{text: conclusion}, nil
		}
		tool, ok := a.named(e.Tools, next.Tool)
		if !ok {
			return reply{}, fmt.Errorf("the agent does not offer %s", next.Tool)
		}
		arguments, err := json.Marshal(next.Arguments)
		if err != nil {
			return reply{}, fmt.Errorf("writing the arguments of %s: %w", next.Tool, err)
		}
		calls = append(calls, next)
		return reply{tool: tool, callID: fmt.Sprintf("call_%d", len(calls)), arguments: string(arguments)}, nil
	}
	modelURL, closeModel, err := m.listen(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closeModel()) }()

	if err := a.configure(home, modelURL, serverURL); err != nil {
		return nil, fmt.Errorf("configuring the agent: %w", err)
	}
	if serverURL == "" {
		if err := a.install(ctx, l, home, l.workspace); err != nil {
			return nil, err
		}
	}
	command := a.command(l, question)
	command.Dir, command.Limits.Timeout = l.workspace, time.Hour
	command.Env = l.env(home, command.Env...)
	output, err := runOK(ctx, command)
	if err := errors.Join(m.err(), err); err != nil {
		return nil, err
	}
	if !strings.Contains(string(output), conclusion) {
		return nil, fmt.Errorf("the agent did not pass on what the model concluded:\n%s", text.Visible(text.CutMiddle(string(output), 2000)))
	}
	return a.checkTranscript(ctx, l, m.exchanges, calls)
}

// install registers the server with the agent.
func (a agent) install(ctx context.Context, l *lab, home, dir string) error {
	install := process.Command{
		Path: l.convtools, Args: []string{"install", a.host, "--scope", "user", "--yes"},
		Dir: dir, Env: l.env(home),
	}
	if _, err := runOK(ctx, install); err != nil {
		return fmt.Errorf("registering with the agent: %w", err)
	}
	return nil
}

// checkTranscript compares what the model was shown with what it should have
// been. Notes are what an agent leaves out, which is for it to decide.
func (a agent) checkTranscript(ctx context.Context, l *lab, exchanges []exchange, calls []call) (notes []string, err error) {
	exchanges = slices.DeleteFunc(slices.Clone(exchanges), func(e exchange) bool { return len(e.Tools) == 0 })
	if len(calls) != 3 || len(exchanges) == 0 {
		return nil, fmt.Errorf("the model made %d calls in %d requests, want 3 calls", len(calls), len(exchanges))
	}
	var errs []error
	dropped := map[string]bool{}
	tools, err := l.tools()
	if err != nil {
		return nil, err
	}
	for _, tool := range tools {
		offered, ok := a.named(exchanges[0].Tools, tool.Name)
		if !ok {
			errs = append(errs, fmt.Errorf("the model is not offered %s", tool.Name))
			continue
		}
		if diff := cmp.Diff(tool.Description, offered.Description); diff != "" {
			errs = append(errs, fmt.Errorf("%s is described otherwise (-want +got):\n%s", tool.Name, diff))
		}
		less, err := checkParameters(tool.InputSchema, offered.Parameters)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", tool.Name, err))
		}
		maps.Copy(dropped, less)
	}
	if len(dropped) > 0 {
		notes = append(notes, "only the descriptions tell the model: "+strings.Join(slices.Sorted(maps.Keys(dropped)), ", "))
	}
	instructions, err := l.instructions(ctx)
	if err != nil {
		return notes, err
	}
	// Agents indent them, and so on.
	told := strings.Join(strings.Fields(a.instructions(exchanges[0])), " ")
	if diff := cmp.Diff(strings.Fields(instructions), strings.Fields(strings.Replace(told, toldRecognized, toldUnknown, 1))); diff != "" {
		errs = append(errs, fmt.Errorf("the model is told other instructions (-want +got):\n%s", diff))
	}
	shown := exchanges[len(exchanges)-1].Results
	if len(shown) != len(calls) {
		return notes, fmt.Errorf("the model was shown %d answers, want %d", len(shown), len(calls))
	}
	for i, c := range calls {
		text, failed, err := l.answer(ctx, c)
		if err != nil {
			return notes, err
		}
		if failed {
			errs = append(errs, fmt.Errorf("%s failed: %s", c.Tool, text))
		}
		if diff := cmp.Diff(text, withoutCurrent(a.unwrap(shown[i].Text))); diff != "" {
			errs = append(errs, fmt.Errorf("the model was shown another answer of %s (-want +got):\n%s", c.Tool, diff))
		}
	}
	return notes, errors.Join(errs...)
}

// What the instructions say of the current conversation to a client that is not
// recognized, and to an agent that is.
const (
	toldUnknown = "Which conversation you are in is not known here, so it may turn up among the results: " +
		"do not take your own words for an earlier decision."
	toldRecognized = "The conversation you are in is left out of the results, with what belongs to it; " +
		"where it cannot be told which that is, a note says so."
)

// withoutCurrent returns an answer without the notes that only an agent gets which is
// recognized: on the conversation it calls from.
func withoutCurrent(answer string) string {
	var lines []string
	for line := range strings.Lines(answer) {
		note := strings.TrimLeft(line, " ")
		if !strings.HasPrefix(note, "<note>Left out: the current conversation, ") && !strings.HasPrefix(note, "<note>Which conversation this is cannot be told, ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// instructions returns what the server says of itself.
func (l *lab) instructions(ctx context.Context) (string, error) {
	c, instructions, err := mcpGoConnect(ctx, l, plan{Era: legacy})
	if err != nil {
		return "", fmt.Errorf("asking for the instructions: %w", err)
	}
	if err := c.Close(); err != nil {
		return "", fmt.Errorf("asking for the instructions: %w", err)
	}
	return instructions, nil
}

// checkParameters compares the parameters a model is shown with those of a
// schema: their names, types, descriptions and allowed values, and which are
// required. It returns the keywords that are missing from what is shown.
func checkParameters(want, got []byte) (dropped map[string]bool, err error) {
	type parameters struct {
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required"`
	}
	var w, g parameters
	if err := json.Unmarshal(want, &w); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		return nil, fmt.Errorf("reading the schema that the model is shown: %w", err)
	}
	dropped = map[string]bool{}
	if diff := cmp.Diff(w.Required, g.Required); diff != "" {
		return dropped, fmt.Errorf("other parameters are required (-want +got):\n%s", diff)
	}
	names := slices.Sorted(maps.Keys(w.Properties))
	if diff := cmp.Diff(names, slices.Sorted(maps.Keys(g.Properties))); diff != "" {
		return dropped, fmt.Errorf("there are other parameters (-want +got):\n%s", diff)
	}
	for _, name := range names {
		if diff := cmp.Diff(shownKeywords(w.Properties[name]), shownKeywords(g.Properties[name])); diff != "" {
			return dropped, fmt.Errorf("the parameter %s is shown otherwise (-want +got):\n%s", name, diff)
		}
		for keyword := range w.Properties[name] {
			if _, ok := g.Properties[name][keyword]; !ok {
				dropped[keyword] = true
			}
		}
	}
	return dropped, nil
}

// shownKeywords returns what a model cannot do without.
func shownKeywords(parameter map[string]any) map[string]any {
	items, _ := parameter["items"].(map[string]any)
	return map[string]any{
		"type": parameter["type"], "description": parameter["description"], "enum": parameter["enum"],
		"items": map[string]any{"type": items["type"], "enum": items["enum"]},
	}
}

// lastEvent returns the conversation and the number of the last event of an answer
// of conversation_grep, as a model would read them.
func lastEvent(envelope string) (id string, number int, err error) {
	var answer struct {
		Conversations []struct {
			ID     string `xml:"id,attr"`
			Events []struct {
				Number int `xml:"event,attr"`
			} `xml:"event"`
		} `xml:"conversation"`
	}
	if err := xml.Unmarshal([]byte(envelope), &answer); err != nil {
		return "", 0, fmt.Errorf("reading the answer of conversation_grep: %w\n%.500s", err, envelope)
	}
	for _, c := range answer.Conversations {
		for _, e := range c.Events {
			id, number = c.ID, e.Number
		}
	}
	if id == "" || number == 0 {
		return "", 0, fmt.Errorf("conversation_grep shows the model no event with its number in a conversation with an id:\n%.500s", envelope)
	}
	return id, number, nil
}

// codex is OpenAI's Codex CLI, as "codex exec" runs it.
func codex() agent {
	const server = "mcp__convtools"
	return agent{
		host:      "codex",
		protocol:  responses(),
		configure: agents.Codex,
		command: func(l *lab, question string) process.Command {
			return process.Command{Path: l.node, Args: []string{
				l.module("@openai", "codex", "bin", "codex.js"),
				"exec", "--skip-git-repo-check", "--ephemeral", "--sandbox", "read-only", "--json", question,
			}}
		},
		recorded: func(l *lab, question string, again bool) process.Command {
			args := []string{
				l.module("@openai", "codex", "bin", "codex.js"), "exec", "--skip-git-repo-check", "--sandbox", "read-only", "--json",
				// Nobody is there to be asked about tools that write.
				"-c", `mcp_servers.convtools.default_tools_approval_mode="approve"`,
			}
			if again {
				args = append(args, "resume", "--last")
			}
			return process.Command{Path: l.node, Args: append(args, question)}
		},
		named: func(tools []offer, name string) (offer, bool) {
			i := slices.IndexFunc(tools, func(t offer) bool { return t.Namespace == server && t.Name == name })
			if i < 0 {
				return offer{}, false
			}
			return tools[i], true
		},
		instructions: func(e exchange) string {
			i := slices.IndexFunc(e.Tools, func(t offer) bool { return t.Namespace == server })
			if i < 0 {
				return ""
			}
			return e.Tools[i].NamespaceText
		},
		// Codex says first how long the call took.
		unwrap: func(shown string) string {
			if _, answer, ok := strings.Cut(shown, " seconds\nOutput:\n"); ok && strings.HasPrefix(shown, "Wall time: ") {
				return answer
			}
			return shown
		},
	}
}

// opencode is the agent of that name, as "opencode run" runs it.
func opencode() agent {
	return agent{
		host:      "opencode",
		protocol:  chatCompletions(),
		configure: agents.Opencode,
		command: func(l *lab, question string) process.Command {
			return process.Command{
				Path: l.module("opencode-ai", "bin", "opencode.exe"), // called so on every system
				Args: []string{"run", "--format", "json", question},
			}
		},
		recorded: func(l *lab, question string, again bool) process.Command {
			args := []string{"run", "--format", "json"}
			if again {
				args = append(args, "--continue")
			}
			return process.Command{Path: l.module("opencode-ai", "bin", "opencode.exe"), Args: append(args, question), Env: []string{"OPENCODE_DISABLE_MODELS_FETCH=1"}}
		},
		named: func(tools []offer, name string) (offer, bool) {
			i := slices.IndexFunc(tools, func(t offer) bool { return t.Name == "convtools_"+name })
			if i < 0 {
				return offer{}, false
			}
			return tools[i], true
		},
		instructions: func(e exchange) string {
			_, after, _ := strings.Cut(e.System, `<server name="convtools">`)
			instructions, _, _ := strings.Cut(after, "</server>")
			return instructions
		},
		unwrap: func(shown string) string { return shown },
	}
}

// claudeCode is Anthropic's Claude Code, as "claude -p" runs it.
// https://docs.claude.com/en/docs/claude-code/settings
func claudeCode() agent {
	const server = "mcp__convtools"
	return agent{
		host:     "claude-code",
		protocol: messages(),
		configure: func(home, modelURL, _ string) error {
			settings, err := json.MarshalIndent(map[string]any{
				"env": map[string]string{
					"ANTHROPIC_BASE_URL": strings.TrimSuffix(modelURL, "/v1"), "ANTHROPIC_API_KEY": "none",
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
					"ENABLE_TOOL_SEARCH": "false", // else the model would have to look for the tools first
				},
			}, "", "  ")
			if err != nil {
				return fmt.Errorf("writing the settings: %w", err)
			}
			return writeFile(filepath.Join(home, ".claude", "settings.json"), string(settings))
		},
		recorded: func(l *lab, question string, again bool) process.Command {
			args := []string{"--print", question, "--allowedTools", server}
			if again {
				args = append(args, "--continue")
			}
			return process.Command{Path: l.module("@anthropic-ai", "claude-code", "bin", "claude.exe"), Args: args} // called so on every system
		},
		named: func(tools []offer, name string) (offer, bool) {
			i := slices.IndexFunc(tools, func(t offer) bool { return t.Name == server+"__"+name })
			if i < 0 {
				return offer{}, false
			}
			return tools[i], true
		},
		unwrap: func(shown string) string { return shown },
	}
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	return nil
}
