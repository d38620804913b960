package conversationcli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/convtools/convtools/runtime/conversations"
	"github.com/convtools/convtools/runtime/store/jp"
	"github.com/convtools/convtools/runtime/transcript"
)

func (c *commands) archiveCommand() *cobra.Command {
	return c.moveCommand(&cobra.Command{
		Use:     "archive ID…",
		Aliases: []string{"a"},
		Short:   "Move conversations to the archive",
		Long: `Moves conversations to the archive: ls --archived lists them, unarchive brings
them back.`,
		Example: "  convtools conversation archive jp-c17737387251\n  convtools conversation archive --inactive-since=8w --dry-run",
	}, true, change{verb: "archive", done: "archived"}, (*jp.Writer).Archive, "it is archived already")
}

func (c *commands) unarchiveCommand() *cobra.Command {
	return c.moveCommand(&cobra.Command{
		Use:     "unarchive ID…",
		Aliases: []string{"ua"},
		Short:   "Bring conversations back from the archive",
		Long:    "Brings conversations back from the archive.",
		Example: "  convtools conversation unarchive jp-c17737387251",
	}, false, change{verb: "unarchive", done: "unarchived"}, (*jp.Writer).Unarchive, "it is not archived")
}

// moveCommand completes a command that moves conversations; with times they can be
// chosen by time.
func (c *commands) moveCommand(cmd *cobra.Command, times bool, ch change, move func(*jp.Writer, context.Context, transcript.ID) (bool, error), nothing string) *cobra.Command {
	var opts changeFlags
	var when span
	cmd.Long += "\n\n" + targetsHelp + "\n\n" + changeHelp
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = c.completeIDs
	ch.flags = &opts
	ch.each = func(ctx context.Context, w *jp.Writer, l *conversations.Listed) (outcome, error) {
		moved, err := move(w, ctx, l.ID)
		if err == nil && !moved {
			return outcome{nothing: nothing}, nil
		}
		return outcome{}, err
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		source, err := c.open()
		if err != nil {
			return err
		}
		list, err := c.chosen(cmd.Context(), cmd, source, args, when)
		if err != nil {
			return err
		}
		return c.make(cmd.Context(), source, ch, list)
	}
	opts.addFlags(cmd)
	if times {
		when.addFlags(cmd, true)
	}
	return cmd
}
