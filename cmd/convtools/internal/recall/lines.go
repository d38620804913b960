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
	return peer(q, func(c call) ([]string, error) {
		var commands [][]string
		switch {
		case c.List != nil:
			args := []string{"ls"}
			if archived, _ := c.List["archived"].(bool); archived {
				args = append(args, "--archived")
			}
			commands = [][]string{args}
		case c.Grep != nil:
			commands = [][]string{grepArguments(c.Grep)}
		default:
			of, at := place(l.recorded, c, q)
			if of == nil {
				return nil, nil
			}
			args := []string{"print"}
			switch n, isNumber := c.Read["last"].(int64); {
			case isNumber:
				args = append(args, "--last="+strconv.FormatInt(n, 10))
			case at >= 0 && (c.Read["turn"] != nil || c.Read["event"] != nil):
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

func grepArguments(arguments map[string]any) []string {
	args := []string{"grep"}
	if sensitive, ok := arguments["ignore_case"].(bool); !ok || sensitive {
		args = append(args, "--ignore-case")
	}
	for name, flag := range map[string]string{"scopes": "--scope=", "ids": "--id="} {
		values, _ := arguments[name].([]any)
		for _, value := range values {
			if id, ok := value.(string); ok && !strings.HasPrefix(id, "$") {
				args = append(args, flag+id)
			}
		}
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
