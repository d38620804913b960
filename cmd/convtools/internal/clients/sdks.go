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

// over returns what a step does: one session of a client with the server, over
// stdio or HTTP, and a check of what the client saw.
func over(how string, p plan, session func(context.Context, *lab, plan) (seen, error)) func(context.Context, *lab) ([]string, error) {
	return func(ctx context.Context, l *lab) ([]string, error) {
		check := func(ctx context.Context, p plan) error {
			s, err := session(ctx, l, p)
			if err != nil {
				return err
			}
			return s.check(ctx, l, p)
		}
		if how == "stdio" {
			p.Command = l.serverCommand()
			return nil, check(ctx, p)
		}
		return nil, l.serveHTTP(ctx, func(ctx context.Context, url string) error {
			p.URL = url
			return check(ctx, p)
		})
	}
}

// typescript runs a session of the TypeScript SDK.
func typescript(sdk string) func(context.Context, *lab, plan) (seen, error) {
	return func(ctx context.Context, l *lab, p plan) (seen, error) {
		p.SDK = sdk
		var s seen
		argument, err := json.Marshal(p)
		if err != nil {
			return s, fmt.Errorf("writing the plan: %w", err)
		}
		result, err := l.runNode(ctx, filepath.Join(l.dir, "testdata", "typescript", "session.mjs"), string(argument))
		if err != nil {
			return s, err
		}
		if result.ExitCode != 0 {
			return s, exitError(result)
		}
		if err := json.Unmarshal(result.Stdout, &s); err != nil {
			return s, fmt.Errorf("reading what the client saw: %w", err)
		}
		return s, nil
	}
}

// mcpGoConnect begins a session of mcp-go's client.
func mcpGoConnect(ctx context.Context, l *lab, p plan) (c *client.Client, instructions string, err error) {
	version := mcp.LATEST_PROTOCOL_VERSION
	if p.Era == legacy {
		version = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	}
	var wire transport.Interface = transport.NewStdio(l.convtools, l.env(filepath.Join(l.dir, "home")), l.serverCommand()[1:]...)
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

// mcpGo runs a session of mcp-go's client.
func mcpGo(ctx context.Context, l *lab, p plan) (s seen, err error) {
	c, instructions, err := mcpGoConnect(ctx, l, p)
	if err != nil {
		return s, err
	}
	defer func() {
		if closing := c.Close(); err == nil && closing != nil {
			err = fmt.Errorf("closing the session: %w", closing)
		}
	}()
	s.Instructions = instructions
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return s, fmt.Errorf("listing tools: %w", err)
	}
	if err := recode(tools.Tools, &s.Tools); err != nil {
		return s, err
	}
	for i := range s.Tools {
		// mcp-go adds the keyword where it is missing.
		schema := bytes.Replace(s.Tools[i].InputSchema, []byte(`,"required":[]`), nil, 1)
		s.Tools[i].InputSchema = schema
	}
	for _, planned := range p.Calls {
		var request mcp.CallToolRequest
		request.Params.Name, request.Params.Arguments = planned.Tool, planned.Arguments
		result, err := c.CallTool(ctx, request)
		if err != nil {
			return s, fmt.Errorf("calling %s: %w", planned.Tool, err)
		}
		var text []string
		for _, content := range result.Content {
			text = append(text, mcp.GetTextFromContent(content))
		}
		s.Calls = append(s.Calls, seenCall{
			Text: strings.Join(text, "\n"), IsError: result.IsError, Structured: result.StructuredContent != nil,
		})
	}
	return s, mcpGoContext(ctx, c, p, &s)
}

// mcpGoContext looks at what there is beside tools.
func mcpGoContext(ctx context.Context, c *client.Client, p plan, s *seen) error {
	templates, err := c.ListResourceTemplates(ctx, mcp.ListResourceTemplatesRequest{})
	if err != nil {
		return fmt.Errorf("listing resource templates: %w", err)
	}
	for _, template := range templates.ResourceTemplates {
		s.Templates = append(s.Templates, template.URITemplate.Raw())
	}
	var complete mcp.CompleteRequest
	complete.Params.Ref = mcp.ResourceReference{Type: "ref/resource", URI: p.Template}
	complete.Params.Argument = mcp.CompleteArgument{Name: p.Completion.Name, Value: p.Completion.Value}
	completed, err := c.Complete(ctx, complete)
	if err != nil {
		return fmt.Errorf("completing %s: %w", p.Completion.Name, err)
	}
	s.Completion = completed.Completion.Values
	var read mcp.ReadResourceRequest
	read.Params.URI = p.Resource
	resource, err := c.ReadResource(ctx, read)
	if err != nil {
		return fmt.Errorf("reading %s: %w", p.Resource, err)
	}
	for _, contents := range resource.Contents {
		if text, ok := mcp.AsTextResourceContents(contents); ok {
			s.Resource += text.Text
		}
	}
	if err := mcpGoSubjects(ctx, c, p.Subjects, &s.Subjects); err != nil {
		return err
	}
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

// mcpGoSubjects looks at the resources of the knowledge base.
func mcpGoSubjects(ctx context.Context, c *client.Client, p subjects, s *seenSubjects) error {
	list, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil {
		return fmt.Errorf("listing resources: %w", err)
	}
	for _, resource := range list.Resources {
		s.Listed = append(s.Listed, resource.URI)
	}
	var complete mcp.CompleteRequest
	complete.Params.Ref = mcp.ResourceReference{Type: "ref/resource", URI: p.Template}
	complete.Params.Argument = mcp.CompleteArgument{Name: p.Completion.Name, Value: p.Completion.Value}
	complete.Params.Context = mcp.CompleteContext{Arguments: map[string]string{"topic": p.Topic}}
	completed, err := c.Complete(ctx, complete)
	if err != nil {
		return fmt.Errorf("completing %s: %w", p.Completion.Name, err)
	}
	s.Completion = completed.Completion.Values
	for _, uri := range p.Read {
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

// recode reads into as much of from as it declares.
func recode(from, into any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("writing what the client saw: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading what the client saw: %w", err)
	}
	return nil
}
