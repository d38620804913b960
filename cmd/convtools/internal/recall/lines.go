package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/convtools/convtools/runtime/process"
)

// lines is an assistant with the commands for people, which print what those of jp
// do: conversation grep, line by line, and then conversation print of the turn that
// a hit stands in, first as it prints by itself, and in full where the sentence is
// not in that. An output is cut as that of a shell, and it goes to the right
// place at once, too.
type lines struct {
	convtools, workspace string
	env                  []string
	recorded             []recorded
}

// find makes the calls of a question with the commands for people.
func (l *lines) find(ctx context.Context, q question) (cost, error) {
	return peer(q, l.recorded, func(c call, of *recorded, at int) ([]string, error) {
		var commands [][]string
		switch {
		case c.List != nil:
			args := []string{"ls"}
			if archived, _ := c.List["archived"].(bool); archived {
				args = append(args, "--archived")
			}
			commands = [][]string{args}
		case c.Grep != nil:
			commands = [][]string{grepArguments(c.Grep, of)}
		default:
			args := []string{"print"}
			switch n, isNumber := c.Read["last"].(int64); {
			case isNumber:
				args = append(args, "--last="+strconv.FormatInt(n, 10))
			case c.Read["turn"] != nil || c.Read["event"] != nil:
				args = append(args, "--turn="+strconv.Itoa(of.events[at].turn))
			}
			commands = [][]string{append(args, of.id), append(args, "--style=full", of.id)}
		}
		outputs := make([]string, len(commands))
		for i, args := range commands {
			var err error
			if outputs[i], err = l.run(ctx, args); err != nil {
				return nil, err
			}
		}
		return outputs, nil
	})
}

func grepArguments(arguments map[string]any, of *recorded) []string {
	args := []string{"grep"}
	if ignore, ok := arguments["ignore_case"].(bool); !ok || ignore {
		args = append(args, "--ignore-case")
	}
	if arguments["ids"] != nil {
		args = append(args, "--id="+of.id)
	}
	scopes, _ := arguments["scopes"].([]any)
	for _, scope := range scopes {
		args = append(args, fmt.Sprint("--scope=", scope))
	}
	if n, ok := arguments["context"].(int64); ok {
		args = append(args, "--context="+strconv.FormatInt(n, 10))
	}
	pattern, _ := arguments["pattern"].(string)
	return append(args, "--", pattern)
}

func (l *lines) run(ctx context.Context, args []string) (string, error) {
	result, err := process.Exec{}.Run(ctx, process.Command{
		Path: l.convtools, Args: append([]string{"conversation", "--workspace", l.workspace}, args...), Env: l.env,
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("running conversation %s: %w", args[0], err)
	case result.ExitCode > 1 || result.ExitCode == 1 && args[0] != "grep":
		return "", fmt.Errorf("running conversation %s: exit code %d: %s", strings.Join(args, " "), result.ExitCode, result.Stderr)
	}
	return string(result.Stdout), nil
}
