package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// inspectorToolFailed is how Inspector exits where a tool says that it failed.
const inspectorToolFailed = 5

// inspect lists and calls every tool with the command line of MCP Inspector.
// How it is told what to connect to is for target to say.
func inspect(ctx context.Context, l *lab, era string, target ...string) error {
	inspector := l.module("@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	run := func(into any, args ...string) (exit int, err error) {
		args = append(append([]string{"--cli"}, target...), append(args, "--protocol-era", era, "--format", "json", "--quiet")...)
		result, err := l.runNode(ctx, inspector, args...)
		if err != nil {
			return 0, err
		}
		if result.ExitCode != 0 && result.ExitCode != inspectorToolFailed {
			return 0, exitError(result)
		}
		var printed struct{ Result json.RawMessage }
		if err := json.Unmarshal(result.Stdout, &printed); err != nil {
			return 0, fmt.Errorf("reading what Inspector printed: %w", err)
		}
		if err := json.Unmarshal(printed.Result, into); err != nil {
			return 0, fmt.Errorf("reading the result in what Inspector printed: %w", err)
		}
		return result.ExitCode, nil
	}

	var listed struct{ Tools []seenTool }
	if _, err := run(&listed, "--method", "tools/list", "--strict"); err != nil {
		return fmt.Errorf("listing tools: %w", err)
	}
	errs := []error{l.checkTools(listed.Tools)}
	// Inspector itself reads what is not of the right type, by the schema.
	for i, c := range wellTyped() {
		if err := inspectCall(ctx, l, c, run); err != nil {
			errs = append(errs, fmt.Errorf("call %d, %s: %w", i+1, c.Tool, err))
		}
	}
	return errors.Join(append(errs, inspectSubjects(run))...)
}

// inspectSubjects lists and reads the resources of the knowledge base with run,
// which runs Inspector. It has no command to complete with the topic known.
func inspectSubjects(run func(into any, args ...string) (exit int, err error)) error {
	var list struct{ Resources []struct{ URI string } }
	if _, err := run(&list, "--method", "resources/list"); err != nil {
		return fmt.Errorf("listing resources: %w", err)
	}
	s := seenSubjects{Completion: []string{"stations/north shore"}}
	for _, resource := range list.Resources {
		s.Listed = append(s.Listed, resource.URI)
	}
	for _, uri := range planSubjects().Read {
		var read struct{ Contents []struct{ Text string } }
		if _, err := run(&read, "--method", "resources/read", "--uri", uri); err != nil {
			return fmt.Errorf("reading %s: %w", uri, err)
		}
		for _, contents := range read.Contents {
			s.Texts = append(s.Texts, contents.Text)
		}
	}
	return s.check()
}

// inspectCall calls a tool with run, which runs Inspector.
func inspectCall(ctx context.Context, l *lab, c call, run func(into any, args ...string) (exit int, err error)) error {
	arguments, err := json.Marshal(c.Arguments)
	if err != nil {
		return fmt.Errorf("writing the arguments: %w", err)
	}
	var result struct {
		Content           []struct{ Text string }
		IsError           bool
		StructuredContent json.RawMessage
	}
	exit, err := run(&result, "--method", "tools/call", "--tool-name", c.Tool, "--tool-args-json", string(arguments))
	if err != nil {
		return err
	}
	if result.IsError != (exit == inspectorToolFailed) {
		return fmt.Errorf("exit code %d where isError is %v", exit, result.IsError)
	}
	if len(result.Content) != 1 {
		return fmt.Errorf("there are %d pieces of content, want 1", len(result.Content))
	}
	s := seenCall{Text: result.Content[0].Text, IsError: result.IsError, Structured: result.StructuredContent != nil}
	return s.check(ctx, l, c)
}

func inspectStdio(era string) func(context.Context, *lab) ([]string, error) {
	return func(ctx context.Context, l *lab) ([]string, error) {
		return nil, inspect(ctx, l, era, l.serverCommand()...)
	}
}

func inspectHTTP(era string) func(context.Context, *lab) ([]string, error) {
	return func(ctx context.Context, l *lab) ([]string, error) {
		return nil, l.serveHTTP(ctx, func(ctx context.Context, url string) error {
			return inspect(ctx, l, era, "--server-url", url, "--transport", "http")
		})
	}
}
