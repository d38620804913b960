package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/convtools/convtools/cmd/convtools/internal/repository"
)

// typescript returns the client of a version of the TypeScript SDK.
func typescript(sdk string) client {
	return func(ctx context.Context, l *lab, t target, requests []request) (results []result, err error) {
		argument := struct {
			target
			SDK      string    `json:"sdk"`
			Requests []request `json:"requests"`
		}{t, sdk, requests}
		err = l.runScript(ctx, "session.mjs", argument, &results)
		return results, err
	}
}

// inspector is the command line of MCP Inspector.
func inspector(ctx context.Context, l *lab, t target, requests []request) ([]result, error) {
	const toolFailed = 5 // the exit code for a call whose tool failed
	results := make([]result, len(requests))
	for i, r := range requests {
		if !r.Inspector {
			continue
		}
		args := append([]string{"--cli"}, t.Command...)
		if t.URL != "" {
			args = append(args, "--server-url", t.URL, "--transport", "http")
		}
		args = append(args, "--protocol-era", t.Era, "--method", r.Method)
		var params struct {
			Name, URI string
			Arguments json.RawMessage
		}
		_ = json.Unmarshal(r.Params, &params) // a list has none
		switch r.Method {
		case "tools/list":
			args = append(args, "--strict")
		case "tools/call":
			args = append(args, "--tool-name", params.Name, "--tool-args-json", string(params.Arguments))
		case "resources/read":
			args = append(args, "--uri", params.URI)
		}
		script := l.module("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
		run, err := l.runNode(ctx, script, append(args, "--format", "json", "--quiet")...)
		if err == nil && run.ExitCode != 0 && run.ExitCode != toolFailed {
			err = repository.ExitError(run)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Method, err)
		}
		var printed struct{ Result *result }
		printed.Result = &results[i]
		if err := json.Unmarshal(run.Stdout, &printed); err != nil {
			return nil, fmt.Errorf("reading the output of Inspector: %w", err)
		}
	}
	return results, nil
}

// mcpGo is the client of mcp-go.
func mcpGo(ctx context.Context, l *lab, t target, requests []request) (results []result, err error) {
	version := mcp.LATEST_PROTOCOL_VERSION
	if t.Era == legacy {
		version = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	}
	var connection transport.Interface
	if t.URL != "" {
		if connection, err = transport.NewStreamableHTTP(t.URL); err != nil {
			return nil, err
		}
	} else {
		connection = transport.NewStdio(t.Command[0], l.env(filepath.Join(l.dir, "homes")), t.Command[1:]...)
	}
	c := mcpgo.NewClient(connection, mcpgo.WithProtocolVersion(version))
	if err := c.Start(ctx); err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	var initialize mcp.InitializeRequest
	initialize.Params.ProtocolVersion = version
	initialize.Params.ClientInfo = mcp.Implementation{Name: "clients", Version: "1.0.0"}
	server, err := c.Initialize(ctx, initialize)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	if server.ProtocolVersion != version {
		return nil, fmt.Errorf("the server speaks %s, want %s", server.ProtocolVersion, version)
	}
	methods := map[string]func(context.Context, json.RawMessage) (result, error){
		"initialize":               func(context.Context, json.RawMessage) (result, error) { return convert(server) },
		"tools/list":               method(c.ListTools),
		"tools/call":               method(c.CallTool),
		"resources/list":           method(c.ListResources),
		"resources/templates/list": method(c.ListResourceTemplates),
		"resources/read":           method(c.ReadResource),
		"completion/complete":      method(c.Complete),
		"prompts/list":             method(c.ListPrompts),
		"prompts/get":              method(c.GetPrompt),
	}
	for _, r := range requests {
		got, err := methods[r.Method](ctx, r.Params)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.Method, r.Params, err)
		}
		results = append(results, got)
	}
	return results, nil
}

// method returns a method of mcp-go's client with parameters in JSON.
func method[Request, Result any](do func(context.Context, Request) (Result, error)) func(context.Context, json.RawMessage) (result, error) {
	return func(ctx context.Context, params json.RawMessage) (result, error) {
		var request Request
		if params != nil {
			if err := json.Unmarshal(fmt.Appendf(nil, `{"params":%s}`, params), &request); err != nil {
				return result{}, err
			}
		}
		got, err := do(ctx, request)
		if err != nil {
			return result{}, err
		}
		return convert(got)
	}
}

// convert returns a result of mcp-go by way of JSON.
func convert(from any) (r result, err error) {
	encoded, err := json.Marshal(from)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(encoded, &r)
}
