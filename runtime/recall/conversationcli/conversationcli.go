// Package conversationcli is the conversation commands for people, over the
// conversations of a workspace: ls, show, grep, print and path read them, edit,
// label, fork, archive, unarchive, rm and restore change them. Flags carry the
// names JP uses where JP has them. It keeps to the output policy of package cli; a
// conversation that cannot be read is named in a warning and never hides the
// others.
//
// The commands recall, search, stores and import are here too.
//
// Conversations are read from a [conversations.Source], and changed through a
// [jp.Writer] alone. Dangerous changes are asked about first. The package starts no
// process but the user's pager. Recorded text is never shown in a way that could
// drive a terminal.
package conversationcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/toolset"
	"github.com/convtools/convtools/runtime/transcript"
)

// Command returns the command "conversation". It needs the flags of a host to be
// those of a command above it, see [toolset.Host.AddFlags].
func Command(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	reads := []*cobra.Command{c.lsCommand(), c.showCommand(), c.grepCommand(), c.printCommand()}
	for _, cmd := range reads {
		c.ready(cmd)
		cmd.Flags().BoolVar(&c.allProjects, "all-projects", false, "conversations of every project on this machine")
	}
	cli.Rare(reads[3].Flags(), "all-projects")
	ofIDs := append(reads, c.ready(c.pathCommand()), c.editCommand(), c.forkCommand(),
		c.archiveCommand(), c.unarchiveCommand(), c.removeCommand(), c.restoreCommand())
	for _, cmd := range ofIDs {
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = c.completeIDs
		}
	}
	cmd := cli.Group(&cobra.Command{
		Use:     "conversation",
		Aliases: []string{"c"},
		Short:   "List, search, print and tidy recorded conversations",
		Long:    "Lists, searches, prints and tidies recorded conversations.",
		Example: "  convtools conversation ls --limit 10",
	}, append(ofIDs, c.labelCommand())...)
	flags := cmd.PersistentFlags()
	flags.StringVarP(&c.formatFlag, "format", "F", "auto", "`format`: auto, text, text-pretty, json, json-pretty")
	flags.Lookup("format").DefValue = "" // the first that is named
	complete(cmd, func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		formats := []string{"auto", "text", "text-pretty", "json", "json-pretty"}
		if cmd.Name() == "print" {
			formats = append(formats, "markdown")
		}
		return formats, cobra.ShellCompDirectiveNoFileComp
	}, "format")
	return cmd
}

// commands is one command line being executed: what all commands share.
type commands struct {
	host        *toolset.Host
	formatFlag  string
	summary     bool
	allProjects bool
	out         *results                   // of the command; nil for none
	source      *conversations.Library     // once it is open
	linkTo      func(transcript.ID) string // the directory of a conversation; nil before it is asked for
	closeLinks  func()
	screen      io.Writer // where progress goes, behind a pager too; nil for the host's stderr
}

// paged has a command show what it prints page by page where that goes to a terminal.
func (c *commands) paged(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool("no-pager", false, "never start the pager, $PAGER or less, on a terminal")
	cli.Rare(cmd.Flags(), "no-pager")
	return cmd
}

// ready has a command write its results, and its errors worded for people.
func (c *commands) ready(cmd *cobra.Command) *cobra.Command {
	cmd.SetFlagErrorFunc(flagError)
	run := cmd.RunE
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
		if c.out, err = c.results(cmd); err != nil {
			return err
		}
		c.closeLinks = func() {}
		defer func() { c.closeLinks() }()
		err = run(cmd, args)
		if c.out != nil && (err == nil || errors.Is(err, cli.ErrFailed)) {
			err = cmp.Or(c.out.close(), err)
		}
		return explained(err)
	}
	return cmd
}

// addSummaryFlag defines the flag of the commands whose JSON output has totals.
func (c *commands) addSummaryFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.summary, "summary", false, "append an element with totals to JSON output")
}

// options are those of what reads the conversations of the project.
func (c *commands) options() conversations.Options {
	return conversations.Options{
		Dir: c.host.Dir, AllProjects: c.allProjects, Getenv: c.host.Getenv, Now: c.host.Now,
		Indexes:  conversations.OpenIndexes(c.host.Getenv),
		Progress: newProgress(cmp.Or(c.screen, c.host.Stderr), c.host.Now).indexed,
	}
}

// open finds the conversations that the command line asks for.
func (c *commands) open() (*conversations.Library, error) {
	if c.source != nil {
		return c.source, nil
	}
	source, err := conversations.Open(c.options())
	if err != nil {
		return nil, err
	}
	for _, warning := range source.Warnings() {
		c.host.WarnOnce(warning)
	}
	c.source = source
	return source, nil
}

// list lists conversations.
func (c *commands) list(ctx context.Context, q conversations.ListQuery) (conversations.Listing, error) {
	source, err := c.open()
	if err != nil {
		return conversations.Listing{}, err
	}
	return source.List(ctx, q)
}

// workspace finds the JP workspace that the command line is about.
func (c *commands) workspace() (*jp.Workspace, error) {
	return jp.Open(jp.Options{Dir: c.host.Dir, Getenv: c.host.Getenv})
}

// warn writes one line about something that did not stop the command.
func (c *commands) warn(format string, args ...any) { cli.Warn(c.host.Stderr, format, args...) }

// note writes one line of advice.
func (c *commands) note(format string, args ...any) {
	_, _ = io.WriteString(c.host.Stderr, text.Line(fmt.Sprintf(format, args...))+"\n") // there is nowhere to report an error to
}
