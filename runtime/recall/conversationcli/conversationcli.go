// Package convcli is the embedded conversation command line: conversation ls,
// grep and print over the conversations of a JP workspace. Flags carry the names
// JP uses where JP has them.
//
// Results go to Env.Stdout, everything else to Env.Stderr. The exit code is 0 on
// success, 1 when something failed or nothing was found, and 2 on wrong use. A
// conversation that cannot be read is named in a warning and never hides the
// others.
//
// The package only reads: it never writes to a workspace, starts a process or
// uses the network. Recorded text is never shown in a way that could drive a
// terminal.
package conversationcli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/conversations"
)

// Env is everything the commands take from the process they run in.
type Env struct {
	Stdout, Stderr io.Writer
	// Stdin is read only when an id is given as "-". Nil is empty.
	Stdin io.Reader
	// IsTerminal says that Stdout is a terminal.
	IsTerminal bool
	// Width is the number of columns of that terminal; 0 means unknown.
	Width int
	// Now is the clock for ages and durations; nil means time.Now.
	Now func() time.Time
	// Getenv looks up the environment; nil means os.Getenv.
	Getenv func(string) string
	// WorkingDir is where the search for a workspace starts; empty means the
	// working directory of the process.
	WorkingDir string
	// Workspace is used in place of WorkingDir when --workspace is not given.
	Workspace string
}

// Run executes one command line, such as ["ls", "--format=json"], and returns
// the exit code. A leading "conversation" is accepted. Errors have been written
// to env.Stderr. A shell's completion requests are not answered with values of
// flags: those are for [Command].
func Run(ctx context.Context, env Env, args []string) int {
	env = env.withDefaults()
	for i, arg := range args {
		if strings.ContainsRune(arg, 0) {
			return Report(env.Stderr, usageError("remove the NUL byte", "argument %d contains a NUL byte: %q", i+1, arg))
		}
	}
	if len(args) > 0 && args[0] == "conversation" {
		args = args[1:]
	}
	c := &cli{env: env}
	cmd := c.command()
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetArgs(NormalizeArgs(append([]string{"conversation"}, args...))[1:])
	return Report(env.Stderr, cmd.ExecuteContext(ctx))
}

// Command returns the command "conversation" for use in a larger command line,
// with what a shell needs to complete it. It prints no errors: hand what Execute
// returns to [Report]. Arguments should have passed through [NormalizeArgs] first.
//
// The memory of a command with completions is never given back: cobra keeps them
// in a map of the whole program. Call it once in a process, and [Run] for every
// command line that is no person's.
func Command(env Env) *cobra.Command {
	c := &cli{env: env.withDefaults(), completes: true}
	return c.command()
}

func (c *cli) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "conversation",
		Aliases: []string{"c"},
		Short:   "List, search and print recorded conversations",
		Long:    "Lists, searches and prints recorded conversations.",
		Example: `  convtools conversation ls --limit 10
  convtools conversation grep "retry policy"
  convtools conversation print --last jp-c17737387251`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			hint := "the commands are ls, grep and print"
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				hint = fmt.Sprintf("did you mean %s?", near[0])
			}
			return usageError(hint, "unknown command %q", args[0])
		},
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
	}
	cmd.SetOut(c.env.Stdout)
	cmd.SetErr(c.env.Stderr)
	cmd.SetFlagErrorFunc(flagError)
	flags := cmd.PersistentFlags()
	flags.StringVarP(&c.format, "format", "F", "auto", "`format`: auto, text, text-pretty, json, json-pretty")
	flags.BoolVar(&c.summary, "summary", false, "append an element with totals to JSON output")
	flags.StringVarP(&c.workspace, "workspace", "w", "", "`directory` in the workspace, or the workspace's id")
	c.completeFlags(cmd, map[string][]string{"format": formats()})
	cmd.AddCommand(c.lsCommand(), c.grepCommand(), c.printCommand())
	return cmd
}

// NormalizeArgs joins the optional numbers of "print --last 3" and "--first 3"
// to their flags, so that "--last", "--last 3" and "--last=3" all work. args may
// be the command line of a larger program; only what follows a word "print" (or
// "p") and precedes "--" is changed. A number of up to six digits is taken as a
// count; a longer one can only be an id.
func NormalizeArgs(args []string) []string {
	normal := make([]string, 0, len(args))
	inPrint := false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(normal, args[i:]...)
		}
		inPrint = inPrint || i > 0 && (arg == "print" || arg == "p")
		if inPrint && (arg == "--last" || arg == "--first") && i+1 < len(args) && isCount(args[i+1]) {
			i++
			arg += "=" + args[i]
		}
		normal = append(normal, arg)
	}
	return normal
}

func isCount(s string) bool {
	return s != "" && len(s) <= 6 && strings.Trim(s, "0123456789") == ""
}

func (env Env) withDefaults() Env {
	if env.Stdin == nil {
		env.Stdin = strings.NewReader("")
	}
	if env.Now == nil {
		env.Now = time.Now
	}
	if env.Getenv == nil {
		env.Getenv = os.Getenv
	}
	return env
}

// cli is one command line being executed: what all commands share.
type cli struct {
	env       Env
	completes bool // the shell may ask for completions
	format    string
	summary   bool
	workspace string
}

// open finds the workspace the command line asks for.
func (c *cli) open(cmd *cobra.Command) (conversations.Source, error) {
	dir := c.workspace
	if dir == "" {
		dir = parentFlag(cmd, "workspace")
	}
	if dir == "" {
		dir = c.env.Workspace
	}
	switch {
	case dir == "":
		dir = c.env.WorkingDir
	case !filepath.IsAbs(dir) && c.env.WorkingDir != "":
		// A relative name that does not exist may still be a workspace id.
		if joined := filepath.Join(c.env.WorkingDir, dir); exists(joined) {
			dir = joined
		}
	}
	source, err := conversations.Open(conversations.Options{Dir: dir, Getenv: c.env.Getenv, Now: c.env.Now})
	if err != nil {
		return nil, sourceFailure(err, nil)
	}
	return source, nil
}

// parentFlag returns the value of a persistent flag that a command above
// "conversation" defines under a name "conversation" uses too, and so hides.
func parentFlag(cmd *cobra.Command, name string) string {
	for p := cmd.Parent(); p != nil; p = p.Parent() {
		if f := p.PersistentFlags().Lookup(name); f != nil && f.Changed {
			return f.Value.String()
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// warn writes one line about something that did not stop the command.
func (c *cli) warn(format string, args ...any) {
	printLine(c.env.Stderr, "warning: ", fmt.Sprintf(format, args...))
}

// note writes one line of advice.
func (c *cli) note(format string, args ...any) {
	printLine(c.env.Stderr, "", fmt.Sprintf(format, args...))
}
