// Package program finds and runs the program behind a command line that
// tools.toml names: one built into this binary, or another that the user has
// chosen. It is where an argument list becomes a process.
//
// It must never let an argument list or a recorded conversation choose the
// program: that is the configuration's and the environment's alone.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// Limits on one run of a conversation command line. The built-in one prints
// whole conversations and is trusted to stop when it is told to.
const (
	Timeout       = 60 * time.Second
	BuiltinStdout = 512 << 20 // bytes
	ProgramStdout = 64 << 20  // bytes
)

// Builtin is a command line served by this binary. dir is the directory the
// workspace is looked for from; args begin behind the program's name.
type Builtin func(ctx context.Context, dir string, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// Spec says which program a command line stands for.
type Spec struct {
	Command []string // program and first words
	Env     string   // environment variable that chooses another program; may be empty
	Builtin Builtin  // serves it unless Env is set; nil where nothing is built in
}

// Programs runs command lines. It implements [contract.CLI].
type Programs struct {
	Lookup func(name string) (Spec, bool)
	Getenv func(string) string
	Runner process.Runner // for programs that are not built in
}

// RunCLI runs the command line called name. Any exit code is a result; an error
// means that there is none, and says what to do.
func (p *Programs) RunCLI(ctx context.Context, name string, call contract.Context, args []string) (stdout, stderr []byte, exit int, err error) {
	spec, ok := p.Lookup(name)
	if !ok {
		return nil, nil, 0, &contract.Error{Message: fmt.Sprintf("No command line named %q is configured.", name)}
	}
	command, chosen := spec.Command, ""
	if spec.Env != "" {
		chosen = strings.TrimSpace(p.Getenv(spec.Env))
	}
	if chosen != "" {
		words, err := process.SplitCommand(chosen)
		if err != nil {
			return nil, nil, 0, &contract.Error{Message: fmt.Sprintf("The environment variable %s does not hold a command line: %v", spec.Env, err), Err: err}
		}
		command = words
	}
	var result process.Result
	if chosen == "" && spec.Builtin != nil {
		run := process.InProcess(func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
			return spec.Builtin(ctx, call.Dir, args, stdin, stdout, stderr)
		})
		result, err = run.Run(ctx, process.Command{Path: name, Args: args, Limits: process.Limits{Timeout: Timeout, Stdout: BuiltinStdout}})
	} else {
		result, err = p.Runner.Run(ctx, process.Command{
			Path: command[0], Args: append(command[1:len(command):len(command)], args...), Dir: call.Dir,
			Env:    process.DefaultEnv("JP_*", "XDG_*"),
			Limits: process.Limits{Timeout: Timeout, Stdout: ProgramStdout},
		})
	}
	if err != nil {
		return nil, nil, 0, describe(err, spec, chosen)
	}
	return result.Stdout, result.Stderr, result.ExitCode, nil
}

// describe says which setting the program came from, where there is one to
// change.
func describe(err error, spec Spec, chosen string) error {
	message := "The conversation command line failed: " + err.Error()
	if chosen != "" {
		message += fmt.Sprintf(" It was chosen by the environment variable %s; unset it to use the built-in one.", spec.Env)
	}
	var failure *process.Error
	transient := errors.As(err, &failure) && (failure.Kind == process.Timeout || failure.Kind == process.Canceled)
	return &contract.Error{Message: message, Transient: transient, Err: err}
}
