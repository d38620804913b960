// Package conversationcli has the commands for people over recorded conversations: recall, search, blame, how, resume,
// conversation and the commands below it, stores, and import. Flags have the names that JP gives them, if JP has them.
//
// The commands read conversations from a [conversations.Library], and change them only through a [jp.Writer]; a
// dangerous change asks first. A conversation that cannot be read is named in a warning and never hides the others. The
// package starts no process but the user's pager, git to ask when a line was committed, and the program to resume a
// session with. Recorded text never reaches a terminal in a form that could drive it.
package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/store/project"
	"github.com/convtools/convtools/runtime/toolset"
)

// Command returns the command "conversation". A command above it must have the flags of the
// host, see [toolset.Host.AddFlags].
func Command(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	cmd := cli.Group(c.newCommand("conversation", "c", "List, search, print and tidy recorded conversations",
		"Lists, searches, prints and tidies recorded conversations.", "conversation ls --limit 10"),
		c.lsCommand(), c.showCommand(), c.grepCommand(), c.printCommand(), c.pathCommand(), c.editCommand(), c.forkCommand(),
		c.archiveCommand(), c.unarchiveCommand(), c.removeCommand(), c.restoreCommand(), c.labelCommand())
	for _, below := range cmd.Commands() {
		if below.ValidArgsFunction == nil {
			below.ValidArgsFunction = c.completeIDs
			addHelp(below, selectHelp)
		}
	}
	anyOf(cmd, cmd.PersistentFlags(), "format", "F", "`format`", formats(), func(format string) { c.format = format })
	return cmd
}

// formats returns the values of --format of all commands below "conversation".
func formats() []string { return []string{"auto", "text", "text-pretty", "json", "json-pretty"} }

// newCommand returns a command without flags. The aliases are separated by spaces, and the
// examples follow the name of the program.
func (c *commands) newCommand(use, aliases, short, long string, examples ...string) *cobra.Command {
	return &cobra.Command{
		Use: use, Aliases: strings.Fields(aliases), Short: short, Long: long, Example: cli.Examples(c.host.Name, examples...),
	}
}

// addHelp adds a paragraph to the help of a command.
func addHelp(cmd *cobra.Command, paragraph string) {
	cmd.Long = cmp.Or(cmd.Long, cmd.Short+".") + "\n\n" + paragraph
}

// commands has the state that the commands of one command line share.
type commands struct {
	host        *toolset.Host
	format      string // the value of --format
	allProjects bool
	hideSecrets bool
	quiet       bool // write no notes
	out         *output
	library     *conversations.Library // nil before open
	screen      io.Writer              // for progress while a pager has standard error
}

// run does the work of a command.
type run func(ctx context.Context, args []string) error

// command completes cmd with run, which writes results to c.out. If cmd is paged, results on a terminal go through a
// pager. Each string of groups has names of flags between spaces; the command line may have at most one flag of each
// group. The command closes c.out after run has succeeded, has found nothing, or has written results, so that JSON is
// complete. It returns the error of closing, or else that of run.
func (c *commands) command(cmd *cobra.Command, run run, groups ...string) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		noPager := cmd.Flags().Lookup("no-pager") // nil if paged has not defined the flag
		if noPager != nil && noPager.Value.String() == "false" {
			if pager := cli.StartPager(c.host.Stdout, c.host.Stderr, c.host.Getenv); pager != nil {
				defer func() { err = cmp.Or(err, pager.Close()) }()
				host := *c.host
				c.screen = host.Stderr // progress goes past the pager
				host.Stdout, host.Stderr = pager.Stdout, pager.Stderr
				c.host = &host
			}
		}
		for _, group := range groups {
			if err := exclusive(cmd.Flags(), strings.Fields(group)); err != nil {
				return err
			}
		}
		c.out = c.newOutput()
		err = run(cmd.Context(), args)
		if err == nil || errors.Is(err, cli.ErrFailed) || c.out.isBegun() { // a search that finds nothing returns ErrFailed
			err = cmp.Or(c.out.close(), err)
		}
		return explained(err)
	}
	return cmd
}

