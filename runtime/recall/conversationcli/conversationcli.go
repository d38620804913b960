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
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/toolset"
)

// Command returns the command "conversation". It needs the flags of a host to be
// those of a command above it, see [toolset.Host.AddFlags].
func Command(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	cmd := &cobra.Command{
		Use:     "conversation",
		Aliases: []string{"c"},
		Short:   "List, search, print and tidy recorded conversations",
		Long:    "Lists, searches, prints and tidies recorded conversations.",
		Example: "  convtools conversation ls --limit 10",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			hint := "conversation --help lists the commands"
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				hint = fmt.Sprintf("did you mean %s?", near[0])
			}
			return usageError(hint, "unknown command %q", args[0])
		},
		SuggestionsMinimumDistance: 2,
	}
	cmd.SetFlagErrorFunc(flagError)
	flags := cmd.PersistentFlags()
	flags.StringVarP(&c.formatFlag, "format", "F", "auto", "`format`: auto, text, text-pretty, json, json-pretty")
	flags.Lookup("format").DefValue = "" // the first that is named
	_ = cmd.RegisterFlagCompletionFunc("format", func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		words := formats()
		if cmd.Name() == "print" {
			words = append(words, markdownFormat)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}) // fails only for a flag that is not there
	reads := []*cobra.Command{c.lsCommand(), c.showCommand(), c.grepCommand(), c.printCommand()}
	changes := []*cobra.Command{
		c.pathCommand(),
		c.editCommand(), c.forkCommand(),
		c.archiveCommand(), c.unarchiveCommand(), c.removeCommand(), c.restoreCommand(),
	}
	for _, reading := range reads {
		c.page(reading)
		reading.Flags().BoolVar(&c.allProjects, "all-projects", false, "conversations of every project on this machine")
		if reading.Name() == "print" {
			cli.Rare(reading.Flags(), "all-projects")
		}
	}
	for _, ofIDs := range append(reads, changes...) {
		if ofIDs.ValidArgsFunction == nil {
			ofIDs.ValidArgsFunction = c.completeIDs
		}
		cmd.AddCommand(ofIDs)
	}
	cmd.AddCommand(c.labelCommand())
	return cmd
}

// commands is one command line being executed: what all commands share.
type commands struct {
	host        *toolset.Host
	formatFlag  string
	summary     bool
	allProjects bool
	source      conversations.Source // once it is open
	screen      io.Writer            // where progress goes, behind a pager too; nil for the host's stderr
}

// page has a command show what it prints page by page where that goes to a
// terminal.
func (c *commands) page(cmd *cobra.Command) {
	off := cmd.Flags().Bool("no-pager", false, "never start the pager, $PAGER or less, on a terminal")
	cli.Rare(cmd.Flags(), "no-pager")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		var pager *cli.Pager
		if !*off {
			pager = cli.StartPager(c.host.Stdout, c.host.Stderr, c.host.Getenv)
		}
		if pager == nil {
			return run(cmd, args)
		}
		defer func() { err = cmp.Or(err, pager.Close()) }()
		host := *c.host
		c.screen = host.Stderr
		host.Stdout, host.Stderr = pager.Stdout, pager.Stderr
		c.host = &host
		return run(cmd, args)
	}
}

// addSummaryFlag defines the flag of the commands whose JSON output has totals.
func (c *commands) addSummaryFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.summary, "summary", false, "append an element with totals to JSON output")
}

// open finds the conversations that the command line asks for.
func (c *commands) open() (conversations.Source, error) {
	if c.source != nil {
		return c.source, nil
	}
	options := c.options()
	options.AllProjects, options.Progress = c.allProjects, newProgress(cmp.Or(c.screen, c.host.Stderr), c.host.Now).indexed
	source, err := conversations.Open(options)
	if err != nil {
		return nil, sourceFailure(err, nil)
	}
	for _, warning := range source.Warnings() {
		c.host.WarnOnce(warning)
	}
	c.source = source
	return source, nil
}

// options are those of what reads the conversations of the project.
func (c *commands) options() conversations.Options {
	return conversations.Options{Dir: c.host.Dir, Getenv: c.host.Getenv, Now: c.host.Now, Indexes: conversations.OpenIndexes(c.host.Getenv)}
}

// list lists conversations.
func (c *commands) list(ctx context.Context, q conversations.ListQuery) (conversations.Listing, error) {
	source, err := c.open()
	if err != nil {
		return conversations.Listing{}, err
	}
	listing, err := source.List(ctx, q)
	return listing, sourceFailure(err, q.IDs)
}

// warn writes one line about something that did not stop the command.
func (c *commands) warn(format string, args ...any) { cli.Warn(c.host.Stderr, format, args...) }

// note writes one line of advice.
func (c *commands) note(format string, args ...any) {
	_, _ = io.WriteString(c.host.Stderr, text.Line(fmt.Sprintf(format, args...))+"\n") // there is nowhere to report an error to
}
