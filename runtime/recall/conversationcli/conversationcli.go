// Package conversationcli is the commands for people over recorded conversations: recall,
// search, conversation with all below it, stores and import. Flags have the names that JP
// gives them, where JP has them.
//
// Conversations are read from a [conversations.Library], and changed through a
// [jp.Writer] alone; a dangerous change asks first. A conversation that cannot be read
// is named in a warning, and never hides the others. The package starts no process but
// the user's pager. Recorded text is never shown in a way that could drive a terminal.
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

// Command returns the command "conversation". It needs the flags of a host to be those of
// a command above it, see [toolset.Host.AddFlags].
func Command(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	cmd := cli.Group(&cobra.Command{
		Use:     "conversation",
		Aliases: []string{"c"},
		Short:   "List, search, print and tidy recorded conversations",
		Long:    "Lists, searches, prints and tidies recorded conversations.",
		Example: "  convtools conversation ls --limit 10",
	},
		c.lsCommand(), c.showCommand(), c.grepCommand(), c.printCommand(), c.pathCommand(), c.editCommand(), c.forkCommand(),
		c.archiveCommand(), c.unarchiveCommand(), c.removeCommand(), c.restoreCommand(), c.labelCommand())
	for _, below := range cmd.Commands() {
		if below.ValidArgsFunction == nil {
			below.ValidArgsFunction = c.completeIDs
			below.Long = cmp.Or(below.Long, below.Short+".") + "\n\n" + selectHelp
		}
	}
	formats := []string{"auto", "text", "text-pretty", "json", "json-pretty", "markdown"}
	addWords(cmd, cmd.PersistentFlags(), "format", "F", "`format`", formats, func(format string) { c.format = format })
	return cmd
}

// commands is what the commands of one command line share.
type commands struct {
	host        *toolset.Host
	format      string // as --format has it
	allProjects bool
	out         *output
	library     *conversations.Library // once it is open
	screen      io.Writer              // where progress goes while a pager has the output
}

// run does the work of a command with its arguments.
type run func(ctx context.Context, args []string) error

// command has a command write its results, and its errors worded for people. Of each group
// of flags one may be given.
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
		err = run(cmd.Context(), args)
		if err == nil || errors.Is(err, cli.ErrFailed) || c.out.isBegun() {
			err = cmp.Or(c.out.close(), err)
		}
		return explained(err)
	}
	return cmd
}

// reading is command for a command that reads conversations of the project, or of all.
func (c *commands) reading(cmd *cobra.Command, run run, groups ...string) *cobra.Command {
	cmd.Flags().BoolVar(&c.allProjects, "all-projects", false, "conversations of every project on this machine")
	return c.command(paged(cmd), run, groups...)
}

// paged has a command show what it prints page by page on a terminal.
func paged(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool("no-pager", false, "never start the pager, $PAGER or less, on a terminal")
	return cmd
}

// options returns how conversations are read.
func (c *commands) options() conversations.Options {
	bar := newProgress(cmp.Or(c.screen, c.host.Stderr), c.host.Now)
	return conversations.Options{
		Dir: c.host.Dir, AllProjects: c.allProjects, Getenv: c.host.Getenv, Now: c.host.Now,
		Indexes: conversations.OpenIndexes(c.host.Getenv), Progress: bar.indexed,
	}
}

// open finds the conversations that the command line asks for.
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

// all returns the conversations that a filter lets through, the oldest first.
func (c *commands) all(ctx context.Context, f conversations.Filter) ([]conversations.Listed, error) {
	library, err := c.open()
	if err != nil {
		return nil, err
	}
	found, err := library.List(ctx, conversations.ListQuery{Filter: f, Sort: conversations.ByID, Ascending: true, NoEvents: true})
	return found.Conversations, err
}

// workspace finds the JP workspace that the command line is about.
func (c *commands) workspace() (*jp.Workspace, error) {
	return jp.Open(jp.Options{Dir: c.host.Dir, Getenv: c.host.Getenv})
}
