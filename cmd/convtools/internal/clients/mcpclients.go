package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// typescript returns a client of the TypeScript SDK in a version.
func typescript(sdk string) func(context.Context, *lab, plan) (seen, error) {
	return func(ctx context.Context, l *lab, p plan) (s seen, err error) {
		p.SDK = sdk
		err = l.runJSON(ctx, "session.mjs", p, &s)
		return s, err
	}
}

// inspect returns a step in which the command line of MCP Inspector lists and calls every
// tool, and reads resources. It has no prompts, and no completion where another argument is known.
func inspect(http bool, era string) func(context.Context, *lab) (string, error) {
	return func(ctx context.Context, l *lab) (string, error) {
		if http {
			return "", l.serve(ctx, append(l.serverCommand(), "--http"), func(ctx context.Context, url string) error {
				return inspection{l, append([]string{"--cli"}, "--server-url", url, "--transport", "http", "--protocol-era", era)}.check(ctx)
			})
		}
		return "", inspection{l, append(append([]string{"--cli"}, l.serverCommand()...), "--protocol-era", era)}.check(ctx)
	}
}

// inspection is a server that Inspector looks at, by its arguments.
type inspection struct {
	*lab
	target []string
}

func (i inspection) check(ctx context.Context) error {
	var s seen
	if err := i.run(ctx, &s, "--method", "tools/list", "--strict"); err != nil {
		return fmt.Errorf("listing tools: %w", err)
	}
	for _, c := range wellTyped() {
		arguments, err := json.Marshal(c.Arguments)
		if err != nil {
			return err
		}
		var result struct {
			Content           []struct{ Text string }
			IsError           bool
			StructuredContent json.RawMessage
		}
		if err := i.run(ctx, &result, "--method", "tools/call", "--tool-name", c.Tool, "--tool-args-json", string(arguments)); err != nil {
			return fmt.Errorf("calling %s: %w", c.Tool, err)
		}
		answer := seenCall{IsError: result.IsError, Structured: result.StructuredContent != nil}
		for _, content := range result.Content {
			answer.Text += content.Text
		}
		s.Calls = append(s.Calls, answer)
	}
	var list struct{ Resources []struct{ URI string } }
	if err := i.run(ctx, &list, "--method", "resources/list"); err != nil {
		return fmt.Errorf("listing resources: %w", err)
	}
	for _, resource := range list.Resources {
		s.Resources = append(s.Resources, resource.URI)
	}
	for _, uri := range newPlan("").Reads {
		var read struct{ Contents []struct{ Text string } }
		if err := i.run(ctx, &read, "--method", "resources/read", "--uri", uri); err != nil {
			return fmt.Errorf("reading %s: %w", uri, err)
		}
		for _, contents := range read.Contents {
			s.Texts = append(s.Texts, contents.Text)
		}
	}
	return errors.Join(s.checkTools(i.tools), s.checkCalls(ctx, i.lab, wellTyped()), s.checkResources())
}

// run runs Inspector and reads the result that it prints.
func (i inspection) run(ctx context.Context, into any, args ...string) error {
	const toolFailed = 5 // the exit code where a tool says that it failed
	args = append(append(i.target[:len(i.target):len(i.target)], args...), "--format", "json", "--quiet")
	result, err := i.runNode(ctx, i.module("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"), args...)
	if err != nil {
		return err
	}
	if result.ExitCode != 0 && result.ExitCode != toolFailed {
		return exitError(result)
	}
	var printed struct{ Result json.RawMessage }
	if err := json.Unmarshal(result.Stdout, &printed); err != nil {
		return fmt.Errorf("reading what Inspector printed: %w", err)
	}
	return json.Unmarshal(printed.Result, into)
}

// mcpGoConnect begins a session of mcp-go's client.
func mcpGoConnect(ctx context.Context, l *lab, p plan) (c *client.Client, instructions string, err error) {
	version := mcp.LATEST_PROTOCOL_VERSION
	if p.Era == legacy {
		version = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	}
	var wire transport.Interface = transport.NewStdio(l.convtools, l.env(filepath.Join(l.dir, "homes")), l.serverCommand()[1:]...)
	if p.URL != "" {
		if wire, err = transport.NewStreamableHTTP(p.URL); err != nil {
			return nil, "", fmt.Errorf("preparing for %s: %w", p.URL, err)
		}
	}
	c = client.NewClient(wire, client.WithProtocolVersion(version))
	if err := c.Start(ctx); err != nil {
		return nil, "", fmt.Errorf("starting the client: %w", err)
	}
	var initialize mcp.InitializeRequest
	initialize.Params.ProtocolVersion = version
	initialize.Params.ClientInfo = mcp.Implementation{Name: "clients", Version: "1.0.0"}
	server, err := c.Initialize(ctx, initialize)
	if err == nil && server.ProtocolVersion != version {
		err = fmt.Errorf("the server speaks %s, want %s", server.ProtocolVersion, version)
	}
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("connecting: %w", err), c.Close())
	}
	return c, server.Instructions, nil
}