// reading completes a command that reads conversations of the project, or of all projects.
func (c *commands) reading(cmd *cobra.Command, run run, groups ...string) *cobra.Command {
	cmd.Flags().BoolVar(&c.allProjects, "all-projects", false, "conversations of every project on this machine")
	return c.command(paged(cmd), run, groups...)
}

// paged adds --no-pager to a command and returns it. The flag has command start a pager on a terminal.
func paged(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool("no-pager", false, "never start the pager, $PAGER or less, on a terminal")
	return cmd
}

// options returns the options to open the library. The library shows its progress when it updates indexes.
func (c *commands) options() conversations.Options {
	show := newProgress(cmp.Or(c.screen, c.host.Stderr), c.host.Now)
	return conversations.Options{
		Dir: c.host.Dir, AllProjects: c.allProjects, HideSecrets: c.hideSecrets, Getenv: c.host.Getenv, Now: c.host.Now,
		Indexes:  conversations.OpenIndexes(c.host.Getenv),
		Progress: func(s store.Store, done, all int) { show(indexed(s.Name(), done, all)) },
	}
}

// indexed returns the line of progress of a store's index; empty if all is done.
func indexed(name string, done, all int) string {
	if done == all {
		return ""
	}
	return fmt.Sprintf("reading %s: %s of %s conversations", name, text.Number(done), text.Number(all))
}

// open returns the library. The first call opens it, and writes its warnings.
func (c *commands) open() (_ *conversations.Library, err error) {
	if c.library == nil {
		if c.library, err = conversations.Open(c.options()); err != nil {
			return nil, err
		}
		for _, warning := range c.library.Warnings() {
			c.host.WarnOnce(warning)
		}
	}
	return c.library, nil
}

// all returns the conversations that a filter selects, sorted by id.
func (c *commands) all(ctx context.Context, f conversations.Filter) ([]conversations.Listed, error) {
	library, err := c.open()
	if err != nil {
		return nil, err
	}
	found, err := library.List(ctx, conversations.ListQuery{Filter: f, Sort: conversations.ByID, Ascending: true, NoEvents: true})
	return found.Conversations, err
}

// workspace opens the JP workspace of the project.
func (c *commands) workspace() (*jp.Workspace, error) {
	return jp.Open(jp.Options{Dir: c.host.Dir, Getenv: c.host.Getenv})
}

// warn writes one line about something that did not stop the command.
func (c *commands) warn(format string, args ...any) { cli.Warn(c.host.Stderr, format, args...) }

// note writes one line of advice to standard error.
func (c *commands) note(format string, args ...any) {
	if !c.quiet {
		_, _ = io.WriteString(c.host.Stderr, text.Line(fmt.Sprintf(format, args...))+"\n") // nothing can report the error
	}
}

// failed returns an error with advice.
func failed(hint, format string, args ...any) error {
	return cli.Hint(fmt.Errorf(format, args...), hint)
}

// misused returns an error in a command line with advice.
func misused(hint, format string, args ...any) error {
	return cli.Hint(cli.Usagef(format, args...), hint)
}

// foundAny returns the error of a search that found nothing, and nil if isFound is true.
func foundAny(isFound bool) error {
	if isFound {
		return nil
	}
	return cli.ErrFailed
}

