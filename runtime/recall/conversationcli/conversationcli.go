// Package conversationcli has the commands for people over recorded conversations: recall,
// search, conversation and the commands below it, stores, and import. Flags have the names that
// JP gives them, if JP has them.
//
// The commands read conversations from a [conversations.Library], and change them only through a
// [jp.Writer]; a dangerous change asks first. A conversation that cannot be read is named in a
// warning and never hides the others. The package starts no process but the user's pager.
// Recorded text never reaches a terminal in a form that could drive it.
package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
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
	formats := []string{"auto", "text", "text-pretty", "json", "json-pretty", "markdown"}
	anyOf(cmd, cmd.PersistentFlags(), "format", "F", "`format`", formats, func(format string) { c.format = format })
	return cmd
}

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
	late        []func(context.Context) error // set flags that need the library
	out         *output
	library     *conversations.Library // nil before open
	screen      io.Writer              // for progress while a pager has standard error
}

// run does the work of a command.
type run func(ctx context.Context, args []string) error

// command completes a command that writes results to c.out. Of each group of flags, which are
// separated by spaces, at most one may be given.
func (c *commands) command(cmd *cobra.Command, run run, groups ...string) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if off, none := cmd.Flags().GetBool("no-pager"); none == nil && !off {
			if pager := cli.StartPager(c.host.Stdout, c.host.Stderr, c.host.Getenv); pager != nil {
				defer func() { err = cmp.Or(err, pager.Close()) }()
				host := *c.host
				c.screen = host.Stderr
				host.Stdout, host.Stderr = pager.Stdout, pager.Stderr
				c.host = &host
			}
		}
		for _, group := range groups {
			if err := exclusive(cmd.Flags(), strings.Fields(group)); err != nil {
				return err
			}
		}
		if c.out, err = c.newOutput(cmd); err != nil {
			return err
		}
		for _, set := range c.late {
			err = cmp.Or(err, set(cmd.Context()))
		}
		if err == nil {
			err = run(cmd.Context(), args)
		}
		if err == nil || errors.Is(err, cli.ErrFailed) || c.out.isBegun() {
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

// paged has a pager show the output of a command on a terminal.
func paged(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool("no-pager", false, "never start the pager, $PAGER or less, on a terminal")
	return cmd
}

// options returns the options of the library.
func (c *commands) options() conversations.Options {
	bar := newProgress(cmp.Or(c.screen, c.host.Stderr), c.host.Now)
	return conversations.Options{
		Dir: c.host.Dir, AllProjects: c.allProjects, Getenv: c.host.Getenv, Now: c.host.Now,
		Indexes: conversations.OpenIndexes(c.host.Getenv), Progress: bar.indexed,
	}
}

// open returns the library, which it opens once.
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
