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
	"strings"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/base/text"
	"github.com/convtools/convtools/runtime/cli"
	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/toolset"
)

// Command returns the command "conversation". It needs the flags of a host to be
// those of a command above it, see [toolset.Host.AddFlags].
func Command(host *toolset.Host) *cobra.Command {
	c := &commands{host: host}
	reads := []*cobra.Command{c.lsCommand(), c.showCommand(), c.grepCommand(), c.printCommand()}
	for _, cmd := range reads {
		c.ready(paged(cmd))
		cmd.Flags().BoolVar(&c.allProjects, "all-projects", false, "conversations of every project on this machine")
	}
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
	formats := []string{"auto", "text", "text-pretty", "json", "json-pretty"}
	cmd.PersistentFlags().StringVarP(&c.formatFlag, "format", "F", "", "`format`: "+strings.Join(formats, ", "))
	complete(cmd, func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if cmd.Name() == "print" {
			return append(formats, "markdown"), cobra.ShellCompDirectiveNoFileComp
		}
		return formats, cobra.ShellCompDirectiveNoFileComp
	}, "format")
	return cmd
}

// commands is one command line being executed: what all commands share.
type commands struct {
	host        *toolset.Host
	formatFlag  string
	allProjects bool
	out         *results               // of the command; nil for none
	source      *conversations.Library // once it is open
	screen      io.Writer              // where progress goes, behind a pager too; nil for the host's stderr
}

// paged has a command show what it prints page by page where that goes to a terminal.
func paged(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().Bool("no-pager", false, "never start the pager, $PAGER or less, on a terminal")
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
		err = run(cmd, args)
		if c.out != nil && (err == nil || errors.Is(err, cli.ErrFailed) || c.out.isBegun()) {
			err = cmp.Or(c.out.close(), err)
		}
		return explained(err)
	}
	return cmd
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

// explained words an error for people, with advice.
func explained(err error) error {
	var (
		missing  *conversations.NotFoundError
		none     *conversations.NoConversationError
		nowhere  *conversations.NoWorkspaceError
		excluded *conversations.ExcludedError
		turn     *conversations.TurnRangeError
		event    *conversations.EventRangeError
		locked   *jp.LockedError
		store    *jp.StoreError
		label    *jp.BadLabelError
	)
	switch {
	case errors.As(err, &missing):
		hint := "conversation ls shows the ids there are; add --archived for archived ones"
		if len(missing.Nearest) > 0 {
			hint = "nearest ids: " + joinBounded(missing.Nearest, ", ")
		}
		noun := either(len(missing.IDs) > 1, "conversations", "conversation")
		return failedHint(hint, "%s %s not found in %s", noun, joinBounded(missing.IDs, ", "), cmp.Or(missing.Place, "any project"))
	case errors.As(err, &none):
		return failedHint("conversation ls --archived lists archived ones", "there is no live conversation to print in %s", cmp.Or(none.Place, "any project"))
	case errors.As(err, &nowhere) && !nowhere.Missing:
		return failedHint("change to a project that has conversations, name it with -w DIR, or see all with --all-projects",
			"Could not locate workspace: no .jp directory in %s or above it, and no other program has recorded a conversation there", nowhere.Dir)
	case errors.As(err, &excluded) && excluded.Remembered != "":
		return failedHint("convtools stores include "+excluded.Remembered+" takes that back",
			"the conversations of this project are excluded: %s did that, and it stays so now that it is gone", excluded.By)
	case errors.As(err, &excluded):
		return failedHint("convtools stores shows what is read", "the conversations of this project are excluded by %s", excluded.By)
	case errors.As(err, &turn):
		return failedHint(either(turn.Turns == 0, "nothing has been said in it", fmt.Sprintf("turns are numbered 1 to %d; --last prints the last one", turn.Turns)),
			"turn %d out of range (conversation has %s)", turn.Turn, plural(turn.Turns, "turn"))
	case errors.As(err, &event):
		return failedHint("recall shows the numbers of events", "event %d out of range (conversation has %s)", event.Number, plural(event.Events, "event"))
	case errors.As(err, &locked):
		return cli.Hint(err, "try again when it is done, or wait for it with --wait=30s")
	case errors.As(err, &store):
		return cli.Hint(store, "nothing that was there is lost; the command can be given again")
	case errors.Is(err, jp.ErrExists):
		return cli.Hint(err, "conversation ls --hidden shows it, with --archived too; what is in the trash stays there")
	case errors.As(err, &label):
		return usageError("a key begins with a letter, and has letters, digits, '_' and '-'", "a label cannot have the key %q", label.Key)
	}
	return err
}

// maxListed bounds how many ids an error names; standard input may hold many.
const maxListed = 20

// joinBounded joins the first maxListed of some texts and counts the rest.
func joinBounded[T ~string](texts []T, separator string) string {
	var all []string
	for _, text := range texts[:min(len(texts), maxListed)] {
		all = append(all, string(text))
	}
	if more := len(texts) - maxListed; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, separator)
}

// failedHint is why a command failed, with advice.
func failedHint(hint, format string, args ...any) error {
	return cli.Hint(fmt.Errorf(format, args...), hint)
}

// plural writes a number of things, without commas between its digits.
func plural(n int, one string) string {
	return fmt.Sprintf("%d %s%s", n, one, either(n == 1, "", "s"))
}

// warnOf warns of what a query did not look at, and returns it for JSON. named reports
// whether the conversations were given by their ids: they are used without their
// metadata then.
func (c *commands) warnOf(problems []conversations.Problem, named bool) []object {
	left := []object{}
	for _, p := range problems {
		reason, isUsed := p.Err.Error(), p.Kind == conversations.BadField
		switch {
		case p.ID == "":
			reason = fmt.Sprintf("%s: %s", p.Path, reason)
		case named && (p.Kind == conversations.BadMetadata || p.Kind == conversations.Outside || p.Kind == conversations.Vanishing):
			reason, isUsed = "metadata.json cannot be used: "+reason, true
		case p.Kind == conversations.DamagedEvents:
			reason = "events.json is damaged, what stands before the damage was searched: " + reason
		}
		c.warn("%s%s", either(p.ID == "", "", string(p.ID)+": "), reason)
		if !isUsed {
			left = append(left, object{"id", orNull(p.ID), "reason", reason})
		}
	}
	return left
}