// explained returns an error with a text and advice for people. It goes through the errors that err wraps, and words
// the first error of a type below. If there is no such error, it returns err.
func explained(err error) error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch e := e.(type) {
		case *conversations.BadIDError:
			return cli.Hint(cli.Usage(err), "an id looks like jp-c17800836875; conversation ls shows the ids there are")
		case *conversations.NotFoundError:
			hint := "conversation ls shows the ids there are; add --archived for archived ones"
			if len(e.Nearest) > 0 {
				hint = "nearest ids: " + joined(e.Nearest)
			}
			return failed(hint, "conversation%s %s not found in %s", either(len(e.IDs) > 1, "s", ""), joined(e.IDs), cmp.Or(e.Place, "any project"))
		case *conversations.NoWorkspaceError:
			if !e.Missing {
				return failed("change to a project that has conversations, name it with -w DIR, or see all with --all-projects",
					"Could not locate workspace: no .jp directory in %s or above it, and no other program has recorded a conversation there", e.Dir)
			}
		case *conversations.ExcludedError:
			if e.Remembered != "" { // the directory that the file e.By excluded; the file is gone
				return failed("convtools stores include "+e.Remembered+" takes that back",
					"the conversations of this project are excluded: %s did that, and it stays so now that it is gone", e.By)
			}
			return failed("convtools stores shows what is read", "the conversations of this project are excluded by %s", e.By)
		case *conversations.RangeError:
			unit := either(e.Events, "event", "turn")
			hint := either(e.Events, "recall shows the numbers of events", "turns are numbered from 1; --last prints the last one")
			return failed(hint, "%s %d out of range (conversation has %s)", unit, e.N, plural(e.Of, unit))
		case *project.StillError:
			return cli.Hint(err, "remove that file first")
		case *project.NotRememberedError:
			return cli.Hint(err, either(e.By == "", "convtools stores shows the excluded directories", "to include it: convtools stores include "+e.By))
		case *jp.LockedError:
			return cli.Hint(err, "try again when it is done, or wait for it with --wait=30s")
		case *jp.BadLabelError:
			return cli.Usage(err)
		}
	}
	if errors.Is(err, jp.ErrExists) {
		return cli.Hint(err, "conversation ls --hidden shows it, with --archived too; what is in the trash stays there")
	}
	return err
}

// maxNamed bounds how many conversations a message names.
const maxNamed = 20

// joined joins the first maxNamed texts with commas, and counts the rest.
func joined[T ~string](texts []T) string {
	var parts []string
	for _, text := range texts[:min(len(texts), maxNamed)] {
		parts = append(parts, string(text))
	}
	if rest := len(texts) - maxNamed; rest > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(parts, ", ")
}

// plural returns a number of things, without commas between its digits.
func plural(n int, one string) string {
	return fmt.Sprintf("%d %s%s", n, one, either(n == 1, "", "s"))
}

// either returns yes if is is true, and no otherwise.
func either[T any](is bool, yes, no T) T {
	if is {
		return yes
	}
	return no
}

// warnOf warns of the problems of a query.
func (c *commands) warnOf(problems []conversations.Problem) {
	for _, p := range problems {
		c.warn("%s: %v", cmp.Or(string(p.ID), p.Path), p.Err)
	}
}

const (
	showAfter = time.Second
	showEvery = 200 * time.Millisecond
	clearLine = "\r\x1b[K"
)

// newProgress returns a function that replaces the line of progress on a terminal, or removes it if the
// line is empty. It shows none in the first second, and at most five a second after that.
func newProgress(stderr io.Writer, now func() time.Time) func(line string) {
	terminal, ok := cli.Terminal(stderr)
	if !ok {
		return func(string) {}
	}
	return progress(terminal, now)
}

// progress returns a function that shows line on a terminal, in place of the line that it showed last; "" removes that
// line. It shows no line before showAfter has passed, nor within showEvery of the last change.
func progress(terminal io.Writer, now func() time.Time) func(line string) {
	next, isShown := now().Add(showAfter), false // when to show the next line; whether a line is shown now
	return func(line string) {
		shows := line != "" && now().Compare(next) >= 0
		removes := line == "" && isShown
		if shows || removes {
			fmt.Fprint(terminal, clearLine+line)
			next, isShown = now().Add(showEvery), line != ""
		}
	}
}
