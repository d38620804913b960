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

	"github.com/convtools/convtools/runtime/commandline"
	"github.com/convtools/convtools/runtime/contract"

	"example.com/notes/generated"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: notes-tools TOOL ARGUMENTS")
		os.Exit(2)
	}
	handlers := generated.NewHandlers(commandline.New(generated.CommandLines()))
	answer, err := handlers.Call(context.Background(), contract.Call{
		Tool: os.Args[1], Arguments: []byte(os.Args[2]),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(answer)
}
