// Package commandline runs the command lines of tools.toml for tools whose work they
// are, under the limits of package process. Which program runs is for tools.toml and
// the user's environment to say, never for a call: that only chooses arguments.
//
// It never reads what a program prints, and judges no exit code.
package commandline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
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

// RunCLI runs a command in the directory that the call comes from, or in a folder of
// it. An error is a [*contract.Error].
func (r Runner) RunCLI(ctx context.Context, call contract.Context, command contract.Command) (contract.CommandResult, error) {
	line, ok := r.Lines.Lookup(command.CLI)
	if !ok {
		return contract.CommandResult{}, &contract.Error{Message: "There is no command line " + command.CLI + " here. It is a fault of the program; another call will not help."}
	}
	words, err := r.Words(line)
	if err != nil {
		return contract.CommandResult{}, failed(line, err)
	}
	dir, err := below(call.Dir, command.Dir)
	if err != nil {
		return contract.CommandResult{}, failed(line, err)
	}
	result, err := r.Process.Run(ctx, process.Command{
		Path: words[0], Args: append(words[1:len(words):len(words)], command.Args...), Dir: dir,
		Env:   append(process.DefaultEnv(line.PassEnv...), command.Env...),
		Stdin: command.Stdin, Limits: process.Limits{Timeout: command.Timeout},
	})
	if err != nil {
		return contract.CommandResult{}, failed(line, err)
	}
	return contract.CommandResult{Stdout: result.Stdout, Stderr: result.Stderr, Exit: result.ExitCode}, nil
}

// below returns a folder of dir. A link in a project that leads out of it would have
// the program work on what is not the project's.
func below(dir, folder string) (string, error) {
	if folder == "" {
		return dir, nil
	}
	joined := filepath.Join(dir, filepath.FromSlash(folder))
	resolved, err := filepath.EvalSymlinks(joined)
	if err != nil {
		return "", fmt.Errorf("there is no folder %q here to run it in", folder)
	}
	top, err := filepath.EvalSymlinks(cmp.Or(dir, "."))
	if err != nil {
		return "", errors.New("the directory that the call comes from cannot be used")
	}
	if inside, err := filepath.Rel(top, resolved); err != nil || !filepath.IsLocal(inside) {
		return "", fmt.Errorf("the folder %q that it is to run in is a link that leads elsewhere", folder)
	}
	return joined, nil
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
