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
	"github.com/convtools/convtools/runtime/program"

	"example.com/notes/generated"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: notes-tools TOOL ARGUMENTS")
		os.Exit(2)
	}
	handlers := generated.Handlers{CLI: &program.Programs{
		Lookup: lookup, Getenv: os.Getenv, Runner: process.Exec{},
	}}
	answer, err := generated.Call(context.Background(), handlers, contract.Call{
		Tool: os.Args[1], Arguments: []byte(os.Args[2]),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(answer)
}

// lookup finds the program behind a name in tools.toml.
func lookup(name string) (program.Spec, bool) {
	cli, ok := generated.LookupCLI(name)
	return program.Spec{Command: cli.Command, Env: cli.Env}, ok
}
