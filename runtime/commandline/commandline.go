// Package commandline runs tools whose work is a command line: a [Tool] is data, from a generated table or from a
// spec, and a [Runner] answers calls of it.
//
// tools.toml and the user's environment choose the program, never a call. A call chooses values of arguments, none of
// which can become an option. Output is read as it is printed, and only what an answer can show is kept.
package commandline

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/contract"
	"github.com/convtools/convtools/runtime/process"
)

// Line is a command line in tools.toml.
type Line struct {
	Name string
	// Command has the program and its first arguments. The arguments of a tool follow.
	Command []string
	// Env is the environment variable that replaces the program, or empty.
	Env string
	// PassEnv are variables that the program gets besides [process.DefaultEnv]. NAME* means all names with that prefix.
	PassEnv []string
}

// Lines are the command lines of a project, sorted by name.
type Lines []Line

// Lookup returns the command line with a name.
func (l Lines) Lookup(name string) (Line, bool) {
	i := slices.IndexFunc(l, func(line Line) bool { return line.Name == name })
	if i < 0 {
		return Line{}, false
	}
	return l[i], true
}

// Runner answers calls of tools.
type Runner struct {
	Lines Lines
	// Dir is the base of relative paths of programs: the directory of tools.toml, or empty for the working directory.
	Dir string
	// Getenv returns a variable of the environment.
	Getenv func(string) string
	// Process runs programs.
	Process process.Runner
}

// New returns a runner in the environment of this process.
func New(lines Lines) *Runner {
	return &Runner{Lines: lines, Getenv: os.Getenv, Process: process.Exec{}}
}

// Words returns the program of a command line and its first arguments: from the variable line.Env if it is set, else
// from tools.toml. The error is that of splitting the variable.
func (r *Runner) Words(line Line) ([]string, error) {
	if line.Env != "" {
		if chosen := strings.TrimSpace(r.Getenv(line.Env)); chosen != "" {
			return process.SplitCommand(chosen)
		}
	}
	program := filepath.FromSlash(line.Command[0])
	isName := filepath.Base(program) == program // found in PATH
	if r.Dir == "" || filepath.IsAbs(program) || isName {
		return line.Command, nil
	}
	return append([]string{filepath.Join(r.Dir, program)}, line.Command[1:]...), nil
}

// projectFolder returns the path of a folder in dir, or dir for an empty folder. The error is for a folder that does
// not exist, and for a link that leads out of dir: the program would work on files that are not the project's.
func projectFolder(dir, folder string) (string, error) {
	if folder == "" {
		return dir, nil
	}
	joined := filepath.Join(dir, filepath.FromSlash(folder))
	resolved, err := filepath.EvalSymlinks(joined)
	if err != nil {
		return "", fmt.Errorf("there is no folder %q here to run it in", folder)
	}
	root, err := filepath.EvalSymlinks(cmp.Or(dir, "."))
	if err != nil {
		return "", errors.New("the directory that the call comes from cannot be used")
	}
	if inside, err := filepath.Rel(root, resolved); err != nil || !filepath.IsLocal(inside) {
		return "", fmt.Errorf("the folder %q that it is to run in is a link that leads elsewhere", folder)
	}
	return joined, nil
}

// mostLast is the number of characters of a program's last output in an error.
const mostLast = 500

// runError returns the error for a command line that did not run to its end. The error has the last that the program
// printed, on standard output or else on standard error: the program may have asked something.
func (line Line) runError(err error, printed string) error {
	sentence := func(why string) string {
		message := "The command line " + line.Name + " failed: " + why + "."
		if line.Env != "" {
			message += " The user can name another program in the environment variable " + line.Env + "."
		}
		return message
	}
	failure := &contract.Error{Message: sentence(err.Error()), Err: err}
	if stopped, ok := errors.AsType[*process.Error](err); ok {
		output := cmp.Or(strings.TrimSpace(printed), strings.TrimSpace(string(stopped.Stderr)))
		if _, end, omitted := text.Ends(output, 0, mostLast); omitted > 0 {
			output = end
		}
		last := ""
		if output != "" {
			last = "\nThe last that it printed: " + text.Visible(output)
		}
		failure.Message = sentence(stopped.ForModel()) + last
		failure.Detail = sentence(stopped.Error()) + last
		failure.Transient = stopped.Kind == process.Timeout
	}
	return failure
}
