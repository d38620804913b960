package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
	"github.com/convtools/convtools/runtime/toolset"
)

// Declared returns a function for [Program.Families] of a program whose tools are all declared in specs. The generated
// code has tools and call. runner runs the command lines of tools.toml; it is nil if there are none.
func Declared(tools []contract.Tool, call func(context.Context, contract.Call) (string, error), runner *commandline.Runner) func(*toolset.Host) []toolset.Family {
	return func(host *toolset.Host) []toolset.Family {
		return []toolset.Family{{
			Name:     host.Name,
			Declared: func() []contract.Tool { return tools },
			Call:     call,
			Examples: examples(tools),
			Checks:   func(context.Context) []toolset.Check { return checks(runner) },
			Project:  directory,
		}}
	}
}

// maxExample is the greatest length of an example in help, in bytes.
const maxExample = 60

// examples returns calls of the first three tools that have a short example.
func examples(tools []contract.Tool) []string {
	const most = 3
	var calls []string
	for _, t := range tools {
		call := t.Name
		if t.Example != "{}" { // there are arguments
			call = process.JoinCommand(t.Name, t.Example)
		}
		if t.Example == "" || len(call) > maxExample {
			continue
		}
		calls = append(calls, call)
	}
	return calls[:min(most, len(calls))]
}

// checks returns a check for each command line: the program that it runs, or that there is no such program.
func checks(r *commandline.Runner) []toolset.Check {
	if r == nil {
		return nil
	}
	list := make([]toolset.Check, len(r.Lines))
	for i, line := range r.Lines {
		check := toolset.Check{Name: line.Name, Status: toolset.Problem}
		var fixes []string
		words, err := r.Words(line)
		if err != nil {
			check.Detail = err.Error()
		} else if path, err := exec.LookPath(words[0]); err != nil {
			check.Detail, fixes = words[0]+" is not in PATH", []string{"install it"}
		} else {
			check.Status, check.Detail = toolset.OK, strings.Join(append([]string{path}, words[1:]...), " ")
		}
		if check.Status != toolset.OK && line.Env != "" {
			fixes = append(fixes, "name another program in "+line.Env)
		}
		check.Fix = strings.Join(fixes, ", or ")
		list[i] = check
	}
	return list
}

// directory returns the root of the project of declared tools: the directory dir itself, which has to exist.
func directory(dir string) (root string, err error) {
	root, err = filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the project: %w", err)
	}
	info, err := os.Stat(root)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory")
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be worked in: %w", root, err)
	}
	return root, nil
}
