package convcli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/convtools/convtools/runtime/convcli/internal/terminal"
	"github.com/convtools/convtools/runtime/transcript"
	"github.com/convtools/convtools/runtime/workspace"
)

// RareFlag is the annotation of flags that few calls need. Help that has to fit a
// screen may leave them out.
const RareFlag = "convtools_rare"

func markRare(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = flags.SetAnnotation(name, RareFlag, []string{"true"}) // fails only for a flag that is not there
	}
}

// What a shell is offered: more could not be looked through, and typing on
// narrows it.
const (
	maxCompletions   = 200
	completionColumn = 60 // columns of a title
)

// completeIDs offers the ids of conversations, those used last first, with their
// titles.
func (c *cli) completeIDs(cmd *cobra.Command, _ []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	set := workspace.Live
	if archived := cmd.Flags().Lookup("archived"); archived == nil {
		set |= workspace.Archived
	} else if archived.Value.String() == "true" {
		set = workspace.Archived
	}
	ws, err := c.open(cmd)
	if err != nil {
		return nil, directive
	}
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	found, _, err := ws.Conversations(ctx, set)
	if err != nil {
		return nil, directive
	}
	found = slices.DeleteFunc(found, func(conv *workspace.Conversation) bool {
		return conv.Metadata.Hidden || !strings.HasPrefix(spelled(conv.ID, word), word)
	})
	slices.SortStableFunc(found, func(a, b *workspace.Conversation) int {
		return cmp.Or(b.Metadata.LastActivatedAt.Compare(a.Metadata.LastActivatedAt), cmp.Compare(b.ID, a.ID))
	})
	var ids []cobra.Completion
	for _, conv := range found[:min(len(found), maxCompletions)] {
		title := terminal.Truncate(terminal.Line(conv.Metadata.Title), completionColumn)
		ids = append(ids, cobra.CompletionWithDesc(spelled(conv.ID, word), title))
	}
	return ids, directive
}

// spelled is an id in the form in which word begins it: bare, or with its prefix.
func spelled(id transcript.ID, word string) string {
	full := id.String()
	if word != "" && strings.Trim(word, "0123456789") == "" {
		return strings.TrimPrefix(full, "jp-c")
	}
	return full
}

// completeFlags has the shell complete the flags that take ids, or one of a few
// values.
func (c *cli) completeFlags(cmd *cobra.Command, values map[string][]string) {
	if !c.completes {
		return
	}
	for flag, words := range values {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // as above
	}
	for _, flag := range []string{"id", "exclude-id"} {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, c.completeIDs) // as above
		}
	}
}