// mcpGo is the client of mcp-go.
func mcpGo(ctx context.Context, l *lab, p plan) (s seen, err error) {
	c, instructions, err := mcpGoConnect(ctx, l, p)
	if err != nil {
		return s, err
	}
	s.Instructions = instructions
	for _, look := range []func(context.Context, *client.Client, plan, *seen) error{mcpGoTools, mcpGoResources, mcpGoPrompts} {
		if err == nil {
			err = look(ctx, c, p, &s)
		}
	}
	return s, errors.Join(err, c.Close())
}

func mcpGoTools(ctx context.Context, c *client.Client, p plan, s *seen) error {
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return fmt.Errorf("listing tools: %w", err)
	}
	encoded, err := json.Marshal(tools.Tools)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(encoded, &s.Tools); err != nil {
		return err
	}
	for i := range s.Tools {
		// mcp-go adds the keyword where it is missing.
		s.Tools[i].InputSchema = bytes.Replace(s.Tools[i].InputSchema, []byte(`,"required":[]`), nil, 1)
	}
	for _, planned := range p.Calls {
		var request mcp.CallToolRequest
		request.Params.Name, request.Params.Arguments = planned.Tool, planned.Arguments
		result, err := c.CallTool(ctx, request)
		if err != nil {
			return fmt.Errorf("calling %s: %w", planned.Tool, err)
		}
		var text []string
		for _, content := range result.Content {
			text = append(text, mcp.GetTextFromContent(content))
		}
		s.Calls = append(s.Calls, seenCall{Text: strings.Join(text, "\n"), IsError: result.IsError, Structured: result.StructuredContent != nil})
	}
	return nil
}

func mcpGoResources(ctx context.Context, c *client.Client, p plan, s *seen) error {
	templates, err := c.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
	if err != nil {
		return fmt.Errorf("listing resource templates: %w", err)
	}
	for _, template := range templates.ResourceTemplates {
		s.Templates = append(s.Templates, template.URITemplate.Raw())
	}
	list, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return fmt.Errorf("listing resources: %w", err)
	}
	for _, resource := range list.Resources {
		s.Resources = append(s.Resources, resource.URI)
	}
	for _, planned := range p.Completions {
		var complete mcp.CompleteRequest
		complete.Params.Ref = mcp.ResourceReference{Type: "ref/resource", URI: planned.Template}
		complete.Params.Argument = mcp.CompleteArgument{Name: planned.Name, Value: planned.Value}
		complete.Params.Context = mcp.CompleteContext{Arguments: planned.Others}
		completed, err := c.Complete(ctx, complete)
		if err != nil {
			return fmt.Errorf("completing %s: %w", planned.Name, err)
		}
		s.Completions = append(s.Completions, completed.Completion.Values)
	}
	for _, uri := range p.Reads {
		var read mcp.ReadResourceRequest
		read.Params.URI = uri
		resource, err := c.ReadResource(ctx, read)
		if err != nil {
			return fmt.Errorf("reading %s: %w", uri, err)
		}
		for _, contents := range resource.Contents {
			if text, ok := mcp.AsTextResourceContents(contents); ok {
				s.Texts = append(s.Texts, text.Text)
			}
		}
	}
	return nil
}

func mcpGoPrompts(ctx context.Context, c *client.Client, p plan, s *seen) error {
	prompts, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{})
	if err != nil {
		return fmt.Errorf("listing prompts: %w", err)
	}
	for _, listed := range prompts.Prompts {
		prompt := seenPrompt{Name: listed.Name, Arguments: map[string]string{}}
		for _, argument := range listed.Arguments {
			value, ok := p.PromptArguments[argument.Name]
			if !ok {
				value = p.PromptArguments[""]
			}
			prompt.Arguments[argument.Name] = value
		}
		var get mcp.GetPromptRequest
		get.Params.Name, get.Params.Arguments = prompt.Name, prompt.Arguments
		got, err := c.GetPrompt(ctx, get)
		if err != nil {
			return fmt.Errorf("getting the prompt %s: %w", prompt.Name, err)
		}
		for _, message := range got.Messages {
			prompt.Text += mcp.GetTextFromContent(message.Content)
		}
		s.Prompts = append(s.Prompts, prompt)
	}
	return nil
}
