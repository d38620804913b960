// Package commandline runs the command lines of tools.toml for tools whose work they
// are, under the limits of package process. Which program runs is for tools.toml and
// the user's environment to say, never for a call: that only chooses arguments.
//
// It never reads what a program prints, and judges no exit code.
package commandline

import (
	"context"
	"errors"
	"strings"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// Runner runs command lines. It is a [contract.CLI].
type Runner struct {
	Lines contract.CommandLines
	// Getenv looks up the environment, in which a user may name another program.
	Getenv func(string) string
	// Process runs programs.
	Process process.Runner
}

// Words returns the program of a command line and its first arguments: those of
// tools.toml, or what the environment has in their place.
func (r Runner) Words(line contract.CommandLine) ([]string, error) {
	if line.Env != "" {
		if chosen := strings.TrimSpace(r.Getenv(line.Env)); chosen != "" {
			return process.SplitCommand(chosen)
		}
	}
	if line.Builtin {
		return nil, errors.New("this program does not serve it itself")
	}
	return line.Command, nil
}

// RunCLI runs the command line of that name, in the directory that the call comes from.
// An error is a [*contract.Error].
func (r Runner) RunCLI(ctx context.Context, name string, call contract.Context, args []string) (stdout, stderr []byte, exit int, err error) {
	line, ok := r.Lines.Lookup(name)
	if !ok {
		return nil, nil, 0, &contract.Error{Message: "There is no command line " + name + " here. It is a fault of the program; another call will not help."}
	}
	words, err := r.Words(line)
	if err != nil {
		return nil, nil, 0, failed(line, err)
	}
	result, err := r.Process.Run(ctx, process.Command{
		Path: words[0], Args: append(words[1:len(words):len(words)], args...), Dir: call.Dir,
	})
	if err != nil {
		return nil, nil, 0, failed(line, err)
	}
	return result.Stdout, result.Stderr, result.ExitCode, nil
}

// failed words why a command line could not be run to its end.
func failed(line contract.CommandLine, err error) error {
	said := func(why string) string {
		message := "The command line " + line.Name + " failed: " + why + "."
		if line.Env != "" {
			message += " The user can name another program in the environment variable " + line.Env + "."
		}
		return message
	}
	worded := &contract.Error{Message: said(err.Error()), Err: err}
	var stopped *process.Error
	if errors.As(err, &stopped) {
		worded.Message, worded.Detail = said(stopped.ForModel()), said(stopped.Error())
		worded.Transient = stopped.Kind == process.Timeout
	}
	return worded
}
