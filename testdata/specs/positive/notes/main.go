// Command notes-tools runs the tools that are declared in specs:
//
//	notes-tools notes_find '{"text": "tide"}'
//
// The answer goes to standard output. What is wrong goes to standard error, and
// the exit code is 1.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"

	"example.com/notes/generated"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: notes-tools TOOL ARGUMENTS")
		os.Exit(2)
	}
	handlers := generated.Handlers{CLI: cli{}}
	answer, err := generated.Call(context.Background(), handlers, contract.Call{
		Tool: os.Args[1], Arguments: []byte(os.Args[2]),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(answer)
}

// cli runs the command lines in tools.toml.
type cli struct{}

func (cli) RunCLI(ctx context.Context, name string, call contract.Context, args []string) (stdout, stderr []byte, exit int, err error) {
	line, ok := generated.LookupCLI(name)
	if !ok {
		return nil, nil, 0, fmt.Errorf("no command line named %q is configured", name)
	}
	words, advice := line.Command, ""
	if chosen := os.Getenv(line.Env); line.Env != "" && chosen != "" {
		advice = " The environment variable " + line.Env + " names it."
		if words, err = process.SplitCommand(chosen); err != nil {
			return nil, nil, 0, fmt.Errorf("%w.%s", err, advice)
		}
	}
	result, err := process.Exec{}.Run(ctx, process.Command{
		Path: words[0], Args: append(words[1:len(words):len(words)], args...), Dir: call.Dir,
	})
	if err != nil {
		err = fmt.Errorf("The command line %q failed: %w.%s", name, err, advice) //nolint:staticcheck // a sentence for the model that called
	}
	return result.Stdout, result.Stderr, result.ExitCode, err
}
