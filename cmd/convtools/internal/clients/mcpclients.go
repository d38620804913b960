package main

import (
	"context"
	"encoding/json"
	"fmt"

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

// inspector makes requests with the command line of MCP Inspector, which starts a process
// for each. It skips a request that is not marked for it, and leaves the result of that request zero.
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
		printed := struct{ Result *result }{&results[i]} // decoding sets the result of request i
		if err := json.Unmarshal(run.Stdout, &printed); err != nil {
			return nil, fmt.Errorf("reading the output of Inspector: %w", err)
		}
	}
	return results, nil
}
