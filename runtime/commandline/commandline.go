// Package commandline is the interpreter of tools whose work is a command line: a [Tool]
// is data, from a generated table or from a spec as it stands, and a [Runner] answers
// calls of it.
//
// Which program runs is for tools.toml and the user's environment to say, never for a
// call: that chooses values of arguments, and none of them can become an option. What a
// program prints is read as it comes, and no more of it is kept than an answer can show.
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

// Line is a command line that tools.toml names.
type Line struct {
	Name string
	// Command is the program and its first words. A tool's arguments follow.
	Command []string
	// Env is the environment variable that chooses another program, if there is one.
	Env string
	// PassEnv names environment variables that the program gets besides those that
	// name folders, the language and the time zone. A name that ends in * stands for
	// all that begin so.
	PassEnv []string
}

// Lines are the command lines of a project, sorted by name.
type Lines []Line

// Lookup returns the command line of that name.
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
	// Dir is where tools.toml is, which names programs of the project by paths from there. Where
	// it is empty, such a path begins at the working directory of this process.
	Dir string
	// Getenv looks up the environment, in which a user may name another program.
	Getenv func(string) string
	// Process runs programs.
	Process process.Runner
}

// New returns a runner in the environment of this process.
func New(lines Lines) *Runner {
	return &Runner{Lines: lines, Getenv: os.Getenv, Process: process.Exec{}}
}

// Words returns the program of a command line and its first arguments: those of
// tools.toml, or what the environment has in their place.
func (r *Runner) Words(line Line) ([]string, error) {
	if line.Env != "" {
		if chosen := strings.TrimSpace(r.Getenv(line.Env)); chosen != "" {
			return process.SplitCommand(chosen)
		}
	}
	program := filepath.FromSlash(line.Command[0])
	if r.Dir == "" || filepath.IsAbs(program) || filepath.Base(program) == program {
		return line.Command, nil
	}
	return append([]string{filepath.Join(r.Dir, program)}, line.Command[1:]...), nil
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

// mostLast is how many characters an error has of what a program printed last.
const mostLast = 500

// failed words why a command line could not be run to its end, with the last that it
// printed by then: it may have asked something.
func (line Line) failed(err error, printed string) error {
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
		last := cmp.Or(strings.TrimSpace(printed), strings.TrimSpace(string(stopped.Stderr)))
		if _, end, omitted := text.Ends(last, 0, mostLast); omitted > 0 {
			last = end
		}
		if last != "" {
			last = "\nThe last that it printed: " + text.Visible(last)
		}
		worded.Message, worded.Detail = said(stopped.ForModel())+last, said(stopped.Error())+last
		worded.Transient = stopped.Kind == process.Timeout
	}
	return worded
}
