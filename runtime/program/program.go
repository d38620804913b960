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
	"sync"
	"time"

	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// Limits on one run of a command line. The built-in one prints whole
// conversations and is trusted to stop when it is told to.
const (
	DefaultTimeout = 60 * time.Second
	BuiltinStdout  = 512 << 20 // bytes
	ProgramStdout  = 64 << 20  // bytes
)

// Limits on what all runs together hold at one time, in bytes: a server works on
// many calls at once.
const (
	BuiltinShared = 512 << 20
	ProgramShared = 128 << 20
)

// Builtin is a command line served by this binary. dir is the directory the
// workspace is looked for from; args begin behind the program's name.
type Builtin func(ctx context.Context, dir string, args []string, stdin io.Reader, stdout, stderr io.Writer) int

// Spec says which program a command line stands for.
type Spec struct {
	Command []string // program and first words; may be empty where Builtin is set
	Env     string   // environment variable that chooses another program; may be empty
	Builtin Builtin  // serves it unless Env is set; nil where nothing is built in
}

// Programs runs command lines. It implements [contract.CLI], must not be copied
// and is safe for concurrent use. A process should have one: the limits on all
// runs together hold for those of one Programs.
type Programs struct {
	Lookup  func(name string) (Spec, bool)
	Getenv  func(string) string
	Runner  process.Runner // for programs that are not built in
	Timeout time.Duration  // of one run; 0 means DefaultTimeout

	budgets  sync.Once
	builtin  *process.Budget
	programs *process.Budget
}

var _ contract.CLI = (*Programs)(nil)

// RunCLI runs the command line called name. Any exit code is a result; an error
// means that there is none, and says what to do.
func (p *Programs) RunCLI(ctx context.Context, name string, call contract.Context, args []string) (stdout, stderr []byte, exit int, err error) {
	spec, ok := p.Lookup(name)
	if !ok {
		return nil, nil, 0, &contract.Error{Message: fmt.Sprintf("No command line named %q is configured.", name)}
	}
	runner, cmd, err := p.command(name, spec, call, args)
	if err != nil {
		return nil, nil, 0, err
	}
	if cmd.Limits.Timeout = p.Timeout; cmd.Limits.Timeout == 0 {
		cmd.Limits.Timeout = DefaultTimeout
	}
	result, err := runner.Run(ctx, cmd)
	if err != nil {
		return nil, nil, 0, p.describe(err, name)
	}
	return result.Stdout, result.Stderr, result.ExitCode, nil
}

// command decides what runs, and how.
func (p *Programs) command(name string, spec Spec, call contract.Context, args []string) (process.Runner, process.Command, error) {
	p.budgets.Do(func() {
		p.builtin, p.programs = process.NewBudget(BuiltinShared), process.NewBudget(ProgramShared)
	})
	words, chosen := spec.Command, p.chosen(spec)
	if chosen == "" && spec.Builtin != nil {
		run := process.InProcess(func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
			return spec.Builtin(ctx, call.Dir, args, stdin, stdout, stderr)
		})
		return run, process.Command{Path: name, Args: args, Limits: process.Limits{Stdout: BuiltinStdout, Shared: p.builtin}}, nil
	}
	if chosen != "" {
		split, err := process.SplitCommand(chosen)
		if err != nil {
			return nil, process.Command{}, &contract.Error{
				Message: fmt.Sprintf("The environment variable %s does not hold a command line: %v.%s", spec.Env, err, unset(spec)),
				Err:     err,
			}
		}
		words = split
	}
	if len(words) == 0 {
		return nil, process.Command{}, &contract.Error{Message: fmt.Sprintf("The command line %q has no program.", name)}
	}
	return p.Runner, process.Command{
		Path:   words[0],
		Args:   append(words[1:len(words):len(words)], args...),
		Dir:    call.Dir,
		Env:    process.DefaultEnv("JP_*"),
		Limits: process.Limits{Stdout: ProgramStdout, Shared: p.programs},
	}, nil
}

// chosen is the command line the user has put in place of the configured one.
func (p *Programs) chosen(spec Spec) string {
	if spec.Env == "" {
		return ""
	}
	return strings.TrimSpace(p.Getenv(spec.Env))
}

// External says whether name is run by a program that is not built in, and, for
// people, which setting put it in place of another; setting is empty where there
// is none to change. What such a program prints is a stranger's word.
func (p *Programs) External(name string) (setting string, external bool) {
	spec, ok := p.Lookup(name)
	if !ok {
		return "", false
	}
	if p.chosen(spec) == "" {
		return "", spec.Builtin == nil
	}
	return fmt.Sprintf("The environment variable %s names it.%s", spec.Env, unset(spec)), true
}

// describe says what failed and which setting the program came from, where
// there is one to change. Advice about limits is for whoever asked: the limits
// are not settings.
func (p *Programs) describe(err error, name string) error {
	e := &contract.Error{Message: err.Error(), Err: err}
	var failure *process.Error
	if errors.As(err, &failure) {
		shown := *failure
		switch shown.Kind {
		case process.Timeout, process.OutputTooLarge:
			shown.Hint = "ask for less"
		}
		e.Message = shown.Error()
		e.Transient = shown.Kind == process.Timeout || shown.Kind == process.Canceled || shown.Kind == process.BudgetExhausted
	}
	e.Message = fmt.Sprintf("The command line %q failed: %s.", name, strings.TrimSuffix(e.Message, "."))
	if setting, _ := p.External(name); setting != "" {
		e.Message += " " + setting
	}
	return e
}

// unset is the advice to go back to the built-in program.
func unset(spec Spec) string {
	if spec.Builtin == nil {
		return ""
	}
	return " Unset " + spec.Env + " to use the built-in one."
}
